"""The ranges of values that share a type, and the types that cover these ranges. All ranges include 0.

The statistics of a value come from the first of these sources that exists:

1. the fixed type of its definition,
2. the calibration record of its key,
3. the annotated range of its definition,
4. the hull of the annotated ranges of its uses (the smallest range that includes all of them),
5. the first fixed type among its uses,
6. the elements of a constant.

A value with several definitions, such as one that a loop carries, has the hull of their ranges.

A region's operand or result has the statistics of its value, with two exceptions. If it has an annotated type, its
range is that of this type. If it has an annotated range, and the value has no record, the annotated range is used. It
is clipped to the range of the definition's type if that is fixed.

The range of a class (nodes that have one type) is the hull of its nodes' statistics. The method ``minmax`` uses this
hull. Other methods choose a range from the sum of the histograms of the class's records, in which each record counts
once. The range of the class is then the hull of the chosen range and the ranges of nodes without a histogram.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from hashlib import sha256
from typing import Any, TypeVar

import numpy as np

from qrt.errors import QuantTypeError
from qrt.ir.dialects.quant.port_stats import port_range
from qrt.ir.dialects.quant.region import RegionOp
from qrt.numerics.ranges import range_parameters
from qrt.numerics.sums import require_finite
from qrt.quantization.calibration.records import Record, RecordMethod, chosen_range
from qrt.quantization.propagation.graph import PropagationGraph, PropagationNode, ValueGroup
from qrt.quantization.propagation.layout import PortLayout, layout_of_port
from qrt.quantization.propagation.statistics import Span, Statistics, Storage, covered, hull, reaching_0
from qrt.tensor.choose import Method, choose_ranges
from qrt.tensor.choose import Storage as Chosen
from qrt.types import AnyQuantizedType, CalibratedType, FloatType, NoQuantizedType, UniformType

Value = TypeVar("Value")
_CACHE: ContextVar[dict[Any, tuple[Any, Any]] | None] = ContextVar("qrt_cached_ranges", default=None)


@contextmanager
def ranges_cached() -> Iterator[None]:
    """Return a context manager: inside the ``with`` block, `cached` computes each result once."""
    token = _CACHE.set({} if _CACHE.get() is None else _CACHE.get())
    try:
        yield
    finally:
        _CACHE.reset(token)


def cached(key: Callable[[], Any], holds: Any, make: Callable[[], Value]) -> Value:
    """Return ``make()``, or the result of an earlier call with an equal ``key()`` in the same ``ranges_cached`` block.

    ``holds`` is kept alive together with the result. The key may therefore contain the `id` of ``holds`` or its
    elements.
    """
    known = _CACHE.get()
    if known is None:
        return make()
    name = key()
    if name not in known:
        known[name] = make(), holds
    value: Value = known[name][0]
    return value


def attach(graph: PropagationGraph, records: dict[str, Record] | None) -> dict[PropagationNode, Statistics]:
    """Return the statistics of every node: its range and the calibration records that apply to it."""
    statistics: dict[PropagationNode, Statistics] = {}
    for group in graph.value_groups:
        value = _of_group(group, records or {})
        fixed = initial_type(group.definitions[0]) if len(group.definitions) == 1 and not group.is_carried else None
        bound = None if fixed is None else covered(fixed)
        is_recorded = any(key in (records or {}) for key in group.keys)
        for node in (*group.definitions, *group.uses):
            own = own_range(node)
            if value is not None and (own is None or (is_recorded and not isinstance(node.spec, UniformType))):
                own = value.copy()
            elif own is not None and bound is not None and own.span is not None and initial_type(node) is None:
                own = Statistics.of_span(_within(own.span, bound))
            if own is None and node.constant is not None:
                own = Statistics.of_span(_span_of(node))
            statistics[node] = own or Statistics()
        if group.hub is not None and group.hub not in statistics:
            statistics[group.hub] = _of_definitions(group, statistics)
    return statistics


def initial_type(node: PropagationNode) -> UniformType | None:
    """Return the quantized type that a kernel or an annotation gives a port before propagation; None without one."""
    if node.fixed is not None and not isinstance(node.spec, NoQuantizedType):
        return node.fixed
    return node.spec if isinstance(node.spec, UniformType) else None


def _within(span: Span, bound: Span) -> Span:
    """Return the intersection of two ranges."""
    return max(span[0], bound[0]), min(span[1], bound[1])


def own_range(node: PropagationNode) -> Statistics | None:
    """Return the range that a node's initial type or own annotation gives; None if the node has neither."""
    given = initial_type(node)
    if given is not None:
        return Statistics.of_span(covered(given))
    if isinstance(node.spec, CalibratedType):
        return Statistics.of_span(reaching_0(node.spec.min, node.spec.max))
    if isinstance(node.spec, AnyQuantizedType) and node.region is not None:
        assert isinstance(node.region.operation, RegionOp)
        range_ = port_range(node.region.operation, node.index)
        return None if range_ is None else Statistics.of_span(reaching_0(range_.low, range_.high))
    return None


