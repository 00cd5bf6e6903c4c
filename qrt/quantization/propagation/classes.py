"""Classes: sets of nodes that have one type. A node is a port (an operand or result of a region) or a value.

Classes are formed in three steps, each in program order.

1. The ports that a kernel's constraint ``same_scale`` relates become one class, even if annotations give them different
   types. If one of them is annotated `!quant.none`, the class stays float. Otherwise the class takes the type of the
   first result with a type, or else of the first operand with a type.
2. A type that an annotation, a cast or a kernel prescribes spreads along the edges of the graph, to near nodes first.
3. The remaining edges are joined: the classes at both ends of an edge become one.

The classes at the ends of an edge stay separate in these cases:

- Their storage types differ.
- Both have a type, and the types differ.
- One needs more bits than the storage of the other has.
- One has a type that does not cover the range of the other.
- The smallest range that includes the ranges of both is more than ``max_widening`` times as wide as the narrowest range
  of a node in one of them.

There are two exceptions. A use that is the only node of its class takes the type of the definition even if its own
range is wider. The reason is that the definition has clipped the values already. The second exception is a definition
that keeps its values float: a region that uses them keeps them float, too, if its kernel accepts any type and all its
float ports share one class. A use that keeps values float does not affect the definition.
"""

from collections import deque
from fractions import Fraction
from itertools import pairwise

from qrt.errors import shown
from qrt.ir import Operation, StringAttr
from qrt.ir.remarks import remark
from qrt.quantization.propagation.graph import Class, Edge, PropagationGraph, PropagationNode, edges, is_decided
from qrt.quantization.propagation.layout import layout_of_port
from qrt.quantization.propagation.ranges import Ranges
from qrt.quantization.propagation.select import is_symmetric, kept_type
from qrt.quantization.propagation.statistics import Statistics, Storage, covered, covers, hull, width
from qrt.quantization.targets.model import Spec, TargetPort
from qrt.types import AnyQuantizedType, NoQuantizedType, UniformType


def couples(graph: PropagationGraph) -> list[Edge]:
    """Return edges that connect values with equal ``coupledKey``, because their `quant.coupled_ref` asks for one type.

    For each key, an edge leads from the first value to each other value.
    """
    return [edge for _, edge in _coupled(graph)]


def remark_uncoupled(graph: PropagationGraph) -> None:
    """Emit a remark for each `quant.coupled_ref` without effect, because the values with its key differ in type."""
    for operation, edge in _coupled(graph):
        one, other = edge.source.type, edge.target.type
        if one is not None and other is not None and one is not other:
            types = f"it is {other.shown()}, and another value of the key is {one.shown()}"
            remark(
                operation,
                (f"{_named(operation)} couples this value without effect: {types}: annotate both as one type"),
            )
    for group in graph.value_groups:
        for operation in group.couples if group.hub is None else ():
            why = "each use of a constant has its own type" if group.is_constant else "no region uses it"
            remark(operation, f"{_named(operation)} couples this value without effect: {why}")


def _coupled(graph: PropagationGraph) -> list[tuple[Operation, Edge]]:
    first: dict[str, PropagationNode] = {}
    edges: list[tuple[Operation, Edge]] = []
    for group in graph.value_groups:
        for operation in group.couples if group.hub is not None else ():
            assert group.hub is not None
            one = first.setdefault(_key(operation), group.hub)
            if one is not group.hub:
                edges.append((operation, Edge(one, group.hub)))
    return edges


def _key(operation: Operation) -> str:
    return operation.attribute("coupledKey", StringAttr).value


def _named(operation: Operation) -> str:
    return f"key {shown(_key(operation))}"


