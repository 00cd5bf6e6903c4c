"""Movement: shapes, order, slices, joins, paddings. Hazards: masks that clamp, axes counted from the end, empty parts,
zero points that are not 0 in what is new, uint8 joined at unequal scales."""

from dataclasses import replace
from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.writing import Tensor, one_op


def _pair(rng, dtype, shape, out):
    """An operand and a result of one type."""
    if dtype == "float32":
        return Tensor(tuple(shape), dtype), Tensor(tuple(out), dtype)
    x = draw.tensor(rng, shape, dtype)
    return x, Tensor(tuple(out), dtype, x.scales, x.zero_points)


def ints(values, dtype="int32"):
    array = np.array(values, dtype)
    return Tensor(array.shape, dtype, data=array)


def reshape(rng, *, dtype):
    shape = draw.shape(rng, 4)
    new = [shape[0], shape[1] * shape[2], shape[3]]
    x, y = _pair(rng, dtype, shape, new)
    if rng.random() < 0.5:
        new[int(rng.integers(3))] = -1
    return Case(one_op("RESHAPE", [x, ints(new)], [y], {"new_shape": new}))


def squeeze(rng, *, dtype):
    shape = draw.shape(rng, 3)
    wide = (1, shape[0], 1, *shape[1:])
    named = list(rng.permutation([0, 2])) if rng.random() < 0.5 else [-3]
    out = shape if len(named) == 2 else (1, *shape)
    x, y = _pair(rng, dtype, wide, tuple(n for d, n in enumerate(wide) if d not in [each % 5 for each in named]))
    assert np.prod(out) == np.prod(y.shape)
    return Case(one_op("SQUEEZE", [x], [y], {"squeeze_dims": [int(each) for each in named]}))


def expand_dims(rng, *, dtype):
    shape = draw.shape(rng, 3)
    axis = int(rng.integers(-4, 4))
    out = np.expand_dims(np.empty(shape, bool), axis).shape
    x, y = _pair(rng, dtype, shape, out)
    return Case(one_op("EXPAND_DIMS", [x, ints([axis])], [y]))


def transpose(rng, *, dtype):
    shape = draw.shape(rng, int(rng.integers(2, 5)))
    order = rng.permutation(len(shape))
    x, y = _pair(rng, dtype, shape, [shape[axis] for axis in order])
    return Case(one_op("TRANSPOSE", [x, ints(order)], [y], version=2))


def pad(rng, *, dtype, name="PAD"):
    shape = draw.shape(rng, int(rng.integers(1, 5)), 1500)
    sides = rng.integers(0, 4, (len(shape), 2))
    x, y = _pair(rng, dtype, shape, [n + a + b for n, (a, b) in zip(shape, sides, strict=True)])
    inputs = [x, ints(sides, "int32" if rng.random() < 0.7 else "int64")]
    if name == "PADV2":
        data = rng.normal(size=1).astype("float32") if dtype == "float32" else draw.integers(rng, (1,), dtype)
        inputs.append(Tensor((1,), dtype, x.scales, x.zero_points, data=data))
    return Case(one_op(name, inputs, [y], version=2))


def mirror_pad(rng, *, dtype, mode):
    shape = tuple(max(n, 2) for n in draw.shape(rng, int(rng.integers(1, 5)), 1500))
    most = np.array(shape) - (mode == "REFLECT")
    sides = np.minimum(rng.integers(0, 4, (len(shape), 2)), most[:, None])
    x, y = _pair(rng, dtype, shape, [n + a + b for n, (a, b) in zip(shape, sides, strict=True)])
    return Case(one_op("MIRROR_PAD", [x, ints(sides)], [y], {"mode": mode}))


