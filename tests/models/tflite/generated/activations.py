"""LEAKY_RELU, PRELU, ABS, NEG and the clamps alone. Hazards: slopes and ratios of scales on both sides of what the fast
rule takes; slopes that are negative or 0; sizes beside LiteRT's blocks of 16; bounds that are no integer."""

from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.writing import Tensor, one_op


def leaky_relu(rng, dtype="int8", wide=False):
    shape = draw.shape(rng)
    x = draw.tensor(rng, shape, dtype, draw.scale(rng, -8, 0))
    y = draw.tensor(rng, shape, dtype, draw.around(rng, x.scales, 9 if wide else 2))
    alpha = float(np.float32(rng.choice([rng.uniform(0.01, 1.0), rng.uniform(0, 4), -rng.uniform(0, 2), 0.5, 1.0])))
    if wide:
        alpha = float(np.float32(rng.choice([alpha, 2.0 ** rng.uniform(-12, 9)])))
    return Case(one_op("LEAKY_RELU", [x], [y], {"alpha": alpha}, version=2))


def prelu(rng, dtype="int8", shape=None):
    full = draw.shape(rng, 4 if shape is None else shape)
    x = draw.tensor(rng, full, dtype, draw.scale(rng, -8, 0))
    slopes = (*[1] * (len(full) - 2), full[-1]) if rng.random() < 0.7 else (1,) * (len(full) - 1)
    kind = "int8" if dtype == "int16" else dtype
    alpha = draw.tensor(rng, slopes, kind, draw.scale(rng, -12, -5), data=draw.integers(rng, slopes, kind))
    y = draw.tensor(rng, full, dtype, draw.around(rng, x.scales, 2))
    return Case(one_op("PRELU", [x, alpha], [y], {}, version=1))


def unary(rng, name, dtype="int8", version=2, same=False):
    shape = draw.shape(rng)
    x = draw.tensor(rng, shape, dtype, draw.scale(rng, -8, 0))
    y = draw.tensor(rng, shape, dtype, draw.around(rng, x.scales, 3))
    if same:
        y = Tensor(shape, dtype, x.scales, x.zero_points)
    return Case(one_op(name, [x], [y], {}, version=version))


CASES = {
    "LEAKY_RELU i8": leaky_relu,
    "LEAKY_RELU i8, wide": partial(leaky_relu, wide=True),
    "LEAKY_RELU u8": partial(leaky_relu, dtype="uint8"),
    "LEAKY_RELU i16": partial(leaky_relu, dtype="int16"),
    "PRELU i8": prelu,
    "PRELU u8": partial(prelu, dtype="uint8"),
    "PRELU i16": partial(prelu, dtype="int16"),
    "ABS i8": partial(unary, name="ABS"),
    "ABS i8, one type": partial(unary, name="ABS", same=True),
    "ABS i16": partial(unary, name="ABS", dtype="int16"),
    "NEG i8": partial(unary, name="NEG", version=1, same=True),
    "NEG i8, other types": partial(unary, name="NEG", version=1),
    "NEG i16": partial(unary, name="NEG", version=1, dtype="int16"),
    **{
        f"{name} {label}": partial(unary, name=name, version=1 if name.endswith("_1") else 2, **options)
        for name in ("RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1")
        for label, options in {
            "i8": {},
            "i8, one type": {"same": True},
            "u8": {"dtype": "uint8"},
            **({} if name.endswith("_1") else {"i16": {"dtype": "int16"}}),
        }.items()
    },
}
