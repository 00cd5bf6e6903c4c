"""The type of each class: from its range, and from the constraints of the kernels that have ports in it.

Regions are visited from a heap, the least number first. A visit proposes a type for each class of its ports that has
none and has a range, lets the kernel's constraint change what is not decided, and decides all of it. Whatever it
decides puts the other regions with ports in these classes back on the heap. A class is decided once, so there are at
most as many visits as regions and ports.

A hub that is in a class with no port takes the widest type of the value's uses: what is handed on is not clipped for
one of them.

A constraint that a target names may need another type at a port than its class has: the port then leaves its class,
and a rescale will stand there. A function that a target brings may not: that is an error.
"""

import heapq
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.errors import QuantError, shown
from qrt.ir.dialects.quant.port_stats import port_range
from qrt.ir.dialects.quant.region import RegionOp
from qrt.ir.remarks import remark
from qrt.quantization.propagation.classes import storage_of
from qrt.quantization.propagation.graph import Class, GraphRegion, PropagationGraph, PropagationNode, is_decided
from qrt.quantization.propagation.layout import PortLayout, layout_of_port
from qrt.quantization.propagation.ranges import Ranges, Wanted, own_range
from qrt.quantization.propagation.select import fits
from qrt.quantization.propagation.statistics import covered, width
from qrt.quantization.targets.constraints import bias_fits, constraint_of
from qrt.quantization.targets.model import QuantFn, Spec, Target
from qrt.types import FloatType, NoQuantizedType, UniformType

Array = npt.NDArray[Any]

_MOST_SAID = 300
"""Characters of somebody else's message."""
_NO_FLOAT = NoQuantizedType(FloatType("f32"))


