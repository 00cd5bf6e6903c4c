"""What has no exact result: an error that says what to write, or floats where they are allowed.

Hazards: a hint that does not run, a function of NumPy that dequantizes unasked, numbers that seem to scale a tensor
exactly."""

import re
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qrt
from qrt import QuantTensor, UniformType
from qrt.errors import QuantTypeError
from qrt.tensor.protocol.table import Entry, Function, name_of, table
from qrt.tensor.protocol.written import VALUES
from tests.messages.hints import codes
from tests.tensor.protocol.rationals import differs_along, magnitude, same, tensors, values

T = UniformType("i8", "f32", 0.5, 3)
PER_AXIS = UniformType("i8", "f32", [0.5, 0.25, 1.0], [1, 2, 3], axis=1)
BLOCKS = UniformType("i8", "f32", [[0.5], [0.25], [1.0]], block_sizes={0: 1})
WIDE = UniformType("i32", "f32", 0.5)
STORAGE = np.int8([[9, 5, 4], [5, 9, 6], [4, 6, 12]])
Q, R = QuantTensor(STORAGE, T), QuantTensor(STORAGE[::-1], T)
X = np.float32([1, 2, 4])
NAMES = {"np": np, "qrt": qrt, "q": Q, "r": R, "s": Q, "x": X, "y": X + 1, "w": X, "f": lambda line: line.sum(), "t": T}
FLOATS: dict[str, tuple[Function, Entry]] = {
    name_of(function): (function, entry) for function, entry in table().items() if entry.kind == "floats"
}


def hint_of(error: BaseException) -> str:
    """The code that the error says to write first."""
    message = str(error)
    assert "\n" not in message
    assert message.endswith(', or use qrt.float_results("allow")')
    return codes(error)[0]


def run(text: str, **names: Any) -> Any:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(text, {**NAMES, **names})


VECTORS = ("histogram2d", "interp", "polymul", "polydiv", "polyder", "polyfit", "polyint", "roots", "vander")
"""They take no matrices."""
COUNTS = UniformType("u8", "f32", 0.5)
CALLS = {"np.piecewise": "np.piecewise(q, [q > 0], [1.0, 0.0])"}


def call_of(name: str, entry: Entry) -> tuple[str, dict[str, Any]]:
    """The call of the example with tensors themselves, and what its names are."""
    known = dict(NAMES)
    if name.removeprefix("np.") in VECTORS:
        known |= {"q": Q[0], "r": R[1]}
    if name in ("np.bincount", "np.unpackbits"):
        known["q"] = QuantTensor(np.uint8([3, 1, 3]), COUNTS)
    call = entry.hint
    for letter in "qr":
        call = call.replace(entry.word.format(letter), letter)
    return CALLS.get(name, call), known


@pytest.mark.parametrize("name", FLOATS)
def test_an_error_writes_the_call_which_has_the_value(name: str) -> None:
    """The floats of the call where they are allowed are those of the code that the error says to write."""
    _, entry = FLOATS[name]
    call, known = call_of(name, entry)
    with pytest.raises(QuantTypeError) as raised:
        run(call, **known)
    assert str(raised.value).startswith(f"{name} has no exact result")
    code = hint_of(raised.value)
    assert code == entry.hint or name == "np.piecewise"
    result = run(code, **known)
    if entry.word == VALUES:
        with qrt.float_results("allow"):
            for allowed, part in zip(parts(run(call, **known)), parts(result), strict=True):
                np.testing.assert_array_equal(allowed, part)


def parts(result: Any) -> list[Any]:
    if isinstance(result, (tuple, list)):
        return [each for part in result for each in parts(part)]
    return [result]


OPERATIONS: dict[str, Callable[..., Any]] = {
    "q + x": lambda q, x: q + x,
    "x + q": lambda q, x: x + q,
    "q - x": lambda q, x: q - x,
    "x - q": lambda q, x: x - q,
    "q * x": lambda q, x: q * np.atleast_1d(x),
    "x / q": lambda q, x: x / q,
    "q / x": lambda q, x: q / np.atleast_1d(x),
    "q // x": lambda q, x: q // x,
    "x % q": lambda q, x: x % q,
    "divmod(q, x)": divmod,
    "q ** (x / 2)": lambda q, x: q ** (x / 2),
    "x ** q": lambda q, x: x**q,
    "np.hypot(q, x)": np.hypot,
}


@pytest.mark.parametrize("t", [T, PER_AXIS, BLOCKS, WIDE], ids=["layer", "axis", "blocks", "wide"])
@pytest.mark.parametrize("x", [0.5, np.float32(0.5), X, np.float64(STORAGE), np.full((2, 1, 1), 0.5)], ids=str)
@pytest.mark.parametrize("name", OPERATIONS)
def test_the_hint_of_an_operator_runs(name: str, x: Any, t: UniformType) -> None:
    """Its values are those of floats, but for the rounding of x to the type where the hint quantizes it."""
    q = QuantTensor(STORAGE, t)
    with pytest.raises(QuantTypeError) as raised:
        OPERATIONS[name](q, x)
    result = run(hint_of(raised.value), q=q, x=x)
    if name in ("q + x", "x + q", "q - x", "x - q"):
        expected = OPERATIONS[name](np.asarray(q).astype(np.float64), x)
        assert np.max(np.abs(np.asarray(result) - expected)) <= max(t.scales) / 2


