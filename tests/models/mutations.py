"""Changes one constant of one rule at a time: the comparison with the stored results of LiteRT or of ONNX Runtime must
notice. By hand, in minutes:

    python -m tests.models.mutations [WORD ...]

Only changes of files whose path has one of the words. The changed references run in a copy of the repository, on the
stored models of the forms that the rule is about: `tests.kernels` and `tests.ir.passes` hold kernels and lowerings to
the references. Prints for each change which forms noticed it. The status is 1 if there are changes that none notices.
"""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.models.onnx import changes as onnx_changes
from tests.source_changes import Change, changed, main

RULES, ROUNDING = "qrt/numerics/rules.py", "qrt/numerics/requantization.py"
MULTIPLIERS = "qrt/numerics/multipliers.py"
SUMS, RESIZING, GEMMLOWP = "qrt/numerics/addition.py", "qrt/numerics/resizing.py", "qrt/numerics/gemmlowp.py"
SOFTMAXES, SIGMOIDS = "qrt/numerics/softmaxes.py", "qrt/numerics/sigmoids.py"
FLOATS32, FUNCTIONS = "qrt/numerics/floats32.py", "qrt/numerics/fixed_functions.py"
RECURRENT, INTERPOLATION = "qrt/numerics/recurrent.py", "qrt/numerics/tables.py"
LSTM = "qrt/numerics/recurrent.py"
TABLES = "qrt/models/tflite/tables.py"
PROFILE, REFERENCE = "qrt/models/profiles/litert.py", "qrt/models/profiles/litert_ref.py"

RECURRENT_FLOAT = "qrt/models/tflite/operators/recurrent_plain.py"
BASIC = "qrt/models/tflite/operators/recurrent_basic.py"
SVDF_FLOAT = "qrt/models/tflite/operators/svdf_plain.py"
DETECTIONS = "qrt/numerics/detections.py"
COMPARED = "qrt/numerics/comparisons.py"
HYBRID = "qrt/models/tflite/operators/hybrid.py"
AT_RUN_TIME = "qrt/models/tflite/operators/run_time_quantization.py"
ARITHMETIC = "qrt/models/tflite/operators/arithmetic.py"

