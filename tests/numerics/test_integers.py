"""Integer ops of arith and math against Python's integers: every pair of small widths, hostile values of the others.
Hazards: sign extension at odd widths, i1 as a bool, the unsigned reading, wrapping, the two halves of a product."""

import numpy as np
import pytest

from qrt.errors import QuantTypeError, UndefinedError
from qrt.numerics import integers
from qrt.ops import elementwise
from qrt.ops.core import element_dtype
from qrt.types import IndexType, IntegerType
from tests.numerics.scalars import UNDEFINED, integer, signed

WIDTHS = (1, 2, 3, 6, 7, 8, 13, 16, 32, 33, 63, 64)
UNARY = ("math.absi", "math.ctlz", "math.cttz", "math.ctpop")
EXTENDED = ("arith.addui_extended", "arith.mulsi_extended", "arith.mului_extended")


def bind(name, width, **attributes):
    t = IntegerType(width)
    results = [t, IntegerType(1) if name == "arith.addui_extended" else t] if name in EXTENDED else [t]
    return elementwise.bind(name, [t] * (1 if name in UNARY else 2), results, attributes)


def held(values, width):
    """Signed readings in the dtype that holds them."""
    return np.array([bool(value) if width == 1 else value for value in values], element_dtype(IntegerType(width)))


def read(array, width):
    return [-int(value) if width == 1 else int(value) for value in np.asarray(array).ravel()]


def interesting(width):
    if width in (1, 2, 3, 6):
        return [signed(value, width) for value in range(1 << width)]
    low = -(1 << (width - 1))
    near = [low, low + 1, -1, 0, 1, 2, 3, width - 1, width, -low - 1, -low - 2, 5 << (width - 4), 0x5A5A5A5A5A5A5A5A]
    draws = np.random.default_rng(width).integers(-(1 << 63), (1 << 63) - 1, 6)
    return [signed(value, width) for value in [*near, *(int(draw) for draw in draws)]]


def cases(name, width):
    values = interesting(width)
    if name in UNARY:
        return [(a,) for a in values]
    return [(a, b) for a in values for b in values]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", integers.OPS)
def test_against_python(name, width):
    expected = {case: integer(name, width, *case) for case in cases(name, width)}
    defined = [case for case, result in expected.items() if result is not UNDEFINED]
    f = bind(name, width)
    with np.errstate(all="ignore"):
        results = f(*(held(column, width) for column in zip(*defined, strict=True)))
    wanted = [expected[case] for case in defined]
    if name not in EXTENDED:
        results, wanted = (results,), [(value,) for value in wanted]
    for at, result in enumerate(results):
        carry = name == "arith.addui_extended" and at
        t = IntegerType(1 if carry else width)
        assert result.dtype == element_dtype(t)
        assert read(result, t.width) == [signed(value[at], t.width) for value in wanted]


@pytest.mark.parametrize("width", [1, 4, 8, 32, 64])
@pytest.mark.parametrize("name", integers.OPS)
def test_scalars_equal_arrays(name, width):
    """The loops of a program call with scalars, whose paths differ."""
    f = bind(name, width)
    chosen = cases(name, width)
    chosen = [chosen[i] for i in np.random.default_rng(0).integers(0, len(chosen), 60)]
    with np.errstate(all="ignore"):
        for case in chosen:
            if integer(name, width, *case) is UNDEFINED:
                with pytest.raises(UndefinedError):
                    f(*(held([value], width)[0] for value in case))
                continue
            scalars = f(*(held([value], width)[0] for value in case))
            arrays = f(*(held([value], width) for value in case))
            pairs = zip(scalars, arrays, strict=True) if name in EXTENDED else [(scalars, arrays)]
            for scalar, array in pairs:
                assert isinstance(scalar, np.generic)
                assert scalar.dtype == array.dtype
                assert scalar == array[0]


