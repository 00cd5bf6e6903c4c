"""Variables of a program that `qrt export` has written: a model takes each as an input and gives its next value as an
output. The input has an initializer, with which the variable begins.

``metadata_props`` says so under ``qrt.state.`` and the name of the input: JSON with the variable's name, ``symbol``,
and the ``output``. ONNX has no state of its own, so another runtime's user gives outputs back as inputs.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from qrt.errors import ModelError, shown
from qrt.models.onnx.exporting.operation_metadata import STATE, VERSION
from qrt.models.onnx.model import Model, ModelPort, Tensor


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
        fail("it names no variable and output")
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
