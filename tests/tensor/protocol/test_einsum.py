"""Products of tensors: exact rationals whatever the subscripts, or an error.

Hazards: an axis in the wrong place after the transposes and reshapes, the scale of another channel, a sum of products
beyond 32 bits, size 1 that broadcasts where NumPy refuses, floats that pass for exact."""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qrt
from qrt import QuantTensor, UniformType
from qrt.errors import QuantTypeError, QuantValueError
from tests.tensor.protocol.rationals import SHORT_SCALES, magnitude, outcome, same, tensors, values

T = UniformType("i8", "f32", 0.5, 3)
Q = QuantTensor(np.int8([[1, 2, -3], [4, 5, 6]]), T)
COLUMNS = QuantTensor(Q.storage, UniformType("i8", "f32", [0.5, 0.25, 1.0], [1, 2, 3], axis=1))
X = np.float32([[1, 2, 3], [4, 5, 6]])
END = 1 << 31


def plain(subscripts: str, *arrays: Any) -> Any:
    """``einsum`` of rationals, which NumPy's does of objects too."""
    return np.asarray(np.einsum(subscripts, *arrays), object)


@st.composite
def subscripts(draw: st.DrawFn) -> tuple[str, list[str], str]:
    """Up to three operands over four letters; diagonals and letters of one operand alone among them."""
    inputs = draw(st.lists(st.text("ijkl", max_size=3), min_size=1, max_size=3))
    letters = sorted(set("".join(inputs)))
    output = "".join(draw(st.permutations(letters)))[: draw(st.integers(0, len(letters)))]
    return f"{','.join(inputs)}->{output}", inputs, output


def channel(labels: str, q: QuantTensor) -> str | None:
    return labels[q.type.axis] if q.type.axis is not None and len(q.type.scales) > 1 else None


@settings(max_examples=60)
@given(st.data(), subscripts(), st.sampled_from([(1, 3), (1, 9), (9, 33)]))
def test_any_subscripts(data: st.DataObject, drawn: tuple[str, list[str], str], widths: tuple[int, int]) -> None:
    text, inputs, output = drawn
    size = {letter: data.draw(st.integers(0, 4)) for letter in "ijkl"}
    operands = [
        data.draw(tensors(tuple(size[x] for x in labels), range(*widths), SHORT_SCALES, ("layer", "axis")))
        for labels in inputs
    ]
    channels = {channel(labels, q) for labels, q in zip(inputs, operands, strict=True)} - {None}
    terms = prod(max(size[x], 1) for x in set("".join(inputs)) - set(output))
    bound = terms * prod(magnitude(q.type) for q in operands)
    is_refused = bound >= END or len(channels) > 1 or not channels <= set(output)
    result = outcome(lambda: np.einsum(text, *operands))
    assert isinstance(result, QuantTypeError) == is_refused, result
    if is_refused:
        return
    assert same(result, plain(text, *map(values, operands)))
    assert (result.type.storage, set(result.type.zero_points)) == ("i32", {0})


@settings(max_examples=20)
@given(st.data())
def test_wide_products_in_a_type_that_is_asked_for(data: st.DataObject) -> None:
    """Sums beyond i32, and the same as `qrt.matmul` makes of them; as float64 they are rounded once."""
    a, b = (data.draw(tensors((3, 3), range(14, 26), kinds=("layer",))) for _ in range(2))
    t = UniformType("i16", "f32", a.type.scale * b.type.scale * 2.0**20, 5)
    assert np.einsum("ij,jk->ik", a, b, dtype=t).equals(qrt.matmul(a, b, out_type=t))
    floats = np.einsum("ij,jk", a, b, dtype=np.float64)
    assert floats.tolist() == [[float(v) for v in row] for row in plain("ij,jk", values(a), values(b))]


def _of_axes(a: Any, b: Any) -> Any:
    return np.tensordot(a, b, ([0, 2], [-1, 0]))


