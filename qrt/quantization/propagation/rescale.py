"""Where the ends of an edge have two types: a region between them that says why.

A value leaves its definition with the type of the port that defines it; what a loop carries, and what a branch or a
call gives, with the type of its hub. Each use, and each operand that is handed on, takes a type. Where that is another
one, a ``rescale`` stands right after the definition; the uses that take the same share it. Values that no region
defines are floats, and each use quantizes them itself.
"""

from qrt.ir import ArrayAttr, Block, Builder, Operation, Region, StringAttr, TypeAttr, Value
from qrt.ir.dialects.quant.annotations import IDENTITIES
from qrt.ir.dialects.quant.port_stats import PORT_STATS
from qrt.quantization.propagation.graph import RESCALE, GraphRegion, PropagationGraph, PropagationNode
from qrt.quantization.propagation.rescale_causes import RescaleCauses
from qrt.quantization.targets.model import Spec
from qrt.types import UniformType


class Rescaler:
    """Puts rescales into a program whose types are decided."""

    def __init__(self, graph: PropagationGraph, causes: RescaleCauses) -> None:
        self._graph, self._causes = graph, causes
        self._made: dict[tuple[Value, Spec], Value] = {}
        self._sources = {
            node.value: node for group in graph.each for node in group.definitions if not group.is_constant
        }

    def run(self) -> int:
        """Returns the number of rescales."""
        for region in self._graph.regions:
            for node in [node for node in region.floats if node.is_input]:
                self._meet(region.operation, node.index, node)
        for operation, node in self._graph.casts:
            self._meet(operation, 0, node)
        for each in self._graph.forwarded:
            hub = self._graph.group(each.value).hub
            if hub is not None:
                self._meet(each.operation, each.index, hub)
        return len(self._made)

    def _meet(self, operation: Operation, index: int, taker: PropagationNode) -> None:
        """Makes an operand of the type that is taken there."""
        value = operation.operands[index]
        source = self._source(value)
        if source is None or source.type is None or taker.type is None or source.type is taker.type:
            return
        held, taken = source.type, taker.type
        if taker.is_fixed and (source.is_fixed or not isinstance(held, UniformType)):
            return  # the program quantizes a float
        if source.is_fixed and not isinstance(taken, UniformType):
            return  # what has been dequantized is a float
        if (value, taken) not in self._made:
            self._made[value, taken] = _rescale(value, held, taken, self._causes.of(source, taker))
        operation.set_operand(index, self._made[value, taken])

    def _source(self, value: Value) -> PropagationNode | None:
        """The node whose type a value has; None for a float that no region defines."""
        while (operation := value.operation) is not None and operation.name in IDENTITIES:
            value = operation.operands[0]
        if value in self._sources:
            return self._sources[value]
        return self._graph.group(value).hub if value in self._graph.targets else None


def _rescale(value: Value, held: Spec, taken: Spec, cause: str) -> Value:
    block = Block([value.type])
    builder = Builder.after(value)
    inner = Builder(block, builder.location)
    inner.emit("quant.return", [block.arguments[0]])
    attributes = {
        "input_specs": ArrayAttr((TypeAttr(held),)),
        "output_specs": ArrayAttr((TypeAttr(taken),)),
        "kernel": StringAttr(RESCALE),
        "quant.cause": StringAttr(cause),
    }
    return builder.emit("quant.region", [value], [value.type], attributes, [Region([block])]).result


def write_specs(regions: list[GraphRegion]) -> None:
    """Writes the decided types into the regions."""
    for region in regions:
        region.operation.attributes.pop(PORT_STATS, None)
        for side, nodes in (
            ("input_specs", region.nodes[: region.inputs]),
            ("output_specs", region.nodes[region.inputs :]),
        ):
            before = region.operation.attribute(side, ArrayAttr).elements
            after = [
                old if node is None or node.type is None else TypeAttr(node.type)
                for old, node in zip(before, nodes, strict=True)
            ]
            region.operation.attributes[side] = ArrayAttr(tuple(after))
