"""What a model says of the ops that its nodes stand for: an entry of ``metadata_props`` for each, and for each variable
of the program.

The key is ``qrt.op.`` and the name of the node. The value is JSON:

    op          the op of the program, as ``qrt.conv2d``; "" where the nodes only put axes in another order
    program     in place of ``op``, for operators on floats: the text of a function that computes the results
    attributes  those of the op that are not the defaults of its family; ``requant`` says the rule
    then        the attributes of a ``qrt.clamp`` of the result, where one follows within the nodes
    operands    for each operand its tensor, or the elements of one that the graph does not hold
    results     for each result its tensor
    nodes       a hash of the nodes from operands to results: an entry counts only while they are as they were written

A tensor is ``{"name": ..., "order": ..., "type": ...}``. Axis ``i`` of the tensor is axis ``order[i]`` of the value,
and null an axis of size 1 that the value lacks; without ``order`` both have the same axes. ``type`` is the type of the
elements as MLIR says it, where scales in float32 of the neighbouring QuantizeLinear or DequantizeLinear do not say it.

A model takes each variable of the program as an input, whose initializer it begins with, and gives its next value as an
output. The key ``qrt.state.`` and the name of the input says so: JSON with the variable's name, ``symbol``, and the
``output``. ONNX has no state of its own, so another runtime's user gives outputs back as inputs.
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
"""The beginning of the keys of entries."""
PORT = "qrt.port."
"""The beginning of the keys of ports that have a quantized type, which is the value."""
STATE = "qrt.state."
"""The beginning of the keys of inputs that are variables of the program."""
VERSION = "qrt.version"
"""The key of the number that says how entries are written."""


@dataclass
class Entry:
    """An op and the tensors around its nodes. ``inline`` has operands by number that are no tensors of the graph."""

    node: str
    op: str
    attributes: Mapping[str, Any]
    operands: Sequence[tuple[str, Order, Type] | None]
    results: Sequence[tuple[str, Order, TensorType]]
    inline: Mapping[int, tuple[list[int], Type]] = field(default_factory=dict)
    then: Mapping[str, Any] | None = None
    program: str | None = None


def is_bias(op: str, operand: int) -> bool:
    """Return True for an operand that is a bias of i32, whose scales follow from those of the other two."""
    family = family_named(op)
    return operand == 2 and family is not None and family.traits.weights is not None


@dataclass(frozen=True, eq=False)
class State:
    """A variable: what it begins with, which has the name of the input, and the output that is its next value."""

    symbol: str
    initial: Tensor
    output: ModelPort


def split_states(model: Model) -> tuple[Model, tuple[State, ...]]:
    """A model without the initializers and outputs that are variables, and these."""
    if model.metadata.get(VERSION) != "1":
        return model, ()
    texts = {key: text for key, text in model.metadata.items() if key.startswith(STATE)}
    states = tuple(_state(model, key, text) for key, text in texts.items())
    if not states:
        return model, ()
    for what, names in (("name", [each.symbol for each in states]), ("output", [each.output.name for each in states])):
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ModelError(f"{model.name}: two variables have the {what} {shown(twice)}")
    initial = {each.initial.name for each in states}
    given = {each.output.name: each.output for each in states}
    graph = replace(
        model.graph,
        constants={name: each for name, each in model.graph.constants.items() if name not in initial},
        outputs=tuple(port for port in model.graph.outputs if port.name not in given),
        said={**model.graph.said, **given},
    )
    return replace(model, graph=graph), states


def without_states(model: Model) -> Model:
    """A model as another runtime has it, whose users take care of variables."""
    return replace(model, metadata={key: text for key, text in model.metadata.items() if not key.startswith(STATE)})


def _state(model: Model, key: str, text: str) -> State:
    def fail(message: str) -> NoReturn:
        raise ModelError(f"{model.name}: metadata {shown(key)}: {message}")

    said = _parsed(text)
    if said is None or not all(isinstance(said.get(name), str) for name in ("symbol", "output")) or not said["symbol"]:
        fail("it does not name a variable and an output")
    initial = model.graph.constants.get(key.removeprefix(STATE))
    if initial is None:
        fail("the file has no initializer of this name")
    output = next((port for port in model.graph.outputs if port.name == said["output"]), None)
    if output is None:
        fail(f"the file has no output {shown(said['output'])}")
    if output.dtype != initial.dtype or output.shape != initial.shape:
        fail(f"output {shown(output.name)} has another type than the initializer")
    return State(said["symbol"], initial, output)


def _parsed(text: str) -> Mapping[str, Any] | None:
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None