@pytest.mark.parametrize("x", [X, np.float64(X), np.ones((3, 3), np.float32)], ids=str)
def test_the_hint_of_a_product_with_floats_runs(x: Any) -> None:
    for call in (lambda: x @ Q, lambda: Q @ x, lambda: np.dot(x, Q), lambda: np.einsum("i...,i...", Q, x)):
        with pytest.raises(QuantTypeError) as raised:
            call()
        hint = hint_of(raised.value)
        with qrt.float_results("allow"):
            np.testing.assert_allclose(run(hint, x=x), call(), rtol=1e-6)
    with pytest.raises(QuantTypeError, match=re.escape("write qrt.float_matmul(x, q)")):
        X @ Q


def test_norms_and_averages_without_an_exact_result_say_what_to_write() -> None:
    for call in (
        lambda: np.linalg.norm(Q, 1),
        lambda: np.linalg.norm(Q, "nuc"),
        lambda: np.linalg.vector_norm(Q, ord=3),
        lambda: np.linalg.matrix_norm(Q, ord=1),
        lambda: np.average(Q, axis=0, weights=X),
    ):
        with pytest.raises(QuantTypeError) as raised:
            call()
        run(hint_of(raised.value))


def test_an_error_never_shows_what_an_array_holds() -> None:
    x = np.full((3, 3), 12345.0)
    for call in (lambda: Q + x, lambda: np.dot(Q, x), lambda: np.hypot(Q, x), lambda: np.average(Q, weights=x)):
        with pytest.raises(QuantTypeError) as raised:
            call()
        assert "12345" not in str(raised.value)


# -------------------------------------------------------------------------------------------------- numbers as factors

NUMBERS = st.one_of(
    st.sampled_from(
        [1, 2, 3, 0.5, 0.1, 1e-300, 1e300, Fraction(1, 3), Fraction(3, 4), 2**70, np.int8(3), np.uint64(5)]
    ),
    st.sampled_from([np.float32(0.1), np.float16(0.5), np.float64(7), np.longdouble(0.25), np.array(2.0), np.array(4)]),
    st.floats(2.0**-30, 2.0**30),
    st.integers(1, 1000),
)


def exact_number(x: Any) -> Fraction:
    x = x[()] if isinstance(x, np.ndarray) else x
    return Fraction(*map(int, x.as_integer_ratio())) if hasattr(x, "as_integer_ratio") else Fraction(int(x))


@settings(max_examples=60)
@given(
    tensors(shape=(2, 3)), NUMBERS, st.booleans(),
    st.sampled_from(["q * c", "c * q", "q / c", "np.multiply", "np.divide"]),
)  # fmt: skip
def test_a_number_changes_scales_alone_which_are_rounded_once(
    q: QuantTensor, c: Any, negative: bool, form: str
) -> None:
    calls = {
        "q * c": lambda q: q * c, "c * q": lambda q: c * q, "q / c": lambda q: q / c,
        "np.multiply": lambda q: np.multiply(q, c), "np.divide": lambda q: np.divide(q, c),
    }  # fmt: skip
    negative = negative and not isinstance(c, np.unsignedinteger)
    c = -c if negative else c
    factor = abs(exact_number(c) if "/" not in form and form != "np.divide" else 1 / exact_number(c))
    try:
        expected = [float(Fraction(scale) * factor) for scale in q.type.scales]
        t = q.type.with_(scales=np.array(expected).reshape(q.type.scales_shape) if q.type.scales_shape else expected[0])
    except (OverflowError, QuantTypeError):
        with pytest.raises(QuantTypeError, match="out of the range of f32: take the values as float64"):
            calls[form](q)
        return
    result = calls[form](q)
    assert not np.shares_memory(result._data, q._data)
    positive = QuantTensor(q.storage, t)
    assert result.equals(-positive if negative else positive)


@pytest.mark.parametrize("storage", ["i8", "u8", "i4", "i32", "u16"])
@pytest.mark.parametrize("c", [-1, -0.5, -3, 1 / 3, 3])
def test_values_are_scaled(storage: str, c: float) -> None:
    """The least integer has an opposite too."""
    t = UniformType(storage, "f32", 0.1, 3)
    q = QuantTensor([t.storage_min, 3, t.storage_max], t)
    np.testing.assert_allclose(np.asarray(q * c, np.float64), np.asarray(q, np.float64) * c, rtol=1e-6)
    np.testing.assert_allclose(np.asarray(q / c, np.float64), np.asarray(q, np.float64) / c, rtol=1e-6)


@pytest.mark.parametrize("c", [0, 0.0, -0.0, np.int8(0), np.float32(0), float("nan"), float("inf"), -np.inf])
def test_the_hint_for_a_number_that_no_scale_takes_is_its_product(c: Any) -> None:
    with pytest.raises(QuantTypeError) as raised:
        Q * c
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(run(hint_of(raised.value)), np.asarray(Q) * c)
    with np.errstate(all="ignore"), pytest.raises(QuantTypeError) as raised:
        Q / c
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(run(hint_of(raised.value)), np.asarray(Q) / c)