FORMS: dict[Change, tuple[str, ...]] = {
    # Products and what rescales.
    (
        ROUNDING,
        "round_integral(np.minimum(np.maximum(scaled, low), high), rounding)",
        "np.floor(0.5 + np.minimum(np.maximum(scaled, low), high))",
    ): ("FULLY_CONNECTED u8",),
    (RULES, '(("multiply", "scale_f64"),), ("half_away",)', '(("multiply", "scale_f64"),), ("half_even",)'): (
        "FULLY_CONNECTED i8",
    ),
    (GEMMLOWP, "threshold = (mask >> 1) + (values < 0)", "threshold = mask >> 1"): ("CONV_2D i8",),
    (GEMMLOWP, "(product + half) >> (bits - 1)", "product >> (bits - 1)"): ("CONV_2D i8",),
    (RULES, '_f32", FIXED_DOUBLE, form_double, "float32"', '_f32", FIXED_DOUBLE, form_double, "float64"'): (
        "MUL i8",
        "MUL i16",
    ),
    (GEMMLOWP, "half = (np.int64(1) << right) >> 1", "half = ((np.int64(1) << right) - 1) >> 1"): (
        "FULLY_CONNECTED i8, weight zero point",
    ),
    (MULTIPLIERS, "(m0 + (1 << 15)) >> 16", "m0 >> 16"): ("CONV_2D i16, bias i64",),
    (MULTIPLIERS, "np.ldexp(ratios.astype(np.float64), 8)", "np.ldexp(ratios.astype(np.float64), 9)"): (
        "QUANTIZE i8 to i8",
    ),
    (RULES, "(np.float32(1) / f.counts.astype(np.float32))", "np.float32(1) / f.counts.astype(np.float32)"): ("MEAN",),
    (ROUNDING, "divisor // 2) // divisor", "(divisor - 1) // 2) // divisor"): ("AVERAGE_POOL_2D i8",),
    # Sums.
    (SUMS, "places = ADD_FRACTION_BITS + 1 -", "places = ADD_FRACTION_BITS -"): ("ADD i8",),
    (SUMS, "twice, unit = 2 * np.maximum", "twice, unit = np.maximum"): ("ADD i8",),
    (SUMS, "return 20 if max(widths) <= 8 else 15", "return 19 if max(widths) <= 8 else 15"): ("ADD i8",),
    (SUMS, "return 20 if max(widths) <= 8 else 15", "return 20 if max(widths) <= 8 else 14"): ("ADD i16",),
    (SUMS, "BLOCK: Final = 16", "BLOCK: Final = 8"): ("ADD i16", "QUANTIZE i8 to u8"),
    # Division, resizing.
    (GEMMLOWP, "half = 1 << (bits - 2)", "half = 1 << (bits - 3)"): ("DIV u8", "SQUARED_DIFFERENCE i8"),
    (GEMMLOWP, "for _ in range(3):", "for _ in range(2):"): ("SOFTMAX i8 to i16",),
    (GEMMLOWP, "places & 31", "places & 63"): ("DIV i8",),
    (GEMMLOWP, "_SQUARE_BITS = 7", "_SQUARE_BITS = 6"): ("SQUARED_DIFFERENCE i8",),
    (RESIZING, "(1 << 21)) >> 22", "(1 << 21) - 1) >> 22"): ("RESIZE_BILINEAR i8",),
    (RESIZING, "1 << 19, -(1 << 19)", "1 << 19, (1 << 19)"): ("RESIZE_BILINEAR i8",),
    (RESIZING, "(total + _HALF)", "total"): ("RESIZE_BILINEAR u8",),
    (RESIZING, "np.rint(weights", "np.floor(weights"): ("RESIZE_BILINEAR i8",),
    (RESIZING, "(_HALF * scale - _HALF)", "(_HALF * scale)"): ("RESIZE_BILINEAR f32",),
    (RESIZING, "places - whole >= _HALF", "places - whole > _HALF"): ("RESIZE_NEAREST_NEIGHBOR i8",),
    ("qrt/models/tflite/operators/movement.py", "np.copysign(np.float32(0.5), scaled)", "np.float32(0.5)"): (
        "CONCATENATION u8, unequal",
    ),
    # Functions and sequences.
    (SOFTMAXES, "entries * (np.float32(1) / (total", "entries / ((total"): ("SOFTMAX i8 to i16",),
    (SOFTMAXES, "SUM_BITS: Final = 12", "SUM_BITS: Final = 11"): ("SOFTMAX i8", "LOG_SOFTMAX i8"),
    (SOFTMAXES, "10.0 / 65535.0", "10.0 / 65536.0"): ("SOFTMAX i16",),
    (FLOATS32, "0x1.ebfce50fac4f3p-3", "0x1.ebfce50fac4f3p-4"): ("SOFTMAX i8 to i16",),
    (FLOATS32, "-0x1.ffffef20a4123p-2", "-0x1.ffffef20a4123p-3"): ("LOG_SOFTMAX i8",),
    (FUNCTIONS, "1895147668", "1895047668"): ("SOFTMAX i8 to i16",),
    (FUNCTIONS, "715827883", "815827883"): ("SOFTMAX i8 to i16",),
    (FUNCTIONS, "1488522236", "1488022236"): ("LOG_SOFTMAX i8",),
    (SIGMOIDS, "(1 << 25) - value + (1 << 9) - 1", "(1 << 25) - value + (1 << 9)"): ("LOGISTIC i16",),
    (SIGMOIDS, "32768, 33451,", "32768, 33450,"): ("TANH i16",),
    (INTERPOLATION, "((1 << bits) >> 1)) >> bits", "0) >> bits"): ("EXP i16", "GELU i16"),
    (INTERPOLATION, "sample - bias", "sample"): ("EXP i16", "GELU i16"),
    (LSTM, "GATE_UNIT: Final = 2.0**-12", "GATE_UNIT: Final = 2.0**-11"): ("UNIDIRECTIONAL_SEQUENCE_LSTM i8",),
    (LSTM, "forget * cell, 15", "forget * cell, 14"): ("UNIDIRECTIONAL_SEQUENCE_LSTM i8",),
    (LSTM, "32767 - forget", "32768 - forget"): ("UNIDIRECTIONAL_SEQUENCE_LSTM i8, CIFG",),
    (LSTM, "else -cell_output[1]", "else cell_output[1]"): ("UNIDIRECTIONAL_SEQUENCE_LSTM i8, projection",),
    (LSTM, "np.float32(result[0]), np.float32(127)", "np.float32(result[0]), np.float32(126)"): (
        "UNIDIRECTIONAL_SEQUENCE_LSTM i8, projection",
    ),
    (LSTM, "weights.peephole.astype(np.int64) * cell", "weights.peephole.astype(np.int64) * (cell + 1)"): (
        "UNIDIRECTIONAL_SEQUENCE_LSTM i8, peepholes",
    ),
    (LSTM, "< in_blocks(product.shape[1])", "< product.shape[1]"): (
        "UNIDIRECTIONAL_SEQUENCE_LSTM i8, peepholes at halves",
    ),
    (LSTM, "< in_blocks(product.shape[1])", "< 0"): ("UNIDIRECTIONAL_SEQUENCE_LSTM i8, peepholes at halves",),
    (LSTM, "(m0, shift + 12)", "(m0, shift + 11)"): ("UNIDIRECTIONAL_SEQUENCE_LSTM i8, layer normalization",),
    (LSTM, "np.float32(10000)", "np.float32(1000)"): ("UNIDIRECTIONAL_SEQUENCE_LSTM i8, norms without a variance",),
    (LSTM, "half = np.where(weighted > 0, 1, -1)", "half = np.where(weighted > 0, 1, 1)"): (
        "UNIDIRECTIONAL_SEQUENCE_LSTM i8, layer normalization",
    ),
    (LSTM, "((1 << 2 * NORM_BITS) // cells)", "((1 << 2 * NORM_BITS) // (cells + 1))"): (
        "UNIDIRECTIONAL_SEQUENCE_LSTM i8, layer normalization",
    ),
    (GEMMLOWP, "for _ in range(5):", "for _ in range(4):"): ("UNIDIRECTIONAL_SEQUENCE_LSTM i8, layer", "RSQRT i8"),
    (RECURRENT, "lines[:, :, 1:]", "lines[:, :, :-1]"): ("SVDF i8",),
    ("qrt/models/tflite/operators/diagonals.py", "np.eye(rows, columns", "np.eye(rows, columns, 1"): (
        "MATRIX_DIAG int8",
        "MATRIX_SET_DIAG int8",
    ),
    ("qrt/models/tflite/operators/diagonals.py", "if rows < columns else", "if rows > columns else"): (
        "MATRIX_SET_DIAG int8",
    ),
    ("qrt/models/tflite/operators/segments.py", '{"reduction": "add"}', '{"reduction": "none"}'): (
        "SEGMENT_SUM float32",
    ),
    ("qrt/models/tflite/operators/segments.py", "np.flatnonzero(numbers", "np.flatnonzero(1 + numbers"): (
        "UNSORTED_SEGMENT_SUM float32",
    ),
    ("qrt/models/tflite/operators/segments.py", 'name == "MIN"]', 'name == "MAX"]'): ("UNSORTED_SEGMENT_MIN int32",),
    ("qrt/models/tflite/operators/step_functions.py", '"math.round"', '"math.roundeven"'): ("FAKE_QUANT float32",),
    ("qrt/models/tflite/operators/dilation.py", "max(-low, 0), whole", "0, whole"): ("STABLEHLO_PAD int8",),
    ("qrt/models/tflite/operators/reduce_windows.py", 'sign = "u" if', 'sign = "s" if'): (
        "REDUCE_WINDOW MAXIMUM uint8",
    ),
    ("qrt/models/tflite/operators/local_norms.py", "[2 * radius])", "[2 * radius + 1])"): (
        "LOCAL_RESPONSE_NORMALIZATION",
    ),
    (
        "qrt/models/tflite/operators/convolution_3d.py",
        'stride_{axis}"]) for axis in "dhw',
        'stride_h"]) for axis in "dhw',
    ): ("CONV_3D float32",),
    ("qrt/models/tflite/operators/stablehlo_indexing.py", "n - sizes[axis], _I64", "n - 1, _I64"): (
        "STABLEHLO_GATHER",
    ),
    ("qrt/models/tflite/operators/stablehlo_indexing.py", '{"": "none", "add"', '{"": "add", "add"'): (
        "STABLEHLO_SCATTER update int8",
    ),
    ("qrt/models/tflite/operators/recurrent_steps.py", "max(steps - 1, 0), steps, -1", "0, steps, 1"): (
        "BIDIRECTIONAL_SEQUENCE_RNN float32",
    ),
    ("qrt/models/tflite/operators/arithmetic_plain.py", '"arith.floordivsi"', '"arith.divsi"'): (
        "FLOOR_DIV int8, quantized",
        "FLOOR_MOD int16",
    ),
    ("qrt/models/tflite/operators/activations.py", "number_of(0, element), raw", "number_of(1, element), raw"): (
        "NEG i16",
    ),
    (
        "qrt/models/tflite/operators/functions.py",
        'emit("arith.divf", value, number_of(out.scale, F32))',
        'emit("arith.mulf", value, number_of(1 / out.scale, F32))',
    ): ("SQRT i16",),
    (
        TABLES,
        "np.rint(values / F32(out.scale) + F32(out.zero_point))",
        "np.rint(values / F32(out.scale)) + out.zero_point",
    ): ("ELU i8",),
    (TABLES, 'round_integral(scaled, "half_away")', 'round_integral(scaled, "half_even")'): ("GELU i8",),
    (TABLES, "np.trunc(scaled)", "np.rint(scaled)"): ("SQRT i8",),
    (TABLES, "centred << 7", "centred << 6"): ("HARD_SWISH i8",),
    (TABLES, "_BITS = 20", "_BITS = 12"): ("RSQRT i8",),
    (COMPARED, "COMPARED_BITS: Final = 8", "COMPARED_BITS: Final = 7"): ("EQUAL i8", "EQUAL i16", "LESS u8"),
    (COMPARED, "- zero_point) << COMPARED_BITS", ") << COMPARED_BITS"): ("LESS i8",),
    ("qrt/ops/cumsum.py", "np.zeros((1, *lines.shape[1:])", "np.ones((1, *lines.shape[1:])"): ("CUMSUM",),
    ("qrt/models/tflite/operators/scattering.py", "np.clip(known, 0, room)", "np.maximum(known, 0)"): (
        "DYNAMIC_UPDATE_SLICE int8",
    ),
    (RECURRENT_FLOAT, "2 if number == _OUTPUT else number", "number % 2"): (
        "UNIDIRECTIONAL_SEQUENCE_LSTM float32, peepholes",
    ),
    (RECURRENT_FLOAT, 'value("arith.subf", (one, scalar)', 'value("arith.addf", (one, scalar)'): (
        "UNIDIRECTIONAL_SEQUENCE_LSTM float32, CIFG",
    ),
    (BASIC, "_INPUT, _CANDIDATE, _FORGET, _OUTPUT = r", "_CANDIDATE, _INPUT, _FORGET, _OUTPUT = r"): (
        "LSTM float32, BASIC",
    ),
    (SVDF_FLOAT, "_LANES = 4", "_LANES = 2"): ("SVDF float32", "SVDF f32 x i8"),
    (SVDF_FLOAT, "taken(node, state, 2, 1, memory - 1)", "taken(node, state, 2, 0, memory - 1)"): ("SVDF float32",),
    (DETECTIONS, "child -= is_before(child, child - 1)", "child -= is_before(child - 1, child)"): (
        "TFLite_Detection_PostProcess uint8, all classes",
    ),
    (DETECTIONS, "shared / (own + areas - shared)", "shared / (own + areas)"): ("TFLite_Detection_PostProcess",),
    (DETECTIONS, "of_class, min(rule.per_class, rule.most)", "of_class, rule.most"): (
        "TFLite_Detection_PostProcess uint8, each class",
    ),
    ("qrt/models/tflite/operators/detections.py", "number_of(0.5, _F64)", "number_of(0.4, _F64)"): (
        "TFLite_Detection_PostProcess",
    ),
    # Inputs that are quantized at each run.
    (HYBRID, "_FOURS = 4", "_FOURS = 8"): ("DEPTHWISE_CONV_2D f32 x i8, halves",),
    (AT_RUN_TIME, "_HALF, _BELOW_HALF = np.float32(0.5), np", "_HALF, _BELOW_HALF = np.float32(0.49), np"): (
        "FULLY_CONNECTED f32 x i8, halves, asymmetric",
    ),
    (AT_RUN_TIME, "% _LANES:", "% 1:"): ("FULLY_CONNECTED f32 x i8 per axis, halves",),
    # The profiles: which rule, and up to where.
    (PROFILE, '"hybrid", "rows", {"operator": ("C', '"hybrid", "asymmetric", {"operator": ("C'): (
        "FULLY_CONNECTED f32 x i8, halves",
    ),
    (PROFILE, '"hybrid", "rows", {"operator": "B', '"hybrid", "asymmetric", {"operator": "B'): (
        "BATCH_MATMUL f32 x i8, halves",
    ),
    (PROFILE, '"asymmetric", {"operator": _RECURRENT', '"symmetric", {"operator": _RECURRENT'): (
        "UNIDIRECTIONAL_SEQUENCE_RNN f32 x i8, asymmetric",
        "SVDF f32 x i8, asymmetric",
    ),
    (REFERENCE, '"asymmetric", {"operator": "BATCH', '"symmetric", {"operator": "BATCH'): (
        "BATCH_MATMUL f32 x i8, halves, asymmetric",
    ),
    (ARITHMETIC, '{"requant": "float64_away"}', '{"requant": "fixed"}'): ("SUB i16, powers of two",),
    (ARITHMETIC, "_POWER_TOLERANCE = 1e-3", "_POWER_TOLERANCE = 1e-4"): ("ADD i16, powers of two",),
    (PROFILE, '"hybrid", "images_in_fours"', '"hybrid", "asymmetric"'): ("DEPTHWISE_CONV_2D f32 x i8, halves",),
    (REFERENCE, '"asymmetric", {"operator": "FULLY', '"symmetric", {"operator": "FULLY'): (
        "FULLY_CONNECTED f32 x i8, halves, asymmetric",
    ),
    (
        REFERENCE,
        '"images", {"operator": "CONV_2D", "has_un',
        '"symmetric", {"operator": "CONV_2D", "has_un',
    ): ("CONV_2D f32 x i8 per axis, halves",),
    (
        PROFILE,
        '"images", {"operator": "CONV_2D", "has_groups"',
        '"asymmetric", {"operator": "CONV_2D", "has_groups"',
    ): ("CONV_2D f32 x i8 per axis, groups, given weights",),
    (REFERENCE, '"hybrid", "asymmetric", {"operator": "DEPTHWISE', '"hybrid", "images", {"operator": "DEPTHWISE'): (
        "DEPTHWISE_CONV_2D f32 x i8, halves",
    ),
    (REFERENCE, '"float_logistic", "cut"', '"float_logistic", "whole"'): ("LOGISTIC f32, below -9",),
    (PROFILE, '"float_sum", "by_runs"', '"float_sum", "in_order"'): ("MEAN f32, other axes",),
    (PROFILE, '"log_softmax", "table_float32"', '"log_softmax", "gemmlowp"'): ("LOG_SOFTMAX i8",),
    (PROFILE, '"tanh", "gemmlowp"', '"tanh", "table_uint16"'): ("TANH i16, 2^-12",),
    (PROFILE, '"activation", "half_even"', '"activation", "half_away"'): ("FULLY_CONNECTED i8", "CONV_2D i8"),
    (PROFILE, '"softmax", "table_float32"', '"softmax", "gemmlowp"'): ("SOFTMAX i8",),
    (PROFILE, '"batch_matmul", "float32"', '"batch_matmul", "fixed_double_f32_product"'): ("BATCH_MATMUL i8",),
    (PROFILE, '"leaky_relu", "fixed8"', '"leaky_relu", "fixed_double_f32"'): ("LEAKY_RELU i8",),
    (PROFILE, '"prelu", "fixed_double_f32"', '"prelu", "fixed_double"'): ("PRELU i16",),
    (PROFILE, '"abs", "fixed_double_f32"', '"abs", "fixed_double"'): ("ABS i16",),
    (PROFILE, '"relu", "fixed_double_f32"', '"relu", "fixed_double"'): ("RELU i16",),
    (PROFILE, '"half_up_twice_8", {"storage": "i8"', '"half_up_twice", {"storage": "i8"'): ("TRANSPOSE_CONV i8",),
    (PROFILE, '"fully_connected", "float64_away"', '"fully_connected", "reduced16"'): (
        "FULLY_CONNECTED i16, bias i64",
    ),
    (PROFILE, '"conv2d", "half_up_twice", {"storage": "i16"', '"conv2d", "fixed_double", {"storage": "i16"'): (
        "CONV_2D i16, bias i32",
    ),
    (PROFILE, '"comparison", "fixed_double", {"storage": "i16"', '"comparison", "exact", {"storage": "i16"'): (
        "EQUAL i16",
    ),
    (PROFILE, '"quantize", "reciprocal"', '"quantize", "divide"'): ("QUANTIZE f32 to i8",),
    (PROFILE, '"mean", "raw_mean"', '"mean", "fixed_double"'): ("MEAN",),
    (PROFILE, '"sum", "raw_sum"', '"sum", "float32"'): ("SUM u8",),
    (PROFILE, '"resize_bilinear", "fixed11"', '"resize_bilinear", "fixed10_away"'): ("RESIZE_BILINEAR i8",),
}
"""Each change with the forms that must notice it."""


STORED: dict[str, Mapping[Change, tuple[str, ...]]] = {
    "tests.models.tflite.stored": FORMS,
    "tests.models.onnx.stored": onnx_changes.FORMS,
}
"""The changes by what runs the stored models."""


def caught(folder: Path, file: str) -> str:
    """The forms, if they show a difference in a copy of the repository; else empty."""
    if not file:
        return "".join(_differs(folder, module, ()) for module in STORED)
    text = (folder / file).read_text()
    for module, forms in STORED.items():
        for change, words in forms.items():
            if change[0] == file and changed(*change) == text:
                return _differs(folder, module, words)
    raise ValueError(f"no change of {file} is made")


def _differs(folder: Path, module: str, words: tuple[str, ...]) -> str:
    command = [sys.executable, "-B", "-m", module, "--check", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return (", ".join(words) or done.stdout + done.stderr) if done.returncode else ""


if __name__ == "__main__":
    main(__doc__, [change for forms in STORED.values() for change in forms], caught)
