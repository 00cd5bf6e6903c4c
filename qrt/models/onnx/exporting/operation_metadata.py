"""The metadata by which an exported model describes its program, as entries of ``metadata_props``.

Each operation of the program has an entry. Its key is ``qrt.op.`` and the name of a node, and its value is JSON:

    op          the operation of the program, such as ``qrt.conv2d``; "" if the nodes only reorder axes
    program     for operators on floats, instead of ``op``: the text of a function that computes the results
    attributes  the attributes that differ from the family's defaults, and always the rule ``requant``
    then        the attributes of a ``qrt.clamp`` of the result, if the nodes include one
    operands    for each operand its tensor, or the elements if the graph does not have the tensor
    results     for each result its tensor
    nodes       a hash of the nodes from operands to results: an entry is ignored if they have changed

A tensor is ``{"name": ..., "order": ..., "type": ...}``. Axis ``i`` of the tensor is axis ``order[i]`` of the program's
value, and null is an axis of size 1 that the value lacks; without ``order`` both have the same axes. ``type`` is the
MLIR type of the elements. It is omitted if it follows from the QuantizeLinear that writes the tensor, or from a
DequantizeLinear that reads it.

Each variable of the program becomes an input of the model, whose initializer is the initial value, and an output with
the next value. Its entry has the key ``qrt.state.`` and the name of the input. The value is JSON with the variable's
name as ``symbol``, and the output's name as ``output``. ONNX has no state, so users of another runtime pass the outputs
back as inputs.

Each input or output with a quantized type has an entry, too. Its key is ``qrt.port.`` and the name of the input or
output, and its value is the type.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from qrt.errors import ModelError, shown
from qrt.models.onnx.exporting.exported_value import Order
from qrt.models.onnx.model import Model, ModelPort, Tensor
from qrt.ops import family_named
from qrt.types import TensorType, Type

OP = "qrt.op."
"""The prefix of the keys of entries."""
PORT = "qrt.port."
"""The prefix of the keys of ports with a quantized type, which is the value."""
STATE = "qrt.state."
"""The prefix of the keys of inputs that are variables of the program."""
VERSION = "qrt.version"
"""The key of the version number of the entries' format."""


@dataclass
class Entry:
    """An operation of the program, and the tensors that its nodes read and write.

    An operand that is not a tensor of the graph is None in ``operands``. ``inline`` maps the index of such an operand
    to its elements and type. ``then`` has the attributes of a clamp of the result, and ``program`` the text of a
    function, as in the metadata.
    """

    node: str
    op: str
    attributes: Mapping[str, Any]
    operands: Sequence[tuple[str, Order, Type] | None]
    results: Sequence[tuple[str, Order, TensorType]]
    inline: Mapping[int, tuple[list[int], Type]] = field(default_factory=dict)
    then: Mapping[str, Any] | None = None
    program: str | None = None


def is_bias(op: str, operand: int) -> bool:
    """Return True if the operand of this index is an int32 bias, whose scales follow from the other two operands."""
    family = family_named(op)
    return operand == 2 and family is not None and family.traits.weights is not None


@dataclass(frozen=True, eq=False)
class State:
    """A variable of the program. ``initial`` is its initializer in the model, and ``output`` has its next value."""

    symbol: str
    initial: Tensor
    output: ModelPort


def split_states(model: Model) -> tuple[Model, tuple[State, ...]]:
    """Return a model without the initializers and outputs that represent variables, and these variables."""
    if model.metadata.get(VERSION) != "1":
        return model, ()
    texts = {key: text for key, text in model.metadata.items() if key.startswith(STATE)}
    states = tuple(_state(model, key, text) for key, text in texts.items())
    if not states:
        return model, ()
    for what, names in (
        ("name", [state.symbol for state in states]),
        ("output", [state.output.name for state in states]),
    ):
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ModelError(f"{model.name}: every variable must have its own {what}, got {shown(twice)} twice")
    initial = {state.initial.name for state in states}
    given = {state.output.name: state.output for state in states}
    graph = replace(
        model.graph,
        constants={name: tensor for name, tensor in model.graph.constants.items() if name not in initial},
        outputs=tuple(port for port in model.graph.outputs if port.name not in given),
        value_info={**model.graph.value_info, **given},
    )
    return replace(model, graph=graph), states


def without_states(model: Model) -> Model:
    """Return a model whose variables are ordinary inputs and outputs, as other runtimes see them."""
    return replace(model, metadata={key: text for key, text in model.metadata.items() if not key.startswith(STATE)})


def _state(model: Model, key: str, text: str) -> State:
    def fail(message: str) -> NoReturn:
        raise ModelError(f"{model.name}: metadata {shown(key)}: {message}")

    record = _parsed(text)
    if (
        record is None
        or not all(isinstance(record.get(name), str) for name in ("symbol", "output"))
        or not record["symbol"]
    ):
        fail("it must be a JSON object with the texts 'symbol' and 'output'")
    initial = model.graph.constants.get(key.removeprefix(STATE))
    if initial is None:
        fail("the file must have an initializer of this name, but has none")
    output = next((port for port in model.graph.outputs if port.name == record["output"]), None)
    if output is None:
        fail(f"'output' must be the name of an output of the file, got {shown(record['output'])}")
    if output.dtype != initial.dtype or output.shape != initial.shape:
        fail(f"output {shown(output.name)} must have the type and the shape of the initializer")
    return State(record["symbol"], initial, output)


def _parsed(text: str) -> Mapping[str, Any] | None:
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
