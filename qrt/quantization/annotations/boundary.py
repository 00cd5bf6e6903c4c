"""What stands between regions and says something of a value: for each port the nearest annotation decides, and joins
what the region itself says of the port.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from qrt.errors import Diagnostic
from qrt.ir import Module, Operation, Value
from qrt.ir.core.constraints import element_of
from qrt.ir.core.matching import require_acyclic
from qrt.ir.dialects.quant import FAKE_QUANTS
from qrt.ir.dialects.quant.annotations import IDENTITIES
from qrt.ir.dialects.quant.port_stats import PortRange, port_range, set_port_range
from qrt.ir.dialects.quant.region import RegionOp
from qrt.ir.remarks import remark
from qrt.types import AnyQuantizedType, CalibratedType, NoQuantizedType, Type, UniformType

ANNOTATIONS = frozenset({*IDENTITIES, *FAKE_QUANTS})
"""The ops that yield their operand, rounded or as it is."""


@dataclass(frozen=True)
class AnnotatedType:
    """What an annotation says of a value: a type, and the range where it knows one."""

    spec: Type
    range: PortRange | None = None


Reading = Callable[[Operation], AnnotatedType | None]
"""What an operation says; None of an operation that says nothing."""


def source(operation: Operation) -> Value | None:
    """The value that an annotation annotates, or that `dcast(qcast(x))` rounds; None of other operations."""
    if operation.name in ANNOTATIONS:
        return operation.operands[0]
    cast = operation.operands[0].operation if operation.name == "quant.dcast" else None
    return cast.operands[0] if cast is not None and cast.name == "quant.qcast" else None


@dataclass
class Boundaries:
    """The ports of the regions of a module that stand in no other region, and the operations around them."""

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
        """Moves what annotations say into the specifications of ports. Returns the annotations between a region's
        result and its uses, and those between an operand of a region and its definition; some are both."""
        of_results: dict[Operation, None] = {}
        of_operands: dict[Operation, None] = {}
        for region in self.regions:
            nearest: dict[int, tuple[Operation, AnnotatedType]] = {}
            for port, value in enumerate(region.ports):
                is_operand = port < len(region.operands)
                for operation in self._behind(value) if is_operand else self._ahead(value):
                    said = read(operation)
                    if said is not None:
                        (of_operands if is_operand else of_results)[operation] = None
                        nearest.setdefault(port, (operation, said))
            if nearest:
                _settle(region, nearest)
        return of_results, of_operands

    def _behind(self, value: Value) -> Iterator[Operation]:
        """The annotations of a use, the nearest first."""
        operation = value.operation
        while operation is not None:
            if operation.name in ANNOTATIONS or operation.name == "quant.dcast":
                yield operation
            before = source(operation)
            operation = None if before is None else before.operation

    def _ahead(self, value: Value) -> Iterator[Operation]:
        """The annotations of a definition, the nearest first, and of those as near the first in the program."""
        values = [value]
        while values:
            users = {user for each in values for user in each.users if user in self._order}
            values = []
            for user in sorted(users, key=self._order.__getitem__):
                if user.name in ANNOTATIONS:
                    yield user
                    values += user.results
                elif user.name == "quant.qcast":
                    yield user
                    values += [cast.results[0] for cast in user.results[0].users if cast.name == "quant.dcast"]


def place_name(region: RegionOp, port: int) -> str:
    """How messages name a port: ``conv2d output 0``."""
    count = len(region.operands)
    side = f"input {port}" if port < count else f"output {port - count}"
    return f"{region.kernel} {side}"


def _settle(region: RegionOp, nearest: dict[int, tuple[Operation, AnnotatedType]]) -> None:
    """Gives ports what their annotations say, as far as the region's own specifications leave it open."""
    specs, ports = region.specs, region.ports
    ranges: dict[int, PortRange | None] = {}
    for port, (operation, said) in nearest.items():
        own = specs[port]
        specs[port] = joined(own, said.spec, element_of(ports[port].type))
        if specs[port] is own and _contradicts(said.spec, own):
            note = Diagnostic("note", "this annotation is ignored", operation.location)
            contradiction = f"is {own.shown()}, but an annotation gives another type: {said.spec.shown()}"
            remark(region, f"{place_name(region, port)} {contradiction}", note)
        elif not isinstance(specs[port], AnyQuantizedType | CalibratedType):
            ranges[port] = None
        else:
            ranges[port] = port_range(region, port) or said.range
    region.set_specs(specs)
    for port, found in ranges.items():
        set_port_range(region, port, found)


def joined(own: Type, said: Type, element: Type) -> Type:
    """What is known of a port of which a region says one thing and an annotation another. `!quant.none` wins. What the
    region says stays, but a type wins over a width or a range that it does not contradict, and a width over a range,
    which is kept beside it.
    """
    if own is element or isinstance(said, NoQuantizedType):
        return said
    if isinstance(own, AnyQuantizedType):
        return said if isinstance(said, UniformType | AnyQuantizedType) and _holds(said, own) else own
    if isinstance(own, CalibratedType):
        return said if isinstance(said, UniformType | AnyQuantizedType) else own
    return own


def _holds(type: UniformType | AnyQuantizedType, asked: AnyQuantizedType) -> bool:
    """Whether a type has at least the bits that are asked for, and no fewer values where bounds are written."""
    return asked.is_met_by(type.storage_width, type.storage_min, type.storage_max)


def _contradicts(said: Type, own: Type) -> bool:
    """Whether an annotation that is left out says something else than the specification that stays. A range is a hint,
    which contradicts another range alone."""
    if said is own:
        return False
    if isinstance(said, AnyQuantizedType):
        return isinstance(own, UniformType) and not _holds(own, said)
    return isinstance(said, UniformType) or isinstance(own, CalibratedType)
