// Handwritten digits, 8 x 8 grey pixels in [0, 1], to the logits of 0..9: two convolutions with ReLU, a max pool and a
// dense layer. The weights are added when the program is written.

func.func @main(%images: tensor<?x8x8x1xf32> {qrt.name = "images"}) -> (tensor<?x10xf32> {qrt.name = "logits"}) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %count = tensor.dim %images, %c0 : tensor<?x8x8x1xf32>

  // 3x3, 1 -> 16 channels, padded by one pixel.
  %conv1_weights = arith.constant dense_resource<conv1_weights> : tensor<16x3x3x1xf32>
  %conv1_bias = arith.constant dense_resource<conv1_bias> : tensor<16xf32>
  %padded1 = tensor.pad %images low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %h: index, %w: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<?x8x8x1xf32> to tensor<?x10x10x1xf32>
  %empty1 = tensor.empty(%count) : tensor<?x8x8x16xf32>
  %zeros1 = linalg.fill ins(%zero : f32) outs(%empty1 : tensor<?x8x8x16xf32>) -> tensor<?x8x8x16xf32>
  %conv1 = linalg.conv_2d_nhwc_fhwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%padded1, %conv1_weights : tensor<?x10x10x1xf32>, tensor<16x3x3x1xf32>)
      outs(%zeros1 : tensor<?x8x8x16xf32>) -> tensor<?x8x8x16xf32>
  %biases1 = linalg.broadcast ins(%conv1_bias : tensor<16xf32>) outs(%empty1 : tensor<?x8x8x16xf32>) dimensions = [0, 1, 2]
  %sum1 = arith.addf %conv1, %biases1 : tensor<?x8x8x16xf32>
  %relu1 = arith.maximumf %sum1, %zeros1 : tensor<?x8x8x16xf32>

  // 3x3, 16 -> 32 channels, padded by one pixel.
  %conv2_weights = arith.constant dense_resource<conv2_weights> : tensor<32x3x3x16xf32>
  %conv2_bias = arith.constant dense_resource<conv2_bias> : tensor<32xf32>
  %empty2 = tensor.empty(%count) : tensor<?x8x8x32xf32>
  %zeros2 = linalg.fill ins(%zero : f32) outs(%empty2 : tensor<?x8x8x32xf32>) -> tensor<?x8x8x32xf32>
  %padded2 = tensor.pad %relu1 low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %h: index, %w: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<?x8x8x16xf32> to tensor<?x10x10x16xf32>
  %conv2 = linalg.conv_2d_nhwc_fhwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%padded2, %conv2_weights : tensor<?x10x10x16xf32>, tensor<32x3x3x16xf32>)
      outs(%zeros2 : tensor<?x8x8x32xf32>) -> tensor<?x8x8x32xf32>
  %biases2 = linalg.broadcast ins(%conv2_bias : tensor<32xf32>) outs(%empty2 : tensor<?x8x8x32xf32>) dimensions = [0, 1, 2]
  %sum2 = arith.addf %conv2, %biases2 : tensor<?x8x8x32xf32>
  %relu2 = arith.maximumf %sum2, %zeros2 : tensor<?x8x8x32xf32>

  %window = tensor.empty() : tensor<2x2xf32>
  %empty3 = tensor.empty(%count) : tensor<?x4x4x32xf32>
  %start = linalg.fill ins(%lowest : f32) outs(%empty3 : tensor<?x4x4x32xf32>) -> tensor<?x4x4x32xf32>
  %pooled = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%relu2, %window : tensor<?x8x8x32xf32>, tensor<2x2xf32>)
      outs(%start : tensor<?x4x4x32xf32>) -> tensor<?x4x4x32xf32>
  %flat = tensor.collapse_shape %pooled [[0], [1, 2, 3]] : tensor<?x4x4x32xf32> into tensor<?x512xf32>

  // 512 -> 10.
  %dense_weights = arith.constant dense_resource<dense_weights> : tensor<512x10xf32>
  %dense_bias = arith.constant dense_resource<dense_bias> : tensor<10xf32>
  %empty4 = tensor.empty(%count) : tensor<?x10xf32>
  %biases = linalg.broadcast ins(%dense_bias : tensor<10xf32>) outs(%empty4 : tensor<?x10xf32>) dimensions = [0]
  %logits = linalg.matmul ins(%flat, %dense_weights : tensor<?x512xf32>, tensor<512x10xf32>)
      outs(%biases : tensor<?x10xf32>) -> tensor<?x10xf32>
  return %logits : tensor<?x10xf32>
}
