"""DynamicQuantizeLSTM: an LSTM of float32 with 8-bit weights, computed for one direction after the other."""

import numpy as np

from qrt.ir import Value
from qrt.models.importing.data_movement import joined, taken
from qrt.models.importing.node import lowering_context
from qrt.models.onnx.node import Node
from qrt.ops.core import Array
from qrt.types import FloatType, IntegerType, TensorType, UniformType

F32 = FloatType("f32")
_DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
"""For each direction, one flag for each pass over the sequence: True reads it backwards."""
_ACTIVATIONS = ("sigmoid", "tanh", "tanh")


def dynamic_quantize_lstm(node: Node) -> None:
    """Import DynamicQuantizeLSTM: compute an LSTM of float32 sequences with 8-bit weights known at import.

    All sequences must have the full length, and the activations must be the default ones. Peepholes, a clip and coupled
    gates are not supported. The weights have one scale for each direction, or one for each column.
    """
    directions = _DIRECTIONS.get(node.attribute("direction", "forward"))
    if directions is None:
        node.fail(
            f"attribute 'direction' must be forward, reverse or bidirectional, got {node.op.attributes['direction']!r}"
        )
    _check_form(node, len(directions))
    if len(node.shape()) != 3:
        node.fail(f"the input must have the shape [steps, batch, inputs], got rank {len(node.shape())}")
    bias = node.known(3, "a bias") if node.has(3) else None
    results = [_direction(node, number, reverse, bias) for number, reverse in enumerate(directions)]
    steps, batch, _ = node.shape()
    cells = results[0][1].type.shape[-1]  # type: ignore[attr-defined]
    for i, axis in ((0, 1), (1, 0), (2, 0)):
        shape = (steps, 1, batch, cells) if i == 0 else (1, batch, cells)
        opened = {"open_axes": [0, 1]} if (i, steps, batch) == (0, None, None) else None
        parts = [node.emit("qrt.reshape", [result[i]], opened, TensorType(shape, F32)) for result in results]
        if node.returns(i):
            node.set(i, joined(node, parts, axis))


def _check_form(node: Node, directions: int) -> None:
    names = tuple(name.lower() for name in node.numbers("activations", str, _ACTIVATIONS * directions))
    if names != _ACTIVATIONS * directions:
        node.refuse(f"activations {', '.join(names)}")
    if node.has_attribute("clip") or node.attribute("input_forget", 0):
        node.refuse("with a clip" if node.has_attribute("clip") else "with coupled gates")
    if node.has(4) or node.has(7):
        node.refuse("with lengths of sequences" if node.has(4) else "with peepholes")


def _direction(node: Node, number: int, reverse: bool, bias: Array | None) -> tuple[Value, ...]:
    """Compute one direction, and return the outputs of all steps, the last hidden state and the last cell state.

    ``number`` is the direction's index, and ``reverse`` is true if its steps run backwards.
    """
    w, r = _weights(node, number, 1, 8), _weights(node, number, 2, 10)
    columns = w.type.shape[-1]  # type: ignore[attr-defined]
    total = np.zeros(columns, np.float32)
    if bias is not None:
        if bias.ndim != 2 or bias.shape[1] != 2 * columns or number >= len(bias):
            node.fail(f"the bias must have 2 numbers for each of {columns} columns, got shape {list(bias.shape)}")
        total = np.add(*np.split(np.asarray(bias[number], np.float32), 2))
    states = [_state(node, number, i, columns // 4) for i in (5, 6)]
    operands = [node.value(0), w, r, node.dense(total, F32), *states]
    return node.emit_all("qrt.dynamic_lstm", operands, {"reverse": reverse}, None)


def _weights(node: Node, number: int, i: int, scale: int) -> Value:
    """Return the weights of direction ``number`` in input ``i`` as a value [depth, 4 * cells].

    ``scale`` is the index of the input with their scales; the next input has their zero points.
    """
    array, plain = node.known(i, "weights"), node.plain(i)
    scales, zeros = np.asarray(node.known(scale, "a scale")), None
    if node.has(scale + 1):
        zeros = np.asarray(node.known(scale + 1, "a zero point"))
    if not isinstance(plain, IntegerType) or plain.width != 8:
        node.refuse(f"weights of {node.dtype(i)}")
    if array.ndim != 3 or array.shape[2] % 4 or number >= len(array):
        node.fail(f"weights (input {i}) must have the shape [directions, depth, 4 * cells], got {list(array.shape)}")
    if len(scales) != len(array) or (zeros is not None and zeros.shape != scales.shape):
        node.fail(
            "scales and zero points must have one shape, with a row for each direction of the weights of shape "
            f"{list(array.shape)}, got scales of shape {list(scales.shape)}"
        )
    direction_scales = np.asarray(scales[number], np.float64).reshape(-1)
    points = np.zeros(direction_scales.size, np.int64) if zeros is None else zeros[number].astype(np.int64).reshape(-1)
    if (
        direction_scales.size not in (1, array.shape[2])
        or not ((direction_scales > 0) & (direction_scales < np.inf)).all()
    ):
        node.fail("the scales of the weights must be positive and finite, one for each direction or for each column")
    storage = "u8" if plain.signedness == "unsigned" else "i8"
    if direction_scales.size == 1:
        element = UniformType(storage, "f32", float(direction_scales[0]), int(points[0]))
    else:
        element = UniformType(storage, "f32", direction_scales.tolist(), points.tolist(), axis=1)
    return node.dense(np.ascontiguousarray(array[number]), element)


def _state(node: Node, number: int, i: int, cells: int) -> Value:
    """Return the initial state of direction ``number`` as a value [batch, cells]: input ``i``, or zeros without it."""
    batch = node.shape()[1]
    if node.has(i):
        value = taken(node, node.value(i), 0, number, 1)
        return node.emit("qrt.reshape", [value], None, TensorType((batch, cells), F32))
    context = lowering_context(node)
    return context.filled((context.extent(node.value(0), 1), cells), context.constant(0.0, F32))
