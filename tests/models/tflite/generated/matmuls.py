"""BATCH_MATMUL of int8 and int16, and of int16 by int8. Hazards: operands that are transposed, batches that are
broadcast, a constant operand, depths beside the kernels' blocks."""

from dataclasses import replace
from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.writing import one_op


def batch_matmul(rng, adj_x=False, adj_y=False, broadcasts=False, dtype="int8", y_dtype=None, constant=False):
    rows, depth, columns = draw.size(rng, 33), draw.size(rng, 65), draw.size(rng, 33)
    batch = [draw.size(rng, 4) for _ in range(int(rng.integers(0, 3)))]
    x_batch, y_batch = list(batch), list(batch)
    if broadcasts and batch:
        (x_batch if rng.random() < 0.5 else y_batch)[int(rng.integers(len(batch)))] = 1
    x_shape = (*x_batch, depth, rows) if adj_x else (*x_batch, rows, depth)
    y_shape = (*y_batch, columns, depth) if adj_y else (*y_batch, depth, columns)
    x, y = draw.tensor(rng, x_shape, dtype), draw.tensor(rng, y_shape, y_dtype or dtype)
    if y_dtype is not None:
        y = replace(y, zero_points=0)
    if constant:
        y = replace(y, data=draw.integers(rng, y_shape, y.dtype))
    spread = (80 if y.dtype == "int8" else 20000) * x.scales * y.scales * np.sqrt(depth)
    out = draw.tensor(rng, (*batch, rows, columns), dtype, draw.around(rng, spread))
    options = {"adj_x": adj_x, "adj_y": adj_y, "asymmetric_quantize_inputs": False}
    return Case(one_op("BATCH_MATMUL", [x, y], [out], options, version=3 if dtype == "int16" else 2))


CASES = {
    "BATCH_MATMUL i8": batch_matmul,
    "BATCH_MATMUL i8, adj_x": partial(batch_matmul, adj_x=True),
    "BATCH_MATMUL i8, adj_y": partial(batch_matmul, adj_y=True),
    "BATCH_MATMUL i8, adj_x, adj_y": partial(batch_matmul, adj_x=True, adj_y=True),
    "BATCH_MATMUL i8, broadcast": partial(batch_matmul, broadcasts=True),
    "BATCH_MATMUL i8, constant": partial(batch_matmul, constant=True),
    "BATCH_MATMUL i16": partial(batch_matmul, dtype="int16", broadcasts=True),
    "BATCH_MATMUL i16 x i8": partial(batch_matmul, dtype="int16", y_dtype="int8", broadcasts=True),
    "BATCH_MATMUL i16 x i8, constant": partial(batch_matmul, dtype="int16", y_dtype="int8", constant=True),
    "BATCH_MATMUL i16 x i8, adj_x, adj_y": partial(
        batch_matmul, adj_x=True, adj_y=True, dtype="int16", y_dtype="int8", constant=True
    ),
}
