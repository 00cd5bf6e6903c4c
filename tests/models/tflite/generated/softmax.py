"""SOFTMAX. Hazards: exponentials that vanish, a beta that is not 1, rows of one element, results of 16 bits."""

from functools import partial

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.writing import Tensor, one_op

OUTPUTS = {"int8": (2.0**-8, -128), "uint8": (2.0**-8, 0), "int16": (2.0**-15, 0)}


def softmax(rng, *, dtype="int8", out=None, betas=(1.0,)):
    rank = int(rng.integers(1, 5))
    shape = draw.shape(rng, rank, 3000)
    x = draw.tensor(rng, shape, dtype, draw.scale(rng, -18, -9) if dtype == "int16" else draw.scale(rng, -9, 1))
    scale, zero_point = OUTPUTS[out or dtype]
    y = Tensor(shape, out or dtype, scale, zero_point)
    return Case(one_op("SOFTMAX", [x], [y], {"beta": float(rng.choice(betas))}, version=3))


CASES = {
    "SOFTMAX i8": softmax,
    "SOFTMAX i8, beta": partial(softmax, betas=(0.5, 0.37, 2.0)),
    "SOFTMAX u8": partial(softmax, dtype="uint8"),
    "SOFTMAX i8 to i16": partial(softmax, out="int16"),
    "SOFTMAX i16": partial(softmax, dtype="int16"),
}
