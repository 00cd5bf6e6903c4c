"""MAXIMUM, MINIMUM, DIV and SQUARED_DIFFERENCE. Hazards: operands of other types than the result's; broadcast and
constant operands; dividends near 0, whose last shift is beyond 31 places; multipliers so large that the last shift is
below 0; divisors of either sign."""

from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.generated.elementwise import _shapes
from tests.models.tflite.writing import Tensor, one_op


def extreme(rng, name, dtype="int8", broadcasts=False, differ=False):
    shapes = _shapes(rng, broadcasts)
    scales, zero = draw.scale(rng), draw.zero_point(rng, dtype)
    tensors = [
        draw.tensor(rng, shape, dtype) if differ else Tensor(shape, dtype, scales, zero)  # the same type for all
        for shape in shapes
    ]
    return Case(one_op(name, tensors[:2], tensors[2:], {}, version=4 if dtype == "int16" else 2))


def div(rng, dtype="int8", broadcasts=False, is_shifted=False, octaves=0):
    """``is_shifted``: tensors of 16 bits have zero points. The scale of the result is divided by ``2**octaves``."""
    shapes = _shapes(rng, broadcasts)
    points = [{"zero_points": _point_of_16_bits(rng)} if is_shifted else {} for _ in range(3)]
    a, b = (
        draw.tensor(rng, shape, dtype, draw.scale(rng, -8, 0), **point)
        for shape, point in zip(shapes[:2], points, strict=False)
    )
    y = draw.tensor(rng, shapes[2], dtype, draw.around(rng, a.scales / b.scales / 8 / 2**octaves, 5), **points[2])
    options = {"fused_activation_function": "NONE" if octaves else draw.activation(rng)}  # LiteRT's fits 32 bits
    inputs = [[draw.integers(rng, a.shape, dtype), _nonzero(rng, b)] for _ in range(4)]
    return Case(one_op("DIV", [a, b], [y], options, version=2), inputs)


def _point_of_16_bits(rng):
    return int(rng.choice([rng.integers(-300, 300), rng.integers(-32768, 32768), -32768, 32767]))


def _nonzero(rng, t):
    """No element is the zero point: LiteRT refuses to divide by it."""
    drawn, info = draw.integers(rng, t.shape, t.dtype), np.iinfo(t.dtype)
    other = t.zero_points + 1 if t.zero_points < info.max else t.zero_points - 1
    return np.where(drawn == t.zero_points, np.dtype(t.dtype).type(other), drawn)


def squared_difference(rng, broadcasts=False, constant=False):
    shapes = _shapes(rng, broadcasts)
    scale = draw.scale(rng, -8, 0)
    a, b = (
        draw.tensor(rng, shape, "int8", s)
        for shape, s in zip(shapes, (scale, draw.around(rng, scale, 3)), strict=False)
    )
    if constant:
        b = Tensor(b.shape, "int8", b.scales, b.zero_points, data=draw.integers(rng, b.shape))
    y = draw.tensor(rng, shapes[2], "int8", draw.around(rng, (max(a.scales, b.scales) * 200) ** 2 / 255, 3))
    return Case(one_op("SQUARED_DIFFERENCE", [a, b], [y], {}, version=2))


CASES = {
    **{
        f"{name} {label}": partial(extreme, name=name, **options)
        for name in ("MAXIMUM", "MINIMUM")
        for label, options in {
            "i8": {},
            "i8, broadcast": {"broadcasts": True},
            "i8, other types": {"differ": True},
            "u8": {"dtype": "uint8"},
            "i16": {"dtype": "int16", "broadcasts": True},
        }.items()
    },
    "DIV i8": div,
    "DIV i8, broadcast": partial(div, broadcasts=True),
    "DIV u8": partial(div, dtype="uint8"),
    "DIV i8, large multipliers": partial(div, octaves=17),
    "DIV i16": partial(div, dtype="int16"),
    "DIV i16, broadcast": partial(div, dtype="int16", broadcasts=True),
    "DIV i16, large multipliers": partial(div, dtype="int16", octaves=10),
    "DIV i16, zero points": partial(div, dtype="int16", is_shifted=True),
    "SQUARED_DIFFERENCE i8": squared_difference,
    "SQUARED_DIFFERENCE i8, broadcast": partial(squared_difference, broadcasts=True),
    "SQUARED_DIFFERENCE i8, constant": partial(squared_difference, constant=True),
}
