"""Profile of ONNX Runtime's CPU kernels on x86-64 with VNNI, with graph optimizations off."""

from qrt.models.profiles.model import Profile, Row

_BYTES = ("i8", "u8")

ORT = Profile(
    "ort",
    "onnxruntime 1.31",
    "its CPU kernels on x86-64 with AVX2 and VNNI, optimizations off",
    (
        Row("conv2d", "float32", {"storage": _BYTES}),
        Row("depthwise_conv2d", "float32", {"storage": _BYTES}),
        Row("matmul", "float32", {"storage": _BYTES}),
        Row("add", "float32_fused", {"storage": _BYTES}),
        Row("mul", "zero_point_first", {"storage": _BYTES}),
        Row("average_pool2d", "dequantized_lanes", {"storage": _BYTES, "folded": True, "sum": "lanes"}),
        Row("average_pool2d", "dequantized_columns", {"storage": _BYTES, "folded": True, "sum": "columns"}),
        Row("average_pool2d", "dequantized_rows", {"storage": _BYTES, "folded": True, "sum": "rows"}),
        Row("average_pool2d", "dequantized", {"storage": _BYTES, "folded": False}),
        Row("mean", "float32_divisor_first", {"storage": _BYTES}),
        Row("sum", "float32", {"storage": _BYTES}),
        Row("softmax", "table_float32", {"storage": _BYTES, "folded": True}),
        Row("softmax", "table_shifted", {"storage": _BYTES, "folded": False}),
        Row("table", "half_even", {"storage": _BYTES}),
        Row("quantize", "divide"),
        Row("dequantize", "multiply"),
        Row("float_products", "fma_then_bias"),
        Row("float_softmax", "divide"),
    ),
    ".onnx",
)
