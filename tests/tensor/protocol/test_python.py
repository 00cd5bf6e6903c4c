"""Python's protocols and an ndarray's methods. Hazards: a loop that runs over nothing, a truth that is none, an
attribute whose absence says nothing."""

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import qrt
from qrt import QuantTensor, UniformType
from qrt.errors import QuantTypeError
from qrt.tensor.protocol.methods import ABSENT

T = UniformType("i8", "f32", 0.5, 3)
PER_AXIS = UniformType("i8", "f32", [0.5, 1.0, 2.0], [0, 1, 2], axis=1)
Q = QuantTensor([[1, 2, 3], [4, 5, 6]], T)


def test_iteration_is_over_the_first_axis() -> None:
    q = QuantTensor([[1, 2, 3], [4, 5, 6]], PER_AXIS)
    assert [row.storage.tolist() for row in q] == [[1, 2, 3], [4, 5, 6]]
    assert [x.type.scales for x in q.T] == [(0.5,), (1.0,), (2.0,)]
    assert [*QuantTensor(np.zeros((0, 3), int), T)] == []
    with pytest.raises(TypeError, match="a tensor of rank 0 cannot be iterated over"):
        iter(q[0, 0])
    with pytest.raises(TypeError, match="rank 0"):
        len(q[0, 0])
    first, second = q
    assert np.shares_memory(first, q)
    assert second.shape == (3,)


@pytest.mark.parametrize(("storage", "value"), [(3, 0.0), (4, 0.5), (0, -1.5)])
def test_a_tensor_of_one_element_is_a_number(storage: int, value: float) -> None:
    q = QuantTensor(storage, T)
    assert (float(q), int(q), complex(q), bool(q), q.item()) == (value, int(value), value, bool(value), value)
    assert f"{q:.2f}" == f"{value:.2f}"
    assert math.isclose(q, value)
    for more in (q[None], q[None, None]):
        assert (bool(more), more.item()) == (bool(value), value)
        for convert in (float, int, complex):
            with pytest.raises(TypeError, match="only a tensor of rank 0 converts to a Python number, got shape"):
                convert(more)


def test_truth_is_exact() -> None:
    """A difference from the zero point that the expressed type rounds away is not 0."""
    t = UniformType("i32", "f32", 1.0, 2**24)
    assert bool(QuantTensor(2**24 + 1, t))
    assert float(QuantTensor(2**24 + 1, t)) == 0.0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: bool(Q), ValueError, "truth value of a tensor with more than one element is ambiguous: use np.any"),
        (lambda: bool(Q[:0]), ValueError, "truth value of an empty tensor is ambiguous"),
        (lambda: Q.item(), ValueError, "only a tensor of one element converts to a Python number, got 6 elements"),
        (lambda: Q.item(6), IndexError, "index 6 is out of bounds for size 6"),
        (lambda: Q.item(0, 3), IndexError, "index 3 is out of bounds for axis 1 with size 3"),
        (lambda: Q.item(0, 0, 0), ValueError, "expected 2 indices, one for each axis, got 3"),
        (lambda: [1, 2, 3][Q[0, 0]], TypeError, "integer"),
        (lambda: range(Q[0, 0]), TypeError, "integer"),
        (lambda: np.ones(3)[Q], IndexError, "integer"),
        (
            lambda: np.take(np.ones(9), Q),
            TypeError,
            r"'dtype' must represent the real values, got int64: write q\.storage for the integers, or "
            r"np\.asarray\(q\)\.astype\('int64'\), which truncates the values",
        ),
        (lambda: f"{Q:.2f}", TypeError, "unsupported format string"),
        (
            lambda: Q.astype(np.int8),
            QuantTypeError,
            r"'dtype' must represent the real values, got int8: write q\.storage for the integers, or "
            r"np\.asarray\(q\)\.astype\('int8'\), which truncates the values",
        ),
        (lambda: Q.to_device("gpu"), ValueError, "'device' must be \"cpu\", the only device, got 'gpu'"),
        (
            lambda: Q.to_device(np.zeros(0)),
            ValueError,
            "'device' must be \"cpu\", the only device, got an ndarray of shape \\(0,\\)",
        ),
        (
            lambda: Q.to_device(Q),
            ValueError,
            "'device' must be \"cpu\", the only device, got a QuantTensor of shape \\(2, 3\\)$",
        ),
        (lambda: Q.reshape(-1, order=Q), ValueError, r"'C', 'F' or 'A', got a QuantTensor of shape \(2, 3\)$"),
        (lambda: np.reshape(Q, -1, order=np.zeros(2)), ValueError, r"got an ndarray of shape \(2,\)$"),
        (lambda: getattr(Q, "a" * 5000), AttributeError, r"^a QuantTensor has no attribute 'a{199}\.\.\.$"),
    ],
)
def test_what_is_no_number_says_so(call: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_items_and_lists_are_python_numbers() -> None:
    assert [Q.item(i) for i in (0, -1)] == [-1.0, 1.5]
    assert (Q.item(1, 0), Q.item((1, -1))) == (0.5, 1.5)
    for expressed in ("f16", "bf16", "f64", "f8E5M2"):
        q = QuantTensor([[3, 4]], T.with_(expressed=expressed))
        assert q.tolist() == [[0.0, 0.5]]
        assert [type(x) for x in q.tolist()[0]] == [float, float]
        assert type(q.item(1)) is float
    assert Q.astype(np.float64).dtype == np.float64
    assert Q.astype(ml_dtypes.bfloat16).tolist() == Q.tolist()


def test_a_value_is_found_exactly() -> None:
    assert 0.5 in Q
    assert 0.25 not in Q
    assert QuantTensor(4, T) in Q


@pytest.mark.parametrize(
    ("method", "arguments", "function"),
    [
        ("ravel", (), np.ravel), ("flatten", (), np.ravel), ("squeeze", (), np.squeeze),
        ("swapaxes", (0, 1), np.swapaxes),
        ("repeat", (2, 1), np.repeat), ("take", ([0, 2], 1), np.take), ("diagonal", (1,), np.diagonal),
        ("transpose", ((1, 0),), np.transpose), ("reshape", ((3, 2),), np.reshape), ("copy", (), np.copy),
    ],
)  # fmt: skip
def test_a_method_is_numpys_function(method: str, arguments: tuple[Any, ...], function: Any) -> None:
    mine, theirs = getattr(Q, method)(*arguments), function(Q, *arguments)
    assert mine.type == theirs.type
    assert mine.storage.tolist() == theirs.storage.tolist()
    wanted = getattr(Q.storage, method)(*arguments)
    assert mine.storage.tolist() == wanted.tolist()


def test_attributes_of_an_array() -> None:
    assert Q.mT.storage.tolist() == Q.T.storage.tolist()
    assert Q.real is Q
    assert Q.imag.storage.tolist() == [[3] * 3] * 2
    assert (Q.device, Q.to_device("cpu") is Q) == ("cpu", True)
    q = Q.copy()
    q.fill(1.0)
    q.put([0], 2.0)
    assert q.storage.tolist() == [[7, 5, 5], [5, 5, 5]]
    assert Q.compress([True, False, True], axis=1).storage.tolist() == [[1, 3], [4, 6]]


@pytest.mark.parametrize("name", [name for name in ABSENT if not name.startswith("_")])
def test_an_absent_attribute_says_what_to_write(name: str) -> None:
    assert not hasattr(Q, name)
    with pytest.raises(AttributeError, match=f"a QuantTensor has no attribute '{name}': ") as caught:
        getattr(Q, name)
    assert caught.value.name == name
    with pytest.raises(AttributeError, match="a QuantTensor has no attribute 'sahpe': did you mean 'shape'"):
        _ = Q.sahpe  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"a QuantTensor has no attribute 'numpy': np.asarray\(q\)"):
        Q.numpy()  # type: ignore[attr-defined]


