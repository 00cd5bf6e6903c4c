"""The functions of float32 (the row float_function). Hazards: a result that is not the exact one rounded once, another
result on an ISA, a wrong sign of zero, arguments outside of the domain, large angles, a block with a rare argument."""

from pathlib import Path

import numpy as np
import pytest

from tests.kernels import float_functions, function_tables
from tests.kernels.compiled import compiled
from tests.kernels.draws import ISAS, Array
from tests.kernels.float_functions import RANGES, exact_results, kernel_results

HARD = np.float32(
    [0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2**-149, -(2**-149), 2**-126, -(2**-126), 3e38, -3e38, 1 - 2**-24,
     2**-30, 2**-25, 2**-24, 2**-12, 88.72284, 88.72285, -87.33655, -103.97208, -103.97209, 104, -104, 9.010913,
     9.010914, 10, 3.919206, 3.9192061, 4, -17.32868, 2**20, 2**20 + 0.5, -(2**20) - 1, 16367173 * 2.0**72,
     np.pi, np.pi / 2]
)  # fmt: skip
"""Ends of the domains, arguments around which results become 0, 1 or infinite, an angle next to a multiple of pi/2."""


HARD_CASES = {
    "log": ["0x1.827a74p-7", "0x1.2f1fd6p+3", "0x1.bacb4ap+25", "0x1.b121a6p+76", "0x1.6351d8p+95"],
    "log1p": [
        "0x1.800006p-21",
        "0x1.200036p-17",
        "0x1.fb035ap-2",
        "0x1.0f1fd6p+3",
        "0x1.b121a6p+76",
        "0x1.6351d8p+95",
        "-0x1.7ffffap-21",
        "-0x1.1fffcap-17",
        "-0x1.1d9188p-9",
    ],
    "erfc": ["-0x1.d93ec4p-17"],
    "sin": ["0x1.33333p+13", "-0x1.33333p+13"],
    "cos": ["0x1.3170fp+63", "-0x1.3170fp+63", "0x1.2b9622p+67"],
}
"""The results that float64 rounds to the wrong side of a middle."""


def arguments(seed: int, count: int) -> Array:
    """Return floats of all sizes, floats around 1, and `HARD`, in random order."""
    rng = np.random.default_rng(seed)
    anywhere = rng.integers(0, 1 << 32, count, np.uint64).astype(np.uint32).view(np.float32)
    near = (rng.normal(0, 1, count) * np.exp(rng.normal(0, 3, count))).astype(np.float32)
    return rng.permutation(np.concatenate([anywhere, near, HARD]))


def check(name: str, isa: str, x: Array) -> None:
    results, expected = kernel_results(name, isa, x), exact_results(name, x)
    is_nan = np.isnan(x)
    assert np.isnan(results[is_nan]).all()
    np.testing.assert_array_equal(results[~is_nan].view(np.uint32), expected[~is_nan].view(np.uint32))


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("name", RANGES)
def test_results_are_rounded_once(name: str, isa: str) -> None:
    check(name, isa, arguments(1, 3000))


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("name", HARD_CASES)
def test_hard_cases(name: str, isa: str) -> None:
    hard = np.float32([float.fromhex(text) for text in HARD_CASES[name]])
    check(name, isa, hard)
    check(name, isa, np.insert(arguments(4, 100), 40, hard))


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("name", RANGES)
def test_every_count_of_lanes(name: str, isa: str) -> None:
    x = np.resize(arguments(2, 100), 600)
    for count in (0, 1, 2, 7, 8, 15, 16, 17, 31, 33, 255, 256, 257, 513):
        check(name, isa, x[:count])


@pytest.mark.parametrize("name", RANGES)
def test_a_result_over_its_argument(name: str) -> None:
    x = arguments(3, 300)
    for isa in ISAS:
        expected = kernel_results(name, isa, x)
        np.testing.assert_array_equal(kernel_results(name, isa, x.copy(), in_place=True), expected)


def test_tables_are_exact_numbers_rounded() -> None:
    assert function_tables.HEADER.read_text() == function_tables.text()


@pytest.mark.parametrize("name", RANGES)
def test_the_error_in_float64(name: str, tmp_path: Path) -> None:
    program = compiled("float_functions", tmp_path, "-lm")
    assert float_functions.largest_error(program, name, 100) < float_functions.DISTANCE / 2
