// export-quant
!x = !quant.uniform<i8:f32, 0.05:3>
!w = !quant.uniform<i8<-127:127>:f32:1, {0.01, 0.02}>
!b = !quant.uniform<i32:f32:0, {0.0005, 0.001}>
!y = !quant.uniform<i8:f32, 0.1:-128>
!z = !quant.uniform<i8:f32, 0.0078125>
func.func @network(%x: tensor<3x4xf32>) -> tensor<3x2xf32> {
  %w = arith.constant dense<[[0.5, 1.0], [-0.25, 0.7], [1.0, -1.0], [0.33, 0.1]]> : tensor<4x2xf32>
  %b = arith.constant dense<[0.25, -0.5]> : tensor<2xf32>
  %0 = quant.region(%x, %w, %b) {
  ^bb0(%a: tensor<3x4xf32>, %c: tensor<4x2xf32>, %d: tensor<2xf32>):
    %e = tensor.empty() : tensor<3x2xf32>
    %zero = arith.constant 0.0 : f32
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x2xf32>) -> tensor<3x2xf32>
    %1 = linalg.matmul ins(%a, %c : tensor<3x4xf32>, tensor<4x2xf32>) outs(%f : tensor<3x2xf32>) -> tensor<3x2xf32>
    %2 = linalg.broadcast ins(%d : tensor<2xf32>) outs(%e : tensor<3x2xf32>) dimensions = [0]
    %3 = arith.addf %1, %2 : tensor<3x2xf32>
    %z = arith.constant dense<0.0> : tensor<3x2xf32>
    %4 = arith.maximumf %3, %z : tensor<3x2xf32>
    quant.return %4 : tensor<3x2xf32>
  } {input_specs = [!x, !w, !b], output_specs = [!y], kernel = "matmul"} : (tensor<3x4xf32>, tensor<4x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %1 = quant.region(%0) {
  ^bb0(%a: tensor<3x2xf32>):
    %2 = math.tanh %a : tensor<3x2xf32>
    quant.return %2 : tensor<3x2xf32>
  } {input_specs = [!y], output_specs = [!z], kernel = "lookup"} : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %2 = quant.region(%1) {
  ^bb0(%a: tensor<3x2xf32>):
    quant.return %a : tensor<3x2xf32>
  } {input_specs = [!z], output_specs = [!y], kernel = "rescale"} : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %3 = quant.region(%0, %2) {
  ^bb0(%a: tensor<3x2xf32>, %b2: tensor<3x2xf32>):
    %4 = arith.addf %a, %b2 : tensor<3x2xf32>
    quant.return %4 : tensor<3x2xf32>
  } {input_specs = [!y, !y], output_specs = [!x], kernel = "add"} : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %3 : tensor<3x2xf32>
}

// A kernel of nobody, of linear ops: integers with exact scales, and one requantization.
func.func @gate(%x: tensor<2x3x!x>, %h: tensor<2x3xf32>) -> tensor<2x3x!y> {
  %a = quant.dcast %x : tensor<2x3x!x> to tensor<2x3xf32>
  %0 = quant.region(%a, %h) {
  ^bb0(%u: tensor<2x3xf32>, %v: tensor<2x3xf32>):
    %1 = arith.mulf %u, %v : tensor<2x3xf32>
    %half = arith.constant dense<-0.5> : tensor<2x3xf32>
    %2 = arith.mulf %1, %half : tensor<2x3xf32>
    quant.return %2 : tensor<2x3xf32>
  } {input_specs = [!x, !z], output_specs = [!y], kernel = "mine.gate"} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = quant.qcast %0 : tensor<2x3xf32> to tensor<2x3x!y>
  return %1 : tensor<2x3x!y>
}

// What is kept in floats, or in narrow ones.
func.func @floats(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = quant.region(%x) {
  ^bb0(%u: tensor<4xf32>):
    %1 = math.exp %u : tensor<4xf32>
    quant.return %1 : tensor<4xf32>
  } {input_specs = [!z], output_specs = [!quant.none<f32>], kernel = "lookup"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = quant.region(%0, %0) {
  ^bb0(%u: tensor<4xf32>, %v: tensor<4xf32>):
    %2 = arith.addf %u, %v : tensor<4xf32>
    quant.return %2 : tensor<4xf32>
  } {input_specs = [bf16, bf16], output_specs = [bf16], kernel = "add"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
