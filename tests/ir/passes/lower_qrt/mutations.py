"""Changes one rounding constant at a time, in the lowering, the kernels and the rules: results by exact rationals, of
programs at the ends of rules, or of drawn ones, must differ. By hand, in minutes:

    python -m tests.ir.passes.lower_qrt.mutations [WORD ...]

Only changes of files whose path has one of the words. The tests run in a copy of the repository, in which kernels are
built. Prints for each change whether the tests catch it. The status is 1 if there are changes that they do not
catch.
"""

import subprocess
import sys
from pathlib import Path

from tests.source_changes import main, pytest_in

TESTS = (
    "tests/numerics/test_rules.py",
    "tests/kernels/test_rules.py",
    "tests/ir/passes/lower_qrt/test_requantize.py",
    "tests/ir/passes/lower_qrt/test_strategy.py",
    "tests/ir/passes/lower_qrt/test_products.py",
    "tests/ir/passes/lower_qrt/test_dot_products.py",
    "tests/ir/passes/lower_qrt/test_ends.py",
    "tests/ir/passes/lower_qrt/test_drawn.py",
)
ACCUMULATE = "qrt/ir/passes/lower_qrt/accumulate.py"
DOTS, CORRECTIONS = "qrt/ir/passes/lower_qrt/dot_products.py", "qrt/ir/passes/lower_qrt/corrections.py"
STRATEGY = "qrt/ir/passes/lower_qrt/strategy.py"
LOWERING = "qrt/ir/passes/lower_qrt/requantize.py"
RULES, MULTIPLIERS = "qrt/numerics/requantization.py", "qrt/numerics/multipliers.py"
TABLE = "qrt/numerics/rules.py"
SUMS, GEMMLOWP = "qrt/numerics/addition.py", "qrt/numerics/gemmlowp.py"
GEMMLOWP_C = "csrc/ref/functions/gemmlowp.h"
RESIZED = "qrt/numerics/resizing.py"
STORE = "csrc/isa/x86/store/strip.inl"
_HALF = "V(sllv_epi64)(one, V(sub_epi64)(to->shift_{lanes}, one))"
_HALVES = [_HALF.format(lanes=lanes) for lanes in ("even", "odd")]
_ROWS = (
    ('"fixed_double", FIXED_DOUBLE, form_double, "float64"', "float64", "float32"),
    ('"fixed_double_f32", FIXED_DOUBLE, form_double, "float32"', "float32", "float64"),
    ('"fixed_double_f32_product", FIXED_DOUBLE, form_double, "float32_product"', "float32_product", "float64"),
    ('"half_up_twice", HALF_UP_TWICE, form_double, "float64"', "float64", "float32"),
    ('"half_up_twice_f32_product", ratio="float32_product"', "float32_product", "float32"),
    ('"reduced16", FIXED, form_reduced, "float64"', "form_reduced", "form_double"),
    ('"float32_divisor_first", FLOAT32, form_float, "float32_divisors"', "float32_divisors", "float32"),
    ('"zero_point_first", RAW_MEAN, form_float, "float32", "before"', "before", "after"),
    ('"dequantized", DEQUANTIZED, form_dequantized, "float32", "before"', "before", "after"),
    ('"dequantized_rows", DEQUANTIZED, form_dequantized, "float32", "after"', "after", "before"),
    (
        '"dequantized_columns", DEQUANTIZED, form_dequantized, "float32", "after", "floats", "columns"',
        '"columns"',
        '"rows"',
    ),
)
"""Rows of the table, and a word of each that is changed."""


