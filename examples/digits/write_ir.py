"""Writes the quantized network as an IR program."""

import re
import textwrap
from string import Template

import numpy as np
from numpy.typing import NDArray

from examples.digits.quantize import Constant, QuantizedNetwork
from qrt import UniformType

RESOURCES = ("conv2_weights", "dense_weights")
"""Constants too long to read: their bytes stand after the function."""

PROGRAM = Template("""\
// Handwritten digits, 8 x 8 grey pixels in [0, 1], to the logits of 0..9, in 8-bit integers.
// Written by examples/digits/write_ir.py from a float network trained and calibrated by examples/digits/train.py and
// quantize.py: change those, not this file.
//
// Activations are asymmetric, with one scale and zero point each. Weights are symmetric, with a scale per output
// channel. A bias has the scale of the accumulator it is added to: the input's times the weights'.

!images = $images
!conv1 = $conv1
!conv2 = $conv2
!logits = $logits

!conv1_weights = $conv1_weights_type
!conv1_bias = $conv1_bias_type
!conv2_weights = $conv2_weights_type
!conv2_bias = $conv2_bias_type
!dense_weights = $dense_weights_type
!dense_bias = $dense_bias_type

func.func @main(%images: tensor<?x8x8x1xf32> {qrt.name = "images"}) -> (tensor<?x10xf32> {qrt.name = "logits"}) {
  %input = quant.qcast %images : tensor<?x8x8x1xf32> to tensor<?x8x8x1x!images>

  // conv1: 3x3, 1 -> 16 channels, padded by one pixel to stay 8x8, then ReLU. No op computes the ReLU: the zero point
  // of !conv1 is its least storage value, -128, so clamping the result to the storage range makes negative values 0.
  %conv1_weights_i8 = arith.constant dense<$conv1_weights> : tensor<16x3x3x1xi8>
  %conv1_weights = quant.scast %conv1_weights_i8 : tensor<16x3x3x1xi8> to tensor<16x3x3x1x!conv1_weights>
  %conv1_bias_i32 = arith.constant dense<$conv1_bias> : tensor<16xi32>
  %conv1_bias = quant.scast %conv1_bias_i32 : tensor<16xi32> to tensor<16x!conv1_bias>
  %conv1 = qrt.conv2d %input, %conv1_weights, %conv1_bias {padding = [[1, 1], [1, 1]]}
      : (tensor<?x8x8x1x!images>, tensor<16x3x3x1x!conv1_weights>, tensor<16x!conv1_bias>) -> tensor<?x8x8x16x!conv1>

  // conv2: 3x3, 16 -> 32 channels, unpadded, so 6x6, and ReLU in the same way.
  %conv2_weights_i8 = arith.constant dense_resource<conv2_weights> : tensor<32x3x3x16xi8>
  %conv2_weights = quant.scast %conv2_weights_i8 : tensor<32x3x3x16xi8> to tensor<32x3x3x16x!conv2_weights>
  %conv2_bias_i32 = arith.constant dense<$conv2_bias> : tensor<32xi32>
  %conv2_bias = quant.scast %conv2_bias_i32 : tensor<32xi32> to tensor<32x!conv2_bias>
  %conv2 = qrt.conv2d %conv1, %conv2_weights, %conv2_bias
      : (tensor<?x8x8x16x!conv1>, tensor<32x3x3x16x!conv2_weights>, tensor<32x!conv2_bias>) -> tensor<?x6x6x32x!conv2>

  // Max pool, 2x2: a maximum of storage values is the maximum of what they mean, so the type stays.
  %pooled = qrt.max_pool2d %conv2 {kernel = [2, 2], strides = [2, 2]}
      : (tensor<?x6x6x32x!conv2>) -> tensor<?x3x3x32x!conv2>
  %flat = qrt.reshape %pooled : (tensor<?x3x3x32x!conv2>) -> tensor<?x288x!conv2>

  // dense: 288 -> 10.
  %dense_weights_i8 = arith.constant dense_resource<dense_weights> : tensor<288x10xi8>
  %dense_weights = quant.scast %dense_weights_i8 : tensor<288x10xi8> to tensor<288x10x!dense_weights>
  %dense_bias_i32 = arith.constant dense<$dense_bias> : tensor<10xi32>
  %dense_bias = quant.scast %dense_bias_i32 : tensor<10xi32> to tensor<10x!dense_bias>
  %scores = qrt.matmul %flat, %dense_weights, %dense_bias
      : (tensor<?x288x!conv2>, tensor<288x10x!dense_weights>, tensor<10x!dense_bias>) -> tensor<?x10x!logits>

  %logits = quant.dcast %scores : tensor<?x10x!logits> to tensor<?x10xf32>
  return %logits : tensor<?x10xf32>
}

{-#
  dialect_resources: {
    builtin: {
      conv2_weights: "$conv2_weights",
      dense_weights: "$dense_weights"
    }
  }
#-}
""")


def spelled(element: UniformType) -> str:
    """A type's own text, with scales as the shortest decimals that give the same doubles."""
    text = re.sub(
        r"\d+\.\d+(?:[eE][-+]?\d+)?", lambda m: np.format_float_positional(float(m[0]), trim="0"), str(element)
    )
    return wrapped(text)


def wrapped(text: str) -> str:
    """`text` in lines of at most 100 characters, broken after its commas."""
    return textwrap.fill(re.sub(r",\s*", ", ", text), 100, subsequent_indent="    ")


def dense(values: NDArray[np.integer]) -> str:
    """A decimal `dense` literal; of more than one dimension, a line for each index of the first."""
    if values.ndim == 1:
        return wrapped(str(values.tolist()))
    rows = ",\n".join(f"    {row.tolist()}" for row in values)
    return f"[\n{rows}]"


def blob(values: NDArray[np.integer]) -> str:
    """A resource's bytes in hexadecimal: its alignment, 1, as a little-endian i32, then the elements."""
    return "0x01000000" + values.tobytes().hex().upper()


def write_ir(network: QuantizedNetwork) -> str:
    """The program as text: a function `main` from `images` to `logits`, of any batch size."""
    slots = {}
    for name, value in vars(network).items():
        if isinstance(value, Constant):
            slots[f"{name}_type"] = spelled(value.type)
            slots[name] = (blob if name in RESOURCES else dense)(value.storage)
        else:
            slots[name] = spelled(value)
    return PROGRAM.substitute(slots)
