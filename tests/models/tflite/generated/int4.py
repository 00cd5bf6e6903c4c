"""FULLY_CONNECTED, CONV_2D and DEPTHWISE_CONV_2D with weights of int4; rows of tables of int4 and int2.

Hazards: scales for each row or for blocks of a row; an odd number of weights, the last of which has a byte alone;
kernels that XNNPACK has for int8 only; rules of hybrid kernels that differ between int4 and int8.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw, hybrids, products, transpose_convs
from tests.models.tflite.writing import Operator, Subgraph, Tensor, one_op, write


def _indices(rng, rows):
    """A tensor of indices into so many rows, and its values in a few runs."""
    count = int(rng.integers(1, 60))
    return Tensor((count,), "int32"), [[rng.integers(0, rows, count).astype("int32")] for _ in range(8)]


def _steps(rng, count):
    return [draw.around(rng, 2.0**-4) for _ in range(count)]


def lookup(rng, *, dtype, scales):
    """Rows of a table with one scale, one for each row, or float16 ones for blocks of a row."""
    rows, depth, block = draw.size(rng, 33), draw.size(rng, 65), int(rng.choice([16, 32, 64]))
    shape = (rows, block * int(rng.integers(1, 4))) if scales == "blocks" else (rows, 4 * depth)
    if scales != "blocks" and rng.random() < 0.3:
        shape = (rows, draw.size(rng, 9), 4 * draw.size(rng, 9))
    table = Tensor(shape, dtype, data=draw.weights(rng, shape, dtype))
    if scales == "blocks":
        steps = np.float16(2.0 ** rng.uniform(-6, 2, (rows, shape[1] // block)))
        table = replace(table, block_scales=Tensor(steps.shape, "float16", data=steps), block_size=block)
    else:
        table = replace(table, scales=_steps(rng, rows if scales == "rows" else 1))
    indices, runs = _indices(rng, rows)
    y = Tensor((*indices.shape, *shape[1:]), "float32")
    return Case(one_op("EMBEDDING_LOOKUP", [indices, table], [y], version=4), runs, ulp=0)


def gather(rng):
    """Rows of a table of int4, which DEQUANTIZE converts to floats."""
    shape = draw.shape(rng, int(rng.integers(2, 4)), 2000)
    shape = (*shape[:-1], 2 * shape[-1])
    table = Tensor(shape, "int4", draw.scale(rng), data=draw.weights(rng, shape, "int4"))
    indices, runs = _indices(rng, shape[0])
    rows = Tensor((*indices.shape, *shape[1:]), "int4", table.scales)
    y = Tensor(rows.shape, "float32")
    operators = [
        Operator("GATHER", [table, indices], [rows], {"axis": 0}, version=5),
        Operator("DEQUANTIZE", [rows], [y], version=6),
    ]
    return Case(write([Subgraph([indices], [y], operators)]), runs, ulp=0)


def fully_connected_in_blocks(rng):
    """Weights of float16 scales, of which XNNPACK keeps 8 bits."""
    block, lead = int(rng.choice([32, 64, 96])), tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 4))))
    depth, units = block * int(rng.integers(1, 5)), draw.size(rng)
    keeps = bool(len(lead) > 1 and rng.random() < 0.7)
    steps = np.float16(2.0 ** rng.uniform(-8, -3, (units, depth // block)))
    weights = Tensor(
        (units, depth),
        "int4",
        data=draw.weights(rng, (units, depth), "int4"),
        block_scales=Tensor(steps.shape, "float16", data=steps),
        block_size=block,
    )
    x, y = Tensor((*lead, depth), "float32"), Tensor((*(lead if keeps else (int(np.prod(lead)),)), units), "float32")
    bias = Tensor((units,), "float32", data=rng.normal(size=units).astype(np.float32)) if rng.random() < 0.7 else None
    options = {"fused_activation_function": draw.activation(rng), "keep_num_dims": keeps}
    runs = [[hybrids._rows(rng, x.shape, 1)] for _ in range(8)]
    return Case(one_op("FULLY_CONNECTED", [x, weights, bias], [y], options, version=13), runs, ulp=0)


_INTEGERS = {
    "FULLY_CONNECTED i8 x i4": products.fully_connected,
    "FULLY_CONNECTED i8 x i4 per axis": partial(products.fully_connected, per_axis=True),
    "FULLY_CONNECTED i8 x i4, no bias": partial(products.fully_connected, has_bias=False),
    "FULLY_CONNECTED i8 x i4, keep_num_dims": partial(products.fully_connected, keeps=True),
    "CONV_2D i8 x i4 per axis": products.conv,
    "CONV_2D i8 x i4 per axis, 1x1": partial(products.conv, one_by_one=True),
    "CONV_2D i8 x i4": partial(products.conv, per_axis=False),
    "DEPTHWISE_CONV_2D i8 x i4 per axis": products.depthwise,
    "DEPTHWISE_CONV_2D i8 x i4 per axis, multiplier": partial(products.depthwise, most=8),
    "DEPTHWISE_CONV_2D i8 x i4": partial(products.depthwise, per_axis=False),
}
_INTEGERS_16 = {
    "FULLY_CONNECTED i16 x i4": transpose_convs.fully_connected16,
    "FULLY_CONNECTED i16 x i4 per axis": partial(transpose_convs.fully_connected16, per_axis=True),
    "FULLY_CONNECTED i16 x i4, bias i32": partial(transpose_convs.fully_connected16, bias="int32"),
    "FULLY_CONNECTED i16 x i4, no bias": partial(transpose_convs.fully_connected16, bias=None),
    "CONV_2D i16 x i4": transpose_convs.conv16,
    "CONV_2D i16 x i4, bias i32": partial(transpose_convs.conv16, bias="int32"),
}
_FLOATS = {
    "FULLY_CONNECTED f32 x i4": partial(hybrids.fully_connected, is_asymmetric=False),
    "FULLY_CONNECTED f32 x i4, asymmetric": partial(hybrids.fully_connected, is_asymmetric=True),
    "FULLY_CONNECTED f32 x i4 per axis": partial(hybrids.fully_connected, is_asymmetric=False, per_axis=True),
    "FULLY_CONNECTED f32 x i4 per axis, asymmetric": partial(
        hybrids.fully_connected, is_asymmetric=True, per_axis=True
    ),
    "CONV_2D f32 x i4": hybrids.conv,
    "CONV_2D f32 x i4, 1x1": partial(hybrids.conv, one_by_one=True),
    "CONV_2D f32 x i4 per axis": partial(hybrids.conv, per_axis=True),
    "CONV_2D f32 x i4 per axis, 1x1": partial(hybrids.conv, per_axis=True, one_by_one=True),
}
CASES = {
    **{name: partial(form, weights="int4") for name, form in (_INTEGERS | _INTEGERS_16).items()},
    **{name: partial(form, dtype="int4") for name, form in _FLOATS.items()},
    **{
        name.replace("x i4", "x i2"): partial(form, **{"weights" if "i8 x" in name else "dtype": "int2"})
        for name, form in (_INTEGERS | _FLOATS).items()
        if name.startswith("FULLY_CONNECTED")
    },
    **{
        f"EMBEDDING_LOOKUP {dtype} with scales for {scales}": partial(lookup, dtype=dtype, scales=scales)
        for dtype, scales in (
            ("int2", "all"),
            ("int2", "rows"),
            ("int2", "blocks"),
            ("int4", "all"),
            ("int4", "rows"),
            ("int4", "blocks"),
            ("int8", "rows"),
        )
    },
    "GATHER i4": gather,
    "FULLY_CONNECTED f32 x i4 in blocks": fully_connected_in_blocks,
}
ONLY = {"FULLY_CONNECTED f32 x i4 in blocks": ("litert",)}
"""LiteRT's reference kernels compute 0 for weights in blocks."""
