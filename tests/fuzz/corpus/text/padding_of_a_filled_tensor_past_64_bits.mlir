// pipeline: canonicalize
func.func @f(%x: f32, %n: index) -> tensor<?xf32> {
  %0 = tensor.empty() : tensor<4xf32>
  %1 = linalg.fill ins(%x : f32) outs(%0 : tensor<4xf32>) -> tensor<4xf32>
  %2 = tensor.pad %1 low[9223372036854775807] high[%n] { ^bb0(%i: index): tensor.yield %x : f32 } : tensor<4xf32> to tensor<?xf32>
  return %2 : tensor<?xf32>
}