class Classes:
    """The partition of a graph's nodes into classes that have one type; ``node.in_class`` is the class of a node."""

    def __init__(
        self,
        graph: PropagationGraph,
        statistics: dict[PropagationNode, Statistics],
        ranges: Ranges,
        max_widening: Fraction,
    ) -> None:
        self._ranges, self._limit = ranges, max_widening
        for node in graph.nodes:
            node.in_class = _class_of(node, statistics[node] if node in statistics else Statistics())
        for region in graph.regions:
            if region.kernel is not None and "same_scale" in region.kernel.constraints:
                _tie([n for n in region.floats if n.port is not None and region.kernel.relates(n.port)], region.inputs)
        every = edges(graph)
        for node in graph.nodes:
            if node is node.in_class.nodes[0]:
                node.in_class.measure()
        self._spread(every)
        for edge in (*every, *couples(graph)):
            self._join(edge)
        for side in dict.fromkeys(node.in_class for node in graph.nodes):
            if side.given is None and side.storage is None:
                _complete(side)

    def _spread(self, every: list[Edge]) -> None:
        """Merge classes along edges, from classes that have a type to their neighbours, nearest first.

        ``every`` has all edges of the graph.
        """
        for edge in every:
            for node in (edge.source, edge.target):
                node.in_class.edges.append(edge)
        pending = deque(edge for edge in every if edge.source.in_class.given or edge.target.in_class.given)
        while pending:
            edge = pending.popleft()
            sides = edge.source.in_class, edge.target.in_class
            reached = [side.edges for side in sides if side.given is None]
            if self._join(edge):
                pending.extend(neighbour for edges in reached for neighbour in edges)

    def _join(self, edge: Edge) -> bool:
        source, target = edge.source.in_class, edge.target.in_class
        if source is target or not self.agree(source, target):
            return False
        unite(source, target)
        return True

    def agree(self, source: Class, target: Class) -> bool:
        """Return True if the classes at the two ends of an edge may be merged, so that they have one type."""
        if source.stays_float or target.stays_float:
            return source.given is target.given or (source.stays_float and _may_stay_float(target, source.given))
        if source.given is not None and target.given is not None:
            return source.given is target.given
        if not is_enough(source.storage, target.least) or not is_enough(target.storage, source.least):
            return False
        if isinstance(source.given, UniformType):
            # A single use takes values that their definition has clipped to its type.
            is_use = len(target.nodes) == 1 and target.nodes[0].region is not None
            return self._takes(target, source.given) and (is_use or self._covers(source.given, target))
        if isinstance(target.given, UniformType):
            return self._takes(source, target.given) and self._covers(target.given, source)
        if source.storage is not None and target.storage is not None and source.storage != target.storage:
            return False
        return self._is_near(source, target)

    def _takes(self, side: Class, given: UniformType) -> bool:
        """Return True if all nodes of a class accept the storage, zero points and layout of scales of ``given``."""
        if side.storage is not None and not _is_within(given, side.storage):
            return False
        stored = side.storage or storage_of(given)
        if side.symmetric and not is_symmetric(given, stored.low, stored.high):
            return False
        if given.is_per_layer:
            return True
        return all(node.port is None or _has_layout(node, node.port, given) for node in side.nodes)

    def _covers(self, given: UniformType, side: Class) -> bool:
        """Return False if the range of a class is known to exceed the range of the type ``given``.

        The result is True if this is unknown, because the type has several scales or the class has no range.
        """
        storage = storage_of(given)
        span = self._ranges.chosen(side.statistics, storage, symmetric=side.symmetric, element=side.nodes[0].element)
        return not given.is_per_layer or span is None or covers(given, span)

    def _is_near(self, one: Class, other: Class) -> bool:
        both = hull(one.statistics.span, other.statistics.span)
        if both is None or both[0] == both[1]:
            return True
        most = width(both)
        return all(side.finest is None or most <= self._limit * side.finest for side in (one, other))


def _class_of(node: PropagationNode, statistics: Statistics) -> Class:
    """Return a new class of one node, with the type, storage and least number of bits that the node demands."""
    side = Class([node], statistics, least=node.spec if isinstance(node.spec, AnyQuantizedType) else None)
    if is_decided(node.spec, node.element):
        side.given = node.spec
    if node.port is not None:
        _take_port(side, node, node.port)
    if isinstance(side.given, UniformType):
        side.storage = storage_of(side.given)
    return side


def _take_port(side: Class, node: PropagationNode, port: TargetPort) -> None:
    """Set the type or storage of a node's new class to what the kernel requires at the node's ``port``."""
    assert node.region is not None
    assert node.region.kernel is not None
    fixed = node.fixed
    if fixed is not None and not isinstance(side.given, NoQuantizedType):
        if isinstance(side.given, UniformType) and side.given is not fixed:
            _overruled(node, fixed)
        side.given = fixed
    elif port.is_float:
        side.given = kept_type(port, node.element)
    elif not port.is_wildcard:
        side.storage, side.symmetric = _storage_of_port(port), port.symmetric
    default = node.region.kernel.default.get(port.name)
    if default is not None:
        side.default = node.number, default


def unite(one: Class, other: Class) -> Class:
    """Merge two classes into one and return it. The nodes of the smaller class are moved to the larger one."""
    if len(one.nodes) < len(other.nodes):
        one, other = other, one
    one.nodes += other.nodes
    one.edges += other.edges
    one.statistics = one.statistics.add(other.statistics)
    known = [side.finest for side in (one, other) if side.finest is not None]
    one.finest = min(known, default=None)
    one.storage = next((side.storage for side in (one, other) if side.given is not None), one.storage or other.storage)
    one.symmetric |= other.symmetric
    one.given = one.given or other.given
    one.least = _larger(one.least, other.least)
    defaults = [side.default for side in (one, other) if side.default is not None]
    one.default = min(defaults, key=lambda default: default[0], default=None)
    for node in other.nodes:
        node.in_class = one
    return one


