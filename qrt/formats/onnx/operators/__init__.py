"""The operators of ONNX, by subject: each file of this folder has a line here with what it imports. It is loaded when a
model has one of these operators. A name outside of ONNX's own domain has its domain before it.
"""

FILES = {
    "casts": "DequantizeLinear QuantizeLinear",
    "convolution": "Conv QLinearConv",
    "movement": "Reshape",
}
"""The operators of each file."""
