"""`quant`: upstream's casts, and ops that upstream no longer has or never had."""

FAKE_QUANTS = ("quant.const_fake_quant", "quant.const_fake_quant_per_axis")
"""The ops that round floats to values that a quantized type represents."""
