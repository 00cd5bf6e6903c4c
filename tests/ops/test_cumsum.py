"""cumsum. Hazards: sums from the end, the element itself left out, integers that wrap, a zero that is negative."""

import re

import numpy as np
import pytest

from qrt.errors import QuantTypeError
from qrt.types import FloatType, IntegerType
from tests.ops.harness import check_kernels, infer, tensor
from tests.ops.test_movement import T


def _loops(x: np.ndarray, exclusive: bool, reverse: bool) -> np.ndarray:
    """Along the middle of three axes."""
    made = np.empty_like(x)
    for i, k in np.ndindex(x.shape[0], x.shape[2]):
        total = x.dtype.type(0)
        for j in range(x.shape[1])[:: -1 if reverse else 1]:
            before, total = total, x.dtype.type(total + x[i, j, k])
            made[i, j, k] = before if exclusive else total
    return made


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("element", [IntegerType(8), IntegerType(64), FloatType("f32")], ids=str)
def test_sums(exclusive: bool, reverse: bool, element: IntegerType | FloatType) -> None:
    rng = np.random.default_rng(0)
    for size in (0, 1, 17):
        x = rng.normal(size=(2, size, 3)) * 2.0 ** rng.integers(-9, 40, (2, size, 3))
        dtype = np.dtype("f4" if isinstance(element, FloatType) else f"i{element.width // 8}")
        x = x.astype(np.int64).astype(dtype) if dtype.kind == "i" else x.astype(dtype)
        attributes = {"axis": 1, "exclusive": exclusive, "reverse": reverse}
        got = check_kernels("cumsum", [x], [tensor(x.shape, element)], **attributes)
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(got, _loops(x, exclusive, reverse))


def test_a_sum_begins_with_zero() -> None:
    got = check_kernels("cumsum", [np.float32([-0.0])], [tensor((1,), FloatType("f32"))])
    assert not np.signbit(got).any()


@pytest.mark.parametrize(
    ("element", "axis", "message"),
    [
        (T, 0, "'x' must have elements of f32, f64 or integers of 8 bits or more, got"),
        (IntegerType(1), 0, "'x' must have elements of f32, f64 or integers of 8 bits or more, got i1"),
        (FloatType("f32"), 2, "'axis' must be in [-2, 1] for rank 2, got 2"),
    ],
)
def test_refuses(element: object, axis: int, message: str) -> None:
    with pytest.raises(QuantTypeError, match=re.escape(message)):
        infer("cumsum", [tensor((2, 3), element)], axis=axis)  # type: ignore[arg-type]
