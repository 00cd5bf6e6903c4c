"""Changes one rounding constant at a time, in the lowering, the kernels and the rules: the drawn programs must differ.
By hand, in minutes:

    python -m tests.passes.lower_qrt.mutations [WORD ...]

Only changes of files whose path has one of the words. The tests run in a copy of the repository, in which kernels are
built. Prints for each change whether the drawn programs catch it. The status is 1 if there are changes that they do not
catch.
"""

import subprocess
import sys
from pathlib import Path

from tests.source_changes import main, pytest_in

TEST = "tests/passes/lower_qrt/test_drawn.py"
LOWERING = "qrt/passes/lower_qrt/requantize.py"
RULES, MULTIPLIERS = "qrt/numerics/requantization.py", "qrt/numerics/multipliers.py"
STORE = "csrc/isa/x86/store/store.inl"
_HALF = "V(sllv_epi64)(one, V(sub_epi64)(to->shift_{lanes}, one))"
_HALVES = [_HALF.format(lanes=lanes) for lanes in ("even", "odd")]


CHANGES = [
    # The lowering.
    (LOWERING, "np.int64(1) << np.maximum(shift - 1, 0), 0)", "(np.int64(1) << np.maximum(shift - 1, 0)) - 1, 0)"),
    (LOWERING, "np.int64(1) << np.maximum(shift - 1, 0), 0)", "np.int64(1) << np.maximum(shift - 2, 0), 0)"),
    (LOWERING, "np.where(shift > 0, np.int64(1)", "np.where(shift > 1, np.int64(1)"),
    (LOWERING, "beyond = shift > 62", "beyond = shift > 61"),
    (LOWERING, "beyond = shift > 62", "beyond = shift > 63"),
    (LOWERING, "(63 - right, I64, indices)", "(62 - right, I64, indices)"),
    (LOWERING, '"arith.shrsi", (high, places)', '"arith.shrui", (high, places)'),
    (LOWERING, "np.minimum(np.maximum(-shift, 0), 58)", "np.minimum(np.maximum(-shift - 1, 0), 58)"),
    (LOWERING, "np.clip(-shift, 0, 63)", "np.clip(-shift, 0, 30)"),
    (LOWERING, "nest.constant(1 - (1 << 30), I64), nest", "nest.constant(-(1 << 30), I64), nest"),
    (LOWERING, "nest.constant(1 << 30, I64)), I64)", "nest.constant((1 << 30) - 1, I64)), I64)"),
    (LOWERING, '"arith.divsi", (nudged', '"arith.floordivsi", (nudged'),
    (LOWERING, "(mask >> 1, I64, indices), negative", "((mask >> 1) + 1, I64, indices), negative"),
    (LOWERING, "(mask >> 1, I64, indices), negative", "(mask >> 1, I64, indices), nest.constant(0, I64)"),
    (LOWERING, "np.maximum(-shift, 0), r.indices)", "np.maximum(-shift - 1, 0), r.indices)"),
    (LOWERING, '"math.roundeven", r', '"math.round", r'),
    (LOWERING, '"math.round", r)', '"math.roundeven", r)'),
    ("qrt/passes/lower_qrt/softmax.py", '"math.roundeven"', '"math.round"'),
    ("qrt/passes/lower_qrt/binary.py", "np.array(ADD_FRACTION_BITS)", "np.array(ADD_FRACTION_BITS - 1)"),
    # The rules.
    (RULES, "m0.astype(np.int64) + (np.int64(1) << (n - 1))", "m0.astype(np.int64) + (np.int64(1) << (n - 1)) - 1"),
    (RULES, "acc * m0 + (1 << (shift - 1))", "acc * m0 + (1 << (shift - 1)) - 1"),
    (RULES, "    if shift > 62:", "    if shift > 61:"),
    (RULES, "    if shift > 62:", "    if shift > 63:"),
    (MULTIPLIERS, "m0 = round(scaled)", "m0 = int(scaled)"),
    (MULTIPLIERS, "(m0 >> 1, shift - 1) if m0", "(m0 >> 1, shift) if m0"),
    (MULTIPLIERS, '2.0**31, "half_away")', '2.0**31, "half_even")'),
    (RULES, "product >= 0, 1 << 30, 1 - (1 << 30)", "product >= 0, 1 << 30, -(1 << 30)"),
    (RULES, "product >= 0, 1 << 30, 1 - (1 << 30)", "product >= 0, (1 << 30) - 1, 1 - (1 << 30)"),
    (RULES, "threshold = (mask >> 1) + (high < 0)", "threshold = mask >> 1"),
    (RULES, "np.rint(np.minimum(np.maximum(scaled", "np.floor(0.5 + np.minimum(np.maximum(scaled"),
    (RULES, 'round_integral(product, "half_away")', 'round_integral(product, "half_even")'),
    (RULES, "total + (1 << (ADD_FRACTION_BITS - 1))", "total + (1 << (ADD_FRACTION_BITS - 1)) - 1"),
    (
        "qrt/numerics/tables.py",
        'round_integral(scaled, "half_even"), storage_min - zero_point',
        'round_integral(scaled, "half_away"), storage_min - zero_point',
    ),
    # The reference kernels.
    ("csrc/ref/requant.c", "((int128)1 << (shift - 1))) >> shift", "((int128)1 << (shift - 1)) - 1) >> shift"),
    ("csrc/ref/requant.c", "if (shift > 62)", "if (shift > 61)"),
    ("csrc/ref/requant.c", "if (shift > 62)", "if (shift > 63)"),
    ("csrc/ref/requant.c", "rintf(v)", "roundf(v)"),
    ("csrc/ref/requant.c", "(int64_t)1 << 30 : 1 -", "((int64_t)1 << 30) - 1 : 1 -"),
    ("csrc/ref/requant.c", ": 1 - ((int64_t)1 << 30)", ": -((int64_t)1 << 30)"),
    ("csrc/ref/requant.c", "(mask >> 1) + (x < 0)", "(mask >> 1)"),
    ("csrc/ref/requant.c", "> threshold", ">= threshold"),
    ("csrc/ref/requant.c", "ref_round_half_away((double)", "rint((double)"),
    ("csrc/ref/elementwise.c", "sum + (1 << 19)", "sum + (1 << 19) - 1"),
    ("csrc/ref/reduce.c", "rint(args", "round(args"),
    # The kernels of the instruction sets.
    *((STORE, half, f"V(sub_epi64)({half}, one)") for half in _HALVES),
    ("csrc/isa/avx2/vectors.h", "_mm256_cvtps_epi32(v)", "_mm256_cvttps_epi32(v)"),
    ("csrc/isa/avx512/vectors.h", "_MM_FROUND_TO_NEAREST_INT", "_MM_FROUND_TO_ZERO"),
    ("csrc/isa/x86/gemm/epilogue512.inl", "_MM_FROUND_TO_NEAREST_INT", "_MM_FROUND_TO_ZERO"),
    ("csrc/isa/x86/gemm/epilogue512.inl", "_mm512_set1_epi16(1)) :", "_mm512_set1_epi16(0)) :"),
]


def caught(folder: Path, file: str) -> str:
    """The test, if the drawn programs show a difference in a copy of the repository; else empty."""
    if file.startswith("csrc/"):
        build = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
        subprocess.run(build, cwd=folder, check=True, capture_output=True)
    return TEST if pytest_in(folder, TEST).returncode else ""


if __name__ == "__main__":
    main(__doc__, CHANGES, caught)
