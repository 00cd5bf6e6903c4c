"""NumPy's and Python's words about their objects become words about arguments. Hazards: a message that leaks, an error
of another base than NumPy's, a message that was good and is lost."""

from typing import Any

import numpy as np
import pytest
from numpy.exceptions import AxisError

import qrt
from qrt.errors import QuantAxisError, QuantIndexError, QuantTypeError, QuantValueError
from qrt.tensor.numpy_errors import from_numpy

Q = qrt.quantize([[1.0, 2.0], [3.0, 4.0]], qrt.UniformType("i8", "f32", 0.5))
RAISED = [
    (lambda: np.zeros(2)["a"], QuantIndexError, "an index must be an integer, a slice"),  # type: ignore[call-overload]
    (
        lambda: np.zeros(2).__setitem__(slice(None), np.zeros(3)),
        QuantValueError,
        r"\(3,\) does not broadcast to shape \(2,\)",
    ),
    (
        lambda: np.zeros(2).__setitem__([0, 1], np.zeros(3)),
        QuantValueError,
        r"\(3,\) does not broadcast to shape \(2,\)",
    ),
    (lambda: np.zeros(2) + np.zeros(3), QuantValueError, r"the shapes \(2,\) \(3,\) do not broadcast"),
    (
        lambda: np.copyto(np.zeros((2, 1)), 1.0, where=np.zeros((2, 4), bool)),
        QuantValueError,
        r"a mask of shape \(2,4\) does not broadcast to shape \(2,1\)",
    ),
    (
        lambda: np.array([[1], [1, 2]]),
        QuantValueError,
        "must have the same length to form an array, got different lengths",
    ),
    (lambda: range(0.5), QuantTypeError, "expected an integer, got float"),  # type: ignore[call-overload]
    (lambda: list(5), QuantTypeError, "expected a sequence, got int"),  # type: ignore[call-overload]
    (lambda: np.zeros(2, object()), QuantTypeError, "expected a dtype"),  # type: ignore[call-overload]
    (lambda: np.ravel(), QuantTypeError, "an argument is missing: 'a'"),  # type: ignore[call-overload]
    (lambda: len(5), QuantTypeError, "an argument has a type that the function does not accept"),  # type: ignore[arg-type]
    (
        lambda: np.linalg.tensorinv(np.array(2.0)),
        QuantTypeError,
        "an argument has a shape or a type that the function does not accept",
    ),
    (lambda: np.zeros(2).sum(axis=3), QuantAxisError, "axis 3 is out of bounds"),
    (lambda: np.zeros(2).reshape(3), QuantValueError, "cannot reshape array of size 2 into shape"),
    (lambda: np.sort(np.zeros((1,) * 39 + (2,))), QuantTypeError, "expected at most 32 dimensions, got 40"),
]


@pytest.mark.parametrize(("work", "kind", "message"), RAISED)
def test_what_is_raised_is_said_of_the_arguments(work: Any, kind: type, message: str) -> None:
    with pytest.raises((TypeError, ValueError, IndexError, RuntimeError, AxisError)) as caught:
        work()
    ours = from_numpy(caught.value, "np.f")
    assert type(ours) is kind
    with pytest.raises(kind, match=f"np.f: .*{message}"):
        raise ours


def test_the_switch_of_floats_lets_no_error_of_numpy_through() -> None:
    with (
        qrt.float_results("allow"),
        pytest.raises(QuantValueError, match=r"np.arctan2: the shapes .* do not broadcast"),
    ):
        np.arctan2(Q, np.ones(3))


MASK = np.ones((3, 1), bool)
ROW = qrt.quantize([1.0, 2.0, 3.0, 4.0], Q.type)


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (lambda: np.unwrap(Q, discont=ROW), r"np\.unwrap: a mask of shape \(2,4\) does not broadcast to shape \(2,1\)"),
        (
            lambda: np.copyto(np.zeros((2, 2)), Q, where=MASK),
            r"np\.copyto: a mask of shape \(3,1\) does not broadcast to shape \(2,2\)",
        ),
        (lambda: np.max(Q, where=MASK, initial=0), r"np\.max: shape \(3,1\) does not broadcast to shape \(2,2\)"),
        (
            lambda: np.sqrt(Q, out=np.zeros((2, 2)), where=MASK),
            r"np\.sqrt: the shapes \(2,2\) \(2,2\) \(3,1\) do not broadcast",
        ),
        (lambda: np.less(Q, Q, where=MASK), r"np\.less: shapes do not broadcast: \(2, 2\), \(3, 1\)"),
        (
            lambda: np.sum(Q, where=MASK),
            r"np\.sum: 'where' must be bools that broadcast to shape \(2, 2\), got an ndarray of shape \(3, 1\)",
        ),
    ],
)
def test_a_mask_of_another_shape_is_said_of_the_shapes(work: Any, message: str) -> None:
    """The caller's mask, and the one that NumPy makes of the values and copies by."""
    with qrt.float_results("allow"), pytest.raises(QuantValueError, match=f"^{message}$"):
        work()


@pytest.mark.parametrize(
    "work",
    [
        lambda: np.any([1, 0], out=Q),
        lambda: np.all(Q, where=Q),
        lambda: np.count_nonzero(Q, Q),
        lambda: np.logical_and(Q, Q, out=Q),
        lambda: np.logical_not([1], out=Q),
        lambda: np.logical_or.reduce(Q, out=Q),
        lambda: np.logical_xor.accumulate(Q, out=Q),
    ],
)
def test_a_tensor_where_truths_go_is_refused(work: Any) -> None:
    """NumPy's function asks the tensor again for its rule, without end."""
    with pytest.raises(QuantTypeError, match="must not be a QuantTensor"):
        work()
