// pipeline: constant-fold,inline
func.func @pad_of_pad2(%t: tensor<4x6xf32>, %n: index, %f: f32) -> tensor<?x?xf32> {
  %0 = tensor.pad %t low[%n, 1] high[1, 0] { ^bb0(%i: index, %j: index): tensor.yield %f : f32 } : tensor<4x6xf32> to tensor<?x7xf32>
  %1 = tensor.pad %0 low[%n, 9223372036854775807] high[0, %n] { ^bb0(%i: index, %j: index): tensor.yield %f : f32 } : tensor<?x7xf32> to tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