def adds_range(use: PropagationNode) -> bool:
    """Return True if the annotated range of a use widens the range of its definition, which has no range of its own."""
    if use.group is None or isinstance(use.spec, UniformType) or own_range(use) is None:
        return False
    return any(own_range(definition) is None for definition in use.group.definitions)


def _owns(nodes: list[PropagationNode]) -> list[Statistics]:
    return [own for node in nodes if (own := own_range(node)) is not None]


def _of_group(group: ValueGroup, records: dict[str, Record]) -> Statistics | None:
    """Return the statistics of a value, from records, annotations, or constants; None if nothing is known."""
    is_single = len(group.definitions) == 1 and not group.is_carried
    if is_single and initial_type(group.definitions[0]) is not None:
        return own_range(group.definitions[0])
    known = [Statistics.of_record(key, records[key]) for key in dict.fromkeys(group.keys) if key in records]
    if not known:
        ranges = [node for node in group.uses if not isinstance(node.spec, UniformType)]
        fixed = [node for node in group.uses if isinstance(node.spec, UniformType)][:1]
        unattached = [Statistics.of_span(reaching_0(statistics.min, statistics.max)) for statistics in group.ranges]
        if is_single:
            known = _owns(group.definitions) or [*_owns(ranges), *unattached]
        else:
            known = [*_owns([*group.definitions, *ranges]), *unattached]
        known = known or _owns(fixed)
        if group.is_carried:
            known += [Statistics.of_span(_hull_of(array)) for array in group.constants if array.size]
    total = None
    for statistics in known:
        total = statistics if total is None else total.add(statistics)
    return total


def _of_definitions(group: ValueGroup, statistics_of: dict[PropagationNode, Statistics]) -> Statistics:
    """Return the union of the statistics of a value's definitions, and of constants that control flow may pass on."""
    total = Statistics()
    for statistics in _definitions(group, statistics_of):
        total = total.add(statistics)
    return total


def _definitions(group: ValueGroup, statistics_of: dict[PropagationNode, Statistics]) -> Iterator[Statistics]:
    yield from (statistics_of[node].copy() for node in group.definitions)
    if group.is_carried:
        yield from (Statistics.of_span(_hull_of(array)) for array in group.constants if array.size)


def _span_of(node: PropagationNode) -> Span:
    assert node.constant is not None
    try:
        require_finite(node.constant, "a constant that a type is chosen from")
    except QuantTypeError as error:
        assert node.region is not None
        raise node.region.operation.error(f"{node.where}: {error}") from None
    return _hull_of(node.constant)


def _hull_of(array: Any) -> Span:
    return reaching_0(float(array.min(initial=0)), float(array.max(initial=0)))


Wanted = tuple[Span, Storage, bool, FloatType]
"""A range, a storage, True if the zero point is in the middle of the storage, and the expressed type."""


