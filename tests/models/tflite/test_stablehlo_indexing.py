"""STABLEHLO_GATHER and STABLEHLO_SCATTER: wrong attributes, and positions of a run. Hazards: axes that do not exist, or
are named twice; positions beyond an end, which are clamped or left out; negative ones."""

import numpy as np
import pytest

import qrt
from qrt.errors import ModelError
from tests.models.tflite.importing import imported, refusal
from tests.models.tflite.writing import Operator, Subgraph, Tensor, one_op, write


def _x(*shape, dtype="float32"):
    return Tensor(shape, dtype)


def _gather(shape=(3, 4), positions=None, result=(2, 4), last=1, dtype="float32", **lists):
    given = {"offset_dims": [1], "collapsed_slice_dims": [0], "start_index_map": [0], "slice_sizes": [1, 4], **lists}
    options = {name: np.array(values, np.int64) for name, values in given.items()} | {"index_vector_dim": last}
    operands = [_x(*shape, dtype=dtype), positions or _x(2, 1, dtype="int32")]
    return one_op("STABLEHLO_GATHER", operands, [_x(*result, dtype=dtype)], options)


def _scatter(*bodies, updates=(2, 4), positions=None, number=1, dtype="float32", **lists):
    given = {"update_window_dims": [1], "inserted_window_dims": [0], "scatter_dims_to_operand_dims": [0], **lists}
    options = {name: np.array(values, np.int64) for name, values in given.items()}
    options |= {"index_vector_dim": 1, "update_computation_subgraph_index": number}
    operands = [_x(3, 4), positions or _x(2, 1, dtype="int32"), _x(*updates, dtype=dtype)]
    y, a, b = _x(3, 4), _x(), _x()
    body = [Operator(name, [a, b], [_x()]) for name in bodies]
    main = Subgraph(operands, [y], [Operator("STABLEHLO_SCATTER", operands, [y], options)])
    return write([main, Subgraph([a, b], body[0].outputs if body else [b], body)])


REFUSED = {
    "an axis of slices that is none": (
        lambda: _gather(offset_dims=[2]), "offset_dims must be ascending axes from 0 to 1, got [2]"
    ),
    "an axis twice": (lambda: _gather(collapsed_slice_dims=[0, 0]), "must be ascending axes from 0 to 1, got [0, 0]"),
    "too few axes of slices": (
        lambda: _gather(collapsed_slice_dims=[]), "offset_dims have an axis for each other one, got [] and [1]"
    ),
    "a slice that is left out, of several elements": (
        lambda: _gather(slice_sizes=[2, 4]), "collapsed_slice_dims must be axes whose slices have size 1"
    ),
    "a slice larger than the tensor": (
        lambda: _gather(slice_sizes=[1, 5]), "slice_sizes must be from 0 to the sizes [3, 4] of the input, got [1, 5]"
    ),
    "slices of another rank": (lambda: _gather(slice_sizes=[1]), "slice_sizes must be from 0 to the sizes [3, 4]"),
    "a position on no axis": (lambda: _gather(start_index_map=[2]), "start_index_map must have 1 axes of 2"),
    "too many axes of positions": (lambda: _gather(start_index_map=[0, 1]), "start_index_map must have 1 axes of 2"),
    "no axis of positions": (lambda: _gather(last=3), "index_vector_dim must be from 0 to 1, an axis of the positions"),
    "an axis of positions that is left out": (lambda: _gather(last=2), "with which LiteRT crashes"),
    "positions that are floats": (lambda: _gather(positions=_x(2, 1)), "STABLEHLO_GATHER (positions of float32)"),
    "positions of bytes": (lambda: _gather(positions=_x(2, 1, dtype="int8")), "positions of int8"),
    "a result of another rank": (lambda: _gather(result=(2, 2, 2)), "the result must have rank 2, got 3"),
    "truths": (lambda: _gather(dtype="bool"), "STABLEHLO_GATHER (bool)"),
    "windows on an axis that is none": (
        lambda: _scatter(update_window_dims=[2]), "update_window_dims must be ascending axes from 0 to 1, got [2]"
    ),
    "updates of another batch": (
        lambda: _scatter(updates=(5, 4)), "updates must have the batch [2] and a window with an axis for each of 1 axes"
    ),
    "updates of another type": (lambda: _scatter(dtype="int32"), "updates must be of float32, got int32"),
    "a body that is missing": (lambda: _scatter(number=9), "its body is subgraph 9, but the file has 2"),
    "a body that is not known": (lambda: _scatter("SUB"), "STABLEHLO_SCATTER (a body of SUB)"),
    "a body of two operators": (
        lambda: _scatter("STABLEHLO_ADD", "STABLEHLO_ADD"), "(a body of STABLEHLO_ADD, STABLEHLO_ADD)"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused(case):
    make, message = REFUSED[case]
    assert message in refusal(make())


def _program(content):
    return qrt.compile(imported(content))


def test_positions_are_clamped():
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    np.testing.assert_array_equal(_program(_gather())(x, np.int32([[9], [-9]])), x[[2, 0]])


X, UPDATES = np.float32([[1, 2, 3, 4]] * 3), np.float32([[5, -6, 7, -8], [0.5, 1, -1, 2]])


@pytest.mark.parametrize(
    ("body", "function"),
    [
        ((), lambda a, b: b),
        (("STABLEHLO_ADD",), np.add),
        (("STABLEHLO_MULTIPLY",), np.multiply),
        (("STABLEHLO_MAXIMUM",), np.maximum),
        (("STABLEHLO_MINIMUM",), np.minimum),
    ],
)
def test_updates_are_applied_in_order_or_left_out(body, function):
    program = _program(_scatter(*body))
    wanted = X.copy()
    wanted[1] = function(function(X[1], UPDATES[0]), UPDATES[1])
    np.testing.assert_array_equal(program(X, np.int32([[1], [1]]), UPDATES), wanted)
    wanted = X.copy()
    wanted[2] = function(X[2], UPDATES[1])
    np.testing.assert_array_equal(program(X, np.int32([[3], [2]]), UPDATES), wanted)
    with pytest.raises(ModelError, match=r"STABLEHLO_SCATTER: .*('indices' must be at least 0|index is out of bounds)"):
        program(X, np.int32([[0], [-1]]), UPDATES)


def test_empty_slices():
    empty = _gather(shape=(3, 0), slice_sizes=[1, 0], result=(2, 0))
    assert np.asarray(_program(empty)(np.zeros((3, 0), np.float32), np.int32([[0], [1]]))).shape == (2, 0)