CHANGES = [
    # The lowering.
    (LOWERING, "np.int64(1) << np.maximum(shift - 1, 0), 0)", "(np.int64(1) << np.maximum(shift - 1, 0)) - 1, 0)"),
    (LOWERING, "np.int64(1) << np.maximum(shift - 1, 0), 0)", "np.int64(1) << np.maximum(shift - 2, 0), 0)"),
    (LOWERING, "np.where(shift > 0, np.int64(1)", "np.where(shift > 1, np.int64(1)"),
    (LOWERING, "beyond = shift > 62", "beyond = shift > 61"),
    (LOWERING, "beyond = shift > 62", "beyond = shift > 63"),
    (STRATEGY, "(a.has_zero_point + w.has_zero_point)", "(a.has_zero_point or w.has_zero_point)"),
    (STRATEGY, "3 * results if", "2 * results if"),
    (ACCUMULATE, "bound + bias[0].bound", "bound"),
    (ACCUMULATE, "channel, largest)", "channel, 1 << 20)"),
    (ACCUMULATE, "constant_values(factor, c.reduced) is not None", "False"),
    ("qrt/ir/passes/lower_qrt/unary.py", "bound=max_magnitude(source)", "bound=1 << 20"),
    (STRATEGY, "after += 2 * results", "after += results"),
    (DOTS, "> I8.width:", "> I8.width + 1:"),
    (DOTS, "depth < FEWEST", "depth <= FEWEST"),
    (DOTS, "c.width is not I32", "False"),
    (DOTS, "zero_points=factor.zero_points + offset", "zero_points=factor.zero_points"),
    (DOTS, "0 if signed else _HALF", "_HALF"),
    (DOTS, "signed and not fits_signed", "signed"),
    (DOTS, "storage_width < I8.width", "storage_width <= I8.width"),
    (DOTS, "len(factor.extents), -depth % length)", "len(factor.extents), depth % length)"),
    (DOTS, "rank + [(0, -depth % length)]", "rank + [(0, depth % length)]"),
    (DOTS, "[-(-depth // length)]", "[depth // length]"),
    (DOTS, "multiply(nest.loops[-1], length)", "multiply(nest.loops[-1], 16)"),
    (DOTS, "position = floordiv(position, size)", "position = floordiv(position, 1)"),
    (CORRECTIONS, "factor.offset * count", "factor.offset"),
    (CORRECTIONS, "read + factor.offset", "read"),
    (STRATEGY, "0 if summed.has_constant_sums else ", ""),
    (STRATEGY, "if other.has_zero_point:", "if summed.has_zero_point:"),
    (STRATEGY, "self.in_loop < self.post_accumulation", "self.in_loop <= self.post_accumulation"),
    (LOWERING, "largest >= 1 << 63", "largest > 1 << 63"),
    (LOWERING, "largest >= 1 << 63", "largest >= 1 << 64"),
    (LOWERING, "bound * int(m0) + int(half)", "bound * int(m0)"),
    (LOWERING, "largest >> max(int(places), 0) > _LIMIT", "largest >> max(int(places), 0) > 2 * _LIMIT"),
    (LOWERING, "largest >> max(int(places), 0) > _LIMIT", "largest > _LIMIT"),
    (LOWERING, "bound > _I32_MAX:", "bound > 2 * _I32_MAX:"),
    (LOWERING, "(63 - right, I64, indices)", "(62 - right, I64, indices)"),
    (LOWERING, '"arith.shrsi", (high, places)', '"arith.shrui", (high, places)'),
    (LOWERING, "np.minimum(np.maximum(-shift, 0), 58)", "np.minimum(np.maximum(-shift - 1, 0), 58)"),
    (LOWERING, "np.clip(-shift, 0, 63)", "np.clip(-shift, 0, 30)"),
    (
        LOWERING,
        "indices)), I64)\n    return round_shift(nest, product, np.array(31), ())\n\n\ndef _rounding_divide",
        "indices)), I64)\n    return round_shift(nest, product, np.array(30), ())\n\n\ndef _rounding_divide",
    ),
    (LOWERING, "shift, indices, bound), -shift, indices)", "shift, indices, bound), 1 - shift, indices)"),
    (LOWERING, "nest.parameter(divisor // 2, I64", "nest.parameter((divisor - 1) // 2, I64"),
    (LOWERING, "(negative, *moved)", "(negative, *moved[::-1])"),
    (LOWERING, "places = int(shift.flat[0]) + left", "places = int(shift.flat[0]) + left - 1"),
    (LOWERING, "(mask >> 1, I64, indices), negative", "((mask >> 1) + 1, I64, indices), negative"),
    (LOWERING, "(mask >> 1, I64, indices), negative", "(mask >> 1, I64, indices), nest.constant(0, I64)"),
    (
        LOWERING,
        "np.maximum(-shift.astype(np.int64), 0), indices)",
        "np.maximum(-shift.astype(np.int64) - 1, 0), indices)",
    ),
    (LOWERING, '"half_even": "math.roundeven"', '"half_even": "math.round"'),
    (LOWERING, '"half_away": "math.round"', '"half_away": "math.roundeven"'),
    ("qrt/ir/passes/lower_qrt/softmax.py", 'scaled), F64), "math.roundeven"', 'scaled), F64), "math.round"'),
    ("qrt/ir/passes/lower_qrt/binary.py", "r.of(sums.end.shift)", "(r.of(sums.end.shift) - 1)"),
    # The rules.
    (RULES, "m0.astype(np.int64) + (np.int64(1) << (n - 1))", "m0.astype(np.int64) + (np.int64(1) << (n - 1)) - 1"),
    (RULES, "acc * m0 + (1 << (shift - 1))", "acc * m0 + (1 << (shift - 1)) - 1"),
    (RULES, "    if shift > 62:", "    if shift > 61:"),
    (RULES, "    if shift > 62:", "    if shift > 63:"),
    (MULTIPLIERS, "m0 = round(scaled)", "m0 = int(scaled)"),
    (MULTIPLIERS, "(m0 >> 1, shift - 1) if m0", "(m0 >> 1, shift) if m0"),
    (MULTIPLIERS, 'np.ldexp(fraction, 31), "half_away")', 'np.ldexp(fraction, 31), "half_even")'),
    (MULTIPLIERS, "(counts.astype(np.float64))[1] - 1, 32)", "(counts.astype(np.float64))[1], 32)"),
    (MULTIPLIERS, "(m0 + (1 << 15)) >> 16", "m0 >> 16"),
    (MULTIPLIERS, "np.ldexp(ratios.astype(np.float64), 8)", "np.ldexp(ratios.astype(np.float64), 9)"),
    (GEMMLOWP, "(product + half) >> (bits - 1)", "(product + half - 1) >> (bits - 1)"),
    (GEMMLOWP, "half = (np.int64(1) << right) >> 1", "half = ((np.int64(1) << right) - 1) >> 1"),
    (RULES, "divisor // 2) // divisor", "(divisor - 1) // 2) // divisor"),
    (
        RULES,
        "round_integral(np.minimum(np.maximum(scaled, low), high), rounding)",
        "np.floor(0.5 + np.minimum(np.maximum(scaled, low), high))",
    ),
    # The table of rules.
    (TABLE, "offset = f.zero_points.astype(np.float32) - raw * scale", "offset = 0 - raw * scale"),
    (TABLE, '_SHIFTED, ("half_up", "half_away"))', '_SHIFTED, ("half_up", "half_up"))'),
    (TABLE, '_SHIFTED, ("half_up", "half_up"))', '_SHIFTED, ("half_up", "half_away"))'),
    (TABLE, '(("multiply", "scale_f32"),), ("half_even",)', '(("multiply", "scale_f32"),), ("half_away",)'),
    (TABLE, '(("multiply", "scale_f64"),), ("half_away",)', '(("multiply", "scale_f64"),), ("half_even",)'),
    (TABLE, '("add", "offset_f32")), ("half_even",)', '("add", "offset_f32")), ("half_away",)'),
    (TABLE, '"half_up_twice_16", behind="fixed_double"', '"half_up_twice_16", behind="half_up_twice"'),
    *((TABLE, row, row.replace(old, new)) for row, old, new in _ROWS),
    (GEMMLOWP, "threshold = (mask >> 1) + (values < 0)", "threshold = mask >> 1"),
    (SUMS, "ones, places.astype(np.int32)", "ones, places.astype(np.int32) - 1"),
    (SUMS, "twice, unit = 2 * np.maximum", "twice, unit = np.maximum"),
    (SUMS, "shifted * m0 + (1 << 30)) >> 31", "shifted * m0 + (1 << 30) - 1) >> 31"),
    (SUMS, "return size // BLOCK * BLOCK", "return (size + 1) // BLOCK * BLOCK"),
    (
        "qrt/numerics/tables.py",
        'round_integral(scaled, "half_even"), storage_min - zero_point',
        'round_integral(scaled, "half_away"), storage_min - zero_point',
    ),
    # Resized images.
    (RESIZED, "(1 << 21)) >> 22)", "(1 << 21) - 1) >> 22)"),
    (RESIZED, "np.rint(weights", "np.floor(weights"),
    (RESIZED, "(one * size + out // 2)", "(one * size)"),
    (RESIZED, "(one * (size - 1) + (out - 1) // 2)", "(one * (size - 1))"),
    (RESIZED, "scale // 2 - one // 2", "scale // 2"),
    (RESIZED, "1 << 19, -(1 << 19)", "1 << 19, 1 << 19"),
    (RESIZED, "(_HALF * scale - _HALF)", "(_HALF * scale)"),
    (RESIZED, "(places + _HALF) * scale - _HALF", "(places + _HALF) * scale"),
    (RESIZED, "np.minimum(low + 1, size - 1)", "low"),
    (RESIZED, "(total + _HALF)", "total"),
    (RESIZED, "places - whole >= _HALF", "places - whole > _HALF"),
    ("qrt/ir/passes/lower_qrt/resize.py", "1 << 21)", "(1 << 21) - 1)"),
    ("qrt/ir/passes/lower_qrt/resize.py", "(1 << 19, -(1 << 19))", "(1 << 19, 1 << 19)"),
    ("qrt/ir/passes/lower_qrt/resize.py", "nest.constant(0.5, F32)", "nest.constant(0.0, F32)"),
    ("csrc/ref/select.c", "(1 << 21)) >> 22", "(1 << 21) - 1) >> 22"),
    ("csrc/ref/select.c", "1 << 19 : -(1 << 19)", "1 << 19 : 1 << 19"),
    ("csrc/ref/select.c", "+ 0.5f", "+ 0.0f"),
    # The reference kernels.
    ("csrc/ref/requant.c", "((int128)1 << (shift - 1))) >> shift", "((int128)1 << (shift - 1)) - 1) >> shift"),
    ("csrc/ref/requant.c", "if (shift > 62)", "if (shift > 61)"),
    ("csrc/ref/requant.c", "if (shift > 62)", "if (shift > 63)"),
    ("csrc/ref/requant.c", "rintf(v)", "roundf(v)"),
    (GEMMLOWP_C, "(a * b + half) >> (bits - 1)", "(a * b + half - 1) >> (bits - 1)"),
    ("csrc/ref/requant.c", "((int64_t)1 << right) >> 1", "(((int64_t)1 << right) - 1) >> 1"),
    ("csrc/ref/requant.c", "acc < 0 ? acc - divisor / 2", "acc < 0 ? acc + divisor / 2"),
    ("csrc/ref/requant.c", "scaled + requant->offset_f32", "scaled - requant->offset_f32"),
    (GEMMLOWP_C, "(mask >> 1) + (x < 0)", "(mask >> 1)"),
    (GEMMLOWP_C, "((x & mask) > (mask", "((x & mask) >= (mask"),
    ("csrc/ref/requant.c", "ref_round_half_away((double)", "rint((double)"),
    ("csrc/ref/elementwise.c", "args->left_shift + shift;", "args->left_shift + shift - 1;"),
    (
        "csrc/core/elementwise.c",
        "count / args->block * args->block;\n    qrt_binary_args",
        "(count + 1) / args->block * args->block;\n    qrt_binary_args",
    ),
    ("csrc/ref/functions/softmax.c", "rint(args", "round(args"),
    # The kernels of the instruction sets.
    (STORE, "+ (1 << 30);", "+ (1 << 30) - 1;"),
    (STORE, "V(srai_epi32)(t, 31) & s->away", "s->away"),
    (STORE, "V(sub_epi32)(right, to->last)", "right"),
    ("csrc/isa/avx2/elementwise.c", "start = (1 << (shift - 1))", "start = (1 << (shift - 1)) - 1"),
    ("csrc/isa/x86/elementwise/binary.inl", "(int)((1 << (shift - 1))", "(int)((1 << (shift - 1)) - 1"),
    (STORE, "to->half = V(srai_epi32)(divisor, 1)", "to->half = V(srai_epi32)(V(sub_epi32)(divisor, one), 1)"),
    *((STORE, half, f"V(sub_epi64)({half}, one)") for half in _HALVES),
    ("csrc/isa/avx2/vectors.h", "_mm256_cvtps_epi32(v)", "_mm256_cvttps_epi32(v)"),
    ("csrc/isa/avx512/vectors.h", "_MM_FROUND_TO_NEAREST_INT", "_MM_FROUND_TO_ZERO"),
    ("csrc/isa/x86/gemm/epilogue512.inl", "_MM_FROUND_TO_NEAREST_INT", "_MM_FROUND_TO_ZERO"),
    ("csrc/isa/x86/gemm/epilogue512.inl", "_mm512_set1_epi16(1)) :", "_mm512_set1_epi16(0)) :"),
]


def caught(folder: Path, file: str) -> str:
    """The tests, if one of them fails in a copy of the repository; else empty."""
    if file.startswith("csrc/"):
        build = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
        subprocess.run(build, cwd=folder, check=True, capture_output=True)
    return " or ".join(TESTS) if pytest_in(folder, *TESTS).returncode else ""


if __name__ == "__main__":
    main(__doc__, CHANGES, caught)