def slice_(rng, *, dtype):
    shape = draw.shape(rng, int(rng.integers(1, 5)), 40_000)
    first = [int(rng.integers(n)) for n in shape]
    sizes = [int(rng.integers(1, n - f + 1)) for n, f in zip(shape, first, strict=True)]
    x, y = _pair(rng, dtype, shape, sizes)
    said = [-1 if f + s == n and rng.random() < 0.5 else s for n, f, s in zip(shape, first, sizes, strict=True)]
    return Case(one_op("SLICE", [x, ints(first), ints(said)], [y], version=2))


def strided_slice(rng, *, dtype, masks=True):
    """Masks over all that NumPy can say, and ends beyond both sides; or ends that are counted from the begins."""
    shape = draw.shape(rng, int(rng.integers(1, 5)), 40_000)
    while True:
        strides = [int(rng.choice([1, 1, 2, 3, -1, -2] if masks else [1, 1, 2, 3])) for _ in shape]
        low, beyond = (-2, 3) if masks else (0, 1)  # LiteRT reads past the end where an offset leads beyond it
        begin, end = ([int(rng.integers(min(low, 0) - n * masks, n + beyond)) for n in shape] for _ in range(2))
        bits = [int(rng.integers(1 << len(shape))) if masks else 0 for _ in range(3)]
        shrink = bits[2] if rng.random() < 0.5 and masks else 0
        keys = []
        for d, n in enumerate(shape):
            if shrink >> d & 1:
                begin[d], strides[d] = int(rng.integers(-n, n)), 1
                end[d] = begin[d] + 1
                bits[0] &= ~(1 << d)
                keys.append(begin[d])
            else:
                keys.append(
                    slice(None if bits[0] >> d & 1 else begin[d], None if bits[1] >> d & 1 else end[d], strides[d])
                )
        out = np.empty(shape, bool)[tuple(keys)].shape
        if np.prod(out, initial=1):
            break
    x, y = _pair(rng, dtype, shape, out)
    is_offset = not masks
    if is_offset:
        end = [e - b for b, e in zip(begin, end, strict=True)]
    options = {"begin_mask": bits[0], "end_mask": bits[1], "shrink_axis_mask": shrink, "ellipsis_mask": 0,
               "new_axis_mask": 0, "offset": is_offset}  # fmt: skip
    inputs = [x, ints(begin), ints(end), ints(strides)]
    return Case(one_op("STRIDED_SLICE", inputs, [y], options, version=4))


def strided_slice_axes(rng, *, dtype):
    """An ellipsis and new axes between what is taken."""
    shape = draw.shape(rng, 3)
    forms = [
        (["e", "k"], 2),
        (["k", "e"], 2),
        (["n", "k", "k"], 1),
        (["k", "n"], 1),
        (["n", "e", "k"], 2),
        (["k", "e", "n"], 2),
    ]
    kinds = forms[int(rng.integers(len(forms)))][0]
    begin, end, keys, masks = [], [], [], {"e": 0, "n": 0}
    named, axis = kinds.count("k"), 0
    for i, kind in enumerate(kinds):
        if kind == "k":
            n = shape[axis]
            first = int(rng.integers(n))
            begin.append(first)
            end.append(int(rng.integers(first + 1, n + 1)))
            keys.append(slice(begin[-1], end[-1]))
            axis += 1
        else:
            begin.append(0)
            end.append(0)
            masks[kind] |= 1 << i
            keys.append(Ellipsis if kind == "e" else None)
            axis += len(shape) - named if kind == "e" else 0
    out = np.empty(shape, bool)[tuple(keys)].shape
    x, y = _pair(rng, dtype, shape, out)
    options = {"begin_mask": 0, "end_mask": 0, "shrink_axis_mask": 0, "ellipsis_mask": masks["e"],
               "new_axis_mask": masks["n"], "offset": False}  # fmt: skip
    inputs = [x, ints(begin), ints(end), ints([1] * len(kinds))]
    return Case(one_op("STRIDED_SLICE", inputs, [y], options, version=4))


