"""Wrong MATRIX_DIAG and MATRIX_SET_DIAG are refused."""

import pytest

from tests.models.tflite.importing import refusal
from tests.models.tflite.writing import Tensor, one_op


def _x(*shape, dtype="float32"):
    return Tensor(shape, dtype)


REFUSED = {
    "a diagonal of a number": (lambda: one_op("MATRIX_DIAG", [_x()], [_x(1)]), "the diagonal must have at least"),
    "a matrix that no memory holds": (
        lambda: one_op("MATRIX_DIAG", [_x(1 << 20)], [_x(3, 3)]), "MATRIX_DIAG (matrices of 1,048,576 x 1,048,576)"
    ),
    "truths": (
        lambda: one_op("MATRIX_DIAG", [_x(3, dtype="bool")], [_x(3, 3, dtype="bool")]), "MATRIX_DIAG (bool)"
    ),
    "a diagonal that is too long": (
        lambda: one_op("MATRIX_SET_DIAG", [_x(3, 4), _x(4)], [_x(3, 4)]), (
            "for matrices of shape [3, 4] (at least 2 axes), the diagonal must have the shape [3], got [4]"
        )
    ),
    "a diagonal of another type": (
        lambda: one_op("MATRIX_SET_DIAG", [_x(3, 4), _x(3, dtype="int32")], [_x(3, 4)]), "a diagonal of i32 in f32"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused(case):
    make, message = REFUSED[case]
    assert message in refusal(make())
