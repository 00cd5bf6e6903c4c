"""Rules of an ONNX file that need no operator's own knowledge: versions, names, order, sizes.

What belongs to one operator's form, as a stride of 0, is checked where the operator is imported.
"""

import math
from collections.abc import Collection, Mapping

from qrt.errors import ModelError, shown
from qrt.models.onnx.model import ABSENT, ModelGraph, ModelPort, Operator
from qrt.models.onnx.types import numpy_dtype

IR_VERSIONS = range(3, 15)
"""The versions of the format that are read."""
OPSETS = {"": range(7, 29), "com.microsoft": range(1, 2)}
"""The versions of each domain's operators that are known. Operators of other domains are refused one by one."""

CHANGED = {"AveragePool": 19, "Hardmax": 13, "LogSoftmax": 13, "Resize": 11, "Softmax": 13}
"""Operators of which one text computes different things in two opsets, and the opset that changed them."""


def check_versions(name: str, ir_version: int, opsets: Mapping[str, int]) -> None:
    """Raises ModelError for versions that are not known."""
    if ir_version not in IR_VERSIONS:
        known = f"{IR_VERSIONS[0]} to {IR_VERSIONS[-1]}"
        raise ModelError(f"{name}: the IR version is {ir_version}, but only {known} are supported")
    check_opsets(name, opsets)
    if not opsets:
        raise ModelError(f"{name}: the model imports no opset")


def check_opsets(name: str, opsets: Mapping[str, int]) -> None:
    """Raises ModelError for versions of operators that are not known."""
    for domain, versions in OPSETS.items():
        version = opsets.get(domain)
        if version is not None and version not in versions:
            known = f"{versions[0]} to {versions[-1]} are" if len(versions) > 1 else f"{versions[0]} is"
            raise ModelError(f"{name}: the opset of {domain or 'ai.onnx'} is {version}, but only {known} supported")


def check_function(place: str, domain: str, opsets: Mapping[str, int]) -> None:
    """Raises ModelError for a function that runtimes may pass by, because an operator may have its name, and for one
    whose operators have versions that are not known.
    """
    if domain in OPSETS:
        raise ModelError(
            f"{place}: the function is in the domain {shown(domain or 'ai.onnx')}, where runtimes use "
            "their own operator"
            " of this name: give the function another domain"
        )
    check_opsets(place, opsets)


def check_operator_of_function(place: str, type: str, own: int, outer: int) -> None:
    """Raises ModelError for an operator of a function that imports another opset than the model, if the operator
    computes something else there: ONNX forbids that, and runtimes take the one or the other.
    """
    changed = CHANGED.get(type)
    if changed is not None and (own < changed) != (outer < changed):
        raise ModelError(
            f"{place}: its function imports opset {own} and the model {outer}, and {type} has another meaning since"
            f" opset {changed}: convert the model so that both import the same"
        )


def place_of(name: str, operator: Operator) -> str:
    """Where an operator stands, as errors say it."""
    label = f" {shown(operator.label)}" if operator.label else ""
    return f"{name}: node {operator.index} {operator.name}{label}"


def check_graph(name: str, graph: ModelGraph, max_bytes: int, outer: Collection[str] = ()) -> None:
    """Raises ModelError for the first rule that a graph breaks. ``outer`` are the names that it may read beside its
    own.
    """
    known = {*outer, *graph.constants}
    for port in graph.inputs:
        if port.name in known:
            raise ModelError(f"{name}: input {shown(port.name)} has the name of another tensor")
        known.add(port.name)
    written = {output for operator in graph.operators for output in operator.outputs if output != ABSENT}
    writers: dict[str, Operator] = {}
    for operator in graph.operators:
        _check_reads(name, operator, known, written)
        for output in operator.outputs:
            if output == ABSENT:
                continue
            if output in known:
                held = f"node {writers[output].index} writes" if output in writers else "is defined before"
                raise ModelError(f"{place_of(name, operator)}: it computes {shown(output)}, which {held}")
            known.add(output)
            writers[output] = operator
        for value in operator.attributes.values():
            if isinstance(value, ModelGraph):
                check_graph(place_of(name, operator), value, max_bytes, known)
    for port in graph.outputs:
        if port.name not in known:
            raise ModelError(f"{name}: no node computes output {shown(port.name)}")
    ports = {port.name: port for port in (*graph.inputs, *graph.outputs)}
    total = sum(map(_bytes, ports.values()))
    if total > max_bytes:
        raise ModelError(
            f"{name}: the inputs and outputs take {total} bytes, more than max_bytes (--max-input), {max_bytes}"
        )


def _check_reads(name: str, operator: Operator, known: Collection[str], written: Collection[str]) -> None:
    for read in operator.inputs:
        if read == ABSENT or read in known:
            continue
        if read in written:
            raise ModelError(
                f"{place_of(name, operator)}: it reads {shown(read)}, which the node itself or a later node computes"
            )
        raise ModelError(f"{place_of(name, operator)}: it reads {shown(read)}, which no node computes")


def _bytes(port: ModelPort) -> int:
    """The memory of a port, as far as its shape is said."""
    if port.shape is None or not port.dtype:
        return 0
    sizes = [size if isinstance(size, int) else 1 for size in port.shape]
    return int(math.prod(sizes) * numpy_dtype(port.dtype).itemsize)
