"""Check that the scales of a per-axis or sub-channel type fit the shape of a tensor."""

from collections.abc import Sequence

from qrt.errors import QuantTypeError
from qrt.types.parameters import BlockSizes
from qrt.types.quantized import UniformType


def check_integrity(element: UniformType, shape: Sequence[int | None] | None) -> None:
    """Raise QuantTypeError unless the number and layout of the scales of `element` fit a tensor of this shape.

    A dynamic size is None; the shape of an unranked tensor is None. A per-layer type fits every tensor.

    Source: 'Per-axis quantization integrity' of the quant dialect, and verifySubChannelQuantization of mlir-opt 22.
    """
    if element.axis is not None and shape is not None:
        if element.axis >= len(shape):
            raise QuantTypeError(
                f"quantized dimension must be less than tensor rank: axis {element.axis}, rank {len(shape)}"
            )
        size = shape[element.axis]
        if size is not None and size != element.scales_shape[0]:
            raise QuantTypeError(
                "quantized dimension size does not match number of scales: "
                f"dimension {element.axis} has size {size}, the type has {element.scales_shape[0]} scales"
            )
    elif element.block_sizes is not None:
        _check_blocks(element, element.block_sizes, shape)


def _check_blocks(element: UniformType, block_sizes: BlockSizes, shape: Sequence[int | None] | None) -> None:
    if shape is None:
        raise QuantTypeError("tensor containing the sub-channel quantized type must be ranked")
    rank = len(shape)
    for axis, block in block_sizes:
        if axis >= rank:
            raise QuantTypeError(f"quantized dimension {axis} must be less than tensor rank {rank}")
        size = shape[axis]
        if size is not None and size % block:
            raise QuantTypeError(
                f"tensor dimension size {size} at axis {axis} must be divisible by the corresponding block size {block}"
            )
    if len(element.scales_shape) != rank:
        raise QuantTypeError(f"rank of scales {len(element.scales_shape)} must match the rank of the tensor {rank}")
    blocks = dict(block_sizes)
    for axis, (size, scales) in enumerate(zip(shape, element.scales_shape, strict=True)):
        if size == 0:
            raise QuantTypeError("tensor dimension size of zero is not allowed with sub-channel quantization")
        if axis in blocks and size is None:
            continue
        expected = size // blocks[axis] if axis in blocks and size is not None else 1
        if scales != expected:
            raise QuantTypeError(
                f"dimension size {scales} of scales tensor at axis {axis} should match "
                f"(tensor dimension at axis / block sizes at axis) = {expected}"
                + (
                    f": block_sizes has no entry for axis {axis}"
                    + f", write {axis}: {size // scales} there" * (size % scales == 0)
                    if axis not in blocks and size is not None
                    else ""
                )
            )
