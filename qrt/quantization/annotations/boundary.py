"""The move of annotations into the specifications (`input_specs`, `output_specs`) of regions.

An annotation is an operation on a value that is the result of one region or the operand of another. The specification
of a port (an operand or result of a region) is combined with the nearest annotation of the port's value.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from qrt.errors import Diagnostic
from qrt.ir import Module, Operation, Value
from qrt.ir.core.constraints import element_of
from qrt.ir.core.matching import require_acyclic
from qrt.ir.dialects.quant import FAKE_QUANTS
from qrt.ir.dialects.quant.annotations import IDENTITIES
from qrt.ir.dialects.quant.port_stats import PortRange, port_range, set_port_ranges
from qrt.ir.dialects.quant.region import RegionOp
from qrt.ir.remarks import remark
from qrt.types import AnyQuantizedType, CalibratedType, NoQuantizedType, Type, UniformType

ANNOTATIONS = frozenset({*IDENTITIES, *FAKE_QUANTS})
"""The operations that yield their operand, unchanged or rounded."""


@dataclass(frozen=True)
class AnnotatedType:
    """The type that an annotation gives a value, and the annotated range, or None if the annotation has no range."""

    spec: Type
    range: PortRange | None = None


Reading = Callable[[Operation], AnnotatedType | None]
"""A function that returns the annotation that an operation carries; None for other operations."""


def source(operation: Operation) -> Value | None:
    """Return the operand of an annotation, or `x` for the `dcast` of `dcast(qcast(x))`; None for other operations."""
    if operation.name in ANNOTATIONS:
        return operation.operands[0]
    cast = operation.operands[0].operation if operation.name == "quant.dcast" else None
    return cast.operands[0] if cast is not None and cast.name == "quant.qcast" else None


@dataclass
class Boundaries:
    """The outermost regions of a module, and all operations that are not inside a region, in program order."""

    module: Module
    regions: list[RegionOp] = field(default_factory=list)
    outside: list[Operation] = field(default_factory=list)
    _order: dict[Operation, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_acyclic(self.module.operation)
        pending = [self.module.operation]
        while pending:
            operation = pending.pop()
            self._order[operation] = len(self.outside)
            self.outside.append(operation)
            if isinstance(operation, RegionOp):
                self.regions.append(operation)
            else:
                inner = [child for region in operation.regions for block in region.blocks for child in block]
                pending.extend(reversed(inner))

    def move(self, read: Reading) -> tuple[dict[Operation, None], dict[Operation, None]]:
        """Move annotations into the specifications of regions, and return the annotation operations.

        ``read`` returns the type and range that an annotation operation gives its value, and None for other operations.
        The result is two ordered sets, as keys of dictionaries: the annotations between regions' results and their
        uses, and those between regions' operands and their definitions. An annotation between two regions is in both
        sets. No operation is erased.
        """
        of_results: dict[Operation, None] = {}
        of_operands: dict[Operation, None] = {}
        for region in self.regions:
            nearest: dict[int, tuple[Operation, AnnotatedType]] = {}
            for port, value in enumerate(region.ports):
                is_operand = port < len(region.operands)
                for operation in self._behind(value) if is_operand else self._ahead(value):
                    annotation = read(operation)
                    if annotation is not None:
                        (of_operands if is_operand else of_results)[operation] = None
                        nearest.setdefault(port, (operation, annotation))
            if nearest:
                _settle(region, nearest)
        return of_results, of_operands

    def _behind(self, value: Value) -> Iterator[Operation]:
        """Yield the annotations and casts between a value and its definition, starting at the value."""
        operation = value.operation
        while operation is not None:
            if operation.name in ANNOTATIONS or operation.name == "quant.dcast":
                yield operation
            before = source(operation)
            operation = None if before is None else before.operation

    def _ahead(self, value: Value) -> Iterator[Operation]:
        """Yield the annotations that use a value, directly or through other annotations.

        The nearest come first; equally near ones are in program order.
        """
        values = [value]
        while values:
            users = {user for annotated in values for user in annotated.users if user in self._order}
            values = []
            for user in sorted(users, key=self._order.__getitem__):
                if user.name in ANNOTATIONS:
                    yield user
                    values += user.results
                elif user.name == "quant.qcast":
                    yield user
                    values += [cast.results[0] for cast in user.results[0].users if cast.name == "quant.dcast"]


def place_name(region: RegionOp, port: int) -> str:
    """Return the name of a region's operand or result in messages: ``conv2d output 0``."""
    count = len(region.operands)
    side = f"input {port}" if port < count else f"output {port - count}"
    return f"{region.kernel} {side}"


def _settle(region: RegionOp, nearest: dict[int, tuple[Operation, AnnotatedType]]) -> None:
    """Combine a region's specifications with the nearest annotations, and write the results to the region's attributes.

    ``nearest`` maps the number of a port (operands first, then results) to an annotation operation and its content.
    Emits a remark for an annotation that is ignored because it contradicts the region.
    """
    specs, ports = region.specs, region.ports
    ranges: dict[int, PortRange | None] = {}
    for port, (operation, annotation) in nearest.items():
        own = specs[port]
        specs[port] = joined(own, annotation.spec, element_of(ports[port].type))
        if specs[port] is own and _contradicts(annotation.spec, own):
            note = Diagnostic("note", "this annotation is ignored", operation.location)
            contradiction = f"is {own.shown()}, but an annotation gives another type: {annotation.spec.shown()}"
            remark(region, f"{place_name(region, port)} {contradiction}", note)
        elif not isinstance(specs[port], AnyQuantizedType | CalibratedType):
            ranges[port] = None
        else:
            ranges[port] = port_range(region, port) or annotation.range
    region.set_specs(specs)
    set_port_ranges(region, ranges)


def joined(own: Type, annotated: Type, element: Type) -> Type:
    """Choose between a port's specification ``own`` and the annotation ``annotated`` of its value.

    ``own`` is ``element``, the float type of the value, if the region specifies nothing. The annotation is chosen if
    one of these is true:

    - The region specifies nothing, or the annotation is `!quant.none`.
    - The specification is a least width (`!quant.any`), and the annotation is a type or least width at least as wide.
    - The specification is a range, and the annotation is a type or a least width.
    """
    if own is element or isinstance(annotated, NoQuantizedType):
        return annotated
    if isinstance(own, AnyQuantizedType):
        return annotated if isinstance(annotated, UniformType | AnyQuantizedType) and _meets(annotated, own) else own
    if isinstance(own, CalibratedType):
        return annotated if isinstance(annotated, UniformType | AnyQuantizedType) else own
    return own


def _meets(type: UniformType | AnyQuantizedType, least: AnyQuantizedType) -> bool:
    return least.is_met_by(type.storage_width, type.storage_min, type.storage_max)


def _contradicts(annotated: Type, own: Type) -> bool:
    """Return True if an ignored annotation contradicts the region's specification ``own``, so that a remark is due.

    A range contradicts only another range. A least width contradicts only a type with fewer bits or storage values. A
    quantized type contradicts every other specification.
    """
    if annotated is own:
        return False
    if isinstance(annotated, AnyQuantizedType):
        return isinstance(own, UniformType) and not _meets(own, annotated)
    return isinstance(annotated, UniformType) or isinstance(own, CalibratedType)
