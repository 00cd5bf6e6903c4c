"""Replacement of a sum of products by a kernel: a `qrt` op, such as `qrt.matmul`, that multiplies the same elements.

`match_kernel` chooses the op, and `build_kernel` inserts it into the program.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from qrt.errors import QuantTypeError
from qrt.ir import Attribute, Builder, DenseArrayAttr, Operation, Value, attribute
from qrt.ir.core.affine import Expression, add, floordiv, linear_terms, multiply
from qrt.ir.core.matching import constant_number
from qrt.ir.dialects.linalg.lowering import Array, tensor_type
from qrt.ir.passes.raise_to_qrt.building import along_last, build, integers, quantized, require_visible, storage_of
from qrt.ir.passes.raise_to_qrt.products import Product
from qrt.ir.passes.raise_to_qrt.requantized import Requantized
from qrt.ir.passes.raise_to_qrt.terms import FIRST_SUM_LOOP, NotRaisedError, Read, canonical
from qrt.numerics import fixed_multiplier
from qrt.types import IntegerType, TensorType, UniformType

_MOST_PLACES = 62


@dataclass(frozen=True)
class Weights:
    """Weights for a kernel: constant integers in the kernel's layout (`values`), or the tensor `source`.

    `order` are the dimensions of `source` in the order of the kernel's layout. `axis` is the axis of the output
    channels in that layout; None without channels.
    """

    source: Value
    order: tuple[int, ...]
    values: Array | None
    axis: int | None


@dataclass(frozen=True)
class Kernel:
    """An op of `qrt`: its name, the tensor of its first operand, its weights and its attributes."""

    name: str
    a: Value
    weights: Weights
    attributes: dict[str, Any]


def padding_of(read: Read) -> tuple[Value, tuple[tuple[int, int], ...], int] | None:
    """Return (unpadded tensor, (low, high) of each axis, value) if a tensor is padded with a constant; else None."""
    pad = read.source.operation
    if pad is None or pad.name != "tensor.pad" or len(pad.operands) != 1:
        return None
    last = pad.regions[0].blocks[0].last
    value = None if last is None else constant_number(last.operands[0])
    if value is None:
        return None
    low, high = (pad.attribute(f"static_{side}", DenseArrayAttr).values for side in ("low", "high"))
    least, most = read.range
    span = most - least + 1
    return pad.operands[0], tuple(zip(low, high, strict=True)), (value - least) % span + least


def match_kernel(p: Product) -> Kernel:
    """Return the kernel that reads the factors of a sum of products at the same indices as the program.

    Raises NotRaisedError, with the reason, if there is none.
    """
    matches = [_convolution, _matmul] if len(p.outer) == 4 else [_matmul]
    obstacles = []
    for match in matches:
        try:
            return match(p)
        except NotRaisedError as error:
            obstacles.append(error)
    raise obstacles[0 if len(p.extents) > 1 else -1]


# -- matmul ----------------------------------------------------------------------------------------------------------


def _loop(number: int) -> Expression:
    return ("d", FIRST_SUM_LOOP + number)


def _matmul(p: Product) -> Kernel:
    rank = len(p.outer)
    k = _loop(0)
    if len(p.extents) != 1:
        raise NotRaisedError("the loops of the result and of the sum are not those of a matmul or a convolution")
    if p.a.indices[-1:] != (k,) or (tensor_type(p.a.source).shape or ())[-1] != p.extents[0]:
        raise NotRaisedError("the last dimension of the first factor is not the one that is summed")
    has_column = ("d", rank - 1) in p.w.indices
    rows = rank - 1 if has_column else rank
    shape = tensor_type(p.a.source).shape or ()
    _require_loops(p.a.indices[:-1], shape[:-1], range(rows), "first")
    column = ("d", rank - 1)
    if p.weights is not None:
        values = _constant_weights(p.weights, has_column, p.extents[0])
        axis = values.ndim - 1 if has_column else None
        return Kernel("matmul", p.a.source, Weights(p.w.source, (), values, axis), {})
    last = (k, column) if has_column else (k,)
    order = tuple(range(len(p.w.indices)))
    if has_column and p.w.indices[-2:] == (column, k):
        order = (*order[:-2], order[-1], order[-2])
    ordered = tuple(p.w.indices[i] for i in order)
    if ordered[len(ordered) - len(last) :] != last:
        raise NotRaisedError("the second factor is not indexed by the summed loop and the last loop of the result")
    sizes = tensor_type(p.w.source).shape or ()
    batch = ordered[: len(ordered) - len(last)]
    _require_loops(batch, sizes, range(rank - 2), "second")
    return Kernel("matmul", p.a.source, Weights(p.w.source, order, None, len(order) - 1 if has_column else None), {})


def _constant_weights(weights: Array, has_column: bool, depth: int) -> Array:
    """Return weights in the layout [batches..., depth, columns], or [depth] if `has_column` is False.

    The given `weights` have one axis for each loop of the result, and the depth as the last axis. Raise NotRaisedError
    if they depend on the rows of the result.
    """
    if not has_column:
        if weights.size != weights.shape[-1]:
            raise NotRaisedError("the second factor depends on the rows of the result")
        return np.broadcast_to(weights.reshape(-1), (depth,))
    *batch, columns, _ = weights.shape
    rows = batch.pop() if batch else 1
    if rows != 1:
        raise NotRaisedError("the second factor depends on the rows of the result")
    while batch and batch[0] == 1:
        batch.pop(0)
    ordered = weights.reshape([*batch, columns, weights.shape[-1]]).swapaxes(-1, -2)
    return np.broadcast_to(ordered, (*batch, depth, columns))


def _require_loops(
    indices: Sequence[Expression], sizes: Sequence[int | None], loops: Sequence[int], which: str
) -> None:
    """Raise NotRaisedError unless a factor is indexed by the last of the `loops`, in order.

    A dimension of size 1 may have the index 0 instead. `which` names the factor in the error.
    """
    matching = loops[max(len(loops) - len(indices), 0) :]
    fits = len(matching) == len(indices) and all(
        index == ("d", loop) or (index == 0 and size == 1)
        for index, loop, size in zip(indices, matching, sizes, strict=False)
    )
    if not fits:
        raise NotRaisedError(f"the {which} factor is not indexed by the loops of the result in order")


# -- convolutions ----------------------------------------------------------------------------------------------------


def _convolution(p: Product) -> Kernel:
    outer = p.outer
    if len(outer) != 4 or len(p.a.indices) != 4 or p.a.indices[0] not in (("d", 0), 0):
        raise NotRaisedError("the loops of the result and of the first factor are not those of a convolution")
    padded = padding_of(p.a)
    source, padding = (p.a.source, ((0, 0),) * 4) if padded is None else padded[:2]
    if any(padding[0]) or any(padding[3]):
        raise NotRaisedError("dimensions other than height and width are padded")
    lines = [_line(p.a.indices[axis], axis, outer) for axis in (1, 2)]
    taps = [p.extents[loop] if loop is not None else 1 for _, _, loop in lines]
    strides, dilations = [line[0] for line in lines], [line[1] for line in lines]
    loops = [loop for _, _, loop in lines]
    attributes: dict[str, Any] = {"strides": tuple(strides), "dilations": tuple(dilations), "padding": padding[1:3]}
    channels = (tensor_type(source).shape or (None,))[-1]
    name, depth, groups = _channels(p, outer, loops, channels)
    output: Expression = ("d", 3)
    window: list[Expression] = [_loop(loop) if loop is not None else 0 for loop in loops]
    if name == "conv2d":
        attributes["groups"] = groups
        wanted = [output, *window, _loop(depth) if depth is not None else 0]
        sizes = [outer[3], *taps, p.extents[depth] if depth is not None else 1]
    else:
        wanted, sizes = [*window, output], [*taps, outer[3]]
    axis = wanted.index(output)
    if p.weights is not None:
        return Kernel(name, source, Weights(p.w.source, (), _gathered(p, wanted, sizes), axis), attributes)
    return Kernel(name, source, Weights(p.w.source, _order(p.w, wanted, sizes), None, axis), attributes)


def _line(index: Expression, axis: int, outer: Sequence[int]) -> tuple[int, int, int | None]:
    """Return (stride, dilation, loop of the sum) of a window along the spatial `axis`, from its index expression.

    The loop is None if the window has size 1 along the axis. Raise NotRaisedError if no window has this index
    expression.
    """
    terms = linear_terms(index)
    if terms is None or terms.pop(1, 0):
        raise NotRaisedError("a row or a column of the first factor is not a sum of multiples of loops")
    stride = terms.pop(("d", axis), 0) or (1 if outer[axis] == 1 else 0)
    inner = list(terms.items())
    if stride < 1 or len(inner) > 1 or any(loop[1] < FIRST_SUM_LOOP or step < 1 for loop, step in inner):  # type: ignore[index]
        raise NotRaisedError("a row or a column of the first factor is not that of a window")
    if not inner:
        return stride, 1, None
    ((loop, dilation),) = inner
    assert isinstance(loop, tuple)
    return stride, dilation, loop[1] - FIRST_SUM_LOOP


def _channels(
    p: Product, outer: Sequence[int], window: Sequence[int | None], channels: int | None
) -> tuple[str, int | None, int]:
    """Return (op, loop over the input channels of a group or None, number of groups) of a convolution.

    `window` are the loops over the window, `channels` the number of input channels. Raise NotRaisedError if the channel
    index is not a convolution's.
    """
    index = p.a.indices[3]
    rest = [loop for loop in range(len(p.extents)) if loop not in window]
    if len(rest) > 1 or channels is None:
        raise NotRaisedError("the sum has more loops than those of a window and the channels")
    if rest and index == _loop(rest[0]):
        return "conv2d", rest[0], 1
    is_filter = p.weights is None and len(p.w.indices) == 4
    if not rest and (_group_size(index) * channels == outer[3] or (index == 0 and channels == 1)):
        return ("conv2d", None, channels) if is_filter else ("depthwise_conv2d", None, 1)
    if rest:
        depth = p.extents[rest[0]]
        for groups in range(2, channels // depth + 1):
            if (
                outer[3] % groups == 0
                and groups * depth == channels
                and _is_group(index, outer[3] // groups, rest[0], depth)
            ):
                return "conv2d", rest[0], groups
    raise NotRaisedError("the channel of the first factor is not that of a convolution")


def _group_size(index: Expression) -> int:
    """Return m for an index `d3 floordiv m`, 1 for `d3`, and 0 for any other index; d3 is the output channel."""
    if index == ("d", 3):
        return 1
    is_quotient = isinstance(index, tuple) and index[0] == "floordiv" and index[1] == ("d", 3)
    return int(index[2]) if is_quotient and isinstance(index, tuple) else 0


def _is_group(index: Expression, size: int, loop: int, depth: int) -> bool:
    """Return True if an index is `(d3 floordiv size) * depth + loop`; d3 is the output channel."""
    group: Expression = floordiv(("d", 3), size)
    return index == canonical(add(multiply(group, depth), _loop(loop)))


def _gathered(p: Product, wanted: Sequence[Expression], sizes: Sequence[int]) -> Array:
    """Return the constant weights as an array of shape `sizes`, with one axis for each loop in `wanted`."""
    assert p.weights is not None
    rank = p.weights.ndim - len(p.extents)
    axes = {("d", 3): 3} | {_loop(i): rank + i for i in range(len(p.extents))}
    named = [axes[loop] for loop in wanted if loop != 0]
    others = [axis for axis in range(p.weights.ndim) if axis not in named]
    if any(p.weights.shape[axis] != 1 for axis in others):
        raise NotRaisedError("the weights depend on other loops than those of a filter")
    gathered = p.weights.transpose([*named, *others]).reshape([p.weights.shape[axis] for axis in named])
    shape = iter(gathered.shape)
    return np.broadcast_to(gathered.reshape([next(shape) if loop != 0 else 1 for loop in wanted]), sizes)


def _order(w: Read, wanted: Sequence[Expression], sizes: Sequence[int]) -> tuple[int, ...]:
    """Return the dimension of the weights tensor for each dimension of the kernel's layout.

    The layout has the loops `wanted` with the sizes `sizes`. Raise NotRaisedError if the tensor has other dimensions.
    """
    shape = tensor_type(w.source).shape or ()
    left = list(range(len(w.indices)))
    order = []
    for loop, size in zip(wanted, sizes, strict=True):
        axis = next((axis for axis in left if w.indices[axis] == loop and shape[axis] == size), None)
        if axis is None:
            raise NotRaisedError("the second factor is not indexed by the loops of a filter")
        left.remove(axis)
        order.append(axis)
    if left:
        raise NotRaisedError("the second factor has more dimensions than a filter")
    return tuple(order)


# -- the op ----------------------------------------------------------------------------------------------------------


def build_kernel(root: Operation, result: TensorType, kernel: Kernel, p: Product, r: Requantized) -> Value:
    """Build the kernel's op before `root`, and return its result as integers of type `result`.

    The first operand and the result have the scale 1, the weights have the scale `M0 / 2**N`. Raises NotRaisedError if
    the op does not take such types.
    """
    has_channels = kernel.weights.axis is not None
    count = (result.shape or (1,))[-1] if has_channels else 1
    if count is None:
        raise NotRaisedError("the number of channels of the result is dynamic")
    shape = np.broadcast(r.multiplier, r.places).shape
    scales = along_last(r.scales(), shape, "multipliers")
    zero_points = along_last(integers(p.w_zero_points), np.shape(p.w_zero_points), "zero points of the second factor")
    axis = kernel.weights.axis if len(set(scales)) > 1 or len(set(zero_points)) > 1 else None
    if axis is None and max(len(set(scales)), len(set(zero_points))) > 1:
        raise NotRaisedError("the multipliers differ, but the second factor has no channels")

    def parameters(values: list[Any], axis: int | None) -> Any:
        return values[0] if axis is None else values * count if len(values) == 1 else values

    try:
        ta = UniformType(storage_of(p.a), "f32", 1.0, p.a_zero_point)
        tw = UniformType(storage_of(p.w), "f32", parameters(scales, axis), parameters(zero_points, axis), axis=axis)
        tb = _bias_type(p, np.broadcast_to(np.array(scales), count), axis is not None)
    except QuantTypeError as error:
        raise NotRaisedError(f"a quantized type would be wrong: {error}") from None
    require_visible([kernel.a, kernel.weights.source, *([] if p.bias is None else [p.bias.read.source])], root)
    b = Builder(root)
    operands = [quantized(b, kernel.a, ta), _weights(b, kernel.weights, tw)]
    bias = _bias(b, p, tb, count)
    operands += [] if bias is None else [bias]
    return build(b, kernel.name, operands, kernel.attributes, result, r)


def _weights(b: Builder, w: Weights, t: UniformType) -> Value:
    if w.values is not None:
        storage = t.storage_type
        half = 1 << (t.storage_width - 1)
        values = (w.values + half) % (2 * half) - half
        stored = b.constant(values.astype(np.int64), TensorType(values.shape, storage))
        return quantized(b, stored, t)
    if w.order == tuple(range(len(w.order))):
        return quantized(b, w.source, t)
    own = tensor_type(w.source)
    axis = None if t.axis is None else w.order[t.axis]
    before = quantized(b, w.source, t.with_(axis=axis) if axis is not None else t)
    shape = tuple((own.shape or ())[axis] for axis in w.order)
    permutation: dict[str, Attribute] = {"permutation": attribute(w.order)}
    return b.value("qrt.transpose", (before,), TensorType(shape, t), permutation)


def _bias_type(p: Product, scales: Array, is_per_axis: bool) -> UniformType:
    """Return the quantized type of the bias of `p`.

    The scales are those of the accumulator or, if the program rescales the bias, scales that lead to the same
    rescaling.
    """
    read = None if p.bias is None else p.bias.read
    storage = "i32" if read is None else storage_of(read)
    rescaling = None if p.bias is None else p.bias.rescaling
    if rescaling is None:
        if is_per_axis:
            return UniformType(storage, "f32", scales.tolist(), axis=0)
        return UniformType(storage, "f32", float(scales[0]))
    own, points = [], []
    steps = [np.broadcast_to(np.reshape(values, -1), scales.shape) for values in rescaling]
    for m0, places, zero_point, scale in zip(*steps, scales, strict=True):
        own.append(m0 / (1 << places) * scale)
        points.append(int(zero_point))
        rounded, shift = fixed_multiplier(Fraction(own[-1]) / Fraction(scale))
        is_same = Fraction(rounded) * (1 << places) == Fraction(int(m0)) * Fraction(2) ** shift
        if not is_same or shift > _MOST_PLACES:
            raise NotRaisedError(f"no scale of a bias has the multiplier {m0} / 2**{places}")
    return UniformType(storage, "f32", own, points, axis=0)


def _bias(b: Builder, p: Product, t: UniformType, channels: int) -> Value | None:
    if p.bias is not None:
        source, indices = p.bias.read.source, p.bias.read.indices
        if tensor_type(source).shape != (channels,):
            raise NotRaisedError(f"the bias is not a vector of {channels} integers")
        if indices != (("d", len(p.outer) - 1),) and (channels != 1 or indices != (0,)):
            raise NotRaisedError("the bias is not indexed by the last loop of the result")
        return quantized(b, source, t)
    if p.constant_bias is None:
        return None
    values = np.asarray(along_last(integers(p.constant_bias), np.shape(p.constant_bias), "constants that are added"))
    if len(values) not in (1, channels):
        raise NotRaisedError("the constants that are added differ, but the second factor has no channels")
    if np.any(values < -(1 << 31)) or np.any(values >= 1 << 31):
        raise NotRaisedError("a constant that is added needs more than 32 bits")
    stored = np.broadcast_to(values, channels).astype(np.int64)
    return quantized(b, b.constant(stored, TensorType((channels,), IntegerType(32))), t)
