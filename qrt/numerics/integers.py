"""Integer arithmetic: the ops of ``arith`` and ``math`` on signless integers and index (64 bits).

Results wrap. These operations are undefined and raise an error: division by zero and ``INT_MIN / -1`` (remainders too),
a shift by the width or more, a result that violates the op's flag ``nsw``, ``nuw`` or ``exact``, and zero to a negative
power.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from qrt.errors import UndefinedError
from qrt.numerics.elements import Function, checked, choose, is_any


@dataclass(frozen=True)
class Integer:
    """A signless integer type and the dtype of its arrays: values are sign-extended in a signed dtype.

    The unsigned value has the ``width`` low-order bits. Arrays of i1 are bool outside of this module, where True means
    -1; this module computes with them as int8.
    """

    width: int
    dtype: np.dtype[Any]

    @property
    def spare(self) -> int:
        """Number of bits by which the dtype is wider than the type."""
        return self.dtype.itemsize * 8 - self.width

    @property
    def low(self) -> int:
        return -(1 << (self.width - 1))

    @property
    def unsigned_dtype(self) -> np.dtype[Any]:
        return np.dtype(f"u{self.dtype.itemsize}")

    def wrapped(self, compute: Function) -> Function:
        """Return a function that applies ``compute`` and sign-extends the ``width`` low-order bits of its result."""
        if not self.spare:
            return compute
        spare = self.spare
        return lambda *x: (compute(*x) << spare) >> spare

    def unsigned(self, x: Any) -> Any:
        """Return the unsigned values of signed ones, in the unsigned dtype."""
        u = x.view(self.unsigned_dtype)
        return u & self.unsigned_dtype.type((1 << self.width) - 1) if self.spare else u

    def signed(self, u: Any) -> Any:
        """Return the signed values of unsigned ones; bits above the width are dropped."""
        x = u.view(self.dtype)
        return (x << self.spare) >> self.spare if self.spare else x

    @property
    def sign(self) -> Any:
        """Sign bit of the dtype.

        A signed comparison of ``a ^ sign`` and ``b ^ sign`` compares the unsigned values of a and b. This holds for
        widths below the dtype's too, because sign extension keeps the unsigned order.
        """
        return np.iinfo(self.dtype).min + self.dtype.type(0)


Make = Callable[[Integer, frozenset[str]], Function]
"""A maker of an op for an integer type and the flags ``nsw``, ``nuw`` and ``exact``."""
Rule = tuple[str, Function]


def bind(name: str, t: Integer, promises: frozenset[str]) -> Function:
    """Return the function of op ``name`` on integers of type ``t``, with the flags ``promises`` (nsw, nuw, exact).

    For i1, the function takes and returns bools: it is a logical operation with the same results, or computes in int8.
    """
    if t.width > 1:
        return OPS[name](t, promises)
    if name in _ON_BOOLS and not promises:
        return _ON_BOOLS[name]
    compute = OPS[name](t, promises)
    zero = np.int8(0)

    def call(*x: Any) -> Any:
        result = compute(*[zero - value for value in x])
        return tuple([r != 0 for r in result]) if isinstance(result, tuple) else result != 0

    return call


_ON_BOOLS: dict[str, Function] = {
    "arith.addi": operator.xor,
    "arith.subi": operator.xor,
    "arith.muli": operator.and_,
    "arith.andi": operator.and_,
    "arith.ori": operator.or_,
    "arith.xori": operator.xor,
    "arith.maxsi": operator.and_,  # true is -1
    "arith.minsi": operator.or_,
    "arith.maxui": operator.or_,
    "arith.minui": operator.and_,
}

_SIGNED, _UNSIGNED, _INEXACT = "signed overflow (nsw)", "unsigned overflow (nuw)", "an inexact result (exact)"


def _rules_of_promises(promises: frozenset[str], **rules: Rule) -> list[Rule]:
    return [rule for promise, rule in rules.items() if promise in promises]


# -- sums and products -------------------------------------------------------------------------------------------------


def _addi(t: Integer, promises: frozenset[str]) -> Function:
    sign = t.sign
    rules = _rules_of_promises(
        promises,
        nsw=(_SIGNED, lambda r, a, b: ((a ^ r) & (b ^ r)) < 0),
        nuw=(_UNSIGNED, lambda r, a, b: (r ^ sign) < (a ^ sign)),
    )
    return checked(t.wrapped(operator.add), *rules)


def _subi(t: Integer, promises: frozenset[str]) -> Function:
    sign = t.sign
    rules = _rules_of_promises(
        promises,
        nsw=(_SIGNED, lambda r, a, b: ((a ^ b) & (a ^ r)) < 0),
        nuw=(_UNSIGNED, lambda r, a, b: (a ^ sign) < (b ^ sign)),
    )
    return checked(t.wrapped(operator.sub), *rules)


def _muli(t: Integer, promises: frozenset[str]) -> Function:
    rules = _rules_of_promises(
        promises,
        nsw=(_SIGNED, lambda r, a, b: _wraps_signed(t, r, a, b)),
        nuw=(_UNSIGNED, lambda r, a, b: _high_unsigned(t, a, b) != 0),
    )
    return checked(t.wrapped(operator.mul), *rules)


def _wraps_signed(t: Integer, product: Any, a: Any, b: Any) -> Any:
    if not product.ndim:  # a scalar, as in a program's loops: Python's integers are faster than digits
        return product != int(a) * int(b)
    return _high_signed(t, a, b) != product >> (t.width - 1)


def _addui_extended(t: Integer, _: frozenset[str]) -> Function:
    add, sign = t.wrapped(operator.add), t.sign

    def call(a: Any, b: Any) -> Any:
        total = add(a, b)
        return total, (total ^ sign) < (a ^ sign)

    return call


def _extended_product(high: Callable[[Integer, Any, Any], Any]) -> Make:
    def make(t: Integer, _: frozenset[str]) -> Function:
        low = t.wrapped(operator.mul)
        return lambda a, b: (low(a, b), high(t, a, b))

    return make


def _high_unsigned(t: Integer, a: Any, b: Any) -> Any:
    """Return the upper ``width`` bits of the unsigned product, which has ``2 * width`` bits."""
    x, y = (t.unsigned(value).astype(np.uint64) for value in (a, b))
    if t.width <= 32:
        high = x * y >> t.width
    else:
        top, low = _product128(x, y)
        high = top if t.width == 64 else top << (64 - t.width) | low >> t.width
    return t.signed(high.astype(t.unsigned_dtype))


def _high_signed(t: Integer, a: Any, b: Any) -> Any:
    """Return the upper ``width`` bits of the signed product, which has ``2 * width`` bits."""
    if t.width <= 32:
        return (a.astype(np.int64) * b.astype(np.int64) >> t.width).astype(t.dtype)
    top, low = _product128(a.view(np.uint64), b.view(np.uint64))
    signed = top.view(np.int64) - (a & b >> 63) - (b & a >> 63)  # a negative x stands for x + 2^64 there
    if t.width == 64:
        return signed
    return t.signed(signed.view(np.uint64) << (64 - t.width) | low >> t.width)


def _product128(x: Any, y: Any) -> tuple[Any, Any]:
    """Return the (high, low) uint64 halves of the product of two uint64 arrays, computed from 32-bit digits.

    No intermediate sum exceeds 64 bits.
    """
    mask = np.uint64(0xFFFFFFFF)
    x0, x1, y0, y1 = x & mask, x >> 32, y & mask, y >> 32
    middle = x1 * y0 + (x0 * y0 >> 32)
    other = x0 * y1 + (middle & mask)
    return x1 * y1 + (middle >> 32) + (other >> 32), x * y


# -- quotients ---------------------------------------------------------------------------------------------------------

_BY_ZERO: Rule = ("division by zero", lambda _, a, b: b == 0)


def _divided(signed: bool, quotient: Callable[[Any, Any], Any]) -> Make:
    """Return a function that maps (type, flags) to the function of a division op.

    The op computes ``quotient`` of signed or unsigned values, and raises UndefinedError where it is undefined.
    ``quotient`` is built from NumPy's ``//`` and ``%``, which round toward minus infinity.
    """

    def make(t: Integer, promises: frozenset[str]) -> Function:
        if not signed:
            exact = (_INEXACT, lambda _, a, b: t.unsigned(a) % t.unsigned(b) != 0)
            compute = lambda a, b: t.signed(quotient(t.unsigned(a), t.unsigned(b)))  # noqa: E731
            return checked(compute, _BY_ZERO, *_rules_of_promises(promises, exact=exact))
        low = t.low
        overflow = (f"signed overflow: {low} / -1", lambda _, a, b: (a == low) & (b == -1))
        exact = (_INEXACT, lambda _, a, b: a % b != 0)
        return checked(quotient, _BY_ZERO, overflow, *_rules_of_promises(promises, exact=exact))

    return make


def _truncated_quotient(a: Any, b: Any) -> Any:
    return a // b + ((a % b != 0) & ((a ^ b) < 0))


def _truncated_remainder(a: Any, b: Any) -> Any:
    remainder = a % b
    return remainder - b * ((remainder != 0) & ((a ^ b) < 0))


def _ceiling_quotient(a: Any, b: Any) -> Any:
    return a // b + (a % b != 0)


# -- bits --------------------------------------------------------------------------------------------------------------


def _bitwise(compute: Function) -> Make:
    return lambda t, promises: compute


def _too_far(t: Integer) -> Rule:
    width = t.width  # a negative count is a large one, read unsigned
    what = f"a shift by {width} bits or more"
    if width & (width - 1) == 0:
        return what, lambda _, a, b: b & -width  # a bit that no count below the width has
    return what, lambda _, a, b: (b < 0) | (b >= width)


def _shli(t: Integer, promises: frozenset[str]) -> Function:
    rules = _rules_of_promises(
        promises,
        nsw=(_SIGNED, lambda r, a, b: r >> b != a),
        nuw=(_UNSIGNED, lambda r, a, b: t.unsigned(r) >> t.unsigned(b) != t.unsigned(a)),
    )
    return checked(t.wrapped(operator.lshift), _too_far(t), *rules)


def _shrsi(t: Integer, promises: frozenset[str]) -> Function:
    exact = (_INEXACT, lambda r, a, b: r << b != a)
    return checked(operator.rshift, _too_far(t), *_rules_of_promises(promises, exact=exact))


def _shrui(t: Integer, promises: frozenset[str]) -> Function:
    exact = (_INEXACT, lambda r, a, b: t.wrapped(operator.lshift)(r, b) != a)
    compute = lambda a, b: t.signed(t.unsigned(a) >> t.unsigned(b))  # noqa: E731
    return checked(compute, _too_far(t), *_rules_of_promises(promises, exact=exact))


def _ones(t: Integer, u: Any) -> Any:
    return t.signed(np.bitwise_count(u).astype(t.unsigned_dtype))


def _ctpop(t: Integer, _: frozenset[str]) -> Function:
    return lambda x: _ones(t, t.unsigned(x))


def _cttz(t: Integer, _: frozenset[str]) -> Function:
    """Return the function of math.cttz: the number of ones of ``~x & (x - 1)``, which is the width for x = 0."""
    return lambda x: _ones(t, t.unsigned(~x & (x - t.dtype.type(1))))


def _ctlz(t: Integer, _: frozenset[str]) -> Function:
    def call(x: Any) -> Any:
        u = t.unsigned(x)
        for distance in (1, 2, 4, 8, 16, 32):  # copies the leading one into every lower bit
            if distance < t.width:
                u = u | u >> distance
        return t.wrapped(operator.sub)(t.dtype.type(t.width), _ones(t, u))

    return call


# -- the others --------------------------------------------------------------------------------------------------------


def _extremum(better: Callable[[Any, Any], Any], signed: bool) -> Make:
    def make(t: Integer, _: frozenset[str]) -> Function:
        if signed:
            return lambda a, b: choose(better(a, b), a, b)
        sign = t.sign
        return lambda a, b: choose(better(a ^ sign, b ^ sign), a, b)

    return make


def _absi(t: Integer, _: frozenset[str]) -> Function:
    """Return the function of math.absi; the absolute value of INT_MIN wraps to INT_MIN."""
    return t.wrapped(abs)


def _ipowi(t: Integer, _: frozenset[str]) -> Function:
    """Return the function of math.ipowi: ``base ** exponent``, wrapped.

    For a negative exponent the result is 1 for the base 1, 1 or -1 for the base -1, and 0 for any other base.
    """
    multiply = t.wrapped(operator.mul)

    def call(base: Any, exponent: Any) -> Any:
        negative = exponent < 0
        if is_any(negative & (base == 0)):
            raise UndefinedError("zero to a negative power")
        result = base ^ base ^ t.dtype.type(1)
        if t.width == 1:
            result = -result  # the one of one bit is -1
        square, left = base, t.unsigned(exponent)
        for _ in range(t.width):
            result = choose(left & 1 != 0, multiply(result, square), result)
            square, left = multiply(square, square), left >> 1
        # 1 and -1 are their own inverses, and a power of two's complement has the parity of its exponent
        return choose(negative & (base != 1) & (base != -1), base ^ base, result)

    return call


OPS: dict[str, Make] = {
    "arith.addi": _addi,
    "arith.subi": _subi,
    "arith.muli": _muli,
    "arith.addui_extended": _addui_extended,
    "arith.mulsi_extended": _extended_product(_high_signed),
    "arith.mului_extended": _extended_product(_high_unsigned),
    "arith.divsi": _divided(True, _truncated_quotient),
    "arith.divui": _divided(False, operator.floordiv),
    "arith.ceildivsi": _divided(True, _ceiling_quotient),
    "arith.ceildivui": _divided(False, _ceiling_quotient),
    "arith.floordivsi": _divided(True, operator.floordiv),
    "arith.remsi": _divided(True, _truncated_remainder),
    "arith.remui": _divided(False, operator.mod),
    "arith.andi": _bitwise(operator.and_),
    "arith.ori": _bitwise(operator.or_),
    "arith.xori": _bitwise(operator.xor),
    "arith.shli": _shli,
    "arith.shrsi": _shrsi,
    "arith.shrui": _shrui,
    "arith.maxsi": _extremum(operator.gt, signed=True),
    "arith.minsi": _extremum(operator.lt, signed=True),
    "arith.maxui": _extremum(operator.gt, signed=False),
    "arith.minui": _extremum(operator.lt, signed=False),
    "math.absi": _absi,
    "math.ctlz": _ctlz,
    "math.cttz": _cttz,
    "math.ctpop": _ctpop,
    "math.ipowi": _ipowi,
}
