// check-quant{target=tflite}
!x = !quant.uniform<i8:f32, 0.1:3>
!w = !quant.uniform<i8<-127:127>:f32:1, {0.2, 0.3, 0.7}>
!b = !quant.uniform<i32:f32:0, {0.020000000000000004, 0.03, 0.06999999999999999}>
!y = !quant.uniform<i8:f32, 0.5:-7>
!z = !quant.uniform<i8:f32, 0.25>
!s = !quant.uniform<i8:f32, 0.0078125>
func.func @f(%x: tensor<2x4x!x>, %w: tensor<4x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = quant.dcast %x : tensor<2x4x!x> to tensor<2x4xf32>
  %1 = quant.region (%0, %w, %b) {
  ^bb0(%p: tensor<2x4xf32>, %q: tensor<4x3xf32>, %r: tensor<3xf32>):
    %e = tensor.empty() : tensor<2x3xf32>
    %s = linalg.broadcast ins(%r : tensor<3xf32>) outs(%e : tensor<2x3xf32>) dimensions = [0]
    %m = linalg.matmul ins(%p, %q : tensor<2x4xf32>, tensor<4x3xf32>) outs(%s : tensor<2x3xf32>) -> tensor<2x3xf32>
    quant.return %m : tensor<2x3xf32>
  } {input_specs = [!x, !w, !b], output_specs = [!y], kernel = "matmul"}
    : (tensor<2x4xf32>, tensor<4x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %2 = quant.region (%1) {
  ^bb0(%p: tensor<2x3xf32>):
    quant.return %p : tensor<2x3xf32>
  } {input_specs = [!y], output_specs = [!z], kernel = "rescale"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = quant.region (%2) {
  ^bb0(%p: tensor<2x3xf32>):
    %m = math.tanh %p : tensor<2x3xf32>
    quant.return %m : tensor<2x3xf32>
  } {input_specs = [!z], output_specs = [!s], kernel = "tanh"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %3 : tensor<2x3xf32>
}
