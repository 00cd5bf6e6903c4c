"""Writes into a model what its nodes stand for."""

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
    """Puts entries and types of ports into the ``metadata_props`` of a model, and of inputs that are variables the
    symbols and the outputs."""
    around = GraphNeighbors(read(model.SerializeToString()).graph)
    said = {VERSION: "1"}
    for name, (symbol, output) in states.items():
        said[f"{STATE}{name}"] = json.dumps({"symbol": symbol, "output": output})
    said |= {f"{PORT}{name}": str(element) for name, element in ports.items()}
    for entry in entries:
        said[f"{OP}{entry.node}"] = json.dumps(_record(around, entry), separators=(",", ":"))
    onnx_package().helper.set_model_props(model, said)


def _record(around: GraphNeighbors, entry: Entry) -> dict[str, Any]:
    """An entry as it is written."""
    operands = []
    for i, each in enumerate(entry.operands):
        if each is None:
            elements, element = entry.inline[i]
            operands.append({"elements": elements, "type": str(element)})
        else:
            name, order, element = each
            operands.append(_tensor(around, name, order, element, _bias(entry, i)))
    made: dict[str, Any] = {
        "op": entry.op,
        "operands": operands,
        "results": [_tensor(around, name, order, kind.element) for name, order, kind in entry.results],
    }
    if entry.program is not None:
        made["program"] = entry.program
    if entry.attributes:
        made["attributes"] = entry.attributes
    if entry.then is not None:
        made["then"] = entry.then
    reads = [each[0] for each in entry.operands if each is not None]
    return made | {"nodes": around.digest(reads, [each[0] for each in entry.results])}


def _bias(entry: Entry, i: int) -> Type | None:
    if not is_bias(entry.op, i):
        return None
    return bias_of([each[2] for each in entry.operands[:2] if each is not None])


def _tensor(
    around: GraphNeighbors, name: str, order: Order, element: Type, default: Type | None = None
) -> dict[str, Any]:
    made: dict[str, Any] = {"name": name}
    if order != tuple(range(len(order))):
        made["order"] = order
    found = around.implied(name, order) or default
    if found is not element and (found is not None or isinstance(element, UniformType)):
        made["type"] = str(element)
    return made
