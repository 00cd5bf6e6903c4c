"""Discrete Fourier transforms as products with constant matrices, and the matrix of a mel spectrogram."""

import numpy as np

from qrt.models.onnx.composed import ComposedGraph, composed, require_floats
from qrt.models.onnx.node import Node
from qrt.models.onnx.types import NUMBERS, element_of
from qrt.numerics.transcendental.correctly_rounded import bind
from qrt.ops.core import Array, element_dtype

_MOST = 1 << 24
"""The most elements of a transform's matrix."""


def dft(node: Node) -> None:
    """Import DFT: transform float32 signals along an axis by a product with a matrix of cosines and sines.

    The axis, its size and the length of the transform must be known at import. With ``onesided``, a real signal is
    transformed to the first half of its spectrum. With ``onesided`` and ``inverse``, the first half of a spectrum is
    transformed to a real signal.
    """
    require_floats(node, 0)
    shape, rank = node.shape(), len(node.shape())
    is_inverse, is_onesided = bool(node.attribute("inverse", 0)), bool(node.attribute("onesided", 0))
    if node.opset < 20:
        given = node.attribute("axis", 1)
    else:
        given = _number(node, 2, "an axis") if node.has(2) else -2
    axis = node.axis(given, rank)
    size, parts = shape[axis], shape[-1]
    if axis == rank - 1 or parts not in (1, 2) or size is None:
        node.refuse(f"of shape {list(shape)} along axis {given}")
    if node.has(1):
        length = _number(node, 1, "a length")
    else:
        length = 2 * (size - 1) if is_inverse and is_onesided else size
    _check_length(node, length)
    if is_onesided and parts != (2 if is_inverse else 1):
        node.refuse(f"one-sided of a {'real' if parts == 1 else 'complex'} signal")
    graph, x = composed(node), node.input(0)
    order = [d for d in range(rank - 1) if d != axis] + [axis, rank - 1]
    x = graph.add("Transpose", x, perm=tuple(order))
    x = _transformed(node, graph, x, (size, parts), length, is_inverse, is_onesided, rank)
    graph.replace(node, graph.add("Transpose", x, perm=tuple(order.index(d) for d in range(rank))))


def stft(node: Node) -> None:
    """Import STFT: transform frames of float32 signals, multiplied by a window, as DFT does.

    The signals' length, the length of a frame and the step between frames must be known at import.
    """
    require_floats(node, 0, 2)
    shape = node.shape()
    if len(shape) not in (2, 3) or shape[1] is None or (*shape, 1)[2] not in (1, 2):
        node.refuse(f"of shape {list(shape)}")
    parts, size, step = (*shape, 1)[2] or 0, shape[1], _number(node, 1, "a step")
    is_onesided = bool(node.attribute("onesided", 1))
    window = node.shape(2) if node.has(2) else (None,)
    length = _number(node, 3, "a length") if node.has(3) else next(iter(window), None) if node.has(2) else size
    if length is None or len(window) != 1 or window[0] not in (None, length):
        node.fail(f"its window has shape {list(window)}, but a frame has {length} elements")
    _check_length(node, length)
    if step < 1 or length > size:
        node.fail(f"it steps by {step} over {size} elements with frames of {length}, expected frames within the signal")
    if is_onesided and parts == 2:
        node.refuse("one-sided of a complex signal")
    graph, x = composed(node), node.input(0)
    starts = np.arange(0, size - length + 1, step)
    frames = graph.constant(starts[:, np.newaxis] + np.arange(length), np.int64)
    x = graph.add("Gather", x, frames, axis=1)
    if len(shape) == 2:
        x = graph.add("Unsqueeze", x, graph.integers(3))
    if node.has(2):
        x = graph.add("Mul", x, graph.add("Reshape", node.input(2), graph.integers(length, 1)))
    graph.replace(node, _transformed(node, graph, x, (length, parts), length, False, is_onesided, 4))


def _number(node: Node, i: int, what: str) -> int:
    numbers = node.integers(i, what)
    if len(numbers) != 1:
        node.fail(f"input {i} has {len(numbers)} elements, expected {what}")
    return int(numbers[0])


def _check_length(node: Node, length: int) -> None:
    if length < 1:
        node.fail(f"the length of its transform is {length}, expected a positive integer")


