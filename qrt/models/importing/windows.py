"""Sliding windows over NHWC images with any number of spatial axes, and float pools as loop nests."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from qrt.ir import StringAttr, Value
from qrt.ir.core.affine import Expression, add, multiply
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import Extent, LoweringContext, tensor_type
from qrt.ir.passes.lower_qrt import averages
from qrt.models.importing.node import Node, index
from qrt.ops.core import Array

Pair = tuple[int, int]
Sizes = tuple[int, ...]


@dataclass(frozen=True)
class Window:
    """A sliding window over the spatial axes of images. Each field has one entry for each spatial axis.

    - ``kernel`` has the sizes of the window.
    - ``padding`` has the padding of the image, (before, after).
    - ``outputs`` has the numbers of positions of the window. A number is an int, or a value of type index if it is
      known only at run time.
    """

    kernel: Sizes
    strides: Sizes
    dilations: Sizes
    padding: tuple[Pair, ...]
    outputs: tuple[Extent, ...]

    @property
    def static_outputs(self) -> Sizes:
        """The numbers of positions, all of which must be known at import."""
        return tuple(count for count in self.outputs if isinstance(count, int))

    def padded(self, node: Node, x: Value, value: float | None = None) -> Value:
        """Return the images padded with ``value``; the default is zero (the zero point of a quantized type)."""
        if not any(map(any, self.padding)):
            return x
        attributes: dict[str, object] = {"padding": ((0, 0), *self.padding, (0, 0))}
        if value is not None:
            attributes["value"] = value
        return node.emit("qrt.pad", [x], attributes)

    def index(self, window: Sequence[Expression], inside: Sequence[Expression]) -> list[Expression]:
        """Return the index in the padded image of element ``inside`` of the window at position ``window``.

        Along each axis it is ``window * stride + inside * dilation``.
        """
        return [
            add(multiply(at, stride), multiply(element, dilation))
            for at, element, stride, dilation in zip(window, inside, self.strides, self.dilations, strict=True)
        ]


def make_window(
    node: Node,
    sizes: Sequence[int | None],
    kernel: Sequence[int | None],
    strides: Sizes,
    dilations: Sizes,
    padding: tuple[Pair, ...],
    image: Value | None = None,
) -> Window:
    """Return the window for images of the given spatial sizes.

    The sizes that are known only at run time are read from the NHWC images ``image``. Raise UnsupportedForm if there is
    such a size but no ``image``, and ModelError if the window is larger than the padded image.
    """
    outputs: list[Extent] = []
    extents: list[int] = []
    columns = zip(sizes, kernel, strides, dilations, padding, strict=True)
    for axis, (size, extent, stride, dilation, ends) in enumerate(columns, 1):
        if extent is None or (size is None and image is None):
            node.refuse("images whose size is known only at run time")
        extents.append(extent)
        missing = sum(ends) - (extent - 1) * dilation - 1
        if size is None:
            assert image is not None
            outputs.append(_open_count(node, image, axis, missing, stride))
            continue
        if size + missing < 0 or extent < 1:
            node.fail(
                f"a window of {extent} elements with dilation {dilation} must not be larger than the image, which has "
                f"{size} elements along this axis and padding {list(ends)}"
            )
        outputs.append((size + missing) // stride + 1)
    return Window(tuple(extents), strides, dilations, padding, tuple(outputs))


def _open_count(node: Node, image: Value, axis: int, missing: int, stride: int) -> Value:
    """Append ops that compute ``(size + missing) // stride + 1`` as an index, for the size of an axis of ``image``."""
    count = node.emit("tensor.dim", [image, index(node, axis)])
    if missing:
        count = node.emit("arith.addi", [count, index(node, missing)])
    if missing < -1:
        fits = node.emit("arith.cmpi", [count, index(node, 0)], {"predicate": "sge"})
        short = StringAttr(f"an image has fewer than {-missing} elements along an axis")
        node.make("cf.assert", [fits], {"msg": short}, [])
    if stride > 1:
        count = node.emit("arith.floordivsi", [count, index(node, stride)])
    return node.emit("arith.addi", [count, index(node, 1)])


def largest(
    context: LoweringContext, x: Value, window: Window, op: str = "arith.maximumf", start: float = -np.inf
) -> Value:
    """Return the largest element of each window by the operation ``op``. ``x`` must be padded with ``start``."""
    rank = len(window.kernel)
    nest = LoopNest(
        context, "accumulate", [context.extent(x, 0), *window.outputs, context.extent(x, rank + 1)], window.kernel
    )
    image, *at = nest.loops[: rank + 1]
    channel, *inside = nest.loops[rank + 1 :]
    element = nest.read(x, [image, *window.index(at, inside), channel])
    running = nest.running(tensor_type(x).element, start)
    return nest.finish(nest.value(op, (running, element), running.type))[0]


def sums(context: LoweringContext, x: Value, window: Window, order: str = "rows") -> Value:
    """Return the sum of each window of the padded images, added in a given order.

    ``order`` is one of three names:

    - "rows" adds the elements in row-major order.
    - "columns" adds the elements of each column, and then the sums of the columns.
    - "lanes" adds in the order that `qrt.ir.passes.lower_qrt.averages` describes. The window must cover the whole
      image.
    """
    rank = len(window.kernel)
    parallel = (context.extent(x, 0), *window.outputs, context.extent(x, rank + 1))

    def read(nest: LoopNest, at: Sequence[Expression]) -> Value:
        return nest.read(x, (nest.loops[0], *at, nest.loops[rank + 1]))

    form = (context, parallel, window.kernel, window.strides, window.dilations, read)
    if order == "lanes":
        return averages.sum_of_lanes(context, parallel, window.kernel, read)
    return (
        averages.sum_of_columns(*form, context.extent(x, rank)) if order == "columns" else averages.sum_of_rows(*form)
    )


def counts(window: Window, sizes: Sequence[int]) -> Array:
    """Return the number of elements that are not padding, for each window over an image of the given sizes."""
    lines = []
    for size, kernel, stride, dilation, (before, _), count in zip(
        sizes, window.kernel, window.strides, window.dilations, window.padding, window.static_outputs, strict=True
    ):
        starts = [at * stride - before for at in range(count)]
        firsts = [max(0, -(start // dilation)) for start in starts]  # the first element of each window inside the image
        ends = [min(kernel, -((start - size) // dilation)) for start in starts]
        lines.append(np.array([max(0, end - first) for first, end in zip(firsts, ends, strict=True)], np.int64))
    product: Array = reduce(lambda left, right: left[..., np.newaxis] * right, lines)
    return product
