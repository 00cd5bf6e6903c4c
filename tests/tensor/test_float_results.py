"""The switch for what has no exact result. Hazards: it leaks out of its block, into another thread or task; a warning
points into qrt; a result is lost in a tensor that was given as ``out``."""

import asyncio
import threading
import warnings
from typing import Any

import numpy as np
import pytest

import qrt
from qrt import QuantTensor, UniformType
from qrt.errors import QuantTypeError

Q = QuantTensor(np.int8([[2, 8], [18, 32]]), UniformType("i8", "f32", 0.5))
ROOTS = [[1.0, 2.0], [3.0, 4.0]]


def is_allowed() -> bool:
    try:
        np.sqrt(Q)
    except QuantTypeError:
        return False
    return True


def test_by_default_it_is_an_error() -> None:
    with pytest.raises(QuantTypeError, match=r"write np\.sqrt"):
        np.sqrt(Q)
    with qrt.float_results("raise"), pytest.raises(QuantTypeError, match=r"write np\.sqrt"):
        np.sqrt(Q)


def test_allowed_floats_are_what_numpy_gives_for_the_values() -> None:
    with qrt.float_results("allow"):
        root = np.sqrt(Q)
        assert (root.dtype, root.tolist()) == (np.float32, ROOTS)
        assert (Q + 0.25).dtype == np.float32
        assert np.array_equal(np.hypot(Q, np.float64([1, 2])), np.hypot(np.asarray(Q), np.float64([1, 2])))
        assert isinstance(Q + Q, QuantTensor)  # what is exact stays so


def test_a_warning_points_to_the_caller() -> None:
    calls: list[Any] = [lambda: np.sqrt(Q), lambda: Q + 0.25, lambda: 1 / Q, lambda: np.dot(Q, np.ones(2)), Q.round]
    with qrt.float_results("warn"):
        for call in calls:
            with pytest.warns(UserWarning, match="has no exact result as quantized values: write") as caught:
                call()
            assert [warning.filename for warning in caught] == [__file__]


X = np.float64([[1, 2], [3, 4]])
ELEMENT = Q[0, 0]
COMPUTED_BY_NUMPY: dict[str, Any] = {
    "np.array_repr": lambda: np.array_repr(X, ELEMENT),
    "np.array_str": lambda: np.array_str(X, ELEMENT),
    "np.array2string": lambda: np.array2string(X, ELEMENT),
    "np.var": lambda: np.var(X, ddof=ELEMENT),
    "np.trapezoid": lambda: np.trapezoid(X, dx=Q),
    "np.tril": lambda: np.tril(X, ELEMENT),
    "np.unwrap": lambda: np.unwrap(X, period=ELEMENT),
}
"""Functions that compute with arguments which NumPy does not look at for tensors."""


@pytest.mark.parametrize("function", COMPUTED_BY_NUMPY)
def test_what_numpy_computes_is_not_said_of_the_caller(function: str) -> None:
    """The hint to write ``q - qrt.quantize(1, q.type)`` is about code that nobody but NumPy can change."""
    with pytest.raises(QuantTypeError, match=rf", and {function} calls it: give {function} np\.asarray\(q\)") as raised:
        COMPUTED_BY_NUMPY[function]()
    assert "write" not in str(raised.value)
    with qrt.float_results("warn"), pytest.warns(UserWarning, match=f", and {function} calls it: give "):
        COMPUTED_BY_NUMPY[function]()


def test_what_numpy_calls_and_refuses_is_not_said_of_the_caller() -> None:
    for call in (lambda: np.poly1d(Q[0]), lambda: np.testing.assert_array_almost_equal_nulp(X, Q)):
        with pytest.raises(QuantTypeError, match=", and NumPy calls it: give NumPy"):
            call()


def test_what_a_callers_function_computes_is_said_of_it() -> None:
    with pytest.raises(QuantTypeError, match=r"write q \+ qrt\.quantize"):
        np.apply_along_axis(lambda row: Q + 1, 0, X)


def test_blocks_nest_and_end_with_an_error() -> None:
    with qrt.float_results("allow"):
        with qrt.float_results("raise"):
            assert not is_allowed()
        assert is_allowed()
        with pytest.raises(ZeroDivisionError), qrt.float_results("raise"):
            raise ZeroDivisionError
        assert is_allowed()
    assert not is_allowed()


def test_other_threads_are_not_asked() -> None:
    seen: list[bool] = []
    with qrt.float_results("allow"):
        thread = threading.Thread(target=lambda: seen.append(is_allowed()))
        thread.start()
        thread.join()
    assert seen == [False]


def test_a_task_has_its_own() -> None:
    async def allows(entered: asyncio.Event, done: asyncio.Event) -> bool:
        with qrt.float_results("allow"):
            entered.set()
            await done.wait()
            return is_allowed()

    async def both() -> list[bool]:
        entered, done = asyncio.Event(), asyncio.Event()
        task = asyncio.create_task(allows(entered, done))
        await entered.wait()
        mine = is_allowed()
        done.set()
        return [mine, await task]

    assert asyncio.run(both()) == [False, True]


def test_an_array_takes_the_result_and_a_tensor_does_not() -> None:
    x = np.float32([[1, 2], [3, 4]])
    with qrt.float_results("allow"):
        np.sqrt(Q, out=x)
        assert x.tolist() == ROOTS
        x += Q
        assert x.tolist() == [[2.0, 6.0], [12.0, 20.0]]
        for call in (lambda: np.sqrt(x, out=Q), lambda: np.sqrt(Q, Q), lambda: np.add(x, x, out=Q)):
            with pytest.raises(
                QuantTypeError,
                match="'out' must be an array of floats, because the result has no exact quantized "
                "values, got a QuantTensor",
            ):
                call()
    assert Q.storage.tolist() == [[2, 8], [18, 32]]
    with pytest.raises(QuantTypeError, match="no exact result"):
        x += Q


@pytest.mark.parametrize("mode", ["ALLOW", "", None, 1, True, ["allow"]])
def test_other_modes_are_refused(mode: Any) -> None:
    with (
        pytest.raises(QuantTypeError, match='float_results: \'mode\' must be "allow", "warn" or "raise",'),
        qrt.float_results(mode),
    ):
        pass


def test_no_warning_comes_of_what_is_exact() -> None:
    with qrt.float_results("warn"), warnings.catch_warnings():
        warnings.simplefilter("error")
        np.sum(Q), np.std(Q), np.einsum("ij,jk", Q, Q), Q * 2
