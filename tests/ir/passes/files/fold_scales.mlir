// fuse-kernels,attach-stats-ref,fold-scales
// What is done to each channel behind a product, or before it, is done to its weights and its bias, where nothing else reads the value.

#all = affine_map<(a, b) -> (a, b)>
#channel = affine_map<(a, b) -> (b)>
func.func @normalized(%x: tensor<?x3xf32>) -> tensor<?x2xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x3xf32>
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %scale = arith.constant dense<[0.5, -4.0]> : tensor<2xf32>
  %shift = arith.constant dense<[0.25, 0.125]> : tensor<2xf32>
  %e = tensor.empty(%n) : tensor<?x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x2xf32>) -> tensor<?x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<?x3xf32>, tensor<3x2xf32>) outs(%f : tensor<?x2xf32>) -> tensor<?x2xf32>
  %1 = linalg.broadcast ins(%scale : tensor<2xf32>) outs(%e : tensor<?x2xf32>) dimensions = [0]
  %2 = arith.mulf %0, %1 : tensor<?x2xf32>
  %3 = linalg.broadcast ins(%shift : tensor<2xf32>) outs(%e : tensor<?x2xf32>) dimensions = [0]
  %4 = arith.addf %2, %3 : tensor<?x2xf32>
  %5 = tensor.splat %zero[%n] : tensor<?x2xf32>
  %6 = arith.maximumf %4, %5 : tensor<?x2xf32>
  return %6 : tensor<?x2xf32>
}

func.func @in_one_op(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %gamma = arith.constant dense<[1.5, 3.0]> : tensor<2xf32>
  %beta = arith.constant dense<[0.25, 0.125]> : tensor<2xf32>
  %mean = arith.constant dense<[3.0, -1.0]> : tensor<2xf32>
  %deviation = arith.constant dense<[4.0, 0.5]> : tensor<2xf32>
  %z = arith.constant dense<0.0> : tensor<2x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<2x3xf32>, tensor<3x2xf32>) outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = linalg.generic {indexing_maps = [#all, #channel, #channel, #channel, #channel, #all], iterator_types = ["parallel", "parallel"]}
    ins(%0, %gamma, %beta, %mean, %deviation : tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) outs(%0 : tensor<2x2xf32>) {
  ^bb0(%v: f32, %g: f32, %b: f32, %m: f32, %d: f32, %o: f32):
    %2 = arith.subf %v, %m : f32
    %3 = arith.divf %2, %d : f32
    %4 = arith.mulf %3, %g : f32
    %5 = arith.addf %4, %b : f32
    linalg.yield %5 : f32
  } -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}

func.func @before(%x: tensor<1x4x4x2xf32>) -> tensor<1x3x3x1xf32> {
  %k = arith.constant dense<0.25> : tensor<1x4x4x2xf32>
  %w = arith.constant dense<[[[[1.0], [2.0]], [[3.0], [4.0]]], [[[5.0], [6.0]], [[7.0], [8.0]]]]> : tensor<2x2x2x1xf32>
  %z = arith.constant dense<0.0> : tensor<1x3x3x1xf32>
  %0 = arith.mulf %x, %k : tensor<1x4x4x2xf32>
  %1 = linalg.conv_2d_nhwc_hwcf ins(%0, %w : tensor<1x4x4x2xf32>, tensor<2x2x2x1xf32>) outs(%z : tensor<1x3x3x1xf32>) -> tensor<1x3x3x1xf32>
  return %1 : tensor<1x3x3x1xf32>
}

func.func @stay(%x: tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %z = arith.constant dense<0.0> : tensor<2x2xf32>
  %rows = arith.constant dense<[[1.0, 1.0], [2.0, 2.0]]> : tensor<2x2xf32>
  %none = arith.constant dense<[[1.0, 0.0], [1.0, 0.0]]> : tensor<2x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<2x3xf32>, tensor<3x2xf32>) outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = arith.mulf %0, %rows : tensor<2x2xf32>
  %2 = linalg.matmul ins(%x, %w : tensor<2x3xf32>, tensor<3x2xf32>) outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = arith.mulf %2, %none : tensor<2x2xf32>
  %4 = linalg.matmul ins(%x, %w : tensor<2x3xf32>, tensor<3x2xf32>) outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
  %5 = arith.mulf %4, %4 : tensor<2x2xf32>
  return %1, %3, %5 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}
