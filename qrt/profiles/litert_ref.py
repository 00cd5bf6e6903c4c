"""LiteRT's reference kernels: what its resolver BUILTIN_REF runs."""

from qrt.profiles.model import Profile, Row

_BYTES = ("i8", "u8")
_TABLES = ("EXP", "GELU", "HARD_SWISH", "LOG", "LOGISTIC", "RSQRT", "SQRT", "TANH")
"""The functions that a table of 256 entries computes."""

LITERT_REF = Profile(
    "litert-ref",
    "ai-edge-litert 2.3",
    "the reference kernels, BUILTIN_REF",
    (
        Row("activation", "half_away"),
        Row("conv2d", "fixed_double", {"storage": _BYTES}, "reference"),
        Row("conv2d", "reduced16", {"storage": "i16", "bias": ("i64", None)}, "reference"),
        Row("conv2d", "fixed_double", {"storage": "i16", "bias": "i32"}, "reference"),
        Row("depthwise_conv2d", "fixed_double", {"storage": _BYTES}, "reference"),
        Row("depthwise_conv2d", "reduced16", {"storage": "i16"}, "reference"),
        Row("fully_connected", "float64_away", {"storage": _BYTES}, "reference"),
        Row("fully_connected", "reduced16", {"storage": "i16", "bias": ("i64", None)}, "reference"),
        Row("fully_connected", "fixed_double", {"storage": "i16", "bias": "i32"}, "reference"),
        Row("add", "fixed_double", {"storage": (*_BYTES, "i16")}, "reference"),
        Row("mul", "fixed_double_f32", {"storage": (*_BYTES, "i16")}, "reference"),
        Row("transpose_conv2d", "fixed_double", {"storage": _BYTES}, "reference"),
        Row("transpose_conv2d", "reduced16", {"storage": "i16", "bias": ("i64", None)}, "reference"),
        Row("transpose_conv2d", "fixed_double", {"storage": "i16", "bias": "i32"}, "reference"),
        Row("batch_matmul", "fixed_double", {"storage": "i8"}, "reference"),
        Row("div", "fixed_double", {"storage": _BYTES}, "reference"),
        Row("squared_difference", "fixed_double", {"storage": "i8"}, "reference"),
        Row("maximum_minimum", "exact", {"storage": (*_BYTES, "i16")}, "reference"),
        Row("leaky_relu", "fixed_double_f32", {"storage": (*_BYTES, "i16")}, "reference"),
        Row("prelu", "fixed_double_f32", {"storage": (*_BYTES, "i16")}, "reference"),
        Row("relu", "fixed_double_f32", {"storage": (*_BYTES, "i16")}, "reference"),
        Row("abs", "fixed_double_f32", {"storage": ("i8", "i16")}, "reference"),
        Row("neg", "exact", {"storage": "i8"}, "reference"),
        Row("average_pool2d", "integer", {"storage": (*_BYTES, "i16")}, "reference"),
        Row("max_pool2d", "exact", {"storage": (*_BYTES, "i16")}, "reference"),
        Row("mean", "fixed_double", {"storage": (*_BYTES, "i16")}, "reference"),
        Row("sum", "fixed_double", {"storage": "u8"}, "reference"),
        Row("softmax", "gemmlowp", {"storage": _BYTES}, "reference"),
        Row("softmax", "table_int16", {"storage": "i16"}, "reference"),
        Row("log_softmax", "gemmlowp", {"storage": _BYTES}, "reference"),
        Row("logistic", "table_uint16", {"storage": "i16"}, "reference"),
        Row("tanh", "table_uint16", {"storage": "i16"}, "reference"),
        Row("table", "half_away", {"function": _TABLES}, "reference"),
        Row("quantize", "divide", {"storage": (*_BYTES, "i16")}, "reference"),
        Row("dequantize", "multiply", {}, "reference"),
        Row("requantize", "exact", {"is_shift": True}, "reference"),
        Row("requantize", "fixed_double", {}, "reference"),
        Row("concatenation", "table", {"storage": "u8"}, "reference"),
        Row("concatenation", "exact", {"is_equal": True}, "reference"),
    ),
)
