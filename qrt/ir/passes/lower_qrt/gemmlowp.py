"""gemmlowp's 32-bit fixed-point arithmetic as scalar operations on i64.

The functions are those of ``numerics.gemmlowp`` and ``numerics.fixed_functions``.
"""

from dataclasses import dataclass

from qrt.ir import Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import I32, I64
from qrt.ir.passes.lower_qrt.requantize import clamp
from qrt.ops.elementwise import INTEGER_PREDICATES

_LESS, _GREATER = (list(INTEGER_PREDICATES).index(name) for name in ("slt", "sgt"))


@dataclass(frozen=True)
class Fixed:
    """Builder of fixed-point operations in the body of a loop nest.

    Operands are i64 values, or Python integers, which become constants.
    """

    nest: LoopNest

    def value(self, x: Value | int) -> Value:
        return self.nest.constant(x, I64) if isinstance(x, int) else x

    def emit(self, name: str, a: Value | int, b: Value | int) -> Value:
        return self.nest.value(f"arith.{name}", (self.value(a), self.value(b)), I64)

    def add(self, a: Value | int, b: Value | int) -> Value:
        return self.emit("addi", a, b)

    def subtract(self, a: Value | int, b: Value | int) -> Value:
        return self.emit("subi", a, b)

    def left(self, x: Value | int, places: Value | int) -> Value:
        return self.emit("shli", x, places)

    def right(self, x: Value | int, places: Value | int) -> Value:
        return self.emit("shrsi", x, places)

    def saturate(self, x: Value) -> Value:
        return clamp(self.nest, x, -(1 << 31), (1 << 31) - 1)

    def multiply(self, a: Value | int, b: Value | int) -> Value:
        """Emit `a * b / 2**31`, rounded half up (gemmlowp's doubling high multiply); not for two operands of -2^31."""
        product = self.emit("muli", a, b)
        negative = self.nest.compare(_LESS, product, self.value(0))
        nudge = self.select(negative, 1 - (1 << 30), 1 << 30)
        return self.emit("divsi", self.add(product, nudge), 1 << 31)

    def select(self, condition: Value, a: Value | int, b: Value | int) -> Value:
        return self.nest.value("arith.select", (condition, self.value(a), self.value(b)), I64)

    def divide(self, x: Value, exponent: Value | int) -> Value:
        """Emit `x / 2**exponent`, rounded half away from zero; 0 if an exponent of type `Value` exceeds 31."""
        mask = self.subtract(self.left(1, exponent), 1)
        negative = self.nest.extend(self.nest.compare(_LESS, x, self.value(0)), I64, signed=False)
        threshold = self.add(self.right(mask, 1), negative)
        up = self.nest.compare(_GREATER, self.emit("andi", x, mask), threshold)
        rounded = self.add(self.right(x, exponent), self.nest.extend(up, I64, signed=False))
        if isinstance(exponent, int):
            return rounded
        return self.select(self.nest.compare(_GREATER, exponent, self.value(31)), 0, rounded)

    def scale(self, x: Value, multiplier: int, shift: int) -> Value:
        """Emit `x * multiplier * 2**(shift - 31)` for an `x` of at most 32 bits, by `multiply`, then `divide`."""
        wide = self.saturate(self.left(x, shift)) if shift > 0 else x
        return self.divide(self.multiply(wide, multiplier), max(-shift, 0))

    def scale_half_up(self, x: Value, multiplier: int, shift: int) -> Value:
        """Emit the product that `scale` emits, but with the right shift rounded half up."""
        wide = self.saturate(self.left(x, shift)) if shift > 0 else x
        right = max(-shift, 0)
        return self.right(self.add(self.multiply(wide, multiplier), (1 << right) >> 1), right)

    def leading_zeros(self, x: Value) -> Value:
        """Emit the number of leading zeros of a positive value in 32 bits."""
        narrow = self.nest.value("arith.trunci", (x,), I32)
        return self.nest.extend(self.nest.value("math.ctlz", (narrow,), I32), I64)

    def reciprocal(self, a: Value) -> Value:
        """Emit ``1 / (1 + a)`` for `a` from 0 to 1; both have 31 fractional bits."""
        half = self.right(self.add(a, 1 << 31), 1)
        x = self.add(self.multiply(half, -1010580540), 1515870810)
        for _ in range(3):
            rest = self.subtract(1 << 29, self.multiply(half, x))
            x = self.add(x, self.saturate(self.left(self.multiply(x, rest), 2)))
        return self.saturate(self.left(x, 1))

    def inverse_root(self, x: Value) -> tuple[Value, Value]:
        """Emit ``1 / sqrt(x)`` for an integer from 1 to 2^30, as (M0, right): ``M0 / 2**31 / 2**right``."""
        is_large = self.nest.compare(_GREATER, x, self.value((1 << 29) - 1))
        is_one = self.nest.compare(_LESS, x, self.value(2))
        x = self.select(is_large, self.right(x, 2), x)
        pairs = self.subtract(self.right(self.subtract(self.leading_zeros(x), 1), 1), 1)
        half = self.divide(self.right(self.left(x, self.left(pairs, 1)), 1), 1)
        root = self.value(1 << 28)
        for _ in range(5):
            cube = self.saturate(self.left(self.multiply(self.multiply(root, root), root), 6))
            rest = self.subtract(self.multiply((1 << 28) + (1 << 27), root), self.multiply(half, cube))
            root = self.saturate(self.left(rest, 3))
        root = self.multiply(root, 1518500250)
        places = self.subtract(self.select(is_large, 12, 11), pairs)
        root = self.left(root, self.emit("maxsi", self.subtract(0, places), 0))
        right = self.emit("maxsi", places, 0)
        return self.select(is_one, (1 << 31) - 1, root), self.select(is_one, 0, right)

    def logarithm(self, x: Value, integer_bits: int, result_bits: int) -> Value:
        """Emit the logarithm of a 32-bit fixed-point number of at least 1.

        `x` has `integer_bits` integer bits and the result `result_bits`; the other bits, except the sign, are
        fractional.
        """
        root, accumulated = 1805811301, result_bits + 1
        quarter, unit = 1 << (29 - accumulated), 31 - accumulated
        above = self.leading_zeros(x)
        headroom = self.subtract(self.leading_zeros(self.multiply(x, 1518500250)), 1)
        shifted = self.saturate(self.left(x, self.subtract(above, 1)))
        rest = self.saturate(self.left(self.multiply(shifted, 1518500250), 1))
        r = self.emit("minsi", rest, self.saturate(self.left(x, headroom)))
        upper, lower = (self.saturate(self.left(self.subtract(integer_bits, n), unit)) for n in (above, headroom))
        exponent = self.emit(
            "maxsi", self.saturate(self.add(upper, quarter)), self.saturate(self.subtract(lower, quarter))
        )
        p, q = self.right(self.add(r, root + 1), 1), self.left(self.subtract(r, root), 1)
        square = self.multiply(q, q)
        numerator = self.add(self.multiply(q, r), self.multiply(self.multiply(q, square), 117049297))
        inner = self.add(self.add(q, 1057819769), self.multiply(square, 127690142))
        denominator = self.add(self.multiply(p, inner), self.multiply(q, 638450708))
        share = self.multiply(self.divide(numerator, accumulated), self.reciprocal(denominator))
        return self.saturate(self.left(self.add(self.multiply(exponent, 1488522236), share), 1))
