"""ConvTranspose, imported as a convolution with the reversed kernel.

Before the convolution, zeros are inserted between the elements of the input.
"""

import numpy as np

from qrt.errors import plural
from qrt.ir import Value
from qrt.models.importing import float_products
from qrt.models.importing.data_movement import reshaped
from qrt.models.importing.node import lowering_context
from qrt.models.importing.windows import Pair, Sizes, make_window
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.operands import F32, float_bias, in_shape
from qrt.models.onnx.operators.pooling import spatial_sizes
from qrt.models.onnx.operators.slicing import cropped, filled
from qrt.models.onnx.operators.windows import WindowShape, channels_first, channels_last, form_of
from qrt.ops.core import Array
from qrt.types import TensorType

_STAND_IN = 1 << 20
"""A number in place of a size that is known only at run time: the widths of paddings and crops do not depend on it."""


def conv_transpose(node: Node) -> None:
    """Import ConvTranspose: apply a transposed convolution to float32 images with one to three spatial axes.

    The weights must be known at import. The operator is computed as a convolution of the input with zeros between its
    elements. Sums are computed as in Conv.
    """
    if node.type(0).element is not F32 or node.type(1).element is not F32:
        node.refuse(f"of {node.dtype(0)} and {node.dtype(1)}")
    shape, w, groups = node.shape(), node.known(1, "weights"), node.attribute("group", 1)
    if len(shape) < 3 or w.ndim != len(shape) or groups < 1 or shape[1] != w.shape[0] or w.shape[0] % groups:
        node.fail(
            f"for an input of shape {list(shape)}, the weights must have the same rank, and its channels as their "
            f"first dimension, which group divides, got {list(w.shape)} and group = {groups}"
        )
    form = form_of(node, shape, w.shape[2:])
    if None in shape[2:] and node.ints("output_shape", ()):
        node.refuse("output_shape, for images whose size is known only at run time")
    sizes = tuple(_STAND_IN if size is None else size for size in shape[2:])
    padding, outputs = _ends(node, form, sizes)
    if len(shape) == 3:
        form, padding, outputs, sizes = form.of_images(), ((0, 0), *padding), (1, *outputs), (1, *sizes)
        w = w[:, :, np.newaxis]
    x = _between_zeros(node, channels_last(node, node.value(0)), form, sizes, padding, outputs)
    ones, borders = (1,) * len(outputs), ((0, 0),) * len(outputs)
    window = make_window(node, spatial_sizes(x), form.kernel, ones, form.dilations, borders, x)
    depth, filters = w.shape[0] // groups, w.shape[1] * groups
    bias = float_bias(node, 2, filters)
    order = node.rule("float_products")
    weights = node.dense(_backwards(w, groups), F32)
    result = float_products.convolution(lowering_context(node), x, weights, window, filters, depth, groups, order, bias)
    node.set(0, channels_first(node, result, len(shape)))


def _ends(node: Node, form: WindowShape, sizes: Sizes) -> tuple[tuple[Pair, ...], Sizes]:
    """Return by how many elements the full result is cropped along each axis, (before, after), and the cropped sizes.

    The full result is the transposed convolution without ``pads``.
    """
    rank, mode = len(sizes), node.attribute("auto_pad", "NOTSET")
    output_padding, target_shape = node.ints("output_padding", (0,) * rank), node.ints("output_shape", ())
    if len(output_padding) != rank or min(output_padding) < 0 or (target_shape and len(target_shape) != rank):
        node.fail(
            f"output_padding must have {plural(rank, 'value')}, and output_shape as many if given, got "
            f"{list(output_padding)} and {list(target_shape)}"
        )
    whole = [stride * (n - 1) + more + (k - 1) * dilation + 1
             for n, k, stride, dilation, more in zip(
                 sizes, form.kernel, form.strides, form.dilations, output_padding, strict=True)]  # fmt: skip
    if not target_shape and mode in ("NOTSET", "VALID"):
        padding = form.padding
    else:
        wanted = target_shape or tuple(n * stride for n, stride in zip(sizes, form.strides, strict=True))
        if not target_shape and any(size < target for size, target in zip(whole, wanted, strict=True)):
            node.refuse(f"SAME padding with strides {list(form.strides)} larger than the kernel {list(form.kernel)}")
        totals = [max(size - target, 0) for size, target in zip(whole, wanted, strict=True)]
        less = [(total // 2, total - total // 2) for total in totals]
        padding = tuple(less if mode == "SAME_UPPER" else [(after, before) for before, after in less])
        whole = [target + sum(ends) for target, ends in zip(wanted, padding, strict=True)]
    outputs = tuple(size - sum(ends) for size, ends in zip(whole, padding, strict=True))
    if min(outputs) < 1:
        node.fail(f"the strides, pads and output_padding must give sizes of at least 1, got {list(outputs)}")
    return padding, outputs


def _between_zeros(
    node: Node, x: Value, form: WindowShape, sizes: Sizes, padding: tuple[Pair, ...], outputs: Sizes
) -> Value:
    """Insert ``stride - 1`` zeros after each element of NHWC images along the spatial axes, and pad or crop the images.

    A convolution of these images with stride 1 gives the result of the ConvTranspose. ``outputs`` has the result's
    sizes.
    """
    assert isinstance(x.type, TensorType)
    batch, *own, channels = x.type.shape or ()
    if max(form.strides) > 1:
        context = lowering_context(node)
        extents = context.extents(x)
        expanded_sizes = [part for n in own for part in (n, 1)]
        gaps = [part for stride in form.strides for part in ((0, 0), (0, stride - 1))]
        x = reshaped(node, x, (batch, *expanded_sizes, channels))
        x = node.emit("qrt.pad", [x], {"padding": [(0, 0), *gaps, (0, 0)]})
        spread = [context.count([n, stride]) for n, stride in zip(extents[1:-1], form.strides, strict=True)]
        x = in_shape(node, x, (extents[0], *spread, extents[-1]))
    ends = []
    for n, k, stride, dilation, (before, _), size in zip(
        sizes, form.kernel, form.strides, form.dilations, padding, outputs, strict=True
    ):
        reach = (k - 1) * dilation
        first = reach - before
        ends.append((first, size + reach - first - n * stride))
    pairs = [(0, 0), *ends, (0, 0)]
    x = cropped(node, x, pairs)
    return filled(node, x, [(max(before, 0), max(after, 0)) for before, after in pairs], 0)


def _backwards(w: Array, groups: int) -> Array:
    """Rearrange weights from IOHW to OHWI within each group, with all kernels reversed."""
    depth, filters, *kernel = w.shape
    split = w.reshape(groups, depth // groups, filters, *kernel)
    split = np.flip(split, tuple(range(3, split.ndim)))
    order = (0, 2, *range(3, split.ndim), 1)
    return np.ascontiguousarray(split.transpose(order).reshape(groups * filters, *kernel, depth // groups))
