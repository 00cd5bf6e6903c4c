"""ADD, SUB and MUL of 8 and 16 bits. Hazards: ratios of scales on both sides of what the fast rule takes; an operand
that is broadcast or constant; results that saturate, a fused activation whose bound is no integer; scales of 16 bits
that are nearly powers of two, which choose another kernel unless an option that is set by default forbids it."""

from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.writing import Tensor, one_op


def _shapes(rng, broadcasts):
    """The shapes of two operands and of the result."""
    full = draw.shape(rng)
    if not broadcasts:
        return full, full, full
    other = [1 if rng.random() < 0.5 else extent for extent in full][int(rng.integers(len(full))) :]
    operands = [full, tuple(other)]
    if rng.random() < 0.5:
        operands.reverse()
    return *operands, full


def _binary(rng, name, out, *, dtype="int8", broadcasts=False, constant=False, wide=False, pot=False):
    shapes = _shapes(rng, broadcasts or (constant and rng.random() < 0.5))
    a_scale = draw.scale(rng, -8, 0)
    b_scale = draw.around(rng, a_scale, 9 if wide else 4)
    a, b = (draw.tensor(rng, shape, dtype, s) for shape, s in zip(shapes[:2], (a_scale, b_scale), strict=True))
    if constant:
        b = Tensor(b.shape, dtype, b.scales, b.zero_points, data=draw.integers(rng, b.shape, dtype))
    y = draw.tensor(rng, shapes[2], dtype, out(rng, a_scale, b_scale, wide))
    options = {"fused_activation_function": draw.activation(rng)}
    if name in ("ADD", "SUB"):
        options["pot_scale_int16"] = pot
    return Case(one_op(name, [a, b], [y], options, version=2))


def beyond(rng, name, broadcasts, low):
    """A ratio of scales below 2^-10, or from 2^8 on: no sum of XNNPACK."""
    shapes = _shapes(rng, broadcasts)
    scale = draw.scale(rng, -6, 0)
    far = scale * 2.0 ** (rng.uniform(10.05, 13) if low else -rng.uniform(8.05, 9))
    a, b = (
        draw.tensor(rng, shape, "int8", draw.around(rng, s, 0)) for shape, s in zip(shapes, (scale, far), strict=False)
    )
    y = draw.tensor(rng, shapes[2], "int8", float(np.float32(far)))
    return Case(one_op(name, [a, b], [y], {"pot_scale_int16": False}, version=2))


def powers(rng, name, broadcasts=False):
    """Scales that are powers of two, or so near to them that LiteRT may take them for powers."""
    shapes = _shapes(rng, broadcasts)
    result = int(rng.integers(-14, -2))
    exponents = [result, result - int(rng.choice([0, 1, 2, 3, int(rng.integers(4, 16))]))]
    rng.shuffle(exponents)
    a, b, y = (
        draw.tensor(rng, shape, "int16", float(np.float32(2.0 ** (exponent + rng.choice([0, 0, 9e-4, -9e-4])))))
        for shape, exponent in zip(shapes, (*exponents, result), strict=True)
    )
    options = {"fused_activation_function": draw.activation(rng), "pot_scale_int16": True}
    return Case(one_op(name, [a, b], [y], options, version=3))


def _sum_scale(rng, a, b, wide):
    return draw.around(rng, max(a, b), 6 if wide else 1.5)


def _product_scale(dtype, rng, a, b, wide):
    return draw.around(rng, a * b * (1 << (15 if dtype == "int16" else 7)), 3)


def _sums(name, label, **options):
    return {f"{name} {label}": partial(_binary, name=name, out=_sum_scale, **options)}


def _products(label, **options):
    out = partial(_product_scale, options.get("dtype", "int8"))
    return {f"MUL {label}": partial(_binary, name="MUL", out=out, **options)}


CASES = {
    **_sums("ADD", "i8"),
    **_sums("ADD", "i8, broadcast", broadcasts=True),
    **_sums("ADD", "i8, constant", constant=True),
    **_sums("ADD", "i8, wide ratios", wide=True),
    "ADD i8, ratio below 2^-10": partial(beyond, name="ADD", broadcasts=False, low=True),
    "ADD i8, broadcast, ratio below 2^-10": partial(beyond, name="ADD", broadcasts=True, low=True),
    "SUB i8, ratio below 2^-10": partial(beyond, name="SUB", broadcasts=False, low=True),
    "SUB i8, ratio from 2^8": partial(beyond, name="SUB", broadcasts=False, low=False),
    **_sums("ADD", "u8", dtype="uint8"),
    **_sums("ADD", "u8, broadcast", dtype="uint8", broadcasts=True),
    **_sums("ADD", "i16", dtype="int16"),
    **_sums("ADD", "i16, default options", dtype="int16", pot=True),
    **_sums("ADD", "i16, default options, broadcast", dtype="int16", pot=True, broadcasts=True),
    "ADD i16, powers of two": partial(powers, name="ADD"),
    **_sums("SUB", "i8"),
    **_sums("SUB", "i8, broadcast", broadcasts=True),
    **_sums("SUB", "i8, wide ratios", wide=True),
    **_sums("SUB", "u8", dtype="uint8"),
    **_sums("SUB", "i16", dtype="int16"),
    **_sums("SUB", "i16, default options", dtype="int16", pot=True),
    "SUB i16, powers of two": partial(powers, name="SUB"),
    "SUB i16, powers of two, broadcast": partial(powers, name="SUB", broadcasts=True),
    **_products("i8"),
    **_products("i8, broadcast", broadcasts=True),
    **_products("i8, constant", constant=True),
    **_products("u8", dtype="uint8"),
    **_products("i16", dtype="int16"),
}
