"""Why a rescale stands where it does, and which annotation would make it go.

An annotation is named only where it makes the rescale go: the port's kernel takes the other side's type there, its
constraint holds with it, and no other annotation comes before it. None is named in a function that stands in the
program several times, because it would be made in each of them.
"""

from collections import Counter

from qrt.quantization.propagation.classes import is_enough, storage_of
from qrt.quantization.propagation.graph import GraphRegion, PropagationGraph, PropagationNode, is_kept
from qrt.quantization.propagation.select import fits
from qrt.quantization.targets.constraints import constraint_of
from qrt.quantization.targets.model import Spec, Target
from qrt.types import NoQuantizedType, UniformType


class RescaleCauses:
    """Explains edges whose ends have two types."""

    def __init__(self, graph: PropagationGraph, target: Target) -> None:
        self._target = target
        self._copies = Counter(_location(region) for region in graph.regions)

    def of(self, source: PropagationNode, taker: PropagationNode) -> str:
        """Names both ends, and the annotation that makes them one."""
        assert source.type is not None
        assert taker.type is not None
        said = f"{_place(source)} is {_spelled(source.type)}, but {_place(taker)} needs {_spelled(taker.type)}"
        for node, other in ((source, taker), (taker, source)):
            wanted = other.type
            if isinstance(wanted, UniformType) and _stays(other, node) and self._may_be(node, wanted):
                assert node.region is not None  # `_may_be` has looked
                return f"{said}: annotate {_location(node.region)} as {_spelled(wanted)}"
        return said

    def _may_be(self, node: PropagationNode, wanted: UniformType) -> bool:
        """Whether an annotation of a port gives it a type, and its kernel takes that."""
        region = node.region
        if region is None or self._copies[_location(region)] > 1:
            return False
        if region.kernel is None or node.port is None or isinstance(node.spec, NoQuantizedType):
            return False
        if not fits(node.port, wanted, node) or node.port.given is not None:
            return False
        if not is_enough(storage_of(wanted), node.in_class.asked):
            return False  # the values that have more bits leave its class, perhaps with all that is known of them
        related = [n for n in region.floats if n.port is not None and region.kernel.relates(n.port)]
        if region.kernel.constraint == "same_scale" and node in related:
            before = [n for n in related if n.index >= region.inputs] + [n for n in related if n.is_input]
            return not any(n.spec is not n.element and n is not node and _outranks(n, node, before) for n in related)
        return self._holds(node, wanted)

    def _holds(self, node: PropagationNode, wanted: UniformType) -> bool:
        """Whether the constraint of a port's kernel leaves a type as it is."""
        region = node.region
        assert region is not None
        assert region.kernel is not None
        if region.kernel.constraint == "free":
            return True
        types: list[Spec] = [
            NoQuantizedType(node.element) if n is None else wanted if n is node else n.type or n.element
            for n in region.nodes
        ]
        inputs, outputs = types[: region.inputs], types[region.inputs :]
        try:
            constraint_of(region.kernel, coarser_bias=self._target.coarser_bias)(inputs, outputs)
        except Exception:
            return False
        return [*inputs, *outputs][node.index] is wanted


def _stays(other: PropagationNode, node: PropagationNode) -> bool:
    """Whether the type of one end of an edge stays when the other end, `node`, is annotated.

    A value that is handed on has a hub between its definitions and uses. An annotated definition may change the range
    of the hub, or leave its class. The hub may then join a use, whose type is chosen anew unless it was given. An
    annotated use has the type of the definition, which stays.
    """
    hub = None if other.group is None else other.group.hub
    if node.is_input or other.in_class.given is not None:
        return True
    return hub is None or hub.region is not None or hub.in_class is other.in_class


def _outranks(other: PropagationNode, node: PropagationNode, order: list[PropagationNode]) -> bool:
    """Whether another port's annotation comes before one at this port."""
    if isinstance(other.spec, NoQuantizedType) or is_kept(other.spec, other.element):
        return True
    return isinstance(other.spec, UniformType) and order.index(other) < order.index(node)


def _location(region: GraphRegion) -> str:
    return f"{region.operation.location.filename}:{region.operation.location.line}"


def _place(node: PropagationNode) -> str:
    if node.region is not None:
        return f"{_location(node.region)} {node.where}"
    operation, block = node.value.operation, node.value.block
    location = operation.location if operation is not None else None if block is None else block.location
    return node.where if location is None else f"{location.filename}:{location.line} {node.where}"


def _spelled(type: Spec) -> str:
    return type.shown()
