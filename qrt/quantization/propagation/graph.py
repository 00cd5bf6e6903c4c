"""The graph on which types propagate: operands and results of regions, values, and edges between them.

A float value has no quantized type of its own. Instead it has a *hub*: the node that stands for the type with which the
value is used. If exactly one node, such as a region's result, defines the value, this node is the hub. Otherwise, for
example if a loop carries the value, the hub is an additional node. Edges lead from the definitions of a value to its
hub, and from the hub to the uses. Uses of a constant have no edges, because each use quantizes a copy of the constant.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.errors import QuantTypeError
from qrt.ir import ArrayAttr, Module, Operation, StringAttr, TypeAttr, Value
from qrt.ir.core.constraints import element_of
from qrt.ir.dialects.quant.annotations import IDENTITIES
from qrt.ir.dialects.quant.region import outside_bodies
from qrt.quantization.annotations.convert_stats import annotation_of
from qrt.quantization.forms import KernelForm, form_of
from qrt.quantization.forms.elements import dense_of
from qrt.quantization.propagation.forwarded_values import ForwardedOperand, forwarded
from qrt.quantization.propagation.statistics import Statistics, Storage, width
from qrt.quantization.targets.model import Spec, TargetKernel, TargetPort
from qrt.types import AnyQuantizedType, CalibratedType, FloatType, NoQuantizedType, QuantizedType, UniformType

REGION = "quant.region"
RESCALE, LINEAR = "rescale", "linear"


@dataclass(eq=False)
class PropagationNode:
    """A node of the graph: an operand or a result of a region, a cast that fixes a type, or the hub of a value.

    The hub stands for the type with which a value is used. ``region`` is None for casts and for additional hubs.
    ``index`` counts the region's operands, then its results. ``element`` is the float type of the value. ``spec`` is
    the type before propagation, or ``element`` if nothing is known. ``port`` is the port of the selected kernel
    signature. ``own`` is the node's own type, if a constraint gave the node another type than its class has.
    """

    number: int
    element: FloatType
    value: Value
    spec: Spec
    region: "GraphRegion | None" = None
    index: int = 0
    constant: npt.NDArray[Any] | None = None
    port: TargetPort | None = None
    group: "ValueGroup | None" = None
    own: Spec | None = None
    in_class: "Class" = field(init=False, repr=False)

    @property
    def is_input(self) -> bool:
        return self.region is not None and self.index < self.region.inputs

    @property
    def is_fixed(self) -> bool:
        """True if a cast of the program fixes the type."""
        return self.region is None and isinstance(self.spec, UniformType)

    @property
    def where(self) -> str:
        """The node's name in messages: ``conv2d output 0``."""
        if self.region is None:
            return "a value with a fixed type" if self.is_fixed else "a value that is passed on"
        count = self.region.inputs
        side = f"input {self.index}" if self.index < count else f"output {self.index - count}"
        return f"{self.region.name} {side}"

    @property
    def fixed(self) -> UniformType | None:
        """The complete type that the target prescribes at the node's port; None if it prescribes none."""
        if self.port is None or self.port.given is None or self.region is None:
            return None
        try:
            return self.port.given.with_(expressed=self.element)
        except QuantTypeError as error:
            raise self.region.operation.error(f"{self.where} is fixed by the target: {error}") from None

    @property
    def type(self) -> Spec | None:
        """The chosen type; None while it is unknown."""
        return self.own if self.own is not None else self.in_class.type


@dataclass(eq=False)
class GraphRegion:
    """A ``quant.region`` in the graph, with one node for each operand, then one for each result.

    Operands and results that are not floats have None in ``nodes``. ``inputs`` is the number of operands, ``name`` the
    region's kernel, and ``kernel`` the selected signature; None if the region stays float.
    """

    operation: Operation
    number: int
    name: str
    inputs: int
    nodes: list[PropagationNode | None] = field(default_factory=list)
    kernel: TargetKernel | None = None

    @cached_property
    def form(self) -> KernelForm | None:
        """The body as one call of the kernel's op family; None if the body computes something else."""
        return form_of(self.operation.regions[0].blocks[0], self.name)

    @property
    def floats(self) -> Iterator[PropagationNode]:
        """The nodes of the operands and results that are floats, in order."""
        return (node for node in self.nodes if node is not None)


