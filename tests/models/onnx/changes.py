"""Changes of one constant each of ONNX Runtime's rules, with the forms of `stored.txt` that must notice them:
`python -m tests.models.mutations` makes them."""

from tests.source_changes import Change

RULES, ROUNDING = "qrt/numerics/rules.py", "qrt/numerics/requantization.py"
SUMS = "qrt/numerics/addition.py"
SOFTMAXES, DYNAMIC, POOL = "qrt/numerics/softmaxes.py", "qrt/numerics/dynamic.py", "qrt/ops/pool.py"
TABLES, CASTS = "qrt/models/onnx/tables.py", "qrt/models/onnx/operators/casts.py"
PRODUCTS, CONVOLUTION = "qrt/models/onnx/operators/products.py", "qrt/models/onnx/operators/convolution.py"
INTEGER_PRODUCTS = "qrt/models/onnx/operators/integer_products.py"
AVERAGES, ORDERS = "qrt/numerics/sums.py", "qrt/ir/passes/lower_qrt/averages.py"
POOLING = "qrt/models/onnx/operators/pooling.py"
COORDINATES, ORDER = "qrt/models/onnx/coordinates.py", "qrt/models/onnx/operators/quantized.py"
ARITHMETIC, NARROW = "qrt/models/onnx/operators/arithmetic.py", "qrt/models/onnx/operators/narrow_floats.py"
GROUPED, CELL = "qrt/models/onnx/operators/grouped_attention.py", "qrt/models/onnx/operators/recurrent.py"
PACKED, PROFILE = "qrt/models/onnx/operators/weight_only.py", "qrt/models/profiles/ort.py"

