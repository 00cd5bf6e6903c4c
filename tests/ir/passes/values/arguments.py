"""Arguments drawn for a function's types: the ends of every width, where a narrower one wraps, NaNs, infinities, signed
zeros and subnormals, sizes 0 and 1, negative extents."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod

import numpy as np

from qrt.numerics.float_text import FloatFormat
from qrt.ops.core import element_dtype
from qrt.types import FloatType, IndexType, IntegerType, MemRefType, TensorType, Type, UniformType, VectorType
from tests.oracle import draw_numbers
from tests.oracle.draw_types import Draw
from tests.oracle.execution import draw_values

SMALL = (0, 1, 2, 3, 4, 5, 6, 8, -1, -2, -3)
"""Of an index that may be a size, a bound of a loop, or a place."""
_WRAPS = sorted(
    {sign * (1 << width) + by for width in (7, 8, 15, 16, 31, 32, 63) for by in (-1, 0, 1) for sign in (1, -1)}
)
HOSTILE = (0, 1, -1, 2, 300, *(number for number in _WRAPS if -(1 << 63) <= number < 1 << 63))


class Unknown(Exception):
    """A type of which no value is drawn."""


@dataclass(frozen=True)
class Style:
    """How arguments are drawn: the open dimensions of a type, by place, and what an index may be."""

    dimension: Callable[[int], int]
    indices: Sequence[int]
    numbers: Sequence[int] = ()
    """The first scalars of type index."""


def hostile(draw: Draw) -> Style:
    """Dimensions apart, and any index: no size, else memory would be asked for by it."""
    return Style(lambda axis: draw.choice([0, 1, 1, 2, 3, 4]), HOSTILE)


def small(draw: Draw) -> Style:
    """Dimensions apart, and small numbers of both signs."""
    return Style(lambda axis: draw.choice([0, 1, 1, 2, 3, 4, 4, 6]), SMALL)


def tidy(draw: Draw) -> Style:
    """All dimensions are one, and an index is this, 0 or 1: a program that expects sizes to agree runs."""
    size = draw.choice([1, 2, 3, 4, 4, 5, 6, 8])
    return Style(lambda axis: size, (size, size, 0, 1))


def told(draw: Draw) -> Style:
    """What functions that are drawn with `draw_numbers` run with."""
    return Style(lambda axis: (4, 6)[axis], (2,), draw_numbers.NUMBERS)


def arguments(draw: Draw, types: Iterable[Type], style: Style) -> list:
    """One value of each type."""
    known = iter(style.numbers)
    return [
        np.int64(next(known, draw.choice(style.indices)))
        if isinstance(type, IndexType)
        else argument(draw, type, style)
        for type in types
    ]


def argument(draw: Draw, type: Type, style: Style):
    if not isinstance(type, TensorType | VectorType | MemRefType):
        return elements(draw, type, (), style)[()]
    given = [None] * draw.choice([0, 1, 2, 2, 3]) if type.shape is None else type.shape
    shape = tuple(style.dimension(axis) if size is None else size for axis, size in enumerate(given))
    values = elements(draw, type.element, shape, style)
    return laid_out(type, values) if isinstance(type, MemRefType) else values


def elements(draw: Draw, type: Type, shape: tuple[int, ...], style: Style):
    """An array of values that are hostile, but for indices, which may be sizes."""
    count = prod(shape)
    if count > 1 << 16:
        raise Unknown(str(type))
    if isinstance(type, FloatType):
        if type.name not in ("f64", "f32", "f16", "bf16", "tf32", "f8E5M2", "f8E4M3FN"):
            raise Unknown(str(type))
        tame = draw.chance(0.5)  # else most sums are NaN
        numbers = [draw.randint(-9, 9) / 2 if tame else None for _ in range(count)]
        dtype = element_dtype(type)
        drawn = [_encoded(type.format, x) if x is not None else _bits(draw, type) for x in numbers]
        unsigned = np.array(drawn, f"u{dtype.itemsize}")
        return (unsigned << 13 if type.name == "tf32" else unsigned).view(dtype).reshape(shape)
    if isinstance(type, UniformType):
        low, high = type.storage_min, type.storage_max
        near = [low, high, low + 1, high - 1, 0, 1, -1, *(int(z) for z in np.ravel(type.zero_points))]
        inside = [number for number in near if low <= number <= high]
        numbers = [draw.choice(inside) if draw.chance(0.6) else draw.randint(low, high) for _ in range(count)]
        return np.array(numbers, element_dtype(type)).reshape(shape)
    if isinstance(type, IndexType):
        chosen = [(4, 6)[place % 2] if style.numbers else draw.choice(style.indices) for place in range(count)]
        return np.array(chosen, np.int64).reshape(shape)
    if isinstance(type, IntegerType) and type.width <= 64:
        dtype = element_dtype(type)
        if type.width == 1:
            return np.array([draw.chance(0.5) for _ in range(count)], bool).reshape(shape)
        return np.array([_integer(draw, type) for _ in range(count)], dtype).reshape(shape)
    raise Unknown(str(type))


@cache
def _encoded(format: FloatFormat, number: float) -> int:
    """Of the few tame numbers, which the sweep draws half a million times."""
    return format.encode_float(number)


def _bits(draw: Draw, type: FloatType) -> int:
    name = type.name
    return draw_values.bits(draw, name) if name in ("f64", "f32", "f16", "bf16") else draw.getrandbits(type.width)


def _integer(draw: Draw, type: IntegerType) -> int:
    low = 0 if type.signedness == "unsigned" else -(1 << type.width - 1)
    number = draw.choice(HOSTILE) if draw.chance(0.6) else draw.randint(-9, 9)
    return (number - low) % (1 << type.width) + low


def laid_out(type: MemRefType, values):
    """Memory that holds these values where the type's layout says."""
    layout = type.strides
    if layout is None:
        raise Unknown(str(type))
    if type.layout is None or not values.size:
        return values
    steps, step = [], 1
    for size, stride in zip(reversed(values.shape), reversed(layout.strides), strict=True):
        steps.append(step if stride is None else stride)
        step *= max(size, 1)
    steps.reverse()
    offset = layout.offset or 0
    if min(steps) < 0:
        raise Unknown(str(type))
    memory = np.zeros(
        offset + sum((size - 1) * step for size, step in zip(values.shape, steps, strict=True)) + 1, values.dtype
    )
    placed = np.ndarray(
        values.shape, values.dtype, memory, offset * memory.itemsize, [s * memory.itemsize for s in steps]
    )
    placed[...] = values
    return placed