@dataclass(eq=False)
class ValueGroup:
    """A float value, and all values that equal it because annotations, loops, branches or calls pass it on.

    ``definitions`` are the nodes of region results and `quant.dcast` operations that define the value. ``uses`` are the
    nodes of region operands and `quant.qcast` operations that use it. ``keys`` are the keys of its calibration records,
    and ``couples`` its `quant.coupled_ref` operations. ``constants`` are constants that control flow may pass on as
    this value. ``ranges`` are annotated by `quant.stats` that could not be moved into a region. ``is_carried`` is True
    if control flow passes the value on. ``into`` is the group that this group was merged into.
    """

    values: list[Value] = field(default_factory=list)
    definitions: list[PropagationNode] = field(default_factory=list)
    uses: list[PropagationNode] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    couples: list[Operation] = field(default_factory=list)
    constants: list[npt.NDArray[Any]] = field(default_factory=list)
    ranges: list[CalibratedType] = field(default_factory=list)
    is_carried: bool = False
    hub: PropagationNode | None = None
    into: "ValueGroup | None" = None

    @property
    def is_constant(self) -> bool:
        """True if the value is always the same constant. Each use then quantizes a copy of its own."""
        return bool(self.constants) and not self.is_carried


@dataclass(frozen=True, eq=False)
class Edge:
    """An edge from a node that defines a value to the value's hub, or from the hub to a node that uses the value.

    The hub is the node that stands for the type with which the value is used.
    """

    source: PropagationNode
    target: PropagationNode


@dataclass(eq=False, slots=True)
class Class:
    """A set of nodes that have one type.

    ``given`` is a type that an annotation, a cast or a kernel prescribes, and ``type`` the chosen type. ``least`` is
    the widest `!quant.any` annotation of the nodes. ``finest`` is the width of the narrowest range among the merged
    classes. ``default`` is the number of a node, and a port whose storage is used unless an annotation or kernel
    demands another.
    """

    nodes: list[PropagationNode]
    statistics: Statistics
    finest: Fraction | None = None
    edges: list[Edge] = field(default_factory=list)
    storage: Storage | None = None
    symmetric: bool = False
    given: Spec | None = None
    least: AnyQuantizedType | None = None
    default: tuple[int, TargetPort] | None = None
    type: Spec | None = None

    @property
    def first(self) -> PropagationNode:
        """The node that comes first in program order."""
        return min(self.nodes, key=lambda node: node.number)

    @property
    def stays_float(self) -> bool:
        """True if the prescribed type keeps the values float."""
        return stays_float(self.given, self.nodes[0].element)

    def measure(self) -> None:
        """Set ``finest`` to the width of the class's range, or to None if the range is unknown or a single number."""
        span = self.statistics.span
        self.finest = width(span) if span is not None and span[0] < span[1] else None


@dataclass(eq=False)
class PropagationGraph:
    """The graph of a module: its regions, nodes and groups of equal values.

    ``forwarded`` are operands that control flow passes on, and ``targets`` the values that receive them. ``casts`` are
    the `quant.qcast` operations that fix a type. ``references`` are operations that annotate a value and return it
    unchanged.
    """

    regions: list[GraphRegion] = field(default_factory=list)
    nodes: list[PropagationNode] = field(default_factory=list)
    groups: dict[Value, ValueGroup] = field(default_factory=dict)
    forwarded: list[ForwardedOperand] = field(default_factory=list)
    targets: set[Value] = field(default_factory=set)
    casts: list[tuple[Operation, PropagationNode]] = field(default_factory=list)
    references: list[Operation] = field(default_factory=list)

    def group(self, value: Value) -> ValueGroup:
        """Return the group that a value belongs to, after all merges so far; a new group for a new value."""
        group = self.groups.get(value)
        if group is None:
            group = self.groups[value] = ValueGroup([value])
            if (constant := _constant(value)) is not None:
                group.constants.append(constant)
        while group.into is not None:
            if group.into.into is not None:
                group.into = group.into.into
            group = group.into
        return group

    def merge(self, one: ValueGroup, other: ValueGroup, *, is_carried: bool = True) -> None:
        """Merge the groups of two equal values; ``is_carried`` is True if control flow makes the values equal."""
        if one is not other:
            if len(one.values) < len(other.values):
                one, other = other, one
            for name in ("values", "definitions", "uses", "keys", "couples", "constants", "ranges"):
                getattr(one, name).extend(getattr(other, name))
            one.is_carried |= other.is_carried
            other.into = one
        one.is_carried |= is_carried

    def takes(self, value: Value) -> bool:
        """Return True if a region defines or uses a value, directly or through annotations and control flow."""
        group = self.group(value)
        return bool(group.definitions or group.uses)

    @property
    def value_groups(self) -> list[ValueGroup]:
        """The groups after all merges, in the order in which their first values were added."""
        return list(dict.fromkeys(self.group(value) for value in self.groups))

    def add(self, value: Value, spec: Spec, region: GraphRegion | None = None, index: int = 0) -> PropagationNode:
        """Add a node for a float value, and return it. ``index`` counts the region's operands, then its results."""
        element = element_of(value.type)
        assert isinstance(element, FloatType)
        node = PropagationNode(len(self.nodes), element, value, spec, region, index)
        self.nodes.append(node)
        return node