def test_what_is_asked_of_a_tensor() -> None:
    assert (np.shape(Q), np.ndim(Q), np.size(Q), np.size(Q, 1), np.size(Q, (0, 1))) == ((2, 3), 2, 6, 3, 6)
    assert np.result_type(Q, Q) == np.float32
    assert np.result_type(Q, np.float64) == np.float64
    assert np.can_cast(Q, np.float32)
    assert not np.can_cast(Q, np.int8)
    assert np.common_type(Q) is np.float32
    assert np.min_scalar_type(Q) == np.float32
    assert np.may_share_memory(Q, Q[0])
    assert not np.shares_memory(Q[0], Q[1])
    assert np.shares_memory(Q, Q.storage)
    assert (np.iscomplexobj(Q), np.isrealobj(Q)) == (False, True)
    assert np.isreal(Q).all()
    assert not np.iscomplex(Q).any()
    assert [x.tolist() for x in np.tril_indices_from(Q)] == [[0, 1, 1], [0, 0, 1]]
    assert np.astype(Q, np.float64).tolist() == Q.tolist()


def test_text_of_a_tensor(tmp_path: Any) -> None:
    values = np.asarray(Q)
    assert np.array2string(Q, separator=";") == np.array2string(values, separator=";")
    assert np.array_str(Q, precision=1) == np.array_str(values, precision=1)
    assert np.array_repr(Q) == repr(Q)
    assert np.array_repr(QuantTensor([1], UniformType("i8", "f32", 1 / 3)), precision=2).startswith(
        "QuantTensor([0.33]"
    )
    np.savetxt(tmp_path / "q.txt", Q)
    assert np.loadtxt(tmp_path / "q.txt").tolist() == Q.tolist()
    with pytest.raises(OSError, match="no"):
        np.savetxt(tmp_path / "no" / "q.txt", Q)


def test_a_file_of_values_would_lose_the_type(tmp_path: Any) -> None:
    for save in (np.save, np.savez):
        with pytest.raises(QuantTypeError, match=r"takes no QuantTensor: qrt\.save_tensors"):
            save(tmp_path / "q", Q)
    assert not [*tmp_path.iterdir()]
    with qrt.float_results("allow"), pytest.raises(QuantTypeError, match="save_tensors"):
        np.save(tmp_path / "q", Q)
