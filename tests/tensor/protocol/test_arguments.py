"""Arguments that NumPy's functions share. Hazards: an option that is read as not given, a tensor where an array
belongs, an error of Python's about a function that nobody called, a rule that takes another's place."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import qrt
from qrt import QuantTensor, UniformType
from qrt.errors import QuantAxisError, QuantTypeError, QuantValueError, shown
from qrt.tensor.protocol import table
from tests.tensor.protocol.values import values

T = UniformType("i8", "f32", 0.5, 3)
Q = QuantTensor(np.int8([[1, 2, -3], [4, 5, 6]]), T)
REDUCTIONS: list[Callable[..., Any]] = [
    np.sum, np.nansum, np.prod, np.ptp, np.mean, np.nanmean, np.average, np.var, np.nanstd, np.std, np.max, np.nanmin,
    np.any, np.all, np.argmax, np.count_nonzero, np.linalg.norm,
]  # fmt: skip


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("keepdims", [1, True, 0, False])
def test_keepdims_is_read_by_its_truth(reduction: Callable[..., Any], keepdims: Any) -> None:
    assert np.shape(reduction(Q, axis=0, keepdims=keepdims)) == ((1, 3) if keepdims else (3,))


def test_what_is_kept_for_one_keepdims_is_not_taken_for_an_equal_one() -> None:
    q = QuantTensor(np.int8([[7, 7, 1, 2, 9]] * 3), T)
    assert [np.sum(q, axis=1, keepdims=keepdims).shape for keepdims in (1, True, 0, False)] == [(3, 1)] * 2 + [(3,)] * 2


def test_keepdims_of_quantiles_norms_of_matrices_and_wide_averages() -> None:
    wide = QuantTensor(np.zeros((2, 4096), np.int8), T)
    assert np.quantile(Q, 0.5, axis=1, method="lower", keepdims=np.True_).shape == (2, 1)
    assert np.linalg.norm(Q, axis=(0, 1), keepdims=1).shape == (1, 1)
    assert np.mean(wide, axis=1, keepdims=1).shape == (2, 1)
    assert np.mean(Q, axis=1, dtype=np.float64, keepdims=1).shape == (2, 1)
    assert np.sum(Q, axis=1, dtype=np.float64, keepdims=1).shape == (2, 1)


def test_an_initial_number_that_is_a_result_is_near_a_value() -> None:
    none = np.zeros(Q.shape, bool)
    for initial in (10**6, -(10**6)):
        for call in (
            lambda initial=initial: np.min(Q[:0], initial=initial),
            lambda initial=initial: np.max(Q, axis=1, initial=initial, where=none),
        ):
            with pytest.raises(QuantTypeError, match="is out of the range of"):
                call()
    assert np.max(Q[:0], initial=-2.0).item() == -2.0
    assert np.min(Q, initial=10**6).item() == -3.0  # it is greater than each
    some = np.array([[True, False, False], [False, False, False]])
    with pytest.raises(QuantTypeError, match="is out of the range of"):
        np.min(Q, axis=1, initial=10**6, where=some)


@pytest.mark.parametrize("axis", range(-3, 3))
@pytest.mark.parametrize("start", range(-3, 4))
def test_rollaxis_counts_a_negative_start_as_numpy_does(axis: int, start: int) -> None:
    q = QuantTensor(np.arange(24).reshape(2, 3, 4), UniformType("i8", "f32", [0.5, 0.25, 1.0], axis=1))
    rolled, expected = np.rollaxis(q, axis, start), np.rollaxis(values(q), axis, start)
    assert rolled.shape == expected.shape
    assert (values(rolled) == expected).all()


@pytest.mark.parametrize("start", [4, -4])
def test_rollaxis_refuses_a_start_beyond_the_axes(start: int) -> None:
    with pytest.raises(QuantAxisError, match=r"np\.rollaxis: 'start'"):
        np.rollaxis(QuantTensor(np.zeros((1, 1, 1), np.int8), T), 0, start)


@pytest.mark.parametrize("x", [Fraction(1, 3), 10**30, Fraction(0), np.array([Fraction(0), 1, 2], object)])
@pytest.mark.parametrize("ufunc", [np.logical_and, np.logical_or, np.logical_xor])
def test_a_truth_beside_objects_is_a_bool(ufunc: np.ufunc, x: Any) -> None:
    of_objects = np.asarray(x, object).astype(bool)
    for result, expected in (
        (ufunc(Q, x), ufunc(values(Q).astype(bool), of_objects)),
        (ufunc(x, Q), ufunc(of_objects, values(Q).astype(bool))),
    ):
        assert result.dtype == bool
        assert result.tolist() == expected.tolist()


@pytest.mark.parametrize(
    "call",
    [
        lambda: np.any(Q, out=Q),  # type: ignore[call-overload]
        lambda: np.any(Q, 0, [Q]),  # type: ignore[call-overload]
        lambda: np.all(Q, where=Q),  # type: ignore[call-overload]
        lambda: np.logical_not(Q, out=Q),  # type: ignore[call-overload]
        lambda: np.logical_xor.reduce(Q, 0, Q),  # type: ignore[arg-type]
        lambda: np.less(Q, Q, where=Q),  # type: ignore[arg-type]
        lambda: np.isnan(Q, out=Q),  # type: ignore[call-overload]
        lambda: np.argmax(Q, out=Q),  # type: ignore[call-overload]
        lambda: np.max(Q, where=Q, initial=0),  # type: ignore[call-overload]
    ],
)
def test_a_tensor_is_no_mask_and_takes_no_bools(call: Callable[[], Any]) -> None:
    before = Q.storage.copy()
    with pytest.raises(QuantTypeError, match=r"^np\.[\w.]+: .*QuantTensor") as raised:
        call()
    assert len(str(raised.value)) < 200
    assert (Q.storage == before).all()


AN_AXIS = Q[0, 0]
"""Its storage is 1, which is an axis of ``Q``; its value is -1."""


@pytest.mark.parametrize(
    "call",
    [
        lambda q: np.array2string(Q, q),
        lambda q: np.array2string(Q, separator=q),
        lambda q: np.array_str(Q, q),
        lambda q: np.array_str(Q, precision=q),
        lambda q: np.array_repr(Q, q),
        lambda q: np.array_repr(Q, suppress_small=q),
        lambda q: np.savetxt("/dev/null", Q, q),
        lambda q: np.savetxt("/dev/null", Q, header=q),
        lambda q: np.size(Q, q),
        lambda q: np.tril_indices_from(Q, q),
        lambda q: np.triu_indices_from(Q, k=q),
        lambda q: np.tril(Q, q),
        lambda q: np.triu(Q, k=q),
        lambda q: np.rot90(Q, q),
        lambda q: np.rot90(Q, axes=(0, q)),
        lambda q: np.roll(Q, q),
        lambda q: np.roll(Q, 1, axis=q),
        lambda q: np.moveaxis(Q, q, 0),
        lambda q: np.squeeze(Q[None], q),
        lambda q: np.repeat(Q, q),
        lambda q: np.tile(Q, q),
        lambda q: np.delete(Q, q),
        lambda q: np.insert(Q, q, 1),
        lambda q: np.insert(Q, [q], 1, axis=0),
        lambda q: np.split(Q, q),
        lambda q: np.array_split(Q, [q]),
        lambda q: np.vsplit(Q, q),
        lambda q: np.resize(Q, q),
        lambda q: np.resize(Q, (q, q)),
        lambda q: np.fft.fftshift(Q, q),
        lambda q: np.linalg.diagonal(Q, offset=q),
        lambda q: np.lib.stride_tricks.sliding_window_view(Q, (1, q)),
    ],
)
@pytest.mark.parametrize("q", [AN_AXIS, Q[0], Q])
def test_a_tensor_is_no_integer_and_no_text(call: Callable[[Any], Any], q: QuantTensor) -> None:
    """Its storage would be taken for the integer, or NumPy would compute with it, and blame its own arithmetic."""
    with pytest.raises(QuantTypeError, match=r"^np\.[\w.]+: .* must not be a QuantTensor"):
        call(q)


def test_the_order_of_a_norm_is_no_text_that_describes_a_tensor() -> None:
    with pytest.raises(QuantTypeError, match=r"write np\.linalg\.norm\(np\.asarray\(q\), ord=np\.asarray\(r\)\)"):
        np.linalg.norm(Q, ord=AN_AXIS)  # type: ignore[call-overload]


def test_a_keyword_without_meaning_is_named_with_numpys_function() -> None:
    for call, said in (
        (lambda: np.isinf(Q, dtype=bool), r"np\.isinf: the argument 'dtype' is not supported for a QuantTensor"),
        (
            lambda: np.logical_not(Q, casting="no"),
            r"np\.logical_not: the argument 'casting' is not supported for a QuantTensor",
        ),
        (lambda: np.signbit(Q, subok=False), r"np\.signbit: the argument 'subok' is not supported"),
    ):
        with pytest.raises(TypeError, match=said) as raised:
            call()
        assert "rule" not in str(raised.value)
        assert "<locals>" not in str(raised.value)


def test_a_message_has_no_contents_of_an_array() -> None:
    assert shown(np.zeros((3, 3))) == "an ndarray of shape (3, 3)"
    assert shown(Q) == "a QuantTensor of shape (2, 3)"
    assert shown([np.zeros((3, 3))]) == "a list of arrays"
    assert shown(np.float64(2)) == "np.float64(2.0)"
    for call in (
        lambda: np.minimum(Q, Q, signature=np.zeros((3, 3))),
        lambda: np.logical_xor.reduce(Q, 0, np.zeros((3, 3))),
    ):
        with pytest.raises(QuantTypeError) as raised:
            call()
        assert "0." not in str(raised.value)
        assert "\n" not in str(raised.value)


def test_a_function_has_one_rule() -> None:
    for function in (np.sum, (np.add, "reduce"), np.exp):
        with pytest.raises(RuntimeError, match="already has a rule:"):
            table.table() and table.implements(function, kind="sums")(lambda x: x)  # type: ignore[arg-type]
    assert table.table()[np.sum].rule is not None


def test_the_other_names_of_max_and_min() -> None:
    assert np.amax(Q).item() == 1.5
    assert np.amin(Q, axis=1).storage.tolist() == [-3, 4]


def test_a_vector_has_no_axis_1() -> None:
    with pytest.raises(
        np.exceptions.AxisError,
        match=r"np\.sum: 'axis' must be in \[-1, 0\] for a tensor of rank 1, "
        r"got 1",
    ):
        qrt.quantize([1.0], T).sum(axis=1)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("axis", ["", b"", {}, set()])
def test_an_axis_is_no_empty_text_or_mapping(reduction: Callable[..., Any], axis: Any) -> None:
    """Hazard: what is iterated like a tuple without integers means no axis."""
    with pytest.raises((QuantTypeError, QuantValueError, QuantAxisError), match=r"axis|expected an integer"):
        reduction(Q, axis=axis)


@pytest.mark.parametrize("axis", [(), (0, 1, 2)])
def test_a_norm_is_along_one_axis_or_two(axis: Any) -> None:
    with pytest.raises(QuantValueError, match=r"np\.linalg\.norm: 'axis' must be one axis or a pair of axes"):
        np.linalg.norm(QuantTensor(np.zeros((2, 2, 2), np.int8), T), axis=axis)


OUTS: list[Callable[[Any], Any]] = [
    lambda out: np.max(Q, axis=0, out=out), lambda out: np.maximum(Q[0], Q[1], out=out),
    lambda out: np.take(Q, 0, axis=0, out=out), lambda out: np.multiply(Q[0], 2, out=out),
    lambda out: np.negative(Q[0], out=out), lambda out: np.clip(Q[0], -1, 1, out=out),
]  # fmt: skip


@pytest.mark.parametrize("call", OUTS)
def test_out_is_filled_or_left_alone(call: Callable[[Any], Any]) -> None:
    expected = call(None)
    t = expected.type
    out = QuantTensor(np.full((2, 6), 100), t)[0, ::-2]
    assert call(out) is out
    assert out.equals(expected)
    for wrong, error in (
        (QuantTensor(np.full((1, 3), 100), t), QuantValueError),
        (qrt.pack(QuantTensor(np.full(3, 100), t)), QuantValueError),
        (QuantTensor(np.full(3, 100), UniformType("i16", "f32", 7.0)), QuantTypeError),
        (np.zeros(3, np.int8), QuantTypeError),
    ):
        with pytest.raises(error, match=r"^np\.\w+: ('out'|assignment destination is read-only)"):
            call(wrong)
        assert not isinstance(wrong, QuantTensor) or (wrong.storage == 100).all()