def _tie(nodes: list[PropagationNode], inputs: int) -> None:
    """Merge the classes of the nodes that a kernel requires to have one type (``same_scale``), and set this type.

    ``inputs`` is the number of the region's operands. Raises VerifyError if expressed types or storages differ.
    """
    ordered = [node for node in nodes if node.index >= inputs] + [node for node in nodes if node.index < inputs]
    if not ordered:
        return
    given = next((n.in_class.given for n in ordered if n.in_class.stays_float), None)
    given = given or next((n.in_class.given for n in ordered if n.in_class.given is not None), None)
    for node in ordered:
        if given is not None and node.in_class.given not in (None, given):
            _overruled(node, given)
        elif isinstance(given, UniformType) and node.in_class.given is None:
            _clipped(node, given)
    for one, other in pairwise(nodes):
        if one.in_class is not other.in_class:
            if one.element is not other.element:
                assert one.region is not None
                elements = f"{one.element} and {other.element}"
                raise one.region.operation.error(
                    f"{one.where} and {other.where} must have the same type, but have the expressed types {elements}"
                )
            storages = {side.in_class.storage for side in (one, other)} - {None}
            if len(storages) > 1 and given is None:
                assert one.region is not None
                raise one.region.operation.error(
                    f"{one.where} and {other.where} must have the same type, but the target needs "
                    "different storage for them"
                )
            unite(one.in_class, other.in_class)
    joined = ordered[0].in_class
    joined.given = given
    if isinstance(given, UniformType):
        joined.storage = storage_of(given)


def _overruled(node: PropagationNode, given: Spec) -> None:
    """Emit a remark if the constraint of a node's kernel replaces the node's annotated type by ``given``."""
    assert node.region is not None
    if is_decided(node.spec, node.element):
        remark(
            node.region.operation,
            f"{node.where} is {given.shown()}: the constraint of the kernel takes precedence over its annotation "
            f"{node.spec.shown()}",
        )


def _clipped(node: PropagationNode, given: UniformType) -> None:
    """Emit a remark if ``given``, the type of another port, clips the range of a node by more than one scale."""
    assert node.region is not None
    span, (low, high), step = node.in_class.statistics.span, covered(given), float(given.scale_array.max())
    if span is not None and (span[0] < low - step or span[1] > high + step):
        remark(
            node.region.operation,
            f"{node.where} has values from {span[0]:.6g} to {span[1]:.6g}, which are clipped to {low:.6g} to "
            f"{high:.6g}: the kernel's ports must have the same type, and {given.shown()} is that of another port",
        )


def storage_of(given: UniformType) -> Storage:
    """Return the storage type of a quantized type, with its bounds."""
    return Storage(given.storage, given.storage_min, given.storage_max)


def _storage_of_port(port: TargetPort) -> Storage:
    assert port.low is not None
    assert port.high is not None
    return Storage(port.storage, port.low, port.high)


def _has_layout(node: PropagationNode, port: TargetPort, given: UniformType) -> bool:
    layout = layout_of_port(port, node)
    return layout is not None and layout.is_of(given)


def is_enough(storage: Storage | None, least: AnyQuantizedType | None) -> bool:
    """Return True if a storage has the bits that ``least`` demands, and as many values if ``least`` has bounds.

    The result is also True if either is None, because nothing is demanded then.
    """
    if least is None or storage is None:
        return True
    return least.is_met_by(int(storage.name.lstrip("siu")), storage.low, storage.high)


def _is_within(given: UniformType, storage: Storage) -> bool:
    """Return True if a type has the same storage type as ``storage``, and bounds within those of ``storage``."""
    return given.storage == storage.name and storage.low <= given.storage_min <= given.storage_max <= storage.high


def _may_stay_float(side: Class, given: Spec | None) -> bool:
    """Return True if a class may take the float type ``given``, because none of its nodes needs a quantized type.

    If ``given`` is `!quant.none`, each region with a node in the class must have all its float operands and results
    there. If it is a narrower float, the class must contain no operand or result of a region.
    """
    if side.given is not None or side.storage is not None or side.least is not None:
        return False
    return all(
        node.region is None
        or (isinstance(given, NoQuantizedType) and all(n.in_class is side for n in node.region.floats))
        for node in side.nodes
    )


def _larger(one: AnyQuantizedType | None, other: AnyQuantizedType | None) -> AnyQuantizedType | None:
    if one is None or other is None:
        return other if one is None else one

    def key(least: AnyQuantizedType) -> tuple[int, int]:
        return least.storage_width, 0 if least.has_default_bounds else least.storage_max - least.storage_min

    return max((one, other), key=key)


def _complete(side: Class) -> None:
    """Set the storage of a class whose kernels accept any type: a kernel's default storage or an annotated least width.

    The default is that of the first port, in program order, that has a default. A wider annotated width takes
    precedence.
    """
    port = side.default[1] if side.default is not None else None
    if port is not None and port.is_float:
        side.given = kept_type(port, side.nodes[0].element)
    elif port is not None and is_enough(_storage_of_port(port), side.least):
        side.storage, side.symmetric = _storage_of_port(port), side.symmetric or port.symmetric
    elif side.least is not None:
        side.storage = Storage(side.least.storage, side.least.storage_min, side.least.storage_max)
