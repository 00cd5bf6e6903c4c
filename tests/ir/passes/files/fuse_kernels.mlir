// fuse-kernels{target=tflite}
// Each kernel is a region with what belongs to it, constants included; what no kernel computes stays, with a remark.

func.func @dense(%x: tensor<?x8xf32>, %b: tensor<4xf32>) -> tensor<?x4xf32> {
  %w = arith.constant dense<0.25> : tensor<8x4xf32>
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%rows) : tensor<?x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %m = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x4xf32>) outs(%f : tensor<?x4xf32>) -> tensor<?x4xf32>
  %s = linalg.broadcast ins(%b : tensor<4xf32>) outs(%e : tensor<?x4xf32>) dimensions = [0]
  %a = arith.addf %m, %s : tensor<?x4xf32>
  %seen = "quant.stats"(%a) {layerStats = dense<[-1.0, 1.0]> : tensor<2xf32>} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %r = linalg.max ins(%seen, %f : tensor<?x4xf32>, tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %t = math.tanh %r : tensor<?x4xf32>
  return %t : tensor<?x4xf32>
}

func.func @pooled(%x: tensor<1x4x4x2xf32>) -> tensor<1x2x2x2xf32> {
  %least = arith.constant 0xFF800000 : f32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 0, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %least : f32
  } : tensor<1x4x4x2xf32> to tensor<1x5x5x2xf32>
  %e = tensor.empty() : tensor<1x2x2x2xf32>
  %f = linalg.fill ins(%least : f32) outs(%e : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %window = tensor.empty() : tensor<3x3xf32>
  %y = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>}
    ins(%p, %window : tensor<1x5x5x2xf32>, tensor<3x3xf32>) outs(%f : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  return %y : tensor<1x2x2x2xf32>
}

func.func private @gate(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> attributes {quant.kernel = "mul"} {
  %0 = math.absf %x : tensor<4xf32>
  %1 = arith.mulf %0, %y : tensor<4xf32>
  return %1 : tensor<4xf32>
}

func.func @rest(%x: tensor<4xf32>, %y: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%c = %x) -> tensor<4xf32> {
    %1 = func.call @gate(%c, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  %2 = arith.divf %0, %y : tensor<4xf32>
  %3 = quant.region (%2) {
    %4 = math.exp %2 : tensor<4xf32>
    quant.return %4 : tensor<4xf32>
  } {input_specs = [f32], output_specs = [f32], kernel = "exp"} : (tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}
