"""LiteRT's default build on x86-64: XNNPACK's kernels where the delegate takes a node, the builtin ones elsewhere."""

from qrt.profiles.model import Profile, Range, Row

_BYTES = ("i8", "u8")
_FUSED = Range(0.0, 256.0)
"""The multipliers that XNNPACK's kernels take."""
_SUMMED = Range(2.0**-10, 2.0**8)
_SLOPES = Range(2.0**-8, 2.0**7)
"""The ratios of scales that its sums and its slopes take."""
_TABLES = ("EXP", "GELU", "HARD_SWISH", "LOG", "RSQRT", "SQRT")
"""The functions that a table of 256 entries computes."""

LITERT = Profile(
    "litert",
    "ai-edge-litert 2.3",
    "the default build on x86-64, which uses XNNPACK",
    (
        Row("activation", "half_even", {"kernel": "delegate"}),
        Row("activation", "half_away"),
        Row("conv2d", "float32", {"storage": _BYTES, "multiplier": _FUSED}, "delegate"),
        Row("conv2d", "reduced16", {"storage": "i16", "bias": ("i64", None)}),
        Row("conv2d", "fixed_double", {"storage": "i16", "bias": "i32"}),
        Row("depthwise_conv2d", "float32", {"storage": _BYTES, "multiplier": _FUSED}, "delegate"),
        Row("depthwise_conv2d", "reduced16", {"storage": "i16"}),
        Row("fully_connected", "half_up_twice", {"storage": "i8", "weight_offset": True}),
        Row("fully_connected", "float32", {"storage": _BYTES, "multiplier": _FUSED}, "delegate"),
        Row("fully_connected", "reduced16", {"storage": "i16", "bias": ("i64", None)}),
        Row("fully_connected", "fixed_double", {"storage": "i16", "bias": "i32"}),
        Row("add", "scaled20", {"storage": _BYTES, "ratio": _SUMMED, "largest_ratio": _SUMMED}, "delegate"),
        Row("add", "fixed_double", {"storage": (*_BYTES, "i16")}),
        Row("mul", "float32", {"storage": _BYTES, "multiplier": _FUSED}, "delegate"),
        Row("mul", "fixed_double_f32", {"storage": "i16"}),
        Row("transpose_conv2d", "float32", {"storage": _BYTES, "multiplier": _FUSED}, "delegate"),
        Row("transpose_conv2d", "reduced16", {"storage": "i16", "bias": ("i64", None)}),
        Row("transpose_conv2d", "fixed_double", {"storage": "i16", "bias": "i32"}),
        Row("batch_matmul", "float32", {"storage": "i8", "weight_offset": False, "multiplier": _FUSED}, "delegate"),
        Row("batch_matmul", "fixed_double", {"storage": "i8"}),
        Row("div", "fixed_double", {"storage": _BYTES}),
        Row("squared_difference", "fixed_double", {"storage": "i8"}),
        Row("maximum_minimum", "exact", {"storage": (*_BYTES, "i16")}),
        Row("leaky_relu", "fixed8", {"storage": _BYTES, "ratio": _SLOPES, "slope": _SLOPES}, "delegate"),
        Row("leaky_relu", "fixed_double_f32", {"storage": (*_BYTES, "i16")}),
        Row("prelu", "fixed_double_f32", {"storage": (*_BYTES, "i16")}),
        Row("relu", "fixed_double_f32", {"storage": (*_BYTES, "i16")}),
        Row("abs", "fixed_double_f32", {"storage": ("i8", "i16")}),
        Row("neg", "exact", {"storage": "i8"}),
        Row("average_pool2d", "integer", {"storage": (*_BYTES, "i16")}),
        Row("max_pool2d", "exact", {"storage": _BYTES}, "delegate"),
        Row("max_pool2d", "exact", {"storage": "i16"}),
        Row("mean", "raw_mean", {"storage": _BYTES}, "delegate"),
        Row("sum", "float32", {"storage": _BYTES}, "delegate"),
        Row("softmax", "table_float32", {"storage": _BYTES}),
        Row("softmax", "table_int16", {"storage": "i16"}),
        Row("log_softmax", "table_float32", {"storage": _BYTES}),
        Row("logistic", "gemmlowp", {"storage": "i16", "scale": 2.0**-12}),
        Row("logistic", "table_uint16", {"storage": "i16"}),
        Row("tanh", "gemmlowp", {"storage": "i16", "scale": (2.0**-12, 2.0**-11)}),
        Row("tanh", "table_uint16", {"storage": "i16"}),
        Row("table", "half_even", {"function": ("ELU", "LOGISTIC", "TANH")}, "delegate"),
        Row("table", "half_away", {"function": _TABLES}),
        Row("quantize", "reciprocal", {"storage": _BYTES}, "delegate"),
        Row("quantize", "divide", {"storage": "i16"}),
        Row("dequantize", "multiply"),
        Row("requantize", "exact", {"is_shift": True}),
        Row("requantize", "fixed8", {"source": "i8", "storage": "i8", "ratio": Range(2.0**-8, 2.0**7)}, "delegate"),
        Row("requantize", "fixed8", {"source": "u8", "storage": "u8", "ratio": Range(2.0**-8, 2.0**7)}, "delegate"),
        Row("requantize", "half_up_twice_16", {"source": _BYTES, "storage": _BYTES}),
        Row("requantize", "fixed_double"),
        Row("concatenation", "table", {"storage": "u8"}),
        Row("concatenation", "exact", {"is_equal": True}),
    ),
)
