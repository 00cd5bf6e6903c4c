"""The writer of a model's metadata, which records the operations of the program that the nodes compute."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from qrt.models.onnx.exporting.exported_value import Order
from qrt.models.onnx.exporting.neighbors import GraphNeighbors, bias_of
from qrt.models.onnx.exporting.operation_metadata import OP, PORT, STATE, VERSION, Entry, is_bias
from qrt.models.onnx.exporting.proto import onnx_package
from qrt.models.onnx.read import read
from qrt.types import Type, UniformType


def annotate(
    model: Any,
    entries: Sequence[Entry],
    ports: Mapping[str, UniformType],
    states: Mapping[str, tuple[str, str]],
) -> None:
    """Write the entries, the quantized types of inputs and outputs, and the variables into a model's metadata.

    ``ports`` maps names of inputs and outputs to quantized types. ``states`` maps the name of the model input that
    represents a variable to (name of the variable, name of the model output with its next value).
    """
    neighbors = GraphNeighbors(read(model.SerializeToString()).graph)
    properties = {VERSION: "1"}
    for name, (symbol, output) in states.items():
        properties[f"{STATE}{name}"] = json.dumps({"symbol": symbol, "output": output})
    properties |= {f"{PORT}{name}": str(element) for name, element in ports.items()}
    for entry in entries:
        properties[f"{OP}{entry.node}"] = json.dumps(_record(neighbors, entry), separators=(",", ":"))
    onnx_package().helper.set_model_props(model, properties)


def _record(neighbors: GraphNeighbors, entry: Entry) -> dict[str, Any]:
    """Return the JSON content of an entry, as `operation_metadata` describes it."""
    operands = []
    for i, operand in enumerate(entry.operands):
        if operand is None:
            elements, element = entry.inline[i]
            operands.append({"elements": elements, "type": str(element)})
        else:
            name, order, element = operand
            operands.append(_tensor(neighbors, name, order, element, _bias(entry, i)))
    record: dict[str, Any] = {
        "op": entry.op,
        "operands": operands,
        "results": [_tensor(neighbors, name, order, kind.element) for name, order, kind in entry.results],
    }
    if entry.program is not None:
        record["program"] = entry.program
    if entry.attributes:
        record["attributes"] = entry.attributes
    if entry.then is not None:
        record["then"] = entry.then
    reads = [operand[0] for operand in entry.operands if operand is not None]
    return record | {"nodes": neighbors.digest(reads, [result[0] for result in entry.results])}


def _bias(entry: Entry, i: int) -> Type | None:
    if not is_bias(entry.op, i):
        return None
    return bias_of([operand[2] for operand in entry.operands[:2] if operand is not None])


def _tensor(
    neighbors: GraphNeighbors, name: str, order: Order, element: Type, default: Type | None = None
) -> dict[str, Any]:
    record: dict[str, Any] = {"name": name}
    if order != tuple(range(len(order))):
        record["order"] = order
    implied = neighbors.implied(name, order) or default
    if implied is not element and (implied is not None or isinstance(element, UniformType)):
        record["type"] = str(element)
    return record
