// pipeline: canonicalize
func.func @f(%a: memref<16x16xf32>) -> tensor<4xf32> {
  %b, %o, %s:2, %t:2 = memref.extract_strided_metadata %a : memref<16x16xf32> -> memref<f32>, tensor<4xf32>, index, index, index, index
  return %o : tensor<4xf32>
}
