"""RFFT2D, COMPLEX_ABS, REAL and IMAG. Hazards: transforms longer than one sum, of one row or of several, of matrices
that are cut or padded; complex numbers that are moved; parts that are exactly 0."""

from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.writing import Operator, Subgraph, Tensor, write


def transform(rng, *, part, longest=1024, is_flat=False, is_moved=False):
    """A part of the transforms of matrices, or of rows if they are flat."""
    height = 1 if is_flat else int(2 ** rng.integers(0, 7))
    width = int(2 ** rng.integers(1, int(np.log2(longest // height)) + 1))
    batch = tuple(int(n) for n in rng.integers(1, 4, int(rng.integers(0, 3))))
    own = [n if rng.random() < 0.6 else int(rng.integers(1, 2 * n + 1)) for n in (height, width)]
    x, sizes = Tensor((*batch, *own), "float32"), Tensor((2,), "int32", data=[height, width])
    shape = (*batch, height, width // 2 + 1)
    numbers = Tensor(shape, "complex64")
    operators = [Operator("RFFT2D", [x, sizes], [numbers])]
    if is_moved:
        moved = Tensor((1, *shape), "complex64")
        axis = Tensor((1,), "int32", data=[0])
        operators.append(Operator("EXPAND_DIMS", [numbers, axis], [moved]))
        numbers, shape = Tensor((int(np.prod(shape)),), "complex64"), (int(np.prod(shape)),)
        operators.append(Operator("RESHAPE", [moved, Tensor((1,), "int32", data=shape)], [numbers]))
    y = Tensor(shape, "float32")
    operators.append(Operator(part, [numbers], [y]))
    runs = [[_signal(rng, x.shape)] for _ in range(4)]
    return Case(write([Subgraph([x], [y], operators)]), runs, ulp=1, absolute=2.0**-40)


def _signal(rng, shape):
    """Noise, waves whose transforms are almost all 0, or small integers whose transforms have exact zeros."""
    kind = rng.choice(["noise", "wave", "integers"])
    if kind == "noise":
        return rng.normal(size=shape).astype(np.float32)
    if kind == "wave":
        return np.cos(np.arange(np.prod(shape)) * rng.uniform(0, np.pi)).reshape(shape).astype(np.float32)
    return draw.integers(rng, shape, "int8", -3, 3).astype(np.float32)


CASES = {
    "COMPLEX_ABS of RFFT2D": partial(transform, part="COMPLEX_ABS", is_flat=True),
    "COMPLEX_ABS of RFFT2D, moved": partial(transform, part="COMPLEX_ABS", is_flat=True, is_moved=True),
    "REAL of RFFT2D": partial(transform, part="REAL"),
    "IMAG of RFFT2D": partial(transform, part="IMAG", is_moved=True),
}