class Decider:
    """Visits the regions of a graph."""

    def __init__(
        self, graph: PropagationGraph, target: Target, ranges: Ranges, order: Sequence[int] | None = None
    ) -> None:
        """`order` is the start of the heap, which has no influence; what it leaves out comes last."""
        self._graph, self._target, self._ranges = graph, target, ranges
        every = range(len(graph.regions))
        self._heap = [*dict.fromkeys([number for number in order or () if number in every] + [*every])]
        self._functions: dict[int, QuantFn] = {}
        self._visited: set[int] = set()
        self.proposed: dict[Class, Spec] = {}
        """The types that were chosen from ranges and values, before a constraint changed them."""
        self.visits = 0
        for node in graph.nodes:
            if node.in_class.given is not None:
                node.in_class.type = node.in_class.given

    @property
    def bound(self) -> int:
        """The number of regions and ports, which visits cannot pass."""
        return len(self._graph.regions) + sum(1 for node in self._graph.nodes if node.region is not None)

    def run(self) -> None:
        """Decides every class."""
        self._ranges.prepare(self._wanted())
        heapq.heapify(self._heap)
        waiting = set(self._heap)
        while self._heap:
            number = heapq.heappop(self._heap)
            waiting.discard(number)
            self.visits += 1
            for each in self._visit(self._graph.regions[number]):
                if each not in waiting:
                    waiting.add(each)
                    heapq.heappush(self._heap, each)
        assert self.visits <= self.bound
        for node in self._graph.nodes:
            if node.region is not None and node.type is None:
                raise node.region.operation.error(_undecided(node))
        for node in self._graph.nodes:
            if node.region is None and node.type is None and node.group is not None:
                node.in_class.type = _widest([use.type for use in node.group.uses])

    def _wanted(self) -> Iterator[Wanted]:
        """The ranges of which types are proposed, as far as storage and range are known."""
        for each in dict.fromkeys(node.in_class for node in self._graph.nodes if node.type is None):
            storage, first = each.storage, each.nodes[0]
            if storage is not None and not is_own_constant(each):
                statistics, symmetric = each.statistics, each.symmetric
                span = self._ranges.chosen(statistics, storage, symmetric=symmetric, element=first.element)
                if span is not None:
                    yield span, storage, symmetric, first.element

    def _visit(self, region: GraphRegion) -> list[int]:
        """Decides the classes of a region's ports. Returns the regions that this concerns."""
        fresh = [node for node in region.floats if node.type is None]
        if not fresh and region.number in self._visited:
            return []
        self._visited.add(region.number)
        bias = _bias_of(region)
        proposed: dict[Class, Spec] = {}
        for node in fresh:
            if node is not bias and node.in_class not in proposed:
                self._propose(node.in_class, proposed)
        if region.kernel is not None:
            self._constrain(region, proposed)
            if bias is not None and bias.type is None and bias.in_class not in proposed:
                self._propose(bias.in_class, proposed)
                self._constrain(region, proposed)
            if bias is not None and bias.constant is not None:
                self._fit_bias(region, bias, proposed)
        concerned: list[int] = []
        for each, spec in proposed.items():
            each.type = spec
            concerned += [n.region.number for n in each.nodes if n.region is not None and n.region is not region]
        return concerned

    def _propose(self, each: Class, proposed: dict[Class, Spec]) -> None:
        """The type that a class has if no constraint changes it."""
        spec = self._chosen(each)
        if spec is not None:
            proposed[each] = self.proposed[each] = spec

    def _chosen(self, each: Class) -> Spec | None:
        """The type that values, or what is known of their range, give a class."""
        storage, first = each.storage, each.first
        if storage is None:
            return None
        try:
            if is_own_constant(each):
                return self._ranges.of_constant(first, storage, symmetric=each.symmetric)
            if (rows := _channels(each)) is not None:
                return self._ranges.of_channels(*rows, storage, symmetric=each.symmetric)
            statistics = each.statistics
            span = self._ranges.chosen(statistics, storage, symmetric=each.symmetric, element=first.element)
            if span is None:
                return None
            return self._ranges.type_of(span, storage, symmetric=each.symmetric, element=first.element)
        except QuantError as error:
            assert first.region is not None
            raise first.region.operation.error(f"{first.where}: {error}") from None

    # -- constraints ---------------------------------------------------------------------------------------------------

    def _constrain(self, region: GraphRegion, proposed: dict[Class, Spec]) -> None:
        """Calls the constraint until it changes nothing more, and takes what it has changed."""
        for _ in range(len(region.nodes) + 1):
            before = _specs(region, proposed)
            after = self._called(region, before)
            if all(new is old for new, old in zip(after, before, strict=True)):
                return
            for i, node in enumerate(region.nodes):
                if node is not None and after[i] is not before[i]:
                    same = {after[n.index] for n in region.floats if n.in_class is node.in_class and n.own is None}
                    self._change(region, node, after[i], proposed, is_alone=len(same) > 1)
        raise region.operation.error(
            f"the constraint of {shown(region.name)} does not settle: it changes a type at every call"
        )

    def _called(self, region: GraphRegion, before: list[Spec]) -> list[Spec]:
        """The types that a constraint leaves, which must say what it has changed."""
        assert region.kernel is not None
        if region.kernel.constraint == "free":
            return before
        function = self._functions.get(id(region.kernel))
        if function is None:
            function = constraint_of(region.kernel, coarser_bias=self._target.coarser_bias)
            self._functions[id(region.kernel)] = function
        inputs, outputs = before[: region.inputs], before[region.inputs :]
        try:
            changed = function(inputs, outputs)
        except Exception as error:  # a function of somebody else's may raise anything
            raise region.operation.error(f"the constraint of {shown(region.name)} fails: {_said(error)}") from error
        _check_returned(region, changed, inputs, outputs, before)
        return [*inputs, *outputs]

    def _change(
        self,
        region: GraphRegion,
        node: PropagationNode,
        new: Spec,
        proposed: dict[Class, Spec],
        *,
        is_alone: bool = False,
    ) -> None:
        """Takes another type at a port: as its class's if that is open, and no port of the region in it disagrees."""
        assert region.kernel is not None
        said = f"the constraint of {shown(region.name)}"
        if not _expresses(new, node.element) or node.port is None or not fits(node.port, new, node):
            raise region.operation.error(
                f"{said} gives {node.where} {new.shown()}, which the target does not accept there"
            )
        storage = node.in_class.storage
        is_stored = storage is None or not isinstance(new, UniformType) or storage_of(new) == storage
        if node.type is None and not is_alone and is_stored:
            proposed[node.in_class] = new
        elif not callable(region.kernel.constraint):
            self._leave(node, new)
        elif node.type is None:
            raise region.operation.error(
                f"{said} gives {node.where} {new.shown()}: all ports of a value must have the same type"
            )
        else:
            raise region.operation.error(
                f"{said} changes {node.where} to {new.shown()}, but its type {node.type.shown()} is chosen already"
            )

    def _leave(self, node: PropagationNode, new: Spec) -> None:
        """Gives a port a type of its own."""
        node.own = new
        if node.spec is not new and is_decided(node.spec, node.element):
            assert node.region is not None
            remark(
                node.region.operation,
                f"{node.where} is {new.shown()}: the constraint of the kernel takes precedence over its annotation "
                f"{node.spec.shown()}",
            )

    # -- biases --------------------------------------------------------------------------------------------------------

    def _fit_bias(self, region: GraphRegion, bias: PropagationNode, proposed: dict[Class, Spec]) -> None:
        """A bias that passes its storage takes a coarser scale, where the target has such; else its weights do."""
        type = _type(bias, proposed)
        if not isinstance(type, UniformType) or bias.constant is None:
            return
        exponents = bias_fits(bias.constant, type.scale_array, type.storage)
        if not exponents.any():
            return
        most = int(exponents.max())
        if self._target.coarser_bias:
            node, what = bias, "has a scale that is coarser than that of the sums"
        else:
            node, what = _weights_of(region), "grows the scale of the weights"
        held = _type(node, proposed)
        assert isinstance(held, UniformType)
        grown = _scaled(held, exponents)
        if node.type is None and len(node.in_class.nodes) == 1:
            proposed[node.in_class] = grown
        else:
            self._leave(node, grown)
        remark(region.operation, f"{bias.where} overflows {type.storage} and {what} by up to 2^{most}")
        self._constrain(region, proposed)
        type = _type(bias, proposed)
        if isinstance(type, UniformType) and bias_fits(bias.constant, type.scale_array, type.storage).any():
            raise region.operation.error(f"{bias.where} overflows {type.storage} at every scale: the bias is too large")