@pytest.mark.parametrize("width", [1, 3, 8, 16, 64])
@pytest.mark.parametrize(
    "name", ["divsi", "ceildivsi", "floordivsi", "remsi", "divui", "remui", "shli", "shrsi", "shrui"]
)
def test_what_is_undefined_is_refused_among_what_is_not(name, width):
    name = f"arith.{name}"
    undefined = [case for case in cases(name, width) if integer(name, width, *case) is UNDEFINED]
    fine = next(case for case in cases(name, width) if integer(name, width, *case) is not UNDEFINED)
    assert undefined
    for case in undefined[:40]:
        columns = [held(column, width) for column in zip(fine, case, fine, strict=True)]
        with np.errstate(all="ignore"), pytest.raises(UndefinedError):
            bind(name, width)(*columns)


def _breaks(name, promise, width, a, b):
    """Whether a result breaks the promise, by the exact result of the reading it is of."""
    if promise == "nsw":
        exact = integer(name, 4 * width, a, b) if name != "arith.shli" else a << b
        return exact != signed(exact, width)
    u, v = (value & ((1 << width) - 1) for value in (a, b))
    exact = {"arith.addi": u + v, "arith.subi": u - v, "arith.muli": u * v}.get(name)
    exact = u << v if exact is None else exact
    return not 0 <= exact < 1 << width


@pytest.mark.parametrize("width", [2, 7, 8, 32, 40, 64])
@pytest.mark.parametrize("promise", ["nsw", "nuw"])
@pytest.mark.parametrize("name", ["arith.addi", "arith.subi", "arith.muli", "arith.shli"])
def test_a_broken_promise_is_refused(name, promise, width):
    f = bind(name, width, overflowFlags=(promise,))
    chosen = [case for case in cases(name, width) if name != "arith.shli" or 0 <= case[1] < width]
    chosen = chosen if len(chosen) < 700 else chosen[::97]
    both = set()
    for case in chosen:
        operands = [held([value], width)[0] for value in case]
        broken = _breaks(name, promise, width, *case)
        both.add(broken)
        with np.errstate(all="ignore"):
            if broken:
                with pytest.raises(UndefinedError, match=promise):
                    f(*operands)
            else:
                assert int(f(*operands)) == signed(integer(name, width, *case), width)
    assert both == {True, False}


@pytest.mark.parametrize("name", ["arith.divsi", "arith.divui", "arith.shrsi", "arith.shrui"])
def test_what_was_said_to_be_exact_and_is_not(name):
    exact, plain = bind(name, 8, isExact=True), bind(name, 8)
    with np.errstate(all="ignore"):
        assert exact(np.int8(-12), np.int8(2)) == plain(np.int8(-12), np.int8(2))
        with pytest.raises(UndefinedError, match="exact"):
            exact(np.int8(-11), np.int8(1 if "shr" in name else 2))


def test_flags_of_bools():
    """true + true is -1 + -1: no i1, read signed or unsigned."""
    for promises in (["nsw"], ["nuw"], ["nsw", "nuw"]):
        with pytest.raises(UndefinedError):
            bind("arith.addi", 1, overflowFlags=promises)(np.bool_(True), np.bool_(True))
    assert bind("arith.addi", 1, overflowFlags=["nsw"])(np.bool_(True), np.bool_(False))


def test_zero_to_a_negative_power():
    with pytest.raises(UndefinedError, match="negative power"):
        bind("math.ipowi", 32)(np.int32(0), np.int32(-1))


def test_index_is_64_bits():
    f = elementwise.bind("arith.addi", [IndexType()] * 2, [IndexType()])
    with np.errstate(all="ignore"):
        assert f(np.int64((1 << 63) - 1), np.int64(1)) == -(1 << 63)


def test_operands_broadcast():
    f = bind("arith.divsi", 32)
    with np.errstate(all="ignore"):
        assert f(np.array([-7, 7], np.int32), np.int32(2)).tolist() == [-3, 3]
        assert f(np.int32(7), np.array([[2], [-2]], np.int32)).tolist() == [[3], [-3]]


def test_what_does_not_execute():
    with pytest.raises(QuantTypeError, match="i65"):
        bind("arith.addi", 65)
    with pytest.raises(QuantTypeError, match="is not an element-wise op of arith or math"):
        elementwise.bind("tensor.empty", [], [])
