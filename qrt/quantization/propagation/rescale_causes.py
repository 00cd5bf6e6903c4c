"""The texts that tell why a rescale is needed, and which annotation would remove it.

An annotation is suggested only if it removes the rescale. The kernel must accept the other port's type at the annotated
port, and its constraint must hold with this type. No other annotation may override the suggested one. No annotation is
suggested in a function that was copied for several calls, because it would apply to every copy.
"""

from collections import Counter

from qrt.quantization.propagation.classes import is_enough, storage_of
from qrt.quantization.propagation.graph import GraphRegion, PropagationGraph, PropagationNode, stays_float
from qrt.quantization.propagation.ranges import adds_range
from qrt.quantization.propagation.select import fits
from qrt.quantization.targets.constraints import constraint_of
from qrt.quantization.targets.model import Spec, Target
from qrt.types import NoQuantizedType, UniformType


class RescaleCauses:
    """The texts that explain why a value is defined with one type and used with another."""

    def __init__(self, graph: PropagationGraph, target: Target) -> None:
        self._target = target
        self._copies = Counter(_location(region) for region in graph.regions)

    def of(self, source: PropagationNode, taker: PropagationNode) -> str:
        """Return a text that names the types of a value's definition and use, and an annotation that makes them equal.

        The text names no annotation if none would help.
        """
        assert source.type is not None
        assert taker.type is not None
        ends = f"{place(source)} is {_spelled(source.type)}, but {place(taker)} needs {_spelled(taker.type)}"
        for node, other in ((source, taker), (taker, source)):
            wanted = other.type
            if isinstance(wanted, UniformType) and _stays(other, node) and self._may_be(node, wanted):
                assert node.region is not None  # `_may_be` has checked
                return f"{ends}: annotate {_location(node.region)} as {_spelled(wanted)}"
        return ends

    def of_annotation(self, taker: PropagationNode) -> str:
        """Return a text with the annotation of a port and the type that the port's kernel needs instead."""
        assert taker.region is not None
        assert taker.type is not None
        ends = f"its annotation is {_spelled(taker.spec)}, but {place(taker)} needs {_spelled(taker.type)}"
        if self._copies[_location(taker.region)] > 1:
            return ends
        return f"{ends}: annotate {_location(taker.region)} as {_spelled(taker.type)}"

    def _may_be(self, node: PropagationNode, wanted: UniformType) -> bool:
        """Return True if a port would get the type ``wanted`` from an annotation, and the kernel accepts the type."""
        region = node.region
        if region is None or self._copies[_location(region)] > 1:
            return False
        if region.kernel is None or node.port is None or isinstance(node.spec, NoQuantizedType):
            return False
        if not fits(node.port, wanted, node) or node.port.given is not None:
            return False
        if not is_enough(storage_of(wanted), node.in_class.least):
            return False  # wider values would leave the class, and its statistics might change
        related = [n for n in region.floats if n.port is not None and region.kernel.relates(n.port)]
        if "same_scale" in region.kernel.constraints and node in related:
            before = [n for n in related if n.index >= region.inputs] + [n for n in related if n.is_input]
            return not any(n.spec is not n.element and n is not node and _outranks(n, node, before) for n in related)
        return self._holds(node, wanted)

    def _holds(self, node: PropagationNode, wanted: UniformType) -> bool:
        """Return True if the constraint of the region's kernel does not change the type ``wanted`` of a port."""
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
    """Return True if ``other`` keeps its type when ``node`` at the other end of the same value is annotated.

    An annotation of a use changes the definition's type only if the use's range widens that of the definition. An
    annotation of a definition may change the range of the value's hub (the node between definitions and uses), or move
    the hub to the class of a use. The type of that use then changes unless it was prescribed.
    """
    hub = None if other.group is None else other.group.hub
    if other.in_class.given is not None:
        return True
    if node.is_input:
        return not adds_range(node)
    return hub is None or hub.region is not None or hub.in_class is other.in_class


def _outranks(other: PropagationNode, node: PropagationNode, order: list[PropagationNode]) -> bool:
    """Return True if the annotation of ``other`` takes precedence over one of ``node``; ``order`` ranks the ports."""
    if isinstance(other.spec, NoQuantizedType) or stays_float(other.spec, other.element):
        return True
    return isinstance(other.spec, UniformType) and order.index(other) < order.index(node)


def _location(region: GraphRegion) -> str:
    return f"{region.operation.location.filename}:{region.operation.location.line}"


def place(node: PropagationNode) -> str:
    """Return the file, line and name of a port for messages: ``f.mlir:5 conv2d output 0``."""
    if node.region is not None:
        return f"{_location(node.region)} {node.where}"
    operation, block = node.value.operation, node.value.block
    location = operation.location if operation is not None else None if block is None else block.location
    return node.where if location is None else f"{location.filename}:{location.line} {node.where}"


def _spelled(type: Spec) -> str:
    return type.shown()
