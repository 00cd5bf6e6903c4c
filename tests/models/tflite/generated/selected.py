"""WHERE and UNIQUE of constants. Hazards: no elements that are true, negative zeros, several axes, both index types."""

from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.writing import Operator, Subgraph, Tensor, write


def _constant(rng, shape, dtype, smallest=1e-40):
    """Few different elements, of which some are 0."""
    if dtype == "bool":
        data = rng.random(shape) < rng.choice([0.1, 0.5, 0.9])
    elif dtype == "float32":
        data = rng.choice([0.0, -0.0, smallest, 1.0, -2.5, 3.0], shape)
    else:
        data = rng.integers(0, 5, shape)
    return Tensor(shape, dtype, data=data.astype(dtype))


def where(rng, *, dtype):
    """Elements of an input at the positions of a constant."""
    shape = draw.shape(rng, elements=600)
    x, mask = Tensor(shape, "float32"), _constant(rng, shape, dtype)
    mask.data.flat[0] = 1
    count = int(np.count_nonzero(mask.data))
    positions, y = Tensor((count, len(shape)), "int64"), Tensor((count,), "float32")
    operators = [Operator("WHERE", [mask], [positions]), Operator("GATHER_ND", [x, positions], [y])]
    runs = [[rng.normal(size=shape).astype(np.float32)] for _ in range(4)]
    return Case(write([Subgraph([x], [y], operators)]), runs, ulp=0)


def unique(rng, *, dtype, index):
    """The numbers of a constant's elements select rows of an input."""
    size = draw.size(rng)
    given = _constant(rng, (size,), dtype, smallest=0.25)
    count = len(np.unique(given.data))
    x, values, numbers = Tensor((count, 9), "float32"), Tensor((count,), dtype), Tensor((size,), index)
    y, factors, scaled = Tensor((size, 9), "float32"), Tensor((count,), "float32"), Tensor((count,), "float32")
    wide = values if dtype == "float32" else Tensor((count,), "float32")
    operators = [
        Operator("UNIQUE", [given], [values, numbers], {"idx_out_type": index.upper()}),
        Operator("GATHER", [x, numbers], [y], {"axis": 0}),
        *([] if wide is values else [Operator("CAST", [values], [wide], {"out_data_type": "FLOAT32"})]),
        Operator("MUL", [factors, wide], [scaled]),
    ]
    runs = [[rng.normal(size=given.shape).astype(np.float32) for given in (x, factors)] for _ in range(4)]
    return Case(write([Subgraph([x, factors], [y, scaled], operators)]), runs, ulp=0)


CASES = {
    **{
        f"WHERE {dtype}": partial(where, dtype=dtype)
        for dtype in ("bool", "float32", "int8", "int32", "int64", "uint8", "uint32")
    },
    **{
        f"UNIQUE {dtype}, {index}": partial(unique, dtype=dtype, index=index)
        for dtype, index in (("float32", "int32"), ("int8", "int64"), ("int16", "int32"), ("int32", "int64"),
                             ("int64", "int32"), ("uint8", "int32"))
    },
}  # fmt: skip
