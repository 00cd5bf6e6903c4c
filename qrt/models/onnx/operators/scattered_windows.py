"""Operators that move elements to positions in a larger tensor: Col2Im, MaxUnpool, TensorScatter."""

from math import prod

import numpy as np

from qrt.models.onnx.composed import composed, require_floats, static_sizes
from qrt.models.onnx.node import Node


def col2im(node: Node) -> None:
    """Import Col2Im: add up float32 blocks at their positions in images. All shapes must be known at import."""
    require_floats(node, 0)
    if len(node.shape()) != 3:
        node.refuse(f"of shape {list(node.shape())}, expected a batch, rows and blocks")
    batch, rows, count = static_sizes(node, 0, 0, 1, 2)
    image, block = node.integers(1, "a shape of images"), node.integers(2, "a shape of blocks")
    ones = (1,) * len(image)
    strides, dilations = node.ints("strides", ones), node.ints("dilations", ones)
    pads = node.ints("pads", (0,) * 2 * len(image))
    lists = (image, block, strides, dilations)
    if {len(sizes) for sizes in (*lists, pads[::2])} != {len(image)} or min(map(min, lists), default=0) < 1:
        node.fail(f"image_shape {list(image)}, block_shape {list(block)}, strides, dilations and pads do not match")
    rooms = [
        size + pads[axis] + pads[axis + len(image)] - (block[axis] - 1) * dilations[axis] - 1
        for axis, size in enumerate(image)
    ]
    starts_count = prod(max(room // stride + 1, 0) for room, stride in zip(rooms, strides, strict=True))
    points, total = prod(block), prod(image)
    if starts_count != count or rows % points:
        node.fail(f"its input has shape {[batch, rows, count]}, expected {starts_count} blocks of {points} elements")
    places, outside = np.zeros((1, 1), np.int64), np.zeros((1, 1), np.bool_)
    for axis, (size, extent) in enumerate(zip(image, block, strict=True)):
        starts = np.arange(rooms[axis] // strides[axis] + 1) * strides[axis] - pads[axis]
        along = np.arange(extent)[:, np.newaxis] * dilations[axis] + starts
        beyond = (along < 0) | (along >= size)
        shape = (places.shape[0] * extent, places.shape[1] * len(starts))
        places = (places[:, np.newaxis, :, np.newaxis] * size + along[np.newaxis, :, np.newaxis]).reshape(shape)
        outside = (outside[:, np.newaxis, :, np.newaxis] | beyond[np.newaxis, :, np.newaxis]).reshape(shape)
    images = batch * (rows // points)
    graph = composed(node)
    x = graph.add("Reshape", node.input(0), graph.integers(images, points * count))
    x = graph.add("Transpose", x, perm=(1, 0))
    zeros = graph.constant(np.zeros((total + 1, images)))  # the last row takes what lies in the padding
    indices = graph.constant(np.where(outside, total, places).reshape(-1, 1), np.int64)
    sums = graph.add("ScatterND", zeros, indices, x, reduction="add")
    sums = graph.add("Slice", sums, graph.integers(0), graph.integers(total), graph.integers(0))
    sums = graph.add("Transpose", sums, perm=(1, 0))
    graph.replace(node, graph.add("Reshape", sums, graph.integers(batch, rows // points, *image)))


def max_unpool(node: Node) -> None:
    """Import MaxUnpool: put the largest elements of float32 windows back to their positions.

    All other elements are 0. The shape of the input must be known at import. The attributes determine the shape of the
    result; an ``output_shape`` that differs is not supported.
    """
    require_floats(node, 0)
    shape = static_sizes(node, 0, *range(len(node.shape())))
    kernel = node.ints("kernel_shape")
    axes = len(shape) - 2
    strides, pads = node.ints("strides", (1,) * axes), node.ints("pads", (0,) * 2 * axes)
    if axes < 1 or {len(kernel), len(strides), len(pads) / 2} != {axes} or node.shape(1) != shape:
        node.fail(f"its input has shape {list(shape)}, its positions {list(node.shape(1))}, and kernel_shape {kernel}")
    sizes = tuple((shape[2 + d] - 1) * strides[d] + kernel[d] - pads[d] - pads[d + axes] for d in range(axes))
    wanted = (*shape[:2], *sizes)
    if node.has(2) and node.integers(2, "a shape") != wanted:
        node.refuse(f"output_shape {list(node.integers(2, 'a shape'))}, expected {list(wanted)}")
    graph = composed(node)
    positions = graph.add("Reshape", node.input(1), graph.integers(-1, 1))
    values = graph.add("Reshape", node.input(0), graph.integers(-1))
    flat = graph.add("ScatterND", graph.constant(np.zeros(prod(wanted))), positions, values)
    graph.replace(node, graph.add("Reshape", flat, graph.integers(*wanted)))


def tensor_scatter(node: Node) -> None:
    """Import TensorScatter: write updates into a cache along an axis.

    An input gives the index at which the updates of each batch begin. The shapes must be known at import. In mode
    ``circular``, elements beyond the end go to the beginning.
    """
    shape, updates = (static_sizes(node, i, *range(len(node.shape(i)))) for i in range(2))
    axis, mode = node.axis(node.attribute("axis", -2), len(shape)), node.attribute("mode", "linear")
    same = [d for d in range(len(shape)) if d != axis]
    is_valid = len(shape) == len(updates) and axis and mode in ("linear", "circular")
    if not is_valid or [shape[d] for d in same] != [updates[d] for d in same]:
        node.fail(f"its cache has shape {list(shape)}, its update {list(updates)}, axis {axis} and mode {mode!r}")
    graph, (batch, size, count) = composed(node), (shape[0], shape[axis], updates[axis])
    order = (0, axis, *(d for d in same if d))
    cache, new = (graph.add("Transpose", name, perm=order) for name in node.op.inputs[:2])
    start = node.input(2) if node.has(2) else graph.integers(*(0,) * batch)
    places = graph.add("Add", graph.add("Reshape", start, graph.integers(batch, 1)), graph.integers(*range(count)))
    if mode == "circular":
        places = graph.add("Mod", places, graph.integers(size))
    places = graph.add("Unsqueeze", places, graph.integers(2))
    batches = graph.constant(np.broadcast_to(np.arange(batch).reshape(-1, 1, 1), (batch, count, 1)), np.int64)
    result = graph.add("ScatterND", cache, graph.add("Concat", batches, places, axis=2), new)
    graph.replace(node, graph.add("Transpose", result, perm=tuple(order.index(d) for d in range(len(shape)))))
