"""Values that `quant.coupled_ref` couples by a key: they have one type, where they can."""

from qrt.errors import shown
from qrt.ir import Operation, StringAttr
from qrt.ir.remarks import remark
from qrt.quantization.propagation.graph import Edge, PropagationGraph, PropagationNode


def couples(graph: PropagationGraph) -> list[Edge]:
    """Edges from the first value of a key to the others."""
    return [edge for _, edge in _coupled(graph)]


def remark_uncoupled(graph: PropagationGraph) -> None:
    """Says which values do not have the type of those that they are coupled with."""
    for operation, edge in _coupled(graph):
        one, other = edge.source.type, edge.target.type
        if one is not None and other is not None and one is not other:
            types = f"it is {other.shown()}, and another value of the key is {one.shown()}"
            remark(operation, f"{_named(operation)} couples this value in vain: {types}: annotate both as one type")
    for group in graph.each:
        for operation in group.couples if group.hub is None else ():
            why = "each use of a constant has its own type" if group.is_constant else "no region takes it"
            remark(operation, f"{_named(operation)} couples this value in vain: {why}")


def _coupled(graph: PropagationGraph) -> list[tuple[Operation, Edge]]:
    first: dict[str, PropagationNode] = {}
    found: list[tuple[Operation, Edge]] = []
    for group in graph.each:
        for operation in group.couples if group.hub is not None else ():
            assert group.hub is not None
            one = first.setdefault(_key(operation), group.hub)
            if one is not group.hub:
                found.append((operation, Edge(one, group.hub)))
    return found


def _key(operation: Operation) -> str:
    return operation.attribute("coupledKey", StringAttr).value


def _named(operation: Operation) -> str:
    return f"key {shown(_key(operation))}"
