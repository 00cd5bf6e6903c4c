"""Casts of every type variant, drawn: per layer, per axis and sub-channel; scalar, ranked, dynamic and unranked; every
storage width and rule; and the operands that such a cast is hard on."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, product, repeat

import numpy as np

from qrt.numerics import ROUNDINGS, SCALES, ZERO_POINTS
from qrt.ops.core import element_dtype, expressed_dtype
from qrt.types import UniformType, parse_type
from qrt.types.storage import storage_range
from tests.oracle.draw_types import Draw, container, per_axis, per_layer, sub_channel

RULES = tuple(product(ROUNDINGS, ZERO_POINTS, SCALES))
WIDTHS = range(2, 33)
EXPRESSED = ("f32", "f16", "bf16", "f64")
FORMS = {
    "per layer, scalar": (per_layer, (), None),
    "per layer, rank 0": (per_layer, (), ()),
    "per layer, ranked": (per_layer, (2, 3), (2, 3)),
    "per layer, dynamic": (per_layer, (2, 3), (None, 3)),
    "per layer, unranked": (per_layer, (2, 3), None),
    "per axis, ranked": (per_axis, (2, 3, 2), (2, 3, 2)),
    "per axis, dynamic": (per_axis, (2, 3, 2), (None, None, None)),
    "per axis, unranked": (per_axis, (2, 3, 2), None),
    "sub-channel, ranked": (sub_channel, (4, 6), (4, 6)),
    "sub-channel, dynamic": (sub_channel, (4, 6), (None, None)),
}
"""How the type is drawn, the shape of the operand, and that of its type: None for unranked."""


@dataclass(frozen=True)
class Variant:
    """A cast: of floats of `shape` in `source`, to a type in `result`."""

    form: str
    quantized: UniformType
    shape: tuple[int, ...]
    rule: tuple[str, str, str]

    def contained(self, element: str) -> str:
        """The type of a scalar or tensor of an element."""
        return element if self.form.endswith("scalar") else container(FORMS[self.form][2], element)

    @property
    def source(self) -> str:
        return self.contained(str(self.quantized.expressed_type))

    @property
    def result(self) -> str:
        return self.contained(str(self.quantized))

    @property
    def attributes(self) -> str:
        rounding, zero_point, scale = self.rule
        return f'{{rounding = "{rounding}", scale = "{scale}", zero_point = "{zero_point}"}}'

    def floats(self, draw: Draw, within: bool = False) -> np.ndarray:
        """Ties, ends of the storage type, NaN, infinities and patterns of bits; or, `within`, what it may hold."""
        rule = self._inner if within else self._float
        drawn = [rule(draw) for _ in range(int(np.prod(self.shape)))]
        dtype = expressed_dtype(self.quantized.expressed_type)
        return np.array(drawn, f"u{dtype.itemsize}").view(dtype).reshape(self.shape)

    def _float(self, draw: Draw) -> int:
        t = self.quantized
        form = t.expressed_type.format
        if draw.chance(0.15):
            return draw.getrandbits(form.width)
        if draw.chance(0.15):
            return form.encode_float(draw.choice([np.nan, np.inf, -np.inf, -0.0, float(t.expressed_type.largest)]))
        scale, zero_point = draw.choice(list(zip(_flat(t.scales), _flat(t.zero_points), strict=True)))
        near = draw.choice([t.storage_min, t.storage_max, 0, zero_point, draw.randint(t.storage_min, t.storage_max)])
        step = near + draw.choice([0, 0.5, -0.5, 1, -1, 0.49999]) - zero_point
        return form.encode_float(step * scale)

    def _inner(self, draw: Draw) -> int:
        """A number between the ends of the storage type, by the smallest scale and zero point that there are."""
        t = self.quantized
        inside = draw.uniform(t.storage_min, t.storage_max)
        steps = [inside - zero_point for zero_point in _flat(t.zero_points)]
        return t.expressed_type.format.encode_float(min(steps, key=abs) * min(_flat(t.scales)))

    def integers(self, draw: Draw) -> np.ndarray:
        """Storage integers, the ends of the type among them."""
        t = self.quantized
        ends = (t.storage_min, t.storage_max)
        drawn = [
            draw.choice([*ends, draw.randint(*ends), draw.randint(*ends)]) for _ in range(int(np.prod(self.shape)))
        ]
        return np.array(drawn, element_dtype(t)).reshape(self.shape)


def _flat(values) -> list:
    return np.asarray(values, object).ravel().tolist()


def variants(draw: Draw) -> Iterator[Variant]:
    """Each form with each width; the rules and expressed types in turn, so that each form meets them all."""
    rules, expressed = cycle(RULES), cycle(EXPRESSED)
    for form, (kind, shape, _) in FORMS.items():
        for width in WIDTHS:
            element = next(expressed)
            arguments = (draw, element, width) if kind is per_layer else (draw, element, shape, width)
            drawn = (parse_type(kind(*arguments).text) for _ in repeat(None))
            yield Variant(form, next(filter(is_executable, drawn)), shape, next(rules))


def is_executable(t: UniformType) -> bool:
    """Whether casts to a type run: its zero points are storage integers, its bounds have a value of the format between
    them."""
    least, greatest = storage_range(t.storage_width, t.is_signed)
    largest = t.expressed_type.largest
    bounded = t.storage_min <= largest and t.storage_max >= -largest
    return bounded and all(least <= zero_point <= greatest for zero_point in _flat(t.zero_points))
