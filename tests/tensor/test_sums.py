"""The number 0 and single elements in sums. Hazards: a copy that is a view, a sum that wraps or saturates, a zero point
that a running sum loses, and a number next to 0 that is taken for it."""

import operator
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qrt
from qrt import QuantTensor, UniformType
from qrt.errors import QuantTypeError
from tests.tensor.protocol.values import tensors, values

I8 = UniformType("i8", "f32", 0.5, 3)
Q = QuantTensor([[-128, 0, 3], [127, 5, -7]], I8)
WIDE = UniformType("i32", "f32", 0.5)
LEAST, MOST = -(1 << 31), (1 << 31) - 1
ZEROS: list[Any] = [0, 0.0, -0.0, False, Fraction(0), Decimal(0), np.array(0), np.array(-0.0, np.float32)]
ZEROS += [np.dtype(code).type(0) for code in "?bBhHiIlLqQefdg"]
NO_ZEROS: list[Any] = [1e-300, 5e-324, -1e-300, True, np.True_, 1, Fraction(1, 10**400), np.float16(1e-7), 0j, np.nan]
NO_ZEROS += [
    np.inf,
    np.complex64(0),
    np.timedelta64(0, "s"),
    np.zeros(1),
    np.zeros((2, 3)),
    np.array(1e-300),
    np.ma.masked,
]


# ------------------------------------------------------------------------------------------------------------ number 0


@pytest.mark.parametrize("zero", ZEROS, ids=lambda zero: f"{type(zero).__name__}")
def test_the_number_0_of_every_kind_changes_nothing(zero: Any) -> None:
    for result in (Q + zero, zero + Q, Q - zero, np.add(Q, zero), np.add(zero, Q), np.subtract(Q, zero)):
        assert type(result) is QuantTensor
        assert result.equals(Q)
        assert not np.shares_memory(result._data, Q._data)
    for result in (zero - Q, np.subtract(zero, Q)):
        assert result.equals(-Q)


@pytest.mark.parametrize("x", NO_ZEROS, ids=repr)
def test_what_is_not_the_number_0_has_no_exact_sum(x: Any) -> None:
    for call in (lambda: np.add(Q, x), lambda: np.add(x, Q), lambda: np.subtract(Q, x), lambda: np.subtract(x, Q)):
        with pytest.raises(QuantTypeError, match="has no exact result as quantized values"):
            call()


@settings(max_examples=60)
@given(st.data())
def test_0_keeps_the_values_of_every_type(data: st.DataObject) -> None:
    q = data.draw(tensors(expressed=("f16", "bf16", "f32", "f64"), scales=st.sampled_from([0.5, 0.375, 3.0])))
    q = q.T if data.draw(st.booleans()) else q
    for result in (q + 0, 0 + q, q - 0.0):
        assert result.equals(q)
        assert not np.shares_memory(result._data, q._data)
    assert (0 - q).equals(-q)
    assert (values(0 - q) == -values(q)).all()


@pytest.mark.parametrize("shape", [(0,), (2, 0), ()])
def test_0_beside_empty_tensors_and_elements(shape: tuple[int, ...]) -> None:
    for t in (I8, UniformType("i4", "f32", 0.5), UniformType("u32", "f32", 0.5)):
        q = QuantTensor(np.zeros(shape, np.int8), t)
        assert (0 + q).equals(q)
        assert (0 - q).equals(-q)


def test_a_result_of_0_is_a_tensor_of_its_own() -> None:
    for q in (
        Q.copy(),
        QuantTensor([[1, 2, 3]], UniformType("i4", "f32", 0.5)),
        qrt.pack(Q),
        np.broadcast_to(Q[0], (2, 3)),
    ):
        before, result = q.copy(), q + 0
        result[...] = 0.0
        assert q.equals(before)
    q = before = Q.copy()
    q += 0
    assert q is not before
    assert q.equals(before)


def test_0_writes_to_out() -> None:
    for call in (
        lambda out: np.add(Q, 0, out=out),
        lambda out: np.add(0, Q, out),
        lambda out: np.subtract(Q, 0, out=out),
    ):
        out = QuantTensor(np.zeros((2, 3), np.int8), I8)
        assert call(out) is out
        assert out.equals(Q)
    out = -Q
    out[...] = 0.0
    assert np.subtract(0, Q, out=out) is out
    assert out.equals(-Q)
    own = Q.copy()
    assert np.add(own, 0, out=own) is own
    assert own.equals(Q)
    for wrong in (QuantTensor(np.zeros((2, 3), np.int32), WIDE), np.zeros((2, 3))):
        with pytest.raises(QuantTypeError, match="'out' must be a QuantTensor of the result's type"):
            np.add(Q, 0, out=wrong)


@pytest.mark.parametrize("mode", ["allow", "warn", "raise"])
def test_0_is_exact_in_every_mode(mode: Any) -> None:
    with qrt.float_results(mode):
        assert (Q + 0).equals(Q)
        assert (0 - Q).equals(-Q)


# ------------------------------------------------------------------------------------------------------------ elements


STORED = [
    UniformType("i4", "f32", 0.5, -3),
    UniformType("u4", "f64", 0.5, 15),
    UniformType("i8", "f16", 0.25, 100),
    UniformType("u8", "bf16", 2.0, 200),
    UniformType("i16", "f32", 0.1, -30000),
    UniformType("u16", "f64", 1 / 3, 65535),
    UniformType("i24", "f32", 0.1, 77),
    I8.with_(storage_min=-7, storage_max=9),
]


