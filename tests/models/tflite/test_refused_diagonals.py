"""Wrong MATRIX_DIAG, MATRIX_SET_DIAG and SEGMENT_SUM are refused."""

import pytest

from qrt.errors import ModelError
from qrt.models.profiles import profile
from qrt.models.tflite.importing import import_model
from qrt.models.tflite.read import read
from tests.models.tflite.writing import Tensor, one_op


def _numbers(*values):
    return Tensor((len(values),), "int32", data=values)


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
    "numbers that go back": (
        lambda: one_op("SEGMENT_SUM", [_x(3, 2), _numbers(0, 1, 0)], [_x(2, 2)]), (
            "segment numbers must begin with 0 and rise by 0 or 1 from row to row, got [0, 1, 0]"
        )
    ),
    "numbers that begin late": (
        lambda: one_op("SEGMENT_SUM", [_x(3, 2), _numbers(1, 1, 2)], [_x(3, 2)]), "begin with 0"
    ),
    "too few numbers": (
        lambda: one_op("SEGMENT_SUM", [_x(3, 2), _numbers(0, 1)], [_x(2, 2)]), "segment numbers must have the shape"
    ),
    "numbers that the run knows": (
        lambda: one_op("SEGMENT_SUM", [_x(3, 2), _x(3, dtype="int32")], [_x(3, 2)]), "known only at run time"
    ),
    "sums of bytes": (
        lambda: one_op("SEGMENT_SUM", [_x(1, 2, dtype="int8"), _numbers(0)], [_x(1, 2, dtype="int8")]),
        "SEGMENT_SUM (int8 with segment numbers of int32)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused(case):
    make, message = REFUSED[case]
    with pytest.raises(ModelError) as raised:
        import_model(read(make()), profile("litert"))
    assert message in str(raised.value)


def test_the_reference_kernels_have_no_sums_of_segments():
    content = one_op("SEGMENT_SUM", [_x(3, 2), _numbers(0, 1, 1)], [_x(2, 2)])
    with pytest.raises(ModelError, match="profile litert-ref has no rule for segment_sum"):
        import_model(read(content), profile("litert-ref"))
