"""Quantized types drawn for an op: storage, zero points, and scales of which the result's makes a multiplier of a given
kind. The same seed draws the same."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from qrt.numerics import REQUANT_RULES
from qrt.types import FloatType, UniformType, storage_range
from tests.ops.harness import Array
from tests.ops.strategies import storage_of
from tests.oracle.draw_types import Draw

WIDTHS = tuple(range(2, 17))
WIDE = (20, 24, 31, 32)
"""Storage on which accumulators pass 32 bits, and that shows their low bits."""

KINDS = {
    "ties": 5, "fitted": 2, "wide": 1, "wide ties": 2, "one": 1, "under": 1, "above": 1, "near 0": 2, "left": 2,
    "far": 1,
}  # fmt: skip
"""What the multiplier is. `ties`: a power of two below 1, and results that are not clamped. `fitted`: any, so that
results fill their storage. `wide`: near 1, every bit of a long accumulator in the result. `wide ties`: and of 32 bits,
which M0 rounds from a tie. `one`: exactly 1. `under`: M0 rounds up to a power of two. `above`: above 1. `near 0`:
shifts of 61 to 64, of sums that are long enough to leave something. `left`: shifts of 2 down to -9, of sums that are
near 0. `far`: any exponent. The numbers are how often one is drawn."""
ANY = "any"
"""No multiplier is aimed at: each scale is drawn on its own, from all that the expressed type allows."""
_SHIFTED = ("near 0", "left")
_LONG = ("wide", "wide ties")
_BINARY = ("ties", "one", "under", "wide ties", *_SHIFTED)
_ROUNDED_M0 = ("under", "wide ties")
"""Scales are powers of two."""


class OpDraw(Draw):
    """Choices for one op. `widths` are those of storage; `kind` is the multiplier's, drawn where it is not given.

    With `is_deep`, sums have up to 200 products instead of about 20.
    """

    def __init__(
        self, seed: str, widths: Sequence[int] = WIDTHS + WIDE, kind: str = "", *, is_deep: bool = False
    ) -> None:
        super().__init__(seed)
        self.rng = np.random.default_rng(self.getrandbits(64))
        self.widths = tuple(widths)
        (drawn,) = self.choices(list(KINDS), KINDS.values())
        self.kind = kind or drawn
        self._operands = 0
        self.is_deep = is_deep
        self.is_small = self.kind in ("ties", "left") and self.chance(0.6)
        """Of few bits: sums fit the 8 bits of results, which kernels store in ways of their own."""
        self.expressed = self.choice(
            ("f32", "f32", "f32", "f64", "bf16", *(["f64", "f16"] if self.kind == ANY else []))
        )
        fixed = ("fixed", "fixed_double") if self.kind in _ROUNDED_M0 else ("fixed", "fixed", "fixed", "fixed_double")
        self.rule = self.choice(fixed if self.kind in (*_SHIFTED, *_ROUNDED_M0) else REQUANT_RULES)

    def dim(self, largest: int = 5) -> int:
        return self.choice((0, 1, 1, *[self.randint(1, largest) for _ in range(12)]))

    def depth(self, usual: int) -> int:
        """Return a number of products, or of channels that are summed: `usual`, or one around whole vectors."""
        return self.choice((7, 8, 9, 16, 17, 31, 33, 64, 65, 129, self.randint(1, 140))) if self.is_deep else usual

    def dims(self, rank: int, largest: int = 5) -> tuple[int, ...]:
        return tuple(self.dim(largest) for _ in range(rank))

    def array(self, t: UniformType, shape: Sequence[int]) -> Array:
        return storage_of(t, shape, self.rng)

    # -- storage

    def width(self, most: int = 32) -> int:
        """Of an operand's storage."""
        fitting = [width for width in self.widths if width <= most]
        if self.kind == ANY:
            return self.choice(fitting)
        usual = [width for width in fitting if width <= 16] or fitting
        if self.is_small:
            usual = [width for width in usual if width <= 5] or [min(usual)]
        if self.kind in (*_LONG, "near 0"):
            least = 31 if self.kind == "wide ties" and most == 32 else min(15, most)
            usual = [width for width in fitting if width >= least] or usual
        return self.choice(usual if self.kind in (*_LONG, "near 0") or self.chance(0.95) else fitting)

    def storage(self, width: int, narrowed: float = 0.25) -> dict[str, Any]:
        """Arguments of a type: both signs, whole and narrowed bounds."""
        signed = self.chance(0.5)
        least, greatest = storage_range(width, signed)
        low, high = least, greatest
        if self.chance(narrowed):
            low = self.choice([least, self.randint(least, greatest - 1)])
            high = self.choice([greatest, self.randint(low + 1, greatest)])
        return {"storage": f"{'i' if signed else 'u'}{width}", "storage_min": low, "storage_max": high}

    def zero_point(self, stored: dict[str, Any]) -> int:
        """0, at an end of the range or of the bounds, between them, or any."""
        least, greatest = storage_range(int(stored["storage"][1:]), stored["storage"][0] == "i")
        ends = [least, greatest, stored["storage_min"], stored["storage_max"]]
        middle = (stored["storage_min"] + stored["storage_max"]) // 2
        return self.choice([0, 0, middle, self.choice(ends), self.choice(ends), self.randint(least, greatest)])

    # -- scales

    def scale(self) -> float:
        """Of an operand."""
        self._operands += 1
        if self.kind == ANY:
            return self.any_scale()
        if self.kind == "wide ties" and self._operands == 1:
            return (2**31 + 2 * self.randrange(2**30) + 1) * 2.0 ** self.randint(-34, -30)
        if self.kind in _BINARY:
            return 2.0 ** self.randint(-8, 2)
        if self.kind == "far":
            return 10.0 ** self.uniform(-16, 16)
        return self.choice([0.5, 0.1, 1 / 3, self.uniform(1e-3, 4.0)])

    def any_scale(self, near: float = 1.0) -> float:
        """Of the whole range of the expressed type: its ends, near another scale, near where 31 or 62 bits end, or any;
        a power of two or not."""
        form = FloatType(self.expressed)
        low, high = math.log2(form.smallest), math.log2(form.largest / 2)
        exponent = math.log2(near)
        kind = self.choice(["near", "near", "limit", "limit", "any", "end"])
        if kind == "end":
            return self.choice([form.smallest, form.largest])
        if kind == "any":
            exponent = self.uniform(low, high)
        elif kind == "limit":
            exponent += self.choice([-1, 1]) * (self.choice([31, 62]) + self.uniform(-9, 9))
        else:
            exponent += self.uniform(-1, 1) * self.choice([2, 8, 40])
        scale = 2.0 ** min(max(math.ceil(exponent) if self.chance(0.3) else exponent, low), high)
        return min(max(scale, form.smallest), form.largest)

    def factors(self, channels: int) -> list[float]:
        """How the scales of channels differ."""
        if self.kind == ANY:
            reach = self.choice([0, 1, 20, 70])
            return [2.0 ** self.uniform(-reach, reach) for _ in range(channels)]
        if self.kind in _BINARY:
            return [2.0 ** -self.randint(0, 1) for _ in range(channels)]
        return [self.uniform(0.3, 1.0) for _ in range(channels)]

    # -- types

    def element(self, channels: int | None = None, axis: int | None = None, **said: Any) -> UniformType:
        """An operand's type: per axis, more often than not, where channels are given; `said` is width or scale."""
        stored = self.storage(said.get("width") or self.width())
        return self._element(stored, said.get("scale") or self.scale(), channels, axis)

    def _element(self, stored: dict[str, Any], scale: float, channels: int | None, axis: int | None) -> UniformType:
        scale = self._expressible(scale)
        if not channels or axis is None or self.chance(0.4):
            return UniformType(expressed=self.expressed, scales=scale, zero_points=self.zero_point(stored), **stored)
        scales = [self._expressible(scale * factor) for factor in self.factors(channels)]
        zero_points = [self.zero_point(stored) for _ in scales]
        return UniformType(expressed=self.expressed, scales=scales, zero_points=zero_points, axis=axis, **stored)

    def _expressible(self, scale: float) -> float:
        form = FloatType(self.expressed)
        low, high = (form.smallest, form.largest) if self.kind == ANY else (1e-30, 1e30)
        return min(max(scale, low), high)

    def blocks(self, shape: Sequence[int], **said: Any) -> UniformType:
        """A sub-channel type of a tensor of this shape, without sizes of 0."""
        stored, scale = self.storage(said.get("width") or self.width()), self.scale()
        sizes = {d: self.choice([n for n in range(1, size + 1) if size % n == 0]) for d, size in enumerate(shape)}
        kept = {d: block for d, block in sizes.items() if self.chance(0.7)} or sizes
        counts = [size // kept.get(d, size) for d, size in enumerate(shape)]
        count = math.prod(counts)
        scales = np.reshape([self._expressible(scale * factor) for factor in self.factors(count)], counts)
        zero_points = np.reshape([self.zero_point(stored) for _ in range(count)], counts)
        return UniformType(
            expressed=self.expressed,
            scales=scales.tolist(),
            zero_points=zero_points.tolist(),
            block_sizes=kept,
            **stored,
        )

    def result(self, unit: float, spread: float, channels: int | None = None, axis: int | None = None) -> UniformType:
        """A result's type, for accumulators that count in `unit` and are about `spread`, both real values."""
        if self.kind == ANY:
            near = min(max(unit, 5e-324), 1e308)
            return self._element(self.storage(self.width()), self.any_scale(near), channels, axis)
        steps = max(6 * spread / unit, 1.0)
        right = self.randint(1, 3)
        if self.kind == "ties":
            stored = self._roomy(steps / 2**right)
            return self._element(stored, unit * 2.0**right, channels, axis)
        if self.kind in _LONG:
            stored = self._roomy(steps)
            excess = 2.0 ** max(math.ceil(math.log2(steps)) - 31, 0)
            if self.kind == "wide ties":
                return self._element(stored, 2.0 ** math.floor(math.log2(unit)) * excess, channels, axis)
            return self._element(stored, unit * excess * self.uniform(1, 2), channels, axis)
        width = max(self.widths) if self.kind == "left" and self.chance(0.7) else self.width()
        stored = self.storage(width, narrowed=0.1)
        span = stored["storage_max"] - stored["storage_min"]
        scale = {
            "fitted": unit * steps / span * self.uniform(0.5, 2.0),
            "one": unit,
            "under": unit * 2.0**right * (1 + 2.0**-40),
            "above": unit * self.choice([2.0**-right, self.uniform(0.01, 1.0)]),
            "near 0": unit * 2.0 ** self.choice([31, 32, 32, 33, 33, 34]),
            "left": unit * 2.0 ** -self.choice([28, 29, 29, 30, 30, 31, 31, 32, 39]) * self.choice([1.0, 0.9]),
            "far": 10.0 ** self.uniform(-16, 16),
        }[self.kind]
        return self._element(stored, scale, channels, axis)

    def _roomy(self, steps: float) -> dict[str, Any]:
        """Storage with room for so many values, if there is one; whole, as a narrow one would clamp."""
        enough = [width for width in self.widths if 2**width >= steps]
        if self.kind in _LONG:
            enough = [width for width in enough if width >= 20]
        elif self.is_small:
            enough = [width for width in enough if width <= 8] or enough
        return self.storage(self.choice(enough or [max(self.widths)]), narrowed=0)