def build(module: Module) -> PropagationGraph:
    """Build the graph of a module. Regions and nodes are numbered in program order."""
    graph = PropagationGraph()
    for operation in outside_bodies(module.operation):
        if operation.name == REGION:
            _add_region(graph, operation)
        elif operation.name in ("quant.dcast", "quant.qcast"):
            _add_cast(graph, operation)
        elif operation.name in IDENTITIES:
            _add_reference(graph, operation)
        else:
            for operand in forwarded(operation):
                if isinstance(element_of(operand.value.type), FloatType):
                    graph.forwarded.append(operand)
                    graph.targets.add(operand.target)
                    graph.merge(graph.group(operand.value), graph.group(operand.target))
    for group in graph.value_groups:
        _add_hub(graph, group)
    graph.references = [
        operand for operand in graph.references if operand.name != "quant.stats" or graph.takes(operand.results[0])
    ]
    return graph


def edges(graph: PropagationGraph) -> list[Edge]:
    """Return all edges, value by value; the edges from definitions come before those to uses."""
    result: list[Edge] = []
    for group in graph.value_groups:
        if group.hub is not None:
            result += [Edge(node, group.hub) for node in group.definitions if node is not group.hub]
            result += [Edge(group.hub, node) for node in group.uses]
    return result


def stays_float(spec: Spec | None, element: FloatType) -> bool:
    """Return True if a type keeps values float: `!quant.none`, or a float type that is not ``element``."""
    return isinstance(spec, NoQuantizedType) or (isinstance(spec, FloatType) and spec is not element)


def is_decided(spec: Spec | None, element: FloatType) -> bool:
    """Return True if a type is final: quantized with its parameters, `!quant.none`, or a narrower float."""
    return isinstance(spec, UniformType) or stays_float(spec, element)


def _add_region(graph: PropagationGraph, operation: Operation) -> None:
    name = operation.attribute("kernel", StringAttr).value
    region = GraphRegion(operation, len(graph.regions), name, len(operation.operands))
    graph.regions.append(region)
    specs = [
        spec.type
        for side in ("input_specs", "output_specs")
        for spec in operation.attribute(side, ArrayAttr).elements
        if isinstance(spec, TypeAttr)
    ]
    for index, (value, spec) in enumerate(zip((*operation.operands, *operation.results), specs, strict=True)):
        if not isinstance(element_of(value.type), FloatType):
            region.nodes.append(None)
            continue
        assert isinstance(spec, QuantizedType | FloatType)
        node = graph.add(value, spec, region, index)
        region.nodes.append(node)
        group = graph.group(value)
        (group.uses if index < region.inputs else group.definitions).append(node)


def _add_cast(graph: PropagationGraph, operation: Operation) -> None:
    """Add a node for a cast that fixes a type: the result of a `quant.dcast`, or the operand of a `quant.qcast`."""
    is_source = operation.name == "quant.dcast"
    value, other = operation.results[0], operation.operands[0]
    if not is_source:
        value, other = other, value
    given = element_of(other.type)
    if isinstance(given, UniformType):
        node = graph.add(value, given)
        group = graph.group(value)
        (group.definitions if is_source else group.uses).append(node)
        if not is_source:
            graph.casts.append((operation, node))


def _add_reference(graph: PropagationGraph, operation: Operation) -> None:
    """Merge the operand and result of an annotation into one group, which gets the annotated range, key or coupling."""
    if not isinstance(element_of(operation.results[0].type), FloatType):
        return
    group, result = graph.group(operation.operands[0]), graph.group(operation.results[0])
    is_carried = group.is_carried or result.is_carried
    graph.merge(group, result, is_carried=is_carried)
    group = graph.group(operation.operands[0])
    annotation = annotation_of(operation)
    graph.references.append(operation)
    if annotation is not None:
        assert isinstance(annotation.spec, CalibratedType)
        group.ranges.append(annotation.spec)
    elif operation.name == "quant.stats_ref":
        group.keys.append(operation.attribute("statsKey", StringAttr).value)
    else:
        group.couples.append(operation)


def _add_hub(graph: PropagationGraph, group: ValueGroup) -> None:
    for nodes in (group.definitions, group.uses):
        nodes.sort(key=lambda node: node.number)
        for node in nodes:
            node.group = group
    if group.is_constant:
        for node in group.uses:
            node.constant = group.constants[0]
    elif group.uses or (group.couples and group.definitions):
        if len(group.definitions) == 1 and not group.is_carried:
            group.hub = group.definitions[0]
        else:
            group.hub = graph.add(group.values[0], (*group.uses, *group.definitions)[0].element)
            group.hub.group = group


def _constant(value: Value) -> npt.NDArray[Any] | None:
    """Return the values of a float constant; None if the value is not constant."""
    constant = dense_of(value)
    if constant is not None and isinstance(constant.element, FloatType):
        return np.asarray(constant.python)
    return None