class Ranges:
    """The choice of ranges by one method (``minmax``, ``mse``, ...), and a cache of the types that cover ranges."""

    def __init__(self, method: RecordMethod) -> None:
        self.method = method
        self._made: dict[Wanted, UniformType] = {}

    def chosen(self, statistics: Statistics, storage: Storage, *, symmetric: bool, element: FloatType) -> Span | None:
        """Return the range that the method chooses for values with these statistics; None if no range is known.

        The storage and ``symmetric`` (zero point in the middle) are those of the type that will cover the range.
        """
        if self.method == "minmax" or not statistics.records:
            return statistics.span
        kind = Chosen(storage.name, storage.low, storage.high, element.name, symmetric)
        records, method = [*statistics.records.values()], self.method
        chosen = cached(lambda: (*map(id, records), kind, method), records, lambda: chosen_range(records, kind, method))
        return hull(statistics.bare, chosen)

    def prepare(self, wanted: Iterable[Wanted]) -> None:
        """Compute the types that cover many ranges together, which is faster than one call of ``type_of`` for each."""
        by_storage: dict[tuple[Storage, bool, FloatType], list[Span]] = {}
        for span, storage, symmetric, element in dict.fromkeys(wanted):
            by_storage.setdefault((storage, symmetric, element), []).append(span)
        for (storage, symmetric, element), spans in by_storage.items():
            with suppress(QuantTypeError):  # `type_of` raises it again, where the port is known
                self._make(spans, storage, symmetric=symmetric, element=element)

    def type_of(self, span: Span, storage: Storage, *, symmetric: bool, element: FloatType) -> UniformType:
        """Return the per-layer type that covers a range.

        With ``symmetric``, its zero point is in the middle of the storage.
        """
        if (span, storage, symmetric, element) not in self._made:
            self._make([span], storage, symmetric=symmetric, element=element)
        return self._made[span, storage, symmetric, element]

    def _make(self, spans: list[Span], storage: Storage, *, symmetric: bool, element: FloatType) -> None:
        low, high = np.array(spans, np.float64).T
        scales, zeros = range_parameters(low, high, storage.low, storage.high, element.name, symmetric=symmetric)
        for span, scale, zero in zip(spans, scales.tolist(), zeros.tolist(), strict=True):
            self._made[span, storage, symmetric, element] = UniformType(
                storage.name, element, scale, zero, None, None, storage.low, storage.high
            )

    def of_constant(self, node: PropagationNode, storage: Storage, *, symmetric: bool) -> UniformType:
        """Return the type for a node's constant, with the layout of scales that the node's port requires.

        Instead of ``percentile`` and ``entropy``, which estimate ranges from samples, ``minmax`` is used, because all
        elements of a constant are known.
        """
        assert node.port is not None
        assert node.constant is not None
        layout = layout_of_port(node.port, node)
        method: Method = "mse" if self.method == "mse" else "minmax"
        values = node.constant.astype(np.float32 if node.element.width <= 32 else np.float64)
        rows = values.reshape(1, -1) if layout is None else layout.rows(values)
        kind = Chosen(storage.name, storage.low, storage.high, node.element.name, symmetric)
        low, high = cached(
            lambda: (sha256(rows.tobytes()).digest(), str(rows.dtype), rows.shape, kind, method),
            None,
            lambda: choose_ranges(rows, kind, method, 100.0),
        )
        if layout is None:
            return self.type_of((float(low[0]), float(high[0])), storage, symmetric=symmetric, element=node.element)
        return self._of_rows(node, layout, low, high, storage, symmetric=symmetric)

    def of_channels(
        self, node: PropagationNode, layout: PortLayout, rows: Any, storage: Storage, *, symmetric: bool
    ) -> UniformType:
        """Return the type with one scale for each channel; row i of ``rows`` is the range (low, high) of channel i."""
        low, high = np.minimum(rows[:, 0], 0.0) + 0.0, np.maximum(rows[:, 1], 0.0) + 0.0
        return self._of_rows(node, layout, low, high, storage, symmetric=symmetric)

    def _of_rows(
        self, node: PropagationNode, layout: PortLayout, low: Any, high: Any, storage: Storage, *, symmetric: bool
    ) -> UniformType:
        kind = Chosen(storage.name, storage.low, storage.high, node.element.name, symmetric)
        scales, zeros = kind.parameters(low, high)
        shape = layout.scales_shape
        return UniformType(
            storage.name,
            node.element,
            scales.reshape(shape),
            zeros.reshape(shape),
            storage_min=storage.low,
            storage_max=storage.high,
            **layout.parameters,
        )
