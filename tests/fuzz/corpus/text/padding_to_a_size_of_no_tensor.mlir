// pipeline: canonicalize
func.func @pad0d(%t: tensor<4x?xf32>, %f: f32) -> (tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %p = tensor.pad %t low[%c0, 0] high[9223372036854775807, 0] { ^bb0(%a: index, %b: index): tensor.yield %f : f32 } : tensor<4x?xf32> to tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}
