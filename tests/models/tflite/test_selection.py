"""WHERE and UNIQUE: results whose size depends on elements. Hazards: elements of the run, wrong declared types."""

import numpy as np
import pytest

import qrt
from tests.models.tflite.importing import imported, refusal, result_of
from tests.models.tflite.writing import Operator, Subgraph, Tensor, one_op, write


def _unique(data, index="int32", declared="int32", dtype="float32"):
    given = np.asarray(data, dtype)
    x = Tensor(given.shape, dtype, data=given)
    return one_op("UNIQUE", [x], [Tensor((2,), dtype), Tensor(given.shape, declared)], {"idx_out_type": index.upper()})


REFUSED = {
    "elements of the run": (
        one_op("WHERE", [Tensor((2, 2), "bool")], [Tensor((4, 2), "int64")]),
        "WHERE (the size of its result depends on elements of 't0', known only at run time: compute it outside",
    ),
    "values of the run": (
        one_op("UNIQUE", [Tensor((2,), "int8")], [Tensor((2,), "int8"), Tensor((2,), "int32")], {"idx_out_type": 2}),
        "UNIQUE (the size of its result depends on elements of 't0', known only at run time",
    ),
    "one element without axes": (
        one_op("WHERE", [Tensor((), "bool", data=True)], [Tensor((1, 0), "int64")]), "must have one or more axes"
    ),
    "positions of 32 bits": (
        one_op("WHERE", [Tensor((2,), "bool", data=[True, False])], [Tensor((1, 1), "int32")]),
        "WHERE: result 0 must be of int64, but the file declares int32",
    ),
    "numbers of other bits": (_unique([1, 1], "int64"), "result 1 must be of int64, but the file declares int32"),
    "two axes": (_unique([[1, 1]]), "UNIQUE: its input must have one axis, got shape [1, 2]"),
    "a NaN": (_unique([np.nan, 1]), "UNIQUE (NaNs)"),
    "halves": (one_op("WHERE", [Tensor((2,), "float16", data=[0, 1])], [Tensor((1, 1), "int64")]), "WHERE (float16)"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused(case):
    content, message = REFUSED[case]
    assert message in refusal(content)


def test_no_element_is_true():
    x, mask = Tensor((2,), "float32"), Tensor((2,), "bool", data=[False, False])
    positions, y = Tensor((0, 1), "int64"), Tensor((0,), "float32")
    operators = [Operator("WHERE", [mask], [positions]), Operator("GATHER_ND", [x, positions], [y])]
    module = imported(write([Subgraph([x], [y], operators)]))
    assert np.asarray(qrt.compile(module)(np.float32([1, 2]))).shape == (0,)


def test_different_elements_are_in_the_order_of_their_first_positions():
    values, numbers = result_of(_unique([3, -0.0, 3, 0.0, 1]))
    assert [float(value).hex() for value in values] == [number.hex() for number in (3.0, -0.0, 1.0)]
    assert np.asarray(numbers).tolist() == [0, 1, 0, 1, 2]
