"""Import of quantized LSTM operators. Their state becomes variables of the program."""

from qrt.ir import Value
from qrt.models.importing.data_movement import reshaped
from qrt.models.tflite.model import element_of
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators import recurrent_plain
from qrt.models.tflite.operators.functions import read_as
from qrt.models.tflite.operators.operands import input_shape
from qrt.numerics import GATES, NORM_BITS
from qrt.types import UniformType

_WEIGHTS, _RECURRENT, _PEEPHOLES, _BIASES, _NORMS = 1, 5, 9, 12, 20
_PROJECTION, _PROJECTION_BIAS, _HIDDEN, _CELL = 16, 17, 18, 19
_OF_PEEPHOLES = (0, 1, 3)
"""The gates that have peepholes."""


def lstm(node: Node) -> None:
    """Import UNIDIRECTIONAL_SEQUENCE_LSTM or LSTM: run an LSTM on int8 inputs with an int16 cell state.

    CIFG, peepholes, projection and layer normalization are supported, also on float32 inputs with int8 weights. The
    operator LSTM computes one step, and its option kernel_type must be FULL.
    """
    if node.is_float:
        recurrent_plain.lstm(node)
        return
    recurrent_plain.require_full_kernel(node)
    gates = range(0 if node.has(_WEIGHTS) else 1, 4)
    _check(node, gates)
    hidden, cell = node.element(_HIDDEN), node.element(_CELL)
    *sums, output = _intermediates(node)
    has_norm, has_projection = node.has(_NORMS + 1), node.has(_PROJECTION)
    is_cell, x = node.op.name == "LSTM", node.value(0)
    if is_cell:
        x = reshaped(node, x, (1, *input_shape(node)))
    operands = [x]
    operands += [node.value(first + gate) for first in (_WEIGHTS, _RECURRENT) for gate in gates]
    for gate in gates:
        scale = node.element(0).scale * node.element(_WEIGHTS + gate).scale
        operands.append(
            _bias(node, _BIASES + gate, node.element(_NORMS + gate).scale * 2.0**-NORM_BITS if has_norm else scale)
        )
    operands += [node.value(_HIDDEN), node.value(_CELL)]
    if node.has(_PEEPHOLES + 1):
        operands += [node.value(_PEEPHOLES + i) for i, gate in enumerate(_OF_PEEPHOLES) if gate in gates]
    if has_norm:
        operands += [node.value(_NORMS + gate) for gate in gates]
    attributes = {
        "time_major": is_cell or bool(node.options["time_major"]),
        "cell_clip": float(node.options["cell_clip"]),
        "cifg": 0 not in gates,
        "peepholes": node.has(_PEEPHOLES + 1),
        "layer_norm": has_norm,
        "projection": has_projection,
    }
    if has_norm:
        attributes |= {f"{GATES[gate]}_scale": _scale(node, gate, sums[gate]) for gate in gates}
    result = output
    if has_projection:
        clip = float(node.options["proj_clip"])
        attributes |= {"made_scale": output.scale, "made_zero_point": output.zero_point, "projection_clip": clip}
        operands.append(node.value(_PROJECTION))
        if node.has(_PROJECTION_BIAS):
            operands.append(_bias(node, _PROJECTION_BIAS, output.scale * node.element(_PROJECTION).scale))
        result = hidden
    y, after, cell_after = node.emit_all("qrt.lstm", operands, attributes, [result, result, cell])
    y = read_as(node, y, node.result_element())
    if is_cell:
        y = reshaped(node, y, (*input_shape(node)[:1], *input_shape(node, _HIDDEN)[1:]))
    node.set(0, y)
    for i, value in ((_HIDDEN, read_as(node, after, hidden)), (_CELL, cell_after)):
        node.graph.store(node.op, node.graph.variable(node.input(i)), value)


def _check(node: Node, gates: range) -> None:
    """Raise UnsupportedForm if LiteRT has no kernel for an LSTM's storage types, activation or peepholes.

    Raise ModelError if some gates have an optional operand that other gates lack.
    """
    sizes = [(node.type(i).shape or (None,))[-1] for i in (_HIDDEN, _CELL)]
    if node.has(_PEEPHOLES + 1) and sizes[0] != sizes[1]:
        node.refuse("peepholes with a projection to another size, which LiteRT applies to the wrong cells")
    x, peepholes = node.element(0), [_PEEPHOLES + i for i, gate in enumerate(_OF_PEEPHOLES) if gate in gates]
    for first, is_needed in ((_RECURRENT, True), (_BIASES, True), (_NORMS, node.has(_NORMS + 1))):
        for gate in range(4):
            if node.has(first + gate) != (is_needed and gate in gates):
                node.fail(f"the {GATES[gate]} gate must have all of its weights and biases or none, but has only some")
    if len({node.has(i) for i in peepholes}) > 1 or (0 not in gates and node.has(_PEEPHOLES)):
        node.fail("all gates must have peepholes, or none, but only some have")
    weights = [first + gate for first in (_WEIGHTS, _RECURRENT) for gate in gates]
    weights += [_PROJECTION] if node.has(_PROJECTION) else []
    if x.storage != "i8" or any(node.element(i).storage != "i8" for i in weights):
        node.refuse(f"{x.storage} with weights of {node.element(_WEIGHTS + 1).storage}")
    words = [i for i in (*peepholes, *range(_NORMS, _NORMS + 4)) if node.has(i)]
    if any(node.element(i).storage != "i16" for i in words):
        node.refuse(f"peephole or layer norm weights of {', '.join(sorted({node.element(i).storage for i in words}))}")
    if node.options["fused_activation_function"] != "TANH":
        node.refuse(f"activation {node.options['fused_activation_function']}")
    hidden, cell = node.element(_HIDDEN), node.element(_CELL)
    if hidden.storage != "i8" or cell.storage != "i16":
        node.refuse(f"a state of {hidden.storage} and {cell.storage}")


def _intermediates(node: Node) -> list[UniformType]:
    """Return the quantized types of an LSTM's five intermediate tensors.

    These are the weighted sums of the four gates, whose types matter only with layer normalization, and the output
    before projection.
    """
    tensors = [node.graph.subgraph.tensors[index] for index in node.op.intermediates if index >= 0]
    if len(tensors) != 5 or len(node.op.intermediates) != 5:
        node.fail(f"it must have 5 intermediate tensors, got {len(tensors)}")
    elements = [element_of(tensor) for tensor in tensors]
    output = elements[4]
    if not isinstance(output, UniformType) or output.storage != "i8":
        node.fail(f"intermediate tensor {tensors[4].name!r} must be int8 with a scale, got {output}")
    return [*(element if isinstance(element, UniformType) else output for element in elements[:4]), output]


def _scale(node: Node, gate: int, element: UniformType) -> float:
    if element.storage != "i16":
        node.fail(f"the intermediate tensor of the {GATES[gate]} gate must be int16 with a scale, got {element}")
    return element.scale


def _bias(node: Node, i: int, scale: float) -> Value:
    """Append input ``i``, an int32 bias, as a constant with the given scale instead of the scale in the file."""
    data = node.constant(i)
    if data is None or node.input(i).dtype != "int32":
        node.refuse("a bias that is not an int32 constant")
    return node.dense(data, UniformType("i32", "f32", scale))
