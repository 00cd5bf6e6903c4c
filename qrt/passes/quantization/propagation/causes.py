"""Why a rescale stands where it does, and which annotation would make it go.

An annotation is named only where it makes the rescale go: the port's kernel takes the other side's type there, the
constraint of the kernel holds with it, and the type stands for what else it would be the type of.
"""

from qrt.calibrate.targets.constraints import constraint_of
from qrt.calibrate.targets.model import Spec, Target
from qrt.passes.quantization.propagation.graph import Node, is_kept
from qrt.passes.quantization.propagation.ranges import Ranges
from qrt.passes.quantization.propagation.select import fits
from qrt.types import NoQuantizedType, UniformType


class Causes:
    """Explains edges whose ends have two types."""

    def __init__(self, target: Target, ranges: Ranges) -> None:
        self._target, self._ranges = target, ranges

    def of(self, source: Node, taker: Node) -> str:
        """Names both ends, and the annotation that makes them one."""
        assert source.type is not None
        assert taker.type is not None
        said = f"{_place(source)} is {_spelled(source.type)}, {_place(taker)} takes {_spelled(taker.type)}"
        for node, wanted in ((source, taker.type), (taker, source.type)):
            if node.site is not None and isinstance(wanted, UniformType) and self._may_be(node, wanted):
                return f"{said}: annotate {_location(node)} as {_spelled(wanted)}"
        return said

    def _may_be(self, node: Node, wanted: UniformType) -> bool:
        """Whether an annotation of a port gives it a type, and its kernel takes that."""
        site = node.site
        if site is None or site.kernel is None or node.port is None or isinstance(node.spec, NoQuantizedType):
            return False
        if not fits(node.port, wanted, node) or node.port.given is not None:
            return False
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


def _outranks(other: Node, node: Node, order: list[Node]) -> bool:
    """Whether another port's annotation comes before one at this port."""
    if isinstance(other.spec, NoQuantizedType) or is_kept(other.spec, other.element):
        return True
    return isinstance(other.spec, UniformType) and order.index(other) < order.index(node)


def _location(node: Node) -> str:
    operation = node.site.operation if node.site is not None else node.value.operation
    if operation is not None:
        return f"{operation.location.filename}:{operation.location.line}"
    block = node.value.block
    return "" if block is None else f"{block.location.filename}:{block.location.line}"


def _place(node: Node) -> str:
    return f"{_location(node)} {node.where}"


def _spelled(type: Spec) -> str:
    return type.shown()
