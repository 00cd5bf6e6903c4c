"""Writes the float network as an MLIR program, for `qrt quantize`."""

from string import Template

from examples.digits.network import Array, Network

PROGRAM = Template("""\
// Handwritten digits, 8 x 8 grey pixels in [0, 1], to the logits of 0..9, in floats.
// Written by examples/digits/write_float.py from the network that examples/digits/train.py trains: change those, not
// this file. `qrt quantize` makes digits.mlir of it.

func.func @main(%images: tensor<?x8x8x1xf32> {qrt.name = "images"}) -> (tensor<?x10xf32> {qrt.name = "logits"}) {
  %axis = arith.constant 0 : index
  %count = tensor.dim %images, %axis : tensor<?x8x8x1xf32>
  %zero = arith.constant 0.0 : f32

  // conv1: 3x3, 1 -> 16 channels, padded by one pixel to stay 8x8, then ReLU.
  %conv1_weights = arith.constant dense_resource<conv1_weights> : tensor<16x3x3x1xf32>
  %conv1_bias = arith.constant dense_resource<conv1_bias> : tensor<16xf32>
  %padded = tensor.pad %images low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%image: index, %row: index, %column: index, %channel: index):
    tensor.yield %zero : f32
  } : tensor<?x8x8x1xf32> to tensor<?x10x10x1xf32>
  %conv1_empty = tensor.empty(%count) : tensor<?x8x8x16xf32>
  %conv1_start = linalg.broadcast ins(%conv1_bias : tensor<16xf32>) outs(%conv1_empty : tensor<?x8x8x16xf32>)
      dimensions = [0, 1, 2]
  %conv1 = linalg.conv_2d_nhwc_fhwc ins(%padded, %conv1_weights : tensor<?x10x10x1xf32>, tensor<16x3x3x1xf32>)
      outs(%conv1_start : tensor<?x8x8x16xf32>) -> tensor<?x8x8x16xf32>
  %conv1_zero = linalg.fill ins(%zero : f32) outs(%conv1_empty : tensor<?x8x8x16xf32>) -> tensor<?x8x8x16xf32>
  %relu1 = arith.maximumf %conv1, %conv1_zero : tensor<?x8x8x16xf32>

  // conv2: 3x3, 16 -> 32 channels, unpadded, so 6x6, then ReLU.
  %conv2_weights = arith.constant dense_resource<conv2_weights> : tensor<32x3x3x16xf32>
  %conv2_bias = arith.constant dense_resource<conv2_bias> : tensor<32xf32>
  %conv2_empty = tensor.empty(%count) : tensor<?x6x6x32xf32>
  %conv2_start = linalg.broadcast ins(%conv2_bias : tensor<32xf32>) outs(%conv2_empty : tensor<?x6x6x32xf32>)
      dimensions = [0, 1, 2]
  %conv2 = linalg.conv_2d_nhwc_fhwc ins(%relu1, %conv2_weights : tensor<?x8x8x16xf32>, tensor<32x3x3x16xf32>)
      outs(%conv2_start : tensor<?x6x6x32xf32>) -> tensor<?x6x6x32xf32>
  %conv2_zero = linalg.fill ins(%zero : f32) outs(%conv2_empty : tensor<?x6x6x32xf32>) -> tensor<?x6x6x32xf32>
  %relu2 = arith.maximumf %conv2, %conv2_zero : tensor<?x6x6x32xf32>

  // Max pool, 2x2. The window is an operand without values: only its shape counts.
  %window = tensor.empty() : tensor<2x2xf32>
  %least = arith.constant 0xFF800000 : f32
  %pool_empty = tensor.empty(%count) : tensor<?x3x3x32xf32>
  %pool_start = linalg.fill ins(%least : f32) outs(%pool_empty : tensor<?x3x3x32xf32>) -> tensor<?x3x3x32xf32>
  %pooled = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%relu2, %window : tensor<?x6x6x32xf32>, tensor<2x2xf32>)
      outs(%pool_start : tensor<?x3x3x32xf32>) -> tensor<?x3x3x32xf32>
  %flat = tensor.collapse_shape %pooled [[0], [1, 2, 3]] : tensor<?x3x3x32xf32> into tensor<?x288xf32>

  // dense: 288 -> 10.
  %dense_weights = arith.constant dense_resource<dense_weights> : tensor<288x10xf32>
  %dense_bias = arith.constant dense_resource<dense_bias> : tensor<10xf32>
  %dense_empty = tensor.empty(%count) : tensor<?x10xf32>
  %dense_start = linalg.broadcast ins(%dense_bias : tensor<10xf32>) outs(%dense_empty : tensor<?x10xf32>)
      dimensions = [0]
  %logits = linalg.matmul ins(%flat, %dense_weights : tensor<?x288xf32>, tensor<288x10xf32>)
      outs(%dense_start : tensor<?x10xf32>) -> tensor<?x10xf32>
  return %logits : tensor<?x10xf32>
}

{-#
  dialect_resources: {
    builtin: {
$blobs
    }
  }
#-}
""")


def blob(values: Array) -> str:
    """A resource's bytes in hexadecimal: its alignment, 4, as a little-endian i32, then the elements as f32."""
    return "0x04000000" + values.astype("<f4").tobytes().hex().upper()


def write_float(network: Network) -> str:
    """The program as text: a function `main` from `images` to `logits`, of any batch size."""
    blobs = (f'      {name}: "{blob(values)}"' for name, values in vars(network).items())
    return PROGRAM.substitute(blobs=",\n".join(blobs))
