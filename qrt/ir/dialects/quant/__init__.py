"""`quant`: upstream's casts, and what upstream does not have or no longer has."""

FAKE_QUANTS = ("quant.const_fake_quant", "quant.const_fake_quant_per_axis")
"""The ops that round floats to what a quantized type can say."""
