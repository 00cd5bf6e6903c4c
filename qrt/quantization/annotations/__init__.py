"""Annotations of float programs: statistics, fake quantization, and the types at the boundary of a program."""
