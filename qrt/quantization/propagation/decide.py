"""The choice of a type for each class (nodes that have one type), from its range and from constraints of kernels.

A *port* is an operand or result of a region. Regions are visited from a heap, lowest number first. A visit proposes a
type for each class of the region's ports that has a range but no type yet. The constraint of the region's kernel may
change the proposed types. The visit then makes them final. Other regions with ports in these classes return to the
heap. Each class gets its type once, so there are at most as many visits as regions and ports together.

If a port has no type in the end, its region stays float, with a remark that names the missing annotation; with
``undecided=error``, this is an error.

A value that loops, branches or calls pass on may have a class of its own that contains no port. The class takes the
widest type of the value's uses, so that no use receives values that were clipped for another use.

A constraint may need another type at a port than the port's class has. The port then leaves its class, and a rescale is
inserted at it later.
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
from qrt.quantization.propagation.select import Undecided, fits, stay_float
from qrt.quantization.propagation.statistics import covered, width
from qrt.quantization.targets.constraints import bias_fits, constraint_of
from qrt.quantization.targets.model import QuantFn, Spec, Target
from qrt.quantization.targets.patterns import text_of
from qrt.types import AnyQuantizedType, CalibratedType, FloatType, NoQuantizedType, UniformType

Array = npt.NDArray[Any]

_NO_FLOAT = NoQuantizedType(FloatType("f32"))


class Decider:
    """The loop that visits the regions of a graph until all classes have a type."""

    def __init__(
        self,
        graph: PropagationGraph,
        target: Target,
        ranges: Ranges,
        order: Sequence[int] | None = None,
        undecided: Undecided = "float",
    ) -> None:
        """Put all regions on the heap, those numbered in ``order`` first. The order does not affect the result."""
        self._graph, self._target, self._ranges, self._undecided = graph, target, ranges, undecided
        every = range(len(graph.regions))
        self._heap = [*dict.fromkeys([number for number in order or () if number in every] + [*every])]
        self._functions: dict[int, QuantFn] = {}
        self._visited: set[int] = set()
        self.proposed: dict[Class, Spec] = {}
        """The types chosen from ranges and values, before constraints changed them."""
        self.visits = 0
        for node in graph.nodes:
            if node.in_class.given is not None:
                node.in_class.type = node.in_class.given

    @property
    def bound(self) -> int:
        """The number of regions and their operands and results, which is an upper bound on the number of visits."""
        return len(self._graph.regions) + sum(1 for node in self._graph.nodes if node.region is not None)

    def run(self) -> None:
        """Choose the types of all classes of nodes. A region for which a type is missing stays float."""
        self._ranges.prepare(self._undecided_ranges())
        heapq.heapify(self._heap)
        waiting = set(self._heap)
        while self._heap:
            number = heapq.heappop(self._heap)
            waiting.discard(number)
            self.visits += 1
            for concerned in self._visit(self._graph.regions[number]):
                if concerned not in waiting:
                    waiting.add(concerned)
                    heapq.heappush(self._heap, concerned)
        assert self.visits <= self.bound
        for region in self._graph.regions:
            self._keep_undecided(region)
        for node in self._graph.nodes:
            if node.region is None and node.type is None and node.group is not None:
                node.in_class.type = _passed_type([use.type for use in node.group.uses])

    def _keep_undecided(self, region: GraphRegion) -> None:
        """Keep a region float if one of its ports has no type. With ``undecided="error"``, raise VerifyError."""
        missing = [_undecided(node) for node in region.floats if node.type is None]
        if missing and self._undecided == "error":
            raise region.operation.error(missing[0])
        if missing:
            stay_float(region, "; ".join(missing))
            for node in region.floats:
                node.own = node.spec

    def _undecided_ranges(self) -> Iterator[Wanted]:
        """Yield (range, storage, symmetry, float type) of each class that has a known range but no type yet."""
        for class_ in dict.fromkeys(node.in_class for node in self._graph.nodes if node.type is None):
            storage, first = class_.storage, class_.nodes[0]
            if storage is not None and not is_own_constant(class_):
                statistics, symmetric = class_.statistics, class_.symmetric
                span = self._ranges.chosen(statistics, storage, symmetric=symmetric, element=first.element)
                if span is not None:
                    yield span, storage, symmetric, first.element

    def _visit(self, region: GraphRegion) -> list[int]:
        """Choose the types of a region's operands and results that have none yet.

        Returns the numbers of other regions with nodes in the same classes. They must be visited again.
        """
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
        for class_, spec in proposed.items():
            class_.type = spec
            concerned += [n.region.number for n in class_.nodes if n.region is not None and n.region is not region]
        return concerned

    def _propose(self, class_: Class, proposed: dict[Class, Spec]) -> None:
        spec = self._chosen(class_)
        if spec is not None:
            proposed[class_] = self.proposed[class_] = spec

    def _chosen(self, class_: Class) -> Spec | None:
        """Return the type that represents the constant, the ranges of channels, or the range of a class of nodes.

        Return None if none of these is known, or if the class has no storage type.
        """
        storage, first = class_.storage, class_.first
        if storage is None:
            return None
        try:
            if is_own_constant(class_):
                return self._ranges.of_constant(first, storage, symmetric=class_.symmetric)
            if (rows := _channels(class_)) is not None:
                return self._ranges.of_channels(*rows, storage, symmetric=class_.symmetric)
            statistics = class_.statistics
            span = self._ranges.chosen(statistics, storage, symmetric=class_.symmetric, element=first.element)
            if span is None:
                return None
            return self._ranges.type_of(span, storage, symmetric=class_.symmetric, element=first.element)
        except QuantError as error:
            assert first.region is not None
            raise first.region.operation.error(f"{first.where}: {error}") from None

    # -- constraints ---------------------------------------------------------------------------------------------------

    def _constrain(self, region: GraphRegion, proposed: dict[Class, Spec]) -> None:
        """Call the constraint of a region's kernel until no type changes, and add the new types to ``proposed``.

        ``proposed`` has the types, by class, that become final at the end of the visit. Raises VerifyError if a type
        still changes at the last call; one call more than the region has ports is allowed.
        """
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
            f"the constraint of {shown(region.name)} must stop changing types after a few calls, but changes a "
            "type at every call"
        )

    def _called(self, region: GraphRegion, before: list[Spec]) -> list[Spec]:
        """Call the constraint of a region's kernel on the types of the ports, and return the resulting types.

        A constraint returns the numbers of the ports whose types it changes. Raises VerifyError if it changes another
        type, or fails.
        """
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
        except Exception as error:  # a user's function may raise any exception
            raise region.operation.error(f"the constraint of {shown(region.name)} fails: {text_of(error)}") from error
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
        """Give a port the type ``new``, which the constraint of the region's kernel demands.

        The whole class of the port gets the type if it may still change, and has the same storage. Otherwise only the
        port gets the type, and leaves its class. The same happens if ``is_alone`` is True: the constraint then demands
        different types for nodes of the class. Raises VerifyError if the target does not accept the type at the port.
        """
        assert region.kernel is not None
        constraint = f"the constraint of {shown(region.name)}"
        if not _expresses(new, node.element) or node.port is None or not fits(node.port, new, node):
            raise region.operation.error(
                f"{constraint} sets {node.where} to {new.shown()}, but the kernel does not accept this type there"
            )
        storage = node.in_class.storage
        is_stored = storage is None or not isinstance(new, UniformType) or storage_of(new) == storage
        if node.type is None and not is_alone and is_stored:
            proposed[node.in_class] = new
        else:
            self._leave(node, new)

    def _leave(self, node: PropagationNode, new: Spec) -> None:
        """Give a node the type ``new`` independently of its class; emit a remark if this overrides an annotation."""
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
        """Multiply the scales of a constant bias by powers of two if its values overflow its storage.

        If the target does not allow a coarser bias, the scales of the weights are multiplied instead. Emits a remark.
        Nothing changes while a factor of the product has no type, because the scale of the bias is then not yet known.
        """
        type = _type(bias, proposed)
        factors = [_type(node, proposed) for node in _related(region)[:2]]
        if bias.constant is None or not all(isinstance(spec, UniformType) for spec in (type, *factors)):
            return
        assert isinstance(type, UniformType)
        exponents = bias_fits(bias.constant, type.scale_array, type.storage)
        if not exponents.any():
            return
        most = int(exponents.max())
        if self._target.coarser_bias:
            node, what = bias, "has a scale that is coarser than that of the sums"
        else:
            node, what = _weights_of(region), "grows the scale of the weights"
        before = _type(node, proposed)
        assert isinstance(before, UniformType)
        grown = _scaled(before, exponents)
        if node.type is None and len(node.in_class.nodes) == 1:
            proposed[node.in_class] = grown
        else:
            self._leave(node, grown)
        remark(region.operation, f"{bias.where} overflows {type.storage} and {what} by up to 2^{most}")
        self._constrain(region, proposed)
        type = _type(bias, proposed)
        if isinstance(type, UniformType) and bias_fits(bias.constant, type.scale_array, type.storage).any():
            raise region.operation.error(f"{bias.where} overflows {type.storage} at every scale: the bias is too large")


def _passed_type(types: list[Spec | None]) -> Spec | None:
    """Return the type of a value that loops, branches or calls pass on, given the types that its uses take.

    The result is the per-layer type with the widest range, and the first if several are equally wide. Without such a
    type, the result is `!quant.none` if all uses have this type, else None.
    """
    known = [type for type in types if isinstance(type, UniformType) and type.is_per_layer]
    floats = [type for type in types if isinstance(type, NoQuantizedType)]
    if not known and floats and len(floats) == len(types):
        return floats[0]
    return max(known, key=lambda type: width(covered(type)), default=None)


def _check_returned(
    region: GraphRegion, changed: object, inputs: list[Spec], outputs: list[Spec], before: list[Spec]
) -> None:
    """Raise VerifyError if a constraint function did not report a changed type, or wrote an object that is no type.

    ``changed`` is the value that the function returned; it must be two lists, of indices of ``inputs`` and ``outputs``.
    """
    constraint = f"the constraint of {shown(region.name)}"
    counts = region.inputs, len(region.nodes) - region.inputs
    is_pair = isinstance(changed, tuple) and len(changed) == 2 and all(isinstance(numbers, list) for numbers in changed)
    if not is_pair or (len(inputs), len(outputs)) != counts:
        raise region.operation.error(
            f"{constraint} must return two lists, the numbers of the inputs and of the outputs that it has changed"
        )
    assert isinstance(changed, tuple)
    for side, count in zip(changed, counts, strict=True):
        if not all(isinstance(i, int | np.integer) and 0 <= i < count for i in side):
            raise region.operation.error(
                f"{constraint} must return numbers of ports from 0 to {count - 1} as changed, got {shown(side)}"
            )
    named = {*changed[0], *(region.inputs + i for i in changed[1])}
    for i, (new, old) in enumerate(zip((*inputs, *outputs), before, strict=True)):
        if new is not old and i not in named:
            node = region.nodes[i]
            where = node.where if node is not None else f"port {i}"
            raise region.operation.error(
                f"{constraint} changed the type of {where}, so it must return its number as changed, but does not"
            )
        if not isinstance(new, Spec):
            raise region.operation.error(f"{constraint} must set ports to types, got {shown(new)} for port {i}")


def _expresses(spec: Spec, element: FloatType) -> bool:
    """Return True if a type is final (quantized, `!quant.none` or a narrower float) for values of type ``element``."""
    return is_decided(spec, element) and (isinstance(spec, FloatType) or spec.expressed_type is element)


def is_own_constant(class_: Class) -> bool:
    """Return True if the type of a class is chosen only from the values of a constant.

    This is so if the class consists of one use of the constant, and the use has no annotated range. If the use is
    quantized in blocks, an annotated range is ignored, because one range does not give a scale for each block.
    """
    (node, *others) = class_.nodes
    if others or node.constant is None:
        return False
    return own_range(node) is None or (node.port is not None and node.port.blocks is not None)


def _channels(class_: Class) -> tuple[PropagationNode, PortLayout, Array] | None:
    """Return the only port in a class, its layout of scales, and the annotated ranges of its channels.

    Return None if the class has several ports, or has calibration records. Also return None unless the port has a
    scale, and an annotation a range, for each channel.
    """
    ports = [node for node in class_.nodes if node.region is not None]
    node, port, region = ports[0], ports[0].port, ports[0].region
    if len(ports) != 1 or port is None or region is None or class_.statistics.records:
        return None
    assert isinstance(region.operation, RegionOp)
    layout, ranges = layout_of_port(port, node), port_range(region.operation, node.index)
    if layout is None or layout.axis is None or ranges is None or ranges.channels is None or ranges.axis != layout.axis:
        return None
    return (node, layout, ranges.channels) if len(ranges.channels) == layout.shape[layout.axis] else None


def _type(node: PropagationNode, proposed: dict[Class, Spec]) -> Spec:
    """Return the type of a node: the final type if there is one, else the proposed type, else the specification.

    A least width in the specification (`!quant.any`) is raised to the storage of the selected kernel's port.
    """
    type, spec, port = node.type or proposed.get(node.in_class), node.spec, node.port
    if type is None and isinstance(spec, AnyQuantizedType) and port is not None and port.low is not None:
        return AnyQuantizedType(port.storage, node.element, port.low, port.high)
    return type or (spec if isinstance(spec, AnyQuantizedType | CalibratedType) else node.element)


def _specs(region: GraphRegion, proposed: dict[Class, Spec]) -> list[Spec]:
    return [_NO_FLOAT if node is None else _type(node, proposed) for node in region.nodes]


def _related(region: GraphRegion) -> list[PropagationNode]:
    """Return the float operands of a region whose types the constraint of its kernel relates."""
    assert region.kernel is not None
    return [n for n in region.floats if n.is_input and n.port is not None and region.kernel.relates(n.port)]


def _bias_of(region: GraphRegion) -> PropagationNode | None:
    """Return the bias, whose scale must be the product of the factors' scales; None if the kernel has no bias."""
    if region.kernel is None or "multiplier_accumulator_scale" not in region.kernel.constraints:
        return None
    related = _related(region)
    return related[2] if len(related) > 2 else None


def _weights_of(region: GraphRegion) -> PropagationNode:
    return _related(region)[1]


def _scaled(type: UniformType, exponents: Array) -> UniformType:
    """Return a type whose scales are multiplied by 2^exponent, with one exponent for each bias value.

    If the type is per axis and has as many scales as there are exponents, scale i is multiplied by 2^exponent i.
    Otherwise all scales are multiplied by the greatest power.
    """
    scales = type.scale_array
    per_channel = exponents.reshape(-1)
    if type.is_per_axis and len(per_channel) == scales.size:
        return type.with_(scales=np.ldexp(scales, per_channel), zero_points=type.zero_point_array)
    grown = np.ldexp(scales, int(per_channel.max()))
    zeros = type.zero_points[0] if type.is_per_layer else type.zero_point_array
    return type.with_(scales=float(grown) if type.is_per_layer else grown, zero_points=zeros)


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
