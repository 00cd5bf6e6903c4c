"""Operands drawn at random, the hostile ones often: ends of ranges, powers of two, signed zeros, subnormals, ties,
infinities and NaNs."""

from qrt.numerics.float_text import FORMATS
from tests.oracle.draw_types import Draw
from tests.oracle.execution.values import Value, is_float, width


def bits(draw: Draw, element: str) -> int:
    return _float(draw, element) if is_float(element) else _integer(draw, width(element))


def _integer(draw: Draw, size: int) -> int:
    mask = (1 << size) - 1
    top = 1 << (size - 1)
    power = 1 << draw.randrange(size)
    edges = (0, 1, mask, top, top - 1, top + 1, mask - 1, power, power - 1, ~power, power + 1)
    if draw.chance(0.5):
        return draw.choice(edges) & mask
    return (draw.getrandbits(size) if draw.chance(0.5) else draw.randint(-9, 9)) & mask


def _float(draw: Draw, element: str) -> int:
    form = FORMATS[element]
    sign = draw.randrange(2) << (form.width - 1)
    fraction = form.precision - 1
    exponents = (1 << (form.width - 1 - fraction)) - 1
    bias = exponents >> 1
    if draw.chance(0.35):
        infinity = exponents << fraction
        edges = (0, 0, 1, (1 << fraction) - 1, 1 << fraction, infinity - 1, infinity, infinity | 1 << (fraction - 1))
        return sign | draw.choice(edges)
    if draw.chance(0.15):
        return draw.getrandbits(form.width)
    if draw.chance(0.4):  # an integer or a half
        return _of_number(draw, sign, fraction, bias)
    exponent = min(max(bias + draw.randint(-8, 8), 0), exponents - 1)
    return sign | exponent << fraction | draw.getrandbits(fraction)


def _of_number(draw: Draw, sign: int, fraction: int, bias: int) -> int:
    """An odd number of halves, an integer, or the neighbour of one."""
    halves = draw.choice([draw.randint(1, 20), 1 << draw.randint(1, min(bias, 66)), draw.randint(1, 1 << fraction)])
    exponent = halves.bit_length() - 1
    shifted = halves << fraction >> exponent
    return sign | ((exponent - 1 + bias << fraction) + (shifted - (1 << fraction)) + draw.choice([0, 0, 0, 1, -1]))


def scalar(draw: Draw, element: str) -> Value:
    return Value(element, (), (bits(draw, element),))


def array(draw: Draw, element: str, shape: tuple[int, ...]) -> Value:
    count = 1
    for dim in shape:
        count *= dim
    return Value(element, shape, tuple(bits(draw, element) for _ in range(count)))
