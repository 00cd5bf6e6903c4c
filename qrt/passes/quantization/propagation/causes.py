"""Why a rescale stands where it does, and which annotation would make it go.

An annotation is named only where it makes the rescale go: the port's kernel takes the other side's type there, its
constraint holds with it, and no other annotation comes before it. None is named in a function that stands in the
program several times, because it would be made in each of them.
"""

from collections import Counter

from qrt.calibrate.targets.constraints import constraint_of
from qrt.calibrate.targets.model import Spec, Target
from qrt.passes.quantization.propagation.classes import is_enough, storage_of
from qrt.passes.quantization.propagation.graph import Graph, Node, Site, is_kept
from qrt.passes.quantization.propagation.select import fits
from qrt.types import NoQuantizedType, UniformType


class Causes:
    """Explains edges whose ends have two types."""

    def __init__(self, graph: Graph, target: Target) -> None:
        self._target = target
        self._copies = Counter(_location(site) for site in graph.sites)

    def of(self, source: Node, taker: Node) -> str:
        """Names both ends, and the annotation that makes them one."""
        assert source.type is not None
        assert taker.type is not None
        said = f"{_place(source)} is {_spelled(source.type)}, {_place(taker)} takes {_spelled(taker.type)}"
        for node, other in ((source, taker), (taker, source)):
            wanted = other.type
            if isinstance(wanted, UniformType) and _stays(other, node) and self._may_be(node, wanted):
                assert node.site is not None  # `_may_be` has looked
                return f"{said}: annotate {_location(node.site)} as {_spelled(wanted)}"
        return said

    def _may_be(self, node: Node, wanted: UniformType) -> bool:
        """Whether an annotation of a port gives it a type, and its kernel takes that."""
        site = node.site
        if site is None or self._copies[_location(site)] > 1:
            return False
        if site.kernel is None or node.port is None or isinstance(node.spec, NoQuantizedType):
            return False
        if not fits(node.port, wanted, node) or node.port.given is not None:
            return False
        if not is_enough(storage_of(wanted), node.in_class.asked):
            return False  # the values that have more bits leave its class, perhaps with all that is known of them
        related = [n for n in site.floats if n.port is not None and site.kernel.relates(n.port)]
        if site.kernel.constraint == "same_scale" and node in related:
            before = [n for n in related if n.index >= site.inputs] + [n for n in related if n.is_input]
            return not any(n.spec is not n.element and n is not node and _outranks(n, node, before) for n in related)
        return self._holds(node, wanted)

    def _holds(self, node: Node, wanted: UniformType) -> bool:
        """Whether the constraint of a port's kernel leaves a type as it is."""
        site = node.site
        assert site is not None
        assert site.kernel is not None
        if site.kernel.constraint == "free":
            return True
        types: list[Spec] = [
            NoQuantizedType(node.element) if n is None else wanted if n is node else n.type or n.element
            for n in site.nodes
        ]
        inputs, outputs = types[: site.inputs], types[site.inputs :]
        try:
            constraint_of(site.kernel, coarser_bias=self._target.coarser_bias)(inputs, outputs)
        except Exception:
            return False
        return [*inputs, *outputs][node.index] is wanted


def _stays(other: Node, node: Node) -> bool:
    """Whether the type of one end of an edge stays when the other end, `node`, is annotated.

    A value that is handed on has a hub between its definitions and uses. An annotated definition may change the range
    of the hub, or leave its class. The hub may then join a use, whose type is chosen anew unless it was given. An
    annotated use has the type of the definition, which stays.
    """
    hub = None if other.group is None else other.group.hub
    if node.is_input or other.in_class.given is not None:
        return True
    return hub is None or hub.site is not None or hub.in_class is other.in_class


def _outranks(other: Node, node: Node, order: list[Node]) -> bool:
    """Whether another port's annotation comes before one at this port."""
    if isinstance(other.spec, NoQuantizedType) or is_kept(other.spec, other.element):
        return True
    return isinstance(other.spec, UniformType) and order.index(other) < order.index(node)


def _location(site: Site) -> str:
    return f"{site.operation.location.filename}:{site.operation.location.line}"


def _place(node: Node) -> str:
    if node.site is not None:
        return f"{_location(node.site)} {node.where}"
    operation, block = node.value.operation, node.value.block
    location = operation.location if operation is not None else None if block is None else block.location
    return node.where if location is None else f"{location.filename}:{location.line} {node.where}"


def _spelled(type: Spec) -> str:
    return type.shown()