CALLS: dict[str, tuple[Callable[..., Any], list[tuple[tuple[int, ...], ...]]]] = {
    "dot": (np.dot, [((3,), (3,)), ((2, 3), (3, 4))]),
    "dot of ranks": (np.dot, [((2, 3), (3,)), ((3,), (3, 2)), ((2, 2, 3), (4, 3, 2)), ((), (2,))]),
    "inner": (np.inner, [((3,), (3,)), ((2, 3), (4, 3)), ((2, 3), (3,)), ((), (2, 3)), ((2, 1, 3), (2, 3))]),
    "outer": (np.outer, [((3,), (2,)), ((2, 2), (3,)), ((), ()), ((0,), (3,))]),
    "linalg.outer": (np.linalg.outer, [((3,), (2,))]),
    "multiply.outer": (np.multiply.outer, [((3,), (2,)), ((2, 2), (1, 3)), ((), (2,))]),
    "matmul": (np.matmul, [((2, 3), (3, 4)), ((3,), (3,)), ((2, 2, 3), (3, 1)), ((2, 1, 2, 3), (4, 3, 2))]),
    "@": (lambda a, b: a @ b, [((2, 3), (3, 4)), ((2, 0), (0, 4))]),
    "linalg.matmul": (np.linalg.matmul, [((2, 3), (3, 4))]),
    "vecdot": (np.vecdot, [((3,), (3,)), ((2, 3), (3,)), ((2, 1, 3), (4, 3))]),
    "vecdot along 0": (lambda a, b: _along_first(np.vecdot, a, b), [((3, 2), (3, 2))]),
    "matvec": (np.matvec, [((2, 3), (3,)), ((2, 2, 3), (2, 3)), ((4, 1, 2, 3), (5, 3))]),
    "vecmat": (np.vecmat, [((2,), (2, 3)), ((4, 2), (4, 2, 3))]),
    "tensordot": (lambda a, b: np.tensordot(a, b, 1), [((2, 3), (3, 4)), ((2, 2, 3), (3, 2))]),
    "tensordot of axes": (_of_axes, [((2, 3, 4), (4, 2)), ((1, 2, 2), (2, 5, 1))]),
    "linalg.tensordot": (lambda a, b: np.linalg.tensordot(a, b, axes=0), [((2, 3), (3,))]),
    "convolve": (np.convolve, [((5,), (3,)), ((2,), (4,))]),
    "correlate": (lambda a, b: np.correlate(a, b, "same"), [((5,), (3,)), ((2,), (4,))]),
    "kron": (np.kron, [((2, 2), (1, 3)), ((2,), (3,))]),
    "cross": (np.cross, [((3,), (3,)), ((4, 3), (3,))]),
    "multiply": (np.multiply, [((2, 3), (3,)), ((2, 1), (1, 3)), ((), ())]),
}  # fmt: skip


def _along_first(function: Callable[..., Any], a: Any, b: Any) -> Any:
    return function(a, b, axis=0) if isinstance(a, QuantTensor) else function(a.T, b.T)


@pytest.mark.parametrize(("name", "shapes"), [(name, shapes) for name, (_, each) in CALLS.items() for shapes in each])
@settings(max_examples=3)
@given(data=st.data())
def test_named_products(name: str, shapes: tuple[tuple[int, ...], ...], data: st.DataObject) -> None:
    """NumPy's function on rationals, of narrow storage, whose products always fit."""
    a, b = (data.draw(tensors(shape, range(1, 6), SHORT_SCALES, ("layer",))) for shape in shapes)
    call = CALLS[name][0]
    expected = np.asarray(call(values(a), values(b)), object)
    assert same(call(a, b), expected)


@pytest.mark.parametrize(
    "call", [np.dot, np.matmul, np.matvec, np.tensordot, np.vecdot, np.inner], ids=lambda f: f.__name__
)
def test_what_numpy_does_not_broadcast_is_an_error(call: Callable[..., Any]) -> None:
    a, b = Q[:, :1], Q.T
    with pytest.raises(QuantTypeError):
        call(a, b[:, 0] if call is np.matvec else Q.T if call is not np.inner else Q)


def test_empty_sums() -> None:
    assert np.vecdot(Q[:, :0], Q[:, :0]).storage.tolist() == [0, 0]


def test_sums_count_towards_the_bound_of_a_product() -> None:
    """Four elements of 30 bits pass i32, and three do not; neither do products with them."""
    q = QuantTensor([2**29 - 1] * 4, UniformType("i30", "f32", 1.0))
    one = QuantTensor([-1], UniformType("i1", "f32", 1.0))
    for text, others in (("i->", ()), ("i,j->j", (one,)), ("i,j->", (one,))):
        assert int(np.asarray(np.einsum(text, q[:3], *others).storage).ravel()[0]) in (
            3 * (2**29 - 1),
            -3 * (2**29 - 1),
        )
        with pytest.raises(QuantTypeError, match="the result may reach 2147483648"):
            np.einsum(text, q, *others)