def _widest(types: list[Spec | None]) -> Spec | None:
    """The type of one scale that stands for the widest range, the first of several; None where there is none."""
    known = [type for type in types if isinstance(type, UniformType) and type.is_per_layer]
    return max(known, key=lambda type: width(covered(type)), default=None)


def _said(error: Exception) -> str:
    """An exception of somebody else's, whose text may fail too."""
    try:
        said = str(error) if isinstance(error, QuantError) else f"{type(error).__name__}: {error}"
    except Exception:
        said = type(error).__name__
    return " ".join(said.split())[:_MOST_SAID]


def _check_returned(
    region: GraphRegion, changed: object, inputs: list[Spec], outputs: list[Spec], before: list[Spec]
) -> None:
    """An error if a constraint has changed something else than it says, or not to types."""
    said = f"the constraint of {shown(region.name)}"
    counts = region.inputs, len(region.nodes) - region.inputs
    is_pair = isinstance(changed, tuple) and len(changed) == 2 and all(isinstance(each, list) for each in changed)
    if not is_pair or (len(inputs), len(outputs)) != counts:
        raise region.operation.error(f"{said} must return the lists of the inputs and outputs that it has changed")
    assert isinstance(changed, tuple)
    for side, count in zip(changed, counts, strict=True):
        if not all(isinstance(i, int | np.integer) and 0 <= i < count for i in side):
            raise region.operation.error(f"{said} returned changed ports {shown(side)}, but there are {count}")
    named = {*changed[0], *(region.inputs + i for i in changed[1])}
    for i, (new, old) in enumerate(zip((*inputs, *outputs), before, strict=True)):
        if new is not old and i not in named:
            node = region.nodes[i]
            where = node.where if node is not None else f"port {i}"
            raise region.operation.error(f"{said} changed {where}, but did not return it as changed")
        if not isinstance(new, Spec):
            raise region.operation.error(f"{said} set port {i} to {shown(new)}, which is not a type")