@pytest.mark.parametrize("t", STORED, ids=str)
@pytest.mark.parametrize("size", [2, 3, 40])
def test_pythons_sum_is_that_of_numpy(t: UniformType, size: int) -> None:
    storage = np.random.default_rng(size).integers(t.storage_min, t.storage_max, (2, size), endpoint=True)
    q = QuantTensor(storage, t)
    for row in (q[0], q[:, 0], q.T[:, 1]):
        total = sum(row)
        assert isinstance(total, QuantTensor)
        assert total.equals(np.sum(row))
        assert values(total)[()] == values(row).sum()
        assert sum(list(row)).equals(total)
        assert sum(row, 0.0).equals(total)
        assert sum(row[1:], row[0]).equals(total)
        assert reduce(np.add, row).equals(total)
        assert reduce(operator.sub, row).equals(row[0] - np.sum(row[1:])) or size == 2
    assert sum(q[0][:1]).equals(q[0][0])
    assert sum(q[0][:0]) == 0


@pytest.mark.parametrize("t", [I8, UniformType("i4", "f32", 0.5, -3), WIDE, WIDE.with_(zero_points=-9)], ids=str)
@pytest.mark.parametrize("storage", [LEAST, LEAST + 4, -1, 0, MOST - 4, MOST])
@pytest.mark.parametrize("zero_point", [0, 5, LEAST, MOST])
def test_elements_add_exactly_or_are_an_error(t: UniformType, storage: int, zero_point: int) -> None:
    total = QuantTensor(storage, WIDE.with_(zero_points=zero_point))
    for stored in (t.storage_min, t.storage_max, 0, 1):
        q = QuantTensor(stored, t)
        calls: list[tuple[Callable[..., Any], Any, Any]] = [(operator.add, total, q), (operator.add, q, total)]
        calls += [(operator.sub, total, q), (operator.sub, q, total), (np.add, total, q), (np.subtract, q, total)]
        calls += [(qrt.add, q, total), (qrt.sub, total, q)]
        for call, a, b in calls:
            is_sum = call in (operator.add, np.add, qrt.add)
            expected = int(values(a)[()] / Fraction(0.5) + (1 if is_sum else -1) * values(b)[()] / Fraction(0.5))
            if LEAST <= expected <= MOST:
                result = call(a, b)
                assert result.type == WIDE
                assert result.shape == ()
                assert int(result.storage) == expected
            else:
                with pytest.raises(QuantTypeError, match=rf"exact result is {expected} times the scale"):
                    call(a, b)


def test_the_error_of_elements_says_what_to_write() -> None:
    q = QuantTensor([MOST, 1, 2], WIDE)
    with pytest.raises(QuantTypeError, match=r"write np.asarray\(q\) \+ np.asarray\(r\), ") as raised:
        sum(q)
    assert "qrt.add(a, b, out_type=t), or for the sum of a tensor np.sum(q, dtype=np.float64)" in str(raised.value)
    assert np.sum(q, dtype=np.float64) == (MOST + 3) * 0.5
    t = UniformType("i32", "f32", 1.0)
    assert qrt.add(q[0], q[1], out_type=t).storage == (MOST + 1) // 2
    with pytest.raises(QuantTypeError, match=r"sub: the exact result is -2147483649 times.*qrt.sub\(a, b"):
        QuantTensor(LEAST, WIDE) - q[1]


def test_elements_of_kept_calls_are_looked_at_each_time() -> None:
    """The values decide, so that no call which is kept may answer."""
    one = QuantTensor(1, WIDE)
    for storage in (5, MOST, 6, MOST - 1):
        total = QuantTensor(storage, WIDE)
        if storage == MOST:
            with pytest.raises(QuantTypeError):
                total + one
        else:
            assert int((total + one).storage) == storage + 1
    packed = qrt.pack(one)
    assert [int((QuantTensor(i, WIDE) + packed).storage) for i in range(3)] == [1, 2, 3]


def test_elements_of_other_scales_or_values_stay_errors() -> None:
    total = QuantTensor(5, WIDE)
    for other, words in (
        (WIDE.with_(scales=0.25), "no exact result type exists for operands with different scales: give out_type"),
        (
            UniformType("i32", "f64", 0.5),
            "the operands and the result must have the same expressed type, got f32 and f64",
        ),
    ):
        with pytest.raises(QuantTypeError, match=words):
            total + QuantTensor(5, other)
    with pytest.raises(QuantTypeError, match="no exact i32 result type exists"):
        qrt.add(total, total, requant="scaled20")


def test_arrays_go_by_their_types() -> None:
    """Whatever their values are, and however many elements they have."""
    rows = [Q[0], Q[1], Q[0]]
    assert sum(rows[:2]).equals(Q[0] + Q[1])
    for calls in (lambda: sum(rows), lambda: sum(row[:1] for row in rows), lambda: QuantTensor([1], WIDE) + Q[0][0]):
        with pytest.raises(QuantTypeError, match=r"give out_type, .* or .* np.sum\(np.stack\(tensors\), axis=0\)"):
            calls()
    assert (values(np.sum(np.stack(rows), axis=0)) == sum(map(values, rows))).all()