FORMS: dict[Change, tuple[str, ...]] = {
    # Products.
    (
        ROUNDING,
        "round_integral(np.minimum(np.maximum(scaled, low), high), rounding)",
        "np.trunc(np.minimum(np.maximum(scaled, low), high))",
    ): ("QLinearConv",),
    (RULES, '"float32", FLOAT32, form_float, "float32"', '"float32", FLOAT32, form_float, "float64"'): (
        "QLinearMatMul",
    ),
    (PROFILE, '"conv2d", "float32"', '"conv2d", "fixed"'): ("QLinearConv, halves",),
    (PROFILE, '"depthwise_conv2d", "float32"', '"depthwise_conv2d", "fixed"'): ("QLinearConv, halves, depth",),
    (PROFILE, '"matmul", "float32"', '"matmul", "fixed"'): ("QLinearMatMul, halves",),
    (PRODUCTS, 'UniformType("i32", "f32", x.scale * w.scale)', 'UniformType("i32", "f32", w.scale)'): ("QGemm",),
    (INTEGER_PRODUCTS, "np.zeros(1) if self.baked is None else self.baked", "np.zeros(1)"): ("MatMulInteger",),
    (CONVOLUTION, "none if zero is None else zero, 0)", "none, 0)"): ("ConvInteger",),
    # Sums and elementwise products.
    (SUMS, "zo - _FMA(ra, za, rb * zb)", "zo - (ra * za + rb * zb)"): ("QLinearAdd",),
    (SUMS, "zo - _FMA(ra, za, rb * zb)", "zo - _FMA(rb, zb, ra * za)"): ("QLinearAdd",),
    (
        SUMS,
        "inner = _FMA(b.astype(np.float32), p.b_scale[index], p.end.offset_f32[index])",
        "inner = b.astype(np.float32) * p.b_scale[index] + p.end.offset_f32[index]",
    ): ("QLinearAdd",),
    (PROFILE, '"add", "float32_fused"', '"add", "fixed"'): ("QLinearAdd",),
    (ORDER, "return orders == {True}", "return orders == {False}"): ("QLinearAdd int8, every pair",),
    # Resized images.
    (COORDINATES, "_TIE = np.float32(1e-6)", "_TIE = np.float32(0)"): ("Resize int8, nearest",),
    (COORDINATES, "places = (at + one(0.5)) / scale - one(0.5)", "places = (at + one(0.5)) / scale"): ("Resize",),
    (PROFILE, '"mul", "zero_point_first"', '"mul", "float32"'): ("QLinearMul, halves",),
    (ROUNDING, '"add": np.add', '"add": lambda scaled, offset: np.rint(scaled) + offset'): ("QLinearMul",),
    # Averages.
    (
        RULES,
        '("divide", "multiplier"), ("divide", "divisor_f32")',
        '("divide", "divisor_f32"), ("divide", "multiplier")',
    ): ("QLinearAveragePool",),
    (RULES, '"divisor_f32": _ratios(f.below, none,', '"divisor_f32": _ratios(f.above, none,'): ("QLinearAveragePool",),
    (POOL, "parameters_of(x, q.shape)[0].astype(np.float32)", "parameters_of(x, q.shape)[0]"): ("QLinearAveragePool",),
    (PROFILE, '"mean", "float32_divisor_first"', '"mean", "float32"'): ("QLinearGlobalAveragePool",),
    (PROFILE, '"average_pool2d", "dequantized", ', '"average_pool2d", "fixed", '): ("QLinearAveragePool",),
    (PROFILE, '"dequantized_lanes"', '"dequantized_rows"'): ("QDQ GlobalAveragePool",),
    (PROFILE, '"dequantized_columns"', '"dequantized_rows"'): ("QDQ AveragePool",),
    (
        AVERAGES,
        "(lanes[..., 0] + lanes[..., 2]) + (lanes[..., 1]",
        "(lanes[..., 1] + lanes[..., 2]) + (lanes[..., 0]",
    ): ("QDQ GlobalAveragePool",),
    (AVERAGES, "_added(_added(windows, -2), -1)", "_added(_added(windows, -1), -1)"): ("QDQ AveragePool",),
    (
        RULES,
        '"dequantized_rows", DEQUANTIZED, form_dequantized, "float32", "after"',
        '"dequantized_rows", DEQUANTIZED, form_dequantized, "float32", "before"',
    ): ("QDQ AveragePool",),
    (POOLING, "opset >= 19", "opset >= 20"): ("QDQ AveragePool", "AveragePool"),
    (POOLING, "opset >= 19 or counts_beyond", "opset >= 19"): ("QDQ AveragePool", "AveragePool"),
    (POOLING, "form.strides[-1] <= 2", "form.strides[-1] <= 3"): ("QDQ AveragePool", "AveragePool"),
    (POOLING, "_MOST_KERNEL, _MOST_WIDTH = 32", "_MOST_KERNEL, _MOST_WIDTH = 33"): ("AveragePool, two",),
    (POOLING, "32, 2045", "32, 2044"): ("AveragePool, two",),
    (ORDERS, "[_sum(nest, parts[lane], parts[lane + 2])", "[_sum(nest, parts[lane], parts[3 - lane])"): (
        "GlobalAveragePool",
    ),
    # Functions.
    (SOFTMAXES, "max(most - 5.0, 0.0)", "max(most - 4.0, 0.0)"): ("QLinearSoftmax",),
    (SOFTMAXES, "np.float32(max(size, 1))", "np.float32(max(size, 1) + 1)"): ("QLinearSoftmax",),
    (
        SOFTMAXES,
        "dtype=np.float32).take([-1], axis=axis)\n        scaled = entries * softmax_units",
        "dtype=np.float64).take([-1], axis=axis)\n        scaled = entries * softmax_units",
    ): ("QLinearSoftmax",),
    (SOFTMAXES, "np.float32(np.floor(np.float32(1) / np.float32(scale)))", "np.float32(1) / np.float32(scale)"): (
        "QLinearSoftmax",
    ),
    (PROFILE, '"softmax", "table_shifted"', '"softmax", "table_float32"'): ("QLinearSoftmax",),
    (TABLES, "_FARTHEST = 18.0", "_FARTHEST = 3.0"): ("QLinearSigmoid",),
    (TABLES, "1.70198817374094e-03", "1.70198817374094e-04"): ("QLinearSigmoid",),
    (TABLES, "below + F32(0.5), F32(0)", "below + F32(0.4), F32(0)"): ("QLinearSigmoid",),
    (TABLES, "np.where(x >= 0, x, F32(alpha) * x)", "np.where(x >= 1, x, F32(alpha) * x)"): ("QLinearLeakyRelu",),
    (TABLES, ") / F32(out.scale)", ") * (F32(1) / F32(out.scale))"): ("QLinearLeakyRelu, halves",),
    (TABLES, "rounded = np.rint(", "rounded = np.trunc("): ("QLinearConcat",),
    (TABLES, "rounded = np.rint(np.minimum", "rounded = np.floor(F32(0.5) + np.minimum"): ("QLinearLeakyRelu, halves",),
    # Casts.
    (CASTS, '"divide": {"zero_point": "after"}', '"divide": {}'): ("QuantizeLinear",),
    (PROFILE, '"quantize", "divide"', '"quantize", "divide_before"'): ("QuantizeLinear",),
    ("qrt/numerics/casts.py", 'if scale_form == "divide" else', 'if scale_form != "divide" else'): ("QuantizeLinear",),
    ("qrt/numerics/casts.py", "round_integral(scaled, rounding)", 'round_integral(scaled, "half_away")'): (
        "QuantizeLinear",
    ),
    (ARITHMETIC, '"math.round", [x]', '"math.roundeven", [x]'): ("Cast FLOAT",),
    (NARROW, '"up": (0x3FFFFF, 0x7FFFFF)', '"up": (0x3FFFFF, 0x400000)'): ("Cast to FLOAT8E8M0, up",),
    (NARROW, '"nearest": (0x200000, 0x400000)', '"nearest": (0x200000, 0x3FFFFF)'): ("Cast to FLOAT8E8M0, near",),
    (NARROW, "0 if saturates else 255", "1 if saturates else 255"): ("Cast to FLOAT8E8M0",),
    # Attention.
    (
        GROUPED,
        "graph.integers(self.steps - 1)), graph.integers(0))",
        "graph.integers(self.steps)), graph.integers(0))",
    ): ("GroupQueryAttention, plain, further",),
    (GROUPED, 'first = graph.add("Sub", own, graph.integers(window))', 'first = graph.add("Sub", own, own)'): (
        "GroupQueryAttention, window",
    ),
    (GROUPED, "sinks = graph.constant(np.zeros(", "sinks = graph.constant(np.ones("): ("GroupQueryAttention, smooth",),
    (CELL, "if is_backward else steps, last, c]", "if not is_backward else steps, last, c]"): (
        "DynamicQuantizeLSTM reverse, lengths",
    ),
    # What is quantized at run time.
    (CASTS, "span, number_of(255, F32)", "span, number_of(254, F32)"): ("DynamicQuantizeLinear",),
    (CASTS, 'floats("arith.addf", rounded, point)', 'floats("arith.subf", rounded, point)'): ("DynamicQuantizeLinear",),
    (CASTS, 'compare(node, "eq", span, number_of(0, F32), F32)', 'compare(node, "eq", span, number_of(1, F32), F32)'): (
        "DynamicQuantizeLinear",
    ),
    (DYNAMIC, "MOST: Final = 255", "MOST: Final = 254"): ("DynamicQuantizeMatMul",),
    (DYNAMIC, "int(np.rint(np.clip(zero_point", "int(np.floor(np.clip(zero_point"): ("DynamicQuantizeMatMul",),
    (DYNAMIC, "steps = np.rint(", "steps = np.floor("): ("DynamicQuantizeMatMul",),
    (DYNAMIC, "np.fmin.reduce(x, None, initial=0)", "np.fmin.reduce(x, None)"): ("DynamicQuantizeMatMul",),
    (DYNAMIC, "enter, out, forget, candidate = ", "enter, forget, out, candidate = "): ("DynamicQuantizeLSTM",),
    (DYNAMIC, "reversed(range(steps)) if reverse", "reversed(range(steps)) if not reverse"): ("DynamicQuantizeLSTM",),
    (DYNAMIC, "62 / 2835, -17 / 315, 2 / 15, -1 / 3", "62 / 2835, -17 / 315, 2 / 15, -1 / 4"): ("DynamicQuantizeLSTM",),
    (DYNAMIC, "TANH_NEAR: Final = 1 / 16", "TANH_NEAR: Final = 1"): ("DynamicQuantizeLSTM",),
    (PACKED, "np.full((columns, blocks), 1 << (bits - 1)", "np.full((columns, blocks), 1 << (bits - 2)"): (
        "MatMulNBits",
    ),
}
"""Each change with the words with which forms begin."""