def _expresses(spec: Spec, element: FloatType) -> bool:
    """Whether a type decides a port of these values."""
    return is_decided(spec, element) and (isinstance(spec, FloatType) or spec.expressed_type is element)


def is_own_constant(each: Class) -> bool:
    """Whether a class is one use of a constant, of which no annotation says a range; or in blocks, which one range says
    nothing of."""
    (node, *others) = each.nodes
    if others or node.constant is None:
        return False
    return own_range(node) is None or (node.port is not None and node.port.blocks is not None)


def _channels(each: Class) -> tuple[PropagationNode, PortLayout, Array] | None:
    """The port whose kernel takes a scale for each channel, where statistics say a range for each: the only one of a
    class."""
    ports = [node for node in each.nodes if node.region is not None]
    node, port, region = ports[0], ports[0].port, ports[0].region
    if len(ports) != 1 or port is None or region is None or each.statistics.records:
        return None
    assert isinstance(region.operation, RegionOp)
    layout, found = layout_of_port(port, node), port_range(region.operation, node.index)
    if layout is None or layout.axis is None or found is None or found.channels is None or found.axis != layout.axis:
        return None
    return (node, layout, found.channels) if len(found.channels) == layout.shape[layout.axis] else None


def _type(node: PropagationNode, proposed: dict[Class, Spec]) -> Spec:
    """The type of a node, as far as it is known."""
    return node.type or proposed.get(node.in_class, node.element)


def _specs(region: GraphRegion, proposed: dict[Class, Spec]) -> list[Spec]:
    """What a constraint is given. Ports that are no floats are nothing that it may change."""
    return [_NO_FLOAT if node is None else _type(node, proposed) for node in region.nodes]


def _related(region: GraphRegion) -> list[PropagationNode]:
    """The operands that the constraint relates."""
    assert region.kernel is not None
    return [n for n in region.floats if n.is_input and n.port is not None and region.kernel.relates(n.port)]


def _bias_of(region: GraphRegion) -> PropagationNode | None:
    """The operand whose type follows from the two factors."""
    if region.kernel is None or region.kernel.constraint != "multiplier_accumulator_scale":
        return None
    related = _related(region)
    return related[2] if len(related) > 2 else None


def _weights_of(region: GraphRegion) -> PropagationNode:
    return _related(region)[1]


def _scaled(held: UniformType, exponents: Array) -> UniformType:
    """Scales times a power of two for each channel; one for all of them where the channels have no scales."""
    scales = held.scale_array
    per_channel = exponents.reshape(-1)
    if held.is_per_axis and len(per_channel) == scales.size:
        return held.with_(scales=np.ldexp(scales, per_channel), zero_points=held.zero_point_array)
    grown = np.ldexp(scales, int(per_channel.max()))
    zeros = held.zero_points[0] if held.is_per_layer else held.zero_point_array
    return held.with_(scales=float(grown) if held.is_per_layer else grown, zero_points=zeros)


def _undecided(node: PropagationNode) -> str:
    if node.in_class.storage is None:
        return (
            f"no type can be chosen for {node.where}: the kernel accepts any type there and has no "
            "default: annotate it with a !quant.uniform type"
        )
    return (
        f"no type can be chosen for {node.where}: it has no range, and no constraint gives its type: "
        f"annotate it as !quant.calibrated<{node.element}<min:max>>"
    )
