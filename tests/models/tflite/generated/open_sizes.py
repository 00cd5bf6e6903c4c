"""TILE, FILL, BROADCAST_TO and ZEROS_LIKE of sizes that SHAPE, SLICE, CAST, PACK and CONCATENATION compute from an open
batch. Hazards: a declared shape that is trusted; a size that is repeated along the wrong axis; storage of quantized
types; a batch of 1; sizes of int64."""

from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.generated.movement import ints
from tests.models.tflite.writing import Operator, Subgraph, Tensor, write

_BATCHES = (1, 2, 3, 5, 16)
_PACKED = {"begin_mask": 0, "end_mask": 0, "ellipsis_mask": 0, "new_axis_mask": 0, "shrink_axis_mask": 1}


def _sizes(rng, x, place, others):
    """Operators that compute sizes in which the batch of ``x`` stands at a place among others, and the sizes."""
    rank = len(x.shape)
    shape, sizes = Tensor((rank,), "int32"), Tensor((len(others) + 1,), "int32")
    operators = [Operator("SHAPE", [x], [shape], {"out_type": "INT32"})]
    if rng.random() < 0.5:
        batch = Tensor((1,), "int32")
        operators.append(Operator("SLICE", [shape, ints([0]), ints([1])], [batch]))
        parts = [ints(others[:place]), batch, ints(others[place:])]
        parts = [part for part in parts if part.shape != (0,)]
        operators.append(Operator("CONCATENATION", parts, [sizes], {"axis": 0}))
    else:
        batch = Tensor((), "int32")
        operators.append(Operator("STRIDED_SLICE", [shape, ints([0]), ints([1]), ints([1])], [batch], _PACKED))
        parts = [ints(n) for n in others]
        parts.insert(place, batch)
        operators.append(Operator("PACK", parts, [sizes], {"axis": 0, "values_count": len(parts)}))
    if rng.random() < 0.3:
        wide = Tensor(sizes.shape, "int64")
        operators.append(Operator("CAST", [sizes], [wide], {"in_data_type": "INT32", "out_data_type": "INT64"}))
        return operators, wide
    return operators, sizes


def _case(rng, x, value, operators, y):
    runs = []
    for batch in _BATCHES:
        images = rng.normal(size=(batch, *x.shape[1:])).astype(np.float32)
        given = [] if value is None or value.data is not None else [_elements(rng, value)]
        runs.append([images, *given])
    inputs = [x] if value is None or value.data is not None else [x, value]
    return Case(write([Subgraph(inputs, [y], operators)]), runs, ulp=0)


def _elements(rng, tensor):
    if tensor.dtype == "float32":
        return rng.normal(size=tensor.shape).astype(np.float32)
    return draw.integers(rng, tensor.shape, tensor.dtype)


def _image(rng):
    shape = (1, *draw.shape(rng, int(rng.integers(1, 3)), 60))
    return Tensor(shape, "float32", name="x", signature=(-1, *shape[1:]))


def _value(rng, shape, dtype):
    if dtype in ("int8", "uint8"):
        value = draw.tensor(rng, shape, dtype)
    else:
        value = Tensor(tuple(shape), dtype)
    if rng.random() < 0.3:
        return Tensor(value.shape, dtype, value.scales, value.zero_points, data=_elements(rng, value))
    return value


def _result(value, shape):
    return Tensor(tuple(shape), value.dtype, value.scales, value.zero_points)


def tile(rng, *, dtype):
    x, shape = _image(rng), [draw.size(rng, 24) for _ in range(int(rng.integers(1, 4)))]
    place, value = int(rng.integers(len(shape))), None
    if rng.random() < 0.5:
        shape[place] = 1
    value = _value(rng, shape, dtype)
    operators, sizes = _sizes(rng, x, place, [int(rng.integers(1, 4)) for _ in shape[1:]])
    y = _result(value, [1] * len(shape))
    return _case(rng, x, value, [*operators, Operator("TILE", [value, sizes], [y])], y)


def fill(rng, *, dtype):
    x, rank = _image(rng), int(rng.integers(1, 4))
    value = _value(rng, (), dtype)
    operators, sizes = _sizes(rng, x, int(rng.integers(rank)), [draw.size(rng, 24) for _ in range(rank - 1)])
    y = _result(value, [1] * rank)
    return _case(rng, x, value, [*operators, Operator("FILL", [sizes, value], [y])], y)


def broadcast_to(rng, *, dtype):
    x, rank = _image(rng), int(rng.integers(1, 4))
    place, others = int(rng.integers(rank)), [draw.size(rng, 24) for _ in range(rank - 1)]
    operators, sizes = _sizes(rng, x, place, others)
    own = [n if rng.random() < 0.5 else 1 for n in others]
    own.insert(place, 1)
    value = _value(rng, own[int(rng.integers(rank + 1)) if rng.random() < 0.3 else 0 :], dtype)
    y = _result(value, [1] * rank)
    return _case(rng, x, value, [*operators, Operator("BROADCAST_TO", [value, sizes], [y], version=3)], y)


def broadcast_of_the_batch(rng):
    """The tensor that is broadcast has the open batch itself."""
    depth, size = draw.size(rng, 24), int(rng.integers(2, 24))
    x = Tensor((1, 1, depth), "float32", name="x", signature=(-1, 1, depth))
    operators, sizes = _sizes(rng, x, 0, [size, depth])
    y = Tensor((1, size, depth), "float32")
    return _case(rng, x, None, [*operators, Operator("BROADCAST_TO", [x, sizes], [y], version=3)], y)


def zeros_like(rng):
    x = _image(rng)
    zeros, y = Tensor(x.shape, "float32"), Tensor(x.shape, "float32")
    operators = [Operator("ZEROS_LIKE", [x], [zeros]), Operator("ADD", [x, zeros], [y], {"pot_scale_int16": False})]
    return _case(rng, x, None, operators, y)


def quantize(rng, *, inner):
    """The last elements, behind the last whole block of eight, are rounded otherwise."""
    shape = (1, *(draw.shape(rng, int(rng.integers(1, 3)), 300) if inner is None else inner))
    x = Tensor(shape, "float32", name="x", signature=(-1, *shape[1:]))
    y = Tensor(shape, "int16", draw.scale(rng, -10, 3), signature=x.signature)
    runs = []
    for batch in _BATCHES:
        values = rng.normal(size=(batch, *shape[1:])) * y.scales * 3000
        halves = np.float32(np.round(rng.normal(size=(batch, *shape[1:])) * 300)) * np.float32(y.scales / 2)
        runs += [[values.astype(np.float32)], [halves]]
    return Case(write([Subgraph([x], [y], [Operator("QUANTIZE", [x], [y], version=2)])]), runs)


CASES = {
    "QUANTIZE f32 to i16, open sizes": partial(quantize, inner=None),
    "QUANTIZE f32 to i16, open batch": partial(quantize, inner=(1,)),
    **{f"TILE {dtype}, open multiples": partial(tile, dtype=dtype) for dtype in ("float32", "int8", "int32")},
    **{f"FILL {dtype}, open sizes": partial(fill, dtype=dtype) for dtype in ("float32", "int8", "int32")},
    **{
        f"BROADCAST_TO {dtype}, open sizes": partial(broadcast_to, dtype=dtype)
        for dtype in ("float32", "int8", "uint8", "int32")
    },
    "BROADCAST_TO float32, open operand": broadcast_of_the_batch,
    "ZEROS_LIKE float32, open sizes": zeros_like,
}