@pytest.mark.parametrize("c", [1j, True, np.True_, 10**400])
def test_other_numbers_have_no_exact_result(c: Any) -> None:
    with pytest.raises(QuantTypeError):
        Q * c
    with pytest.raises(QuantTypeError):
        Q / c


@pytest.mark.parametrize("t", [T, PER_AXIS, UniformType("u4", "f32", 0.5), UniformType("i32", "f32", 0.1)], ids=str)
@pytest.mark.parametrize("x", [0.5, 100, -1e9, np.float32(1.3), float("inf"), np.float64(STORAGE), 1000.0 * STORAGE])
def test_the_hint_of_a_sum_has_its_value(x: Any, t: UniformType) -> None:
    """A number that the type does not reach is not quantized to its end."""
    q = QuantTensor(STORAGE % 8, t)
    for name, call in (("q + x", np.add), ("x + q", lambda q, x: x + q), ("q - x", np.subtract)):
        with pytest.raises(QuantTypeError) as raised:
            call(q, x)
        expected = call(np.asarray(q).astype(np.float64), x)
        accurate, *rounded = codes(raised.value)
        with np.errstate(invalid="ignore"):
            np.testing.assert_allclose(np.asarray(run(accurate, q=q, x=x), np.float64), expected, rtol=1e-6)
        for code in rounded:
            assert f"{code}, which rounds" in str(raised.value)
            assert np.abs(np.asarray(run(code, q=q, x=x)) - expected).max() <= t.scale / 2, name


@pytest.mark.parametrize("x", [1, 0.5, -1.5, np.float32(2), np.full((3, 3), 0.5)], ids=str)
def test_a_number_that_the_type_holds_is_quantized_in_a_sum(x: Any) -> None:
    for call in (np.add, np.subtract, lambda q, x: x - q):
        with pytest.raises(QuantTypeError) as raised:
            call(Q, x)
        result = run(hint_of(raised.value), x=x)
        assert isinstance(result, QuantTensor)
        np.testing.assert_array_equal(np.asarray(result), call(np.asarray(Q), x))


def test_a_packed_tensor_and_narrow_storage_are_scaled_too() -> None:
    nibbles = QuantTensor([[1, 2, 3]], UniformType("u4", "f32", 0.5))
    assert (nibbles * 2).dequantize().tolist() == [[1.0, 2.0, 3.0]]
    assert (qrt.pack(Q) / 2).type.scale == 0.25
    out = QuantTensor(np.zeros((3, 3), np.int8), T.with_(scales=1.0))
    assert np.multiply(Q, 2, out=out) is out
    assert out.equals(Q * 2)
    with pytest.raises(QuantTypeError, match=r"np.multiply: out must be a QuantTensor of the result"):
        np.multiply(Q, 4, out=out)


# ----------------------------------------------------------------------------------------------------------- operators


@settings(max_examples=20)
@given(st.data())
def test_sums_and_products_of_tensors_are_exact(data: st.DataObject) -> None:
    q = data.draw(tensors(shape=(2, 3), widths=range(1, 33), scales=st.sampled_from([0.5, 0.375, 3.0])))
    r = QuantTensor(q.storage[::-1], q.type) if not (differs_along(q, 0)) else q
    for call, bound in ((lambda a, b: a + b, 2 * magnitude(q.type)), (lambda a, b: a - b, 2 * magnitude(q.type))):
        if bound >= 2**31 or q.type.is_sub_channel:
            with pytest.raises(QuantTypeError):
                call(q, r)
        else:
            assert same(call(q, r), call(values(q), values(r)))


def test_in_place_operators_bind_the_name_anew() -> None:
    before = q = Q.copy()
    q += R
    assert q.equals(before + R)
    assert before.equals(Q)
    q = Q.copy()
    q *= 2
    assert q.type.scale == 1.0


def test_an_operand_of_another_class_is_asked_itself() -> None:
    class Other:
        def __radd__(self, other: Any) -> str:
            return "other"

        __rmatmul__ = __rsub__ = __rmul__ = __rtruediv__ = __rpow__ = __radd__

    assert [Q + Other(), Q - Other(), Q * Other(), Q / Other(), Q ** Other(), Q @ Other()] == ["other"] * 6
    for wrong in (None, "a", [1], object()):
        with pytest.raises(TypeError, match="unsupported operand"):
            Q + wrong


def test_ufuncs_take_a_type_for_dtype() -> None:
    assert np.add(Q, R, dtype=T).equals(qrt.add(Q, R, out_type=T))
    assert np.matmul(Q, R, dtype=str(T)).equals(qrt.matmul(Q, R, out_type=T))
    with pytest.raises(QuantTypeError, match=r"np.add: dtype must be a !quant.uniform type"):
        np.add(Q, R, dtype=np.float64)
    with pytest.raises(QuantTypeError, match=r"np.multiply: where is not supported"):
        np.multiply(Q, R, where=STORAGE > 0)