def test_channels_follow_their_label() -> None:
    product = np.einsum("ij,kj->kji", COLUMNS, Q)
    assert product.type == UniformType("i32", "f32", [0.25, 0.125, 0.5], axis=1)
    assert same(product, plain("ij,kj->kji", values(COLUMNS), values(Q)))
    assert np.einsum("ij,ij->j", COLUMNS, COLUMNS).type.scales == (0.25, 0.0625, 1.0)
    assert np.tensordot(COLUMNS, Q, ([0], [0])).type.axis == 0


@pytest.mark.parametrize(
    "call", [lambda q: np.einsum(q, [0, 1], q, [2, 1], [2, 0]), lambda q: np.einsum(q, [0, 1], q, [2, 1])]
)
def test_lists_of_numbers_are_subscripts_too(call: Callable[[Any], Any]) -> None:
    assert same(call(Q), call(values(Q)))


@pytest.mark.parametrize("text", ["...j,...j", "...j,kj", "...j,kj->k...", "i...->...i", "i...->..."])
def test_an_ellipsis_stands_for_the_other_axes(text: str) -> None:
    operands = [Q] * (1 + text.count(","))
    assert same(np.einsum(text, *operands), plain(text, *map(values, operands)))
    assert same(np.einsum("...j,...j->...", Q, Q[0]), plain("...j,...j->...", values(Q), values(Q[0])))


def test_a_path_is_planned_as_for_arrays_of_the_shapes() -> None:
    assert np.einsum_path("ij,kj->ik", Q, Q) == np.einsum_path("ij,kj->ik", X, X)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: np.einsum("ij,jk", Q, Q), QuantValueError, r"axes that are multiplied must have the same size, got 3 "
            r"and 2 in the shapes \(2, 3\)"),
        (lambda: np.einsum("ii", Q), QuantValueError, r"axes with the same label must have the same size, got "
            r"an operand of shape \(2, 3\)"),
        (lambda: np.einsum("ijk", Q), QuantValueError, "the subscripts of an operand of rank 2 must have 2 labels, "
            "got 3"),
        (lambda: np.einsum("i", Q), QuantValueError, "the subscripts of an operand of rank 2 must have 2 labels, "
            "got 1"),
        (lambda: np.einsum("ij,ij", Q), QuantValueError, "expected 2 operands by the subscripts, got 1"),
        (lambda: np.einsum("ij->ii", Q), QuantValueError, "each label of the result must be a "
            "label of an operand and occur once"),
        (lambda: np.einsum("ij->k", Q), QuantValueError, "each label of the result must be a "
            "label of an operand and occur once"),
        (lambda: np.einsum("i1->i", Q), QuantTypeError, r"'subscripts' must consist of letters, ',', '\.\.\.' and "
            r"'->', got 'i1->i'"),
        (lambda: np.einsum("ij->i", COLUMNS), QuantTypeError, (
            "the scales of an operand differ along an axis that is "
            "summed over: requantize first"
        )),
        (lambda: np.einsum("ij,kl->ijkl", COLUMNS, COLUMNS), QuantTypeError, (
            "the operands must not both be per axis along different "
            "axes of the result: requantize"
        )),
        (lambda: np.dot(Q, Q), QuantValueError, r"np\.dot: axes that are multiplied must have the same "
            r"size, got 3 and 2 in the"),
        (lambda: np.tensordot(Q, Q, 3), QuantValueError, r"np\.tensordot: 'axes' must be a number of axes or a pair "
            r"of lists of different axes of tensors of ranks 2 and 2, got 3"),
        (lambda: np.tensordot(Q, Q, ([0], [0, 1])), QuantValueError, r"'axes' must be a number of axes or a pair of "
            r"lists of different axes of tensors of ranks 2 and 2, got \(\[0\], \[0, 1\]\)"),
        (lambda: np.linalg.matrix_power(Q, 2), QuantTypeError, r"matrix_power\(np.asarray\(q\), 2\)"),
        (lambda: np.vecdot(Q, Q, keepdims=True), QuantTypeError, r"np\.vecdot: the argument 'keepdims' is not "
            r"supported for a QuantTensor"),
        (lambda: np.kron(COLUMNS, Q), QuantTypeError, r"np\.kron: the operands must have per-layer types, got"),
        (lambda: np.einsum("ij,kj", Q, X), QuantTypeError, r"write np.einsum\('ij,kj', np.asarray\(q\), x\)"),
        (lambda: np.dot(X.T, Q), QuantTypeError, r"write np.dot\(x, np.asarray\(q\)\)"),
        (lambda: np.linalg.multi_dot([Q, X.T, Q]), QuantTypeError, r"t\(\[np.asarray\(q\), x, np.asarray\(q\)\]\)"),
    ],
)  # fmt: skip
def test_refusals_say_what_is_wrong(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
