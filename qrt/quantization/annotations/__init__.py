"""Annotations of float programs: recorded ranges, fake quantization, and quantized types of arguments and results."""
