// pipeline: canonicalize
func.func @f(%x: f32, %t: tensor<4xf32>, %n: index) -> tensor<64xf32> {
  %0 = tensor.empty() : tensor<64xf32>
  %1 = linalg.fill ins(%x : f32) outs(%0 : tensor<64xf32>) -> tensor<64xf32>
  %2 = tensor.pad %t low[9223372036854775807] high[%n] { ^bb0(%i: index): tensor.yield %x : f32 } : tensor<4xf32> to tensor<?xf32>
  %3 = tensor.insert_slice %2 into %1[1] [%n] [1] : tensor<?xf32> into tensor<64xf32>
  return %3 : tensor<64xf32>
}
