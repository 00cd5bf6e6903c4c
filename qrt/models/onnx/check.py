"""Checks of an ONNX file that do not depend on its operators.

They are about versions, names, the order of nodes, and the size of inputs and outputs. The constraints of one operator,
such as a positive stride, are checked where that operator is imported.
"""

import math
from collections.abc import Collection, Mapping

from qrt.errors import ModelError, input_limit, shown
from qrt.models.onnx.model import ABSENT, ModelGraph, ModelPort, Operator
from qrt.models.onnx.types import numpy_dtype

IR_VERSIONS = range(3, 15)
"""The supported versions of the file format."""
OPSETS = {"": range(7, 29), "com.microsoft": range(1, 2), "ai.onnx.ml": range(1, 6)}
"""The supported versions of each domain's operators. Operators of other domains are refused one by one."""

CHANGED = {"AveragePool": 19, "Hardmax": 13, "LogSoftmax": 13, "Resize": 11, "Softmax": 13}
"""Operators whose meaning changed in an opset though their form did not, and that opset."""


def check_versions(name: str, ir_version: int, opsets: Mapping[str, int]) -> None:
    """Raise ModelError if the IR version or an opset of the file ``name`` is not supported, or no opset is imported."""
    if ir_version not in IR_VERSIONS:
        known = f"{IR_VERSIONS[0]} to {IR_VERSIONS[-1]}"
        raise ModelError(f"{name}: the IR version is {ir_version}, but only {known} are supported")
    check_opsets(name, opsets)
    if not opsets:
        raise ModelError(f"{name}: the model must import an opset, but imports none")


def check_opsets(name: str, opsets: Mapping[str, int]) -> None:
    """Raise ModelError if the opset of a domain is not supported. The message begins with ``name``."""
    for domain, versions in OPSETS.items():
        version = opsets.get(domain)
        if version is not None and version not in versions:
            known = f"{versions[0]} to {versions[-1]} are" if len(versions) > 1 else f"{versions[0]} is"
            raise ModelError(f"{name}: the opset of {domain or 'ai.onnx'} is {version}, but only {known} supported")


def check_function(place: str, domain: str, opsets: Mapping[str, int]) -> None:
    """Raise ModelError if a function of the file is in a domain of built-in operators, or imports an unsupported opset.

    Built-in operators are in the domains of `OPSETS`. A runtime may run a built-in operator instead of the function
    with the same name.
    """
    if domain in OPSETS:
        raise ModelError(
            f"{place}: a function must not be in the domain {shown(domain or 'ai.onnx')}, where runtimes have "
            "operators of their own: give the function another domain"
        )
    check_opsets(place, opsets)


def check_operator_of_function(place: str, type: str, function_opset: int, model_opset: int) -> None:
    """Raise ModelError if an operator of a function has another meaning in the function's opset than in the model's.

    ONNX forbids such a function, and runtimes disagree about which of the two opsets applies to the operator.
    """
    changed = CHANGED.get(type)
    if changed is not None and (function_opset < changed) != (model_opset < changed):
        raise ModelError(
            f"{place}: its function imports opset {function_opset} and the model {model_opset}, and {type} has another"
            f" meaning since opset {changed}: convert the model so that both import the same"
        )


def place_of(name: str, operator: Operator) -> str:
    """Return the position of an operator in the file ``name``, for error messages: "m.onnx: node 3 Conv 'conv1'"."""
    label = f" {shown(operator.label)}" if operator.label else ""
    return f"{name}: node {operator.index} {operator.name}{label}"


def check_graph(name: str, graph: ModelGraph, max_bytes: int, outer: Collection[str] = ()) -> None:
    """Raise ModelError unless each tensor of a graph is computed exactly once, before any node reads it.

    Also raise it if all inputs and outputs together take more than ``max_bytes``. ``outer`` has the names of the
    tensors of enclosing graphs, which the graph may read.
    """
    known = {*outer, *graph.constants}
    for port in graph.inputs:
        if port.name in known:
            raise ModelError(
                f"{name}: every tensor must have its own name, but input {shown(port.name)} has that of another tensor"
            )
        known.add(port.name)
    written = {output for operator in graph.operators for output in operator.outputs if output != ABSENT}
    writers: dict[str, Operator] = {}
    for operator in graph.operators:
        _check_reads(name, operator, known, written)
        for output in operator.outputs:
            if output == ABSENT:
                continue
            if output in known:
                writer = writers.get(output)
                conflict = "is an input or a constant" if writer is None else f"node {writer.index} writes already"
                raise ModelError(f"{place_of(name, operator)}: it must not write {shown(output)}, which {conflict}")
            known.add(output)
            writers[output] = operator
        for value in operator.attributes.values():
            if isinstance(value, ModelGraph):
                check_graph(place_of(name, operator), value, max_bytes, known)
    for port in graph.outputs:
        if port.name not in known:
            raise ModelError(f"{name}: output {shown(port.name)} must be computed by a node, but no node computes it")
    ports = {port.name: port for port in (*graph.inputs, *graph.outputs)}
    total = sum(map(_bytes, ports.values()))
    if total > max_bytes:
        raise ModelError(f"{name}: the inputs and outputs take {total} bytes, more than {input_limit(max_bytes)}")


def _check_reads(name: str, operator: Operator, known: Collection[str], written: Collection[str]) -> None:
    for read in operator.inputs:
        if read == ABSENT or read in known:
            continue
        if read in written:
            raise ModelError(
                f"{place_of(name, operator)}: it reads {shown(read)} before a node has computed it: nodes must "
                "follow the nodes whose results they read"
            )
        raise ModelError(f"{place_of(name, operator)}: it reads {shown(read)}, which no node computes")


def _bytes(port: ModelPort) -> int:
    """Return the bytes that an input or output takes. An unknown size counts as 1; an unknown rank gives 0 bytes."""
    if port.shape is None or not port.dtype:
        return 0
    sizes = [size if isinstance(size, int) else 1 for size in port.shape]
    return int(math.prod(sizes) * numpy_dtype(port.dtype).itemsize)
