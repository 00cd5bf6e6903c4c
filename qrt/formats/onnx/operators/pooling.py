"""Pools: the largest element or the average of each window."""

from typing import Any

import numpy as np

from qrt.formats.importing.windows import Window, make_window
from qrt.formats.onnx.node import Node
from qrt.formats.onnx.operators.convolution import unit
from qrt.formats.onnx.operators.operands import F32
from qrt.formats.onnx.operators.windows import Form, channels_first, channels_last, form_of
from qrt.formats.onnx.registry import operator
from qrt.ir import Value
from qrt.types import TensorType, UniformType


def window_of(node: Node, form: Form, sizes: tuple[int | None, ...]) -> tuple[Window, Window]:
    """The window as the padding says it, and with what ``ceil_mode`` adds behind."""
    said = make_window(node, sizes, form.kernel, form.strides, form.dilations, form.padding)
    if not node.attribute("ceil_mode", 0):
        return said, said
    padding = []
    for size, extent, stride, dilation, (before, after) in zip(
        sizes, form.kernel, form.strides, form.dilations, form.padding, strict=True
    ):
        room = (size or 0) + before + after - (extent - 1) * dilation - 1
        count = -(-room // stride) + 1
        if (count - 1) * stride >= (size or 0) + before:  # the last window begins in the padding
            count -= 1
        padding.append((before, after + max((count - 1) * stride - room, 0)))
    return said, make_window(node, sizes, form.kernel, form.strides, form.dilations, tuple(padding))


@operator("MaxPool")
def max_pool(node: Node) -> None:
    """Of float32, int8 or uint8, quantized or not; of 8 bits without dilations."""
    if node.returns(1):
        node.refuse("with the positions of the largest")
    rank, form = len(node.shape()), form_of(node, node.shape(), None).of_images()
    if node.type(0).element is F32:
        from qrt.formats.importing import float_pools  # loop nests take time to load
        from qrt.formats.importing.nests import site_of

        x = channels_last(node, node.value(0))
        window = window_of(node, form, _sizes(x))[1]
        made = float_pools.largest(site_of(node), window.padded(node, x, -np.inf), window)
        node.set(0, channels_first(node, made, rank))
        return
    if rank > 4 or any(dilation != 1 for dilation in form.dilations):
        node.refuse(f"of {node.dtype(0)}, with dilations or images of {rank - 2} axes")
    element = node.type(0).element
    quantized = element if isinstance(element, UniformType) and element.is_per_layer else unit(node, 0, np.zeros(1), 0)
    x = channels_last(node, node.cast(0, quantized))
    window = window_of(node, form, _sizes(x))[1]
    attributes: dict[str, Any] = {"kernel": window.kernel, "strides": window.strides, "padding": window.padding}
    made = channels_first(node, node.emit("qrt.max_pool2d", [x], attributes), rank)
    if quantized is element:
        node.set(0, made)
    else:
        node.set_plain(0, node.as_storage(made), node.plain(0))


def _sizes(x: Value) -> tuple[int | None, ...]:
    assert isinstance(x.type, TensorType)
    return (x.type.shape or ())[1:-1]


@operator("AveragePool")
def average_pool(node: Node) -> None:
    """Of float32: a sum over the window, a row after the other, divided by the number of its elements. Padding counts
    where ``count_include_pad`` says so.
    """
    _require_floats(node)
    from qrt.formats.importing import float_pools  # loop nests take time to load
    from qrt.formats.importing.nests import site_of
    from qrt.passes.lower_qrt.nest import Nest

    rank, form = len(node.shape()), form_of(node, node.shape(), None).of_images()
    x, site = channels_last(node, node.value(0)), site_of(node)
    said, window = window_of(node, form, _sizes(x))
    total = float_pools.sums(site, window.padded(node, x), window)
    counts = _counts(node, said, window, [size or 0 for size in _sizes(x)]).astype(np.float32)
    nest = Nest(site, "divide", site.extents(total))
    by = nest.parameter(counts, F32, nest.loops[1:-1])
    (made,) = nest.finish(nest.emit("arith.divf", (nest.read(total, nest.loops), by), F32))
    node.set(0, channels_first(node, made, rank))


def _counts(node: Node, said: Window, window: Window, sizes: list[int]) -> Any:
    """The number of elements by which each window is divided. What ``ceil_mode`` adds never counts."""
    from qrt.formats.importing import float_pools

    if not node.attribute("count_include_pad", 0):
        return float_pools.counts(window, sizes)
    padded = [size + sum(pair) for size, pair in zip(sizes, said.padding, strict=True)]
    rest = tuple((0, after - own) for (_, after), (_, own) in zip(window.padding, said.padding, strict=True))
    return float_pools.counts(Window(window.kernel, window.strides, window.dilations, rest, window.outputs), padded)


@operator("GlobalAveragePool", "GlobalMaxPool")
def global_pool(node: Node) -> None:
    """Of float32, over all axes behind the channels: a sum in order, divided by the number of elements."""
    _require_floats(node)
    from qrt.formats.importing.float_reductions import reduced
    from qrt.formats.importing.nests import site_of
    from qrt.formats.onnx.operators.reductions import divided

    shape, site = node.shape(), site_of(node)
    axes = tuple(range(2, len(shape)))
    if node.op.type == "GlobalMaxPool":
        made = reduced(site, node.value(0), axes, "arith.maximumf", -np.inf)
    else:
        made = divided(node, site, reduced(site, node.value(0), axes, "arith.addf", 0.0), [shape[d] for d in axes])
    node.set(0, node.emit("qrt.reshape", [made], None, TensorType((*shape[:2], *(1 for _ in axes)), F32)))


def _require_floats(node: Node) -> None:
    if node.type(0).element is not F32:
        node.refuse(f"of {node.dtype(0)}")