def split(rng, *, dtype, sizes=False):
    shape = list(draw.shape(rng, int(rng.integers(1, 5)), 1500))
    axis, count = int(rng.integers(-len(shape), len(shape))), int(rng.integers(1, 5))
    parts = [int(rng.integers(1, 9)) for _ in range(count)] if sizes else [min(shape[axis], 9)] * count
    shape[axis] = sum(parts)
    x, _ = _pair(rng, dtype, shape, shape)
    outs = []
    for part in parts:
        out = list(shape)
        out[axis] = part
        outs.append(Tensor(tuple(out), dtype, x.scales, x.zero_points))
    if not sizes:
        return Case(one_op("SPLIT", [ints(axis), x], outs, {"num_splits": count}, version=2))
    if rng.random() < 0.4:
        parts[int(rng.integers(count))] = -1
    return Case(one_op("SPLIT_V", [x, ints(parts), ints(axis)], outs, {"num_splits": count}, version=2))


def pack(rng, *, dtype):
    shape, count = draw.shape(rng, int(rng.integers(1, 4)), 1000), int(rng.integers(1, 6))
    axis = int(rng.integers(-len(shape) - 1, len(shape) + 1))
    out = list(shape)
    out.insert(axis % (len(shape) + 1), count)
    x, y = _pair(rng, dtype, shape, out)
    return Case(one_op("PACK", [x] + [Tensor(x.shape, dtype, x.scales, x.zero_points) for _ in range(count - 1)], [y],
                       {"axis": axis, "values_count": count}, version=2))  # fmt: skip


def unpack(rng, *, dtype):
    shape, count = list(draw.shape(rng, int(rng.integers(1, 4)), 1000)), int(rng.integers(1, 6))
    axis = int(rng.integers(-len(shape) - 1, len(shape) + 1))
    whole = list(shape)
    whole.insert(axis % (len(shape) + 1), count)
    x, _ = _pair(rng, dtype, whole, whole)
    outs = [Tensor(tuple(shape), dtype, x.scales, x.zero_points) for _ in range(count)]
    return Case(one_op("UNPACK", [x], outs, {"axis": axis, "num": count}, version=2))


def concatenation(rng, *, dtype, unequal=False):
    shape, count = list(draw.shape(rng, int(rng.integers(1, 5)), 1000)), int(rng.integers(2, 6))
    axis, inputs, total = int(rng.integers(-len(shape), len(shape))), [], 0
    own, _ = _pair(rng, dtype, shape, shape)
    for i in range(count):
        part = list(shape)
        part[axis] = int(rng.integers(1, 20))
        total += part[axis]
        scales, zero_points = own.scales, own.zero_points
        if unequal and (i or rng.random() < 0.5):
            scales, zero_points = draw.around(rng, own.scales, 4), draw.zero_point(rng, dtype)
        inputs.append(Tensor(tuple(part), dtype, scales, zero_points))
    out = list(shape)
    out[axis] = total
    y = Tensor(tuple(out), dtype, own.scales, own.zero_points)
    options = {"axis": axis, "fused_activation_function": "NONE"}
    return Case(one_op("CONCATENATION", inputs, [y], options, version=2))


def tile(rng, *, dtype):
    shape = draw.shape(rng, int(rng.integers(1, 5)), 500)
    counts = rng.integers(1, 4, len(shape))
    x, y = _pair(rng, dtype, shape, [n * c for n, c in zip(shape, counts, strict=True)])
    return Case(one_op("TILE", [x, ints(counts)], [y]))


def broadcast_to(rng, *, dtype):
    out = draw.shape(rng, int(rng.integers(2, 5)))
    own = tuple(1 if rng.random() < 0.5 else n for n in out)[int(rng.integers(len(out))) :]
    x, y = _pair(rng, dtype, own, out)
    return Case(one_op("BROADCAST_TO", [x, ints(out)], [y], version=3))


def reverse(rng, *, dtype):
    shape = draw.shape(rng, int(rng.integers(1, 5)))
    axis = int(rng.integers(-len(shape), len(shape)))
    x, y = _pair(rng, dtype, shape, shape)
    return Case(one_op("REVERSE_V2", [x, ints([axis])], [y]))


