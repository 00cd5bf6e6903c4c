"""Pass that folds pads into the padding of the window op after them."""

from dataclasses import dataclass

import numpy as np

from qrt.ir import Builder, Module, Operation
from qrt.ir.core.attributes import attribute
from qrt.ir.core.matching import acyclic_operations
from qrt.ir.rewriting.rewrite import erase_dead, replace
from qrt.ops import family_of
from qrt.ops.pad import stored_value
from qrt.runtime.fusion.families import accepts, attributes_of, fused, quantized, traits_of
from qrt.types import TensorType


@dataclass(frozen=True)
class FoldPad:
    """Folds a pad with zero points into the padding of the convolution that reads it. Preserves every value."""

    def run(self, module: Module) -> None:
        for op in acyclic_operations(module.operation):
            weights = traits_of(op).weights
            if weights is not None and weights.window is not None:
                _fold(op, weights.window)


def _fold(window: Operation, axes: tuple[int, int]) -> None:
    pad = window.operands[0].operation
    if pad is None or pad.name != "qrt.pad" or not _holds_zero_points(pad):
        return
    images, rows, columns, channels = attributes_of(pad)["padding"]
    attributes = attributes_of(window)
    inner = attributes["padding"]
    total = [[a + b for a, b in zip(o, i, strict=True)] for o, i in zip((rows, columns), inner, strict=True)]
    if any((*images, *channels)) or not _is_inside(window, axes, total):
        return
    operands = [pad.operands[0], *window.operands[1:]]
    if not accepts(family_of(window), operands, attributes | {"padding": total}, window.result.type):
        return
    fused_attributes = fused(window, pad, other_is_last=False) | {"padding": attribute(total)}
    replace(window, [Builder(window).value(window.name, operands, window.result.type, fused_attributes)])
    erase_dead([pad])


def _holds_zero_points(pad: Operation) -> bool:
    """Return True if a pad fills with the zero point, as the padding of a convolution does."""
    t = quantized(pad.result)
    if t is None or len(attributes_of(pad)["padding"]) != 4:
        return False
    return bool(np.array_equal(stored_value(t, attributes_of(pad)["value"]), t.zero_point_array.ravel()))


def _is_inside(window: Operation, axes: tuple[int, int], padding: list[list[int]]) -> bool:
    """Return True if the padding is smaller than the dilated kernel, as the convolution kernels require.

    ``axes`` are the axes of the weights along the kernel's height and width.
    """
    weights = window.operands[1].type
    shape = weights.shape if isinstance(weights, TensorType) else None
    if shape is None:
        return False
    sizes = [shape[axis] for axis in axes]
    dilations = attributes_of(window)["dilations"]
    return all(
        size is not None and max(pair) <= (size - 1) * dilation
        for size, dilation, pair in zip(sizes, dilations, padding, strict=True)
    )