def _transformed(
    node: Node,
    graph: ComposedGraph,
    x: str,
    sizes: tuple[int, int],
    length: int,
    is_inverse: bool,
    is_onesided: bool,
    rank: int,
) -> str:
    """Add nodes that transform a tensor along its last axis but one, and return the result's name.

    ``sizes`` are the sizes of the last two axes: the number of elements of a signal, and 1 if they are real or 2 if
    they are complex.
    """
    size, parts = sizes
    bins = length // 2 + 1 if is_onesided else length
    rows = min(size, bins if is_inverse else length)
    columns = length if is_inverse else bins
    own_parts = 1 if is_inverse and is_onesided else 2
    if rows * parts * columns * own_parts > _MOST:
        node.refuse(f"a transform of length {length}, whose matrix would have more than {_MOST} elements")
    if rows < size:
        x = graph.add("Slice", x, graph.integers(0), graph.integers(rows), graph.integers(rank - 2))
    same = (0,) * (rank - 2)
    x = graph.add("Reshape", x, graph.integers(*same, rows * parts))
    matrix = _matrix(rows, columns, length, is_inverse, is_onesided)[:, :parts, :, :own_parts]
    x = graph.add("MatMul", x, graph.constant(matrix.reshape(rows * parts, columns * own_parts)))
    return str(graph.add("Reshape", x, graph.integers(*same, columns, own_parts)))


def _matrix(rows: int, columns: int, length: int, is_inverse: bool, is_onesided: bool) -> Array:
    """Return the float64 matrix [row, part of the input, column, part of the result] of a transform.

    Part 0 of a complex number is real, part 1 imaginary.
    """
    numbers = np.arange(rows)[:, np.newaxis] * np.arange(columns) % length
    angles = 2 * np.pi * np.arange(length) / length
    cosines, sines = (bind(name, "f64")(angles)[numbers] for name in ("cos", "sin"))  # NumPy's depend on the CPU
    cosines[4 * numbers % (2 * length) == length] = 0
    sines[2 * numbers % length == 0] = 0
    if is_inverse:
        sines = -sines
    matrix = np.stack([np.stack([cosines, -sines], -1), np.stack([sines, cosines], -1)], 1)
    if not is_inverse:
        return matrix
    if is_onesided:  # elements beside the first and the middle one stand for two of the whole spectrum
        twice = 2 * np.arange(rows) % length != 0
        matrix[twice] *= 2
    return matrix / length


def mel_weight_matrix(node: Node) -> None:
    """Import MelWeightMatrix: compute the weights of mel bands for the bins of a spectrum.

    All inputs must be known at import.
    """
    names = ("a number of bands", "a length", "a sample rate", "a lower frequency", "an upper frequency")
    given = [node.known(i, name).ravel() for i, name in enumerate(names)]
    number = node.attribute("output_datatype", 1)
    if any(array.size != 1 for array in given) or number not in NUMBERS:
        node.fail(f"each input must have one element, got {[array.size for array in given]} elements")
    bands, length, rate = (int(array[0]) for array in given[:3])
    bins = length // 2 + 1
    if min(bands, length, rate) < 1 or bins * bands > _MOST:
        node.fail(f"it has {bands} bands, length {length} and sample rate {rate}, expected positive numbers")
    log10, power = bind("log10", "f64"), bind("powf", "f64")  # NumPy's depend on the CPU
    low, high = (2595 * log10(1 + np.float64(array[0]) / 700) for array in given[3:])
    edges = low + np.arange(bands + 2) * ((high - low) / (bands + 2))
    hertz = 700 * (power(np.float64(10), edges / 2595) - 1)
    points = np.floor((length + 1) * hertz / rate).astype(np.int64)
    if points.min() < 0 or points.max() >= bins:
        node.fail(
            f"its bands must lie in the bins 0 to {bins - 1} of the spectrum, got bands from bin {points.min()} to "
            f"bin {points.max()}"
        )
    weights = np.zeros((bins, bands))
    for band, (left, center, right) in enumerate(zip(points, points[1:], points[2:], strict=False)):
        rising, falling = np.arange(left, center + 1), np.arange(center, right)
        weights[rising, band] = (rising - left) / (center - left) if center > left else 1
        weights[falling, band] = (right - falling) / max(right - center, 1)
    element = element_of(NUMBERS[number])
    node.set_constant(0, weights.astype(element_dtype(element)), element)