def depth(rng, *, dtype, name):
    block, n, h, w, c = (int(rng.integers(1, most)) for most in (4, 3, 9, 9, 9))
    deep, wide = (n, h, w, c * block * block), (n, h * block, w * block, c)
    x, y = _pair(rng, dtype, *((wide, deep) if name == "SPACE_TO_DEPTH" else (deep, wide)))
    return Case(one_op(name, [x], [y], {"block_size": block}))


def batches(rng, *, dtype, name):
    blocks = rng.integers(1, 4, 2)
    n, h, w, c = (int(rng.integers(1, most)) for most in (3, 9, 9, 9))
    sides = rng.integers(0, 3, (2, 2))
    whole = [h * blocks[0], w * blocks[1]]
    small = [size - int(each.sum()) for size, each in zip(whole, sides, strict=True)]
    if min(small) < 1:
        sides, small = np.zeros((2, 2), int), whole
    many, few = (n * int(blocks.prod()), h, w, c), (n, *small, c)
    x, y = _pair(rng, dtype, *((few, many) if name == "SPACE_TO_BATCH_ND" else (many, few)))
    return Case(one_op(name, [x, ints(blocks), ints(sides)], [y]))


_LETTERS = {"int8": "i8", "uint8": "u8", "int16": "i16", "float32": "f32"}


def _forms(name, form, dtypes, label="", /, **options):
    return {f"{name} {_LETTERS[dtype]}{label}": partial(_exact, form, dtype=dtype, **options) for dtype in dtypes}


def _exact(form, rng, /, **options):
    """Floats are moved and resized with every bit."""
    return replace(form(rng, **options), ulp=0)


_ALL = ("int8", "uint8", "int16", "float32")
_BYTES = ("int8", "uint8", "float32")

CASES = {
    **_forms("RESHAPE", reshape, _ALL),
    **_forms("SQUEEZE", squeeze, ("int8", "float32")),
    **_forms("EXPAND_DIMS", expand_dims, ("int8", "float32")),
    **_forms("TRANSPOSE", transpose, _ALL),
    **_forms("PAD", pad, _ALL),
    **_forms("PADV2", pad, _BYTES, name="PADV2"),
    **_forms("MIRROR_PAD", mirror_pad, ("int8", "float32"), ", reflect", mode="REFLECT"),
    **_forms("MIRROR_PAD", mirror_pad, ("int8", "float32"), ", symmetric", mode="SYMMETRIC"),
    **_forms("SLICE", slice_, _ALL),
    **_forms("STRIDED_SLICE", strided_slice, _ALL),
    **_forms("STRIDED_SLICE", strided_slice, ("int8", "float32"), ", offset", masks=False),
    **_forms("STRIDED_SLICE", strided_slice_axes, ("int8", "float32"), ", new axes"),
    **_forms("SPLIT", split, _ALL),
    **_forms("SPLIT_V", split, _ALL, sizes=True),
    **_forms("PACK", pack, _ALL),
    **_forms("UNPACK", unpack, _ALL),
    **_forms("CONCATENATION", concatenation, _ALL),
    **_forms("CONCATENATION", concatenation, ("uint8",), ", unequal scales", unequal=True),
    **_forms("TILE", tile, _BYTES),
    **_forms("BROADCAST_TO", broadcast_to, _BYTES),
    **_forms("REVERSE_V2", reverse, _ALL),
    **_forms("SPACE_TO_DEPTH", depth, _BYTES, name="SPACE_TO_DEPTH"),
    **_forms("DEPTH_TO_SPACE", depth, _BYTES, name="DEPTH_TO_SPACE"),
    **_forms("SPACE_TO_BATCH_ND", batches, _BYTES, name="SPACE_TO_BATCH_ND"),
    **_forms("BATCH_TO_SPACE_ND", batches, _BYTES, name="BATCH_TO_SPACE_ND"),
}
