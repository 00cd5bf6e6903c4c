"""Import of SPACE_TO_DEPTH, DEPTH_TO_SPACE, SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND as reshapes and a transpose."""

from math import prod

from qrt.ir import Value
from qrt.models.importing.data_movement import Shape, reshaped, taken
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.operands import input_shape, settle
from qrt.models.tflite.operators.slicing import paddings_of


def space_to_depth(node: Node) -> None:
    """Import SPACE_TO_DEPTH: move each square block of pixels into the channels of one pixel."""
    images, (height, width, channels), block = _image(node)
    if height % block or width % block:
        node.fail(f"block_size must divide the height and the width, {height} and {width}, got {block}")
    value = reshaped(node, node.value(0), (images, height // block, block, width // block, block, channels))
    value = node.emit("qrt.transpose", [value], {"permutation": [0, 1, 3, 2, 4, 5]})
    settle(node, 0, reshaped(node, value, (images, height // block, width // block, block * block * channels)))


def depth_to_space(node: Node) -> None:
    """Import DEPTH_TO_SPACE: move the channels of each pixel into a square block of pixels."""
    images, (height, width, channels), block = _image(node)
    if channels % (block * block):
        node.fail(f"the square of block_size must divide the number of channels, {channels}, got {block}")
    depth = channels // (block * block)
    value = reshaped(node, node.value(0), (images, height, width, block, block, depth))
    value = node.emit("qrt.transpose", [value], {"permutation": [0, 1, 3, 2, 4, 5]})
    settle(node, 0, reshaped(node, value, (images, height * block, width * block, depth)))


def _image(node: Node) -> tuple[int | None, tuple[int, int, int], int]:
    """Return the number of images, the (height, width, channels) of each, and the block size."""
    shape, block = input_shape(node), node.options["block_size"]
    if len(shape) != 4:
        node.fail(f"the input must have rank 4, got {len(shape)}")
    if block < 1:
        node.fail(f"block_size must be at least 1, got {block}")
    images, height, width, channels = shape
    if height is None or width is None or channels is None:
        node.refuse("an image whose size is known only at run time")
    return images, (height, width, channels), block


def space_to_batch(node: Node) -> None:
    """Import SPACE_TO_BATCH_ND: pad the spatial axes and split them into blocks.

    Elements at the same position in all blocks become an image of the batch.
    """
    blocks, value = _blocks(node), node.value(0)
    pads = paddings_of(node, 2, len(blocks))
    rest = len(input_shape(node)) - 1 - len(blocks)
    value = node.emit("qrt.pad", [value], {"padding": [(0, 0), *pads, *[(0, 0)] * rest]})
    batch, space = _sizes(node, value, len(blocks))
    inner = input_shape(node)[1 + len(blocks) :]
    if any(size % block for size, block in zip(space, blocks, strict=True)):
        node.fail(f"the block sizes must divide the padded sizes of the input, {space}, got {blocks}")
    split = [extent for size, block in zip(space, blocks, strict=True) for extent in (size // block, block)]
    value = reshaped(node, value, (batch, *split, *inner))
    count = len(blocks)
    order = [*range(2, 2 * count + 1, 2), 0, *range(1, 2 * count, 2), *range(2 * count + 1, 2 * count + 1 + len(inner))]
    value = node.emit("qrt.transpose", [value], {"permutation": order})
    batches = None if batch is None else batch * prod(blocks)
    outer = [size // block for size, block in zip(space, blocks, strict=True)]
    settle(node, 0, reshaped(node, value, (batches, *outer, *inner)))


def batch_to_space(node: Node) -> None:
    """Import BATCH_TO_SPACE_ND: interleave images of the batch as blocks of larger images.

    The larger images are then cropped.
    """
    blocks, value = _blocks(node), node.value(0)
    crops = paddings_of(node, 2, len(blocks), "crops")
    batch, space = _sizes(node, value, len(blocks))
    inner, count = input_shape(node)[1 + len(blocks) :], len(blocks)
    if batch is not None and batch % prod(blocks):
        node.fail(f"the product of the block sizes must divide the batch, {batch}, got block sizes {blocks}")
    batches = None if batch is None else batch // prod(blocks)
    value = reshaped(node, value, (*blocks, batches, *space, *inner))
    pairs = [axis for d in range(count) for axis in (count + 1 + d, d)]
    order = [count, *pairs, *range(2 * count + 1, 2 * count + 1 + len(inner))]
    value = node.emit("qrt.transpose", [value], {"permutation": order})
    whole = [size * block for size, block in zip(space, blocks, strict=True)]
    value = reshaped(node, value, (batches, *whole, *inner))
    for d, (size, (before, after)) in enumerate(zip(whole, crops, strict=True)):
        if before + after > size:
            node.fail(f"crops must be at most the size of the axis, {size}, in sum, got {before} and {after}")
        if before or after:
            value = taken(node, value, 1 + d, before if size > before + after else 0, size - before - after)
    settle(node, 0, value)


def _blocks(node: Node) -> list[int]:
    blocks = list(node.integers(1, "block sizes"))
    if len(input_shape(node)) not in (3, 4) or len(blocks) > len(input_shape(node)) - 1 or not blocks:
        node.fail(
            "the input must have rank 3 or 4, with a block size for each axis between the first and the last, got "
            f"rank {len(input_shape(node))} and {len(blocks)} block sizes"
        )
    if min(blocks) < 1:
        node.fail(f"the block sizes must be at least 1, got {blocks}")
    return blocks


def _sizes(node: Node, value: Value, count: int) -> tuple[int | None, list[int]]:
    """Return the size of axis 0, the batch, and the sizes of the ``count`` axes after it.

    The batch may be dynamic (None). Raise UnsupportedForm if another axis is dynamic.
    """
    shape: Shape = getattr(value.type, "shape", None) or ()
    known = [size for size in shape[1 : 1 + count] if size is not None]
    if len(known) < count:
        node.refuse("an image whose size is known only at run time")
    return shape[0], known
