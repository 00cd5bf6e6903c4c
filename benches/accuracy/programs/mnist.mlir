// Handwritten digits, 28 x 28 grey pixels in [0, 1], to the logits of 0..9: two convolutions, each with batch norm, ReLU
// and a max pool, and a dense layer. Batch norm is a factor and a term for each channel. The weights are added when the
// program is written.

func.func @main(%images: tensor<?x28x28x1xf32> {qrt.name = "images"}) -> (tensor<?x10xf32> {qrt.name = "logits"}) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %window = tensor.empty() : tensor<2x2xf32>
  %count = tensor.dim %images, %c0 : tensor<?x28x28x1xf32>

  // 3x3, 1 -> 8 channels, padded by one pixel.
  %conv1_weights = arith.constant dense_resource<conv1_weights> : tensor<8x3x3x1xf32>
  %conv1_factor = arith.constant dense_resource<conv1_factor> : tensor<8xf32>
  %conv1_term = arith.constant dense_resource<conv1_term> : tensor<8xf32>
  %padded = tensor.pad %images low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %h: index, %w: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<?x28x28x1xf32> to tensor<?x30x30x1xf32>
  %empty1 = tensor.empty(%count) : tensor<?x28x28x8xf32>
  %zeros1 = linalg.fill ins(%zero : f32) outs(%empty1 : tensor<?x28x28x8xf32>) -> tensor<?x28x28x8xf32>
  %conv1 = linalg.conv_2d_nhwc_fhwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%padded, %conv1_weights : tensor<?x30x30x1xf32>, tensor<8x3x3x1xf32>)
      outs(%zeros1 : tensor<?x28x28x8xf32>) -> tensor<?x28x28x8xf32>
  %factors1 = linalg.broadcast ins(%conv1_factor : tensor<8xf32>) outs(%empty1 : tensor<?x28x28x8xf32>) dimensions = [0, 1, 2]
  %terms1 = linalg.broadcast ins(%conv1_term : tensor<8xf32>) outs(%empty1 : tensor<?x28x28x8xf32>) dimensions = [0, 1, 2]
  %scaled1 = arith.mulf %conv1, %factors1 : tensor<?x28x28x8xf32>
  %norm1 = arith.addf %scaled1, %terms1 : tensor<?x28x28x8xf32>
  %relu1 = arith.maximumf %norm1, %zeros1 : tensor<?x28x28x8xf32>
  %half1 = tensor.empty(%count) : tensor<?x14x14x8xf32>
  %start1 = linalg.fill ins(%lowest : f32) outs(%half1 : tensor<?x14x14x8xf32>) -> tensor<?x14x14x8xf32>
  %pooled1 = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%relu1, %window : tensor<?x28x28x8xf32>, tensor<2x2xf32>)
      outs(%start1 : tensor<?x14x14x8xf32>) -> tensor<?x14x14x8xf32>

  // 3x3, 8 -> 16 channels.
  %conv2_weights = arith.constant dense_resource<conv2_weights> : tensor<16x3x3x8xf32>
  %conv2_factor = arith.constant dense_resource<conv2_factor> : tensor<16xf32>
  %conv2_term = arith.constant dense_resource<conv2_term> : tensor<16xf32>
  %empty2 = tensor.empty(%count) : tensor<?x12x12x16xf32>
  %zeros2 = linalg.fill ins(%zero : f32) outs(%empty2 : tensor<?x12x12x16xf32>) -> tensor<?x12x12x16xf32>
  %conv2 = linalg.conv_2d_nhwc_fhwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%pooled1, %conv2_weights : tensor<?x14x14x8xf32>, tensor<16x3x3x8xf32>)
      outs(%zeros2 : tensor<?x12x12x16xf32>) -> tensor<?x12x12x16xf32>
  %factors2 = linalg.broadcast ins(%conv2_factor : tensor<16xf32>) outs(%empty2 : tensor<?x12x12x16xf32>) dimensions = [0, 1, 2]
  %terms2 = linalg.broadcast ins(%conv2_term : tensor<16xf32>) outs(%empty2 : tensor<?x12x12x16xf32>) dimensions = [0, 1, 2]
  %scaled2 = arith.mulf %conv2, %factors2 : tensor<?x12x12x16xf32>
  %norm2 = arith.addf %scaled2, %terms2 : tensor<?x12x12x16xf32>
  %relu2 = arith.maximumf %norm2, %zeros2 : tensor<?x12x12x16xf32>
  %half2 = tensor.empty(%count) : tensor<?x6x6x16xf32>
  %start2 = linalg.fill ins(%lowest : f32) outs(%half2 : tensor<?x6x6x16xf32>) -> tensor<?x6x6x16xf32>
  %pooled2 = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%relu2, %window : tensor<?x12x12x16xf32>, tensor<2x2xf32>)
      outs(%start2 : tensor<?x6x6x16xf32>) -> tensor<?x6x6x16xf32>
  %flat = tensor.collapse_shape %pooled2 [[0], [1, 2, 3]] : tensor<?x6x6x16xf32> into tensor<?x576xf32>

  // 576 -> 10.
  %dense_weights = arith.constant dense_resource<dense_weights> : tensor<576x10xf32>
  %dense_bias = arith.constant dense_resource<dense_bias> : tensor<10xf32>
  %empty3 = tensor.empty(%count) : tensor<?x10xf32>
  %biases = linalg.broadcast ins(%dense_bias : tensor<10xf32>) outs(%empty3 : tensor<?x10xf32>) dimensions = [0]
  %logits = linalg.matmul ins(%flat, %dense_weights : tensor<?x576xf32>, tensor<576x10xf32>)
      outs(%biases : tensor<?x10xf32>) -> tensor<?x10xf32>
  return %logits : tensor<?x10xf32>
}
