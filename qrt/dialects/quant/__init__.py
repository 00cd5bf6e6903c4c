"""`quant`: upstream's casts, and what upstream does not have or no longer has."""

FILES = {
    "annotations": "coupled_ref stats stats_ref",
    "extras": "cast conv2d matmul",
    "fake_quant": "const_fake_quant const_fake_quant_per_axis",
    "region": "region return",
}
"""The ops of each file but `ops`."""
FAKE_QUANTS = tuple(f"quant.{name}" for name in FILES["fake_quant"].split())
"""The ops that round floats to what a quantized type can say."""
