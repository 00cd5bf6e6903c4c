"""The insertion of rescales: regions that convert a value from the type of its definition to the type of a use.

A value has the type of the region's result that defines it. A result of a loop, branch or call has the type that
propagation chose for the passed-on value. If a region, cast or control flow takes the value with another type, a
rescale is inserted right after the definition: a region with the kernel ``rescale``, which converts the value. Uses
with equal types share one rescale. Its attribute `quant.cause` names both types.

Any other value, such as an argument of the program, is a float, and each use quantizes it. The constraint of a kernel
may give such a use another type than its annotation. The float is then quantized to the annotated type, and rescaled.
"""

from qrt.ir import ArrayAttr, Block, Builder, Operation, Region, StringAttr, TypeAttr, Value
from qrt.ir.core.matching import constant_of
from qrt.ir.dialects.quant.annotations import IDENTITIES
from qrt.ir.dialects.quant.port_stats import PORT_STATS
from qrt.quantization.propagation.graph import RESCALE, GraphRegion, PropagationGraph, PropagationNode
from qrt.quantization.propagation.rescale_causes import RescaleCauses
from qrt.quantization.targets.model import Spec
from qrt.types import UniformType


class Rescaler:
    """The insertion of rescales into a program whose types are all chosen."""

    def __init__(self, graph: PropagationGraph, causes: RescaleCauses) -> None:
        self._graph, self._causes = graph, causes
        self._made: dict[tuple[Value, Spec], Value] = {}
        self._annotated: dict[tuple[Value, Spec, Spec], Value] = {}
        self._sources = {
            node.value: node for group in graph.value_groups for node in group.definitions if not group.is_constant
        }

    def run(self) -> int:
        """Insert all rescales, and return their number."""
        for region in self._graph.regions:
            for node in [node for node in region.floats if node.is_input]:
                self._meet(region.operation, node.index, node)
        for operation, node in self._graph.casts:
            self._meet(operation, 0, node)
        for passed in self._graph.forwarded:
            hub = self._graph.group(passed.value).hub
            if hub is not None:
                self._meet(passed.operation, passed.index, hub)
        return len(self._made) + len(self._annotated)

    def _meet(self, operation: Operation, index: int, taker: PropagationNode) -> None:
        """Insert a rescale of operand ``index`` of an operation if the use takes another type than the value has.

        ``taker`` is the node of the use.
        """
        value = operation.operands[index]
        source = self._source(value)
        if source is None and constant_of(value) is None:
            self._meet_annotation(operation, index, taker)
        if source is None or source.type is None or taker.type is None or source.type is taker.type:
            return
        given, taken = source.type, taker.type
        if taker.is_fixed and (source.is_fixed or not isinstance(given, UniformType)):
            return  # the program itself quantizes a float here
        if source.is_fixed and not isinstance(taken, UniformType):
            return  # a dequantized value is a float
        if (value, taken) not in self._made:
            self._made[value, taken] = _rescale(value, given, taken, self._causes.of(source, taker))
        operation.set_operand(index, self._made[value, taken])

    def _meet_annotation(self, operation: Operation, index: int, taker: PropagationNode) -> None:
        """Rescale a float operand from its annotated type to the type of its node ``taker``, if these types differ.

        They differ if the constraint of the kernel changed the type.
        """
        value, given, taken = operation.operands[index], taker.spec, taker.type
        if not isinstance(given, UniformType) or not isinstance(taken, UniformType) or given is taken:
            return
        if (value, given, taken) not in self._annotated:
            self._annotated[value, given, taken] = _rescale(value, given, taken, self._causes.of_annotation(taker))
        operation.set_operand(index, self._annotated[value, given, taken])

    def _source(self, value: Value) -> PropagationNode | None:
        """Return the node that has the type of a value; None for a float without a type, such as a program's argument.

        For a result of a region or of a `quant.dcast`, this is the node of the result. For a value that control flow
        passes on, such as a result of a loop, it is the value's hub: the node that stands for the type with which the
        value is used.
        """
        while (operation := value.operation) is not None and operation.name in IDENTITIES:
            value = operation.operands[0]
        if value in self._sources:
            return self._sources[value]
        return self._graph.group(value).hub if value in self._graph.targets else None


def _rescale(value: Value, given: Spec, taken: Spec, cause: str) -> Value:
    block = Block([value.type])
    builder = Builder.after(value)
    inner = Builder(block, builder.location)
    inner.emit("quant.return", [block.arguments[0]])
    attributes = {
        "input_specs": ArrayAttr((TypeAttr(given),)),
        "output_specs": ArrayAttr((TypeAttr(taken),)),
        "kernel": StringAttr(RESCALE),
        "quant.cause": StringAttr(cause),
    }
    return builder.emit("quant.region", [value], [value.type], attributes, [Region([block])]).result


def write_specs(regions: list[GraphRegion]) -> None:
    """Write the chosen types into the attributes ``input_specs`` and ``output_specs`` of the regions."""
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
