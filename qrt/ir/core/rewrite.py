"""Rewriting: folding, making operations at a place, replacing and erasing them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from qrt.errors import VerifyError
from qrt.ir.core import registry
from qrt.ir.core.attributes import Attribute, IntegerAttr, LocationAttr
from qrt.ir.core.constraints import INDEX
from qrt.ir.core.matching import constant_of
from qrt.ir.core.operations import Block, Operation, Region, Value
from qrt.ir.core.traits import would_be_dead
from qrt.text import Location
from qrt.types import Type


@dataclass(frozen=True)
class Folds:
    """Folds beyond those that preserve every value: `qcast_dcast` and `dcast_qcast` take each pair of inverse casts for
    the identity."""

    qcast_dcast: bool = False
    dcast_qcast: bool = False


UPSTREAM_FOLDS = Folds(qcast_dcast=True, dcast_qcast=True)
"""What upstream's folders do."""


Folded = list[Value | Attribute] | None
"""The results of an operation as values or constants, one each; None where they are not known."""
Fold = Callable[[Operation, Folds], Folded]


def fold(operation: Operation, folds: Folds) -> Folded:
    """What an operation folds to."""
    definition = operation.definition
    if definition is None or definition.fold is None:
        return None
    return definition.fold(operation, folds)


class Observer:
    """What a builder tells of what it does; a driver of patterns notes what is to be visited again."""

    def changed(self, operation: Operation) -> None:
        """It is new, was moved, or has another operand."""

    def copied(self, block: Block) -> None:
        """What a block holds counts as copied there, as upstream does, and as erased where it was."""

    def erase(self, operation: Operation) -> None:
        operation.erase()


_NOBODY = Observer()


class Builder:
    """Makes operations before a place of a block, at the location of what they stand for."""

    __slots__ = ("block", "loc", "location", "observer", "place")

    def __init__(self, block: Block, place: Operation | None, location: Location, observer: Observer = _NOBODY) -> None:
        """`place` None is the end of the block."""
        self.block = block
        self.place = place
        self.location = location
        self.observer = observer
        self.loc: LocationAttr | None = None  # what operations made from here on say in the text of where they are

    @classmethod
    def before(cls, operation: Operation, observer: Observer = _NOBODY) -> "Builder":
        assert operation.parent is not None  # only what stands in a block is rewritten
        return cls(operation.parent, operation, operation.location, observer)

    def before_operation(self, operation: Operation) -> "Builder":
        """One that makes operations there, and tells the same observer."""
        return Builder.before(operation, self.observer)

    @classmethod
    def after(cls, value: Value, observer: Observer = _NOBODY) -> "Builder":
        """Right after the definition of a value."""
        owner = value.owner
        if isinstance(owner, Block):
            return cls(owner, owner.first, owner.location, observer)
        assert owner is not None
        assert owner.parent is not None
        return cls(owner.parent, owner.next, owner.location, observer)

    def create(
        self,
        name: str,
        operands: Iterable[Value] = (),
        types: Iterable[Type] = (),
        attributes: dict[str, Attribute] | None = None,
        regions: Iterable[Region] = (),
        successors: Sequence[Block] = (),
    ) -> Operation:
        """A new operation of a known op."""
        definition = registry.definition(name)
        operation = definition.operation_class(
            name, operands, types, attributes, regions, successors, self.location, definition
        )
        operation.loc = self.loc
        return self.insert(operation)

    def insert(self, operation: Operation) -> Operation:
        """Put a detached operation here."""
        if self.place is None:
            self.block.append(operation)
        else:
            self.block.insert_before(self.place, operation)
        self.observer.changed(operation)
        return operation

    def value(
        self,
        name: str,
        operands: Iterable[Value],
        type: Type,
        attributes: dict[str, Attribute] | None = None,
    ) -> Value:
        """The result of a new operation that has one."""
        return self.create(name, operands, (type,), attributes).results[0]

    def absorb(self, block: Block, arguments: Sequence[Value]) -> None:
        """Move what is in a block here, with values for its arguments, and remove the block."""
        for argument, value in zip(block.arguments, arguments, strict=True):
            self.replace_uses(argument, value)
        for operation in block:
            self.insert(operation.detach())
        assert block.parent is not None
        block.parent.blocks.remove(block)

    def inline(self, block: Block, arguments: Sequence[Value]) -> list[Value]:
        """Move what is in a block here, but for its terminator, whose operands are returned."""
        last = block.terminator
        self.absorb(block, arguments)
        values = list(last.operands)
        self.observer.erase(last)
        return values

    def moved(self, block: Block, from_end: bool = False) -> None:
        """Tell that what is in a block came there."""
        for operation in reversed(block.operations) if from_end else block:
            self.observer.changed(operation)

    def replace_uses(self, value: Value, new: Value) -> None:
        """Make every use of a value one of `new`, the last one first."""
        for operation, index in reversed(list(value.uses)):
            operation.set_operand(index, new)
            self.observer.changed(operation)

    def set_operand(self, operation: Operation, index: int, value: Value) -> None:
        operation.set_operand(index, value)
        self.observer.changed(operation)

    def set_operands(self, operation: Operation, values: Sequence[Value]) -> None:
        operation.set_operands(values)
        self.observer.changed(operation)

    def replace(self, operation: Operation, values: Sequence[Value]) -> None:
        """Use `values` for the results of an operation, and erase it."""
        for result, value in zip(operation.results, values, strict=True):
            self.replace_uses(result, value)
        self.observer.erase(operation)

    def erase(self, operation: Operation) -> None:
        self.observer.erase(operation)

    def create_valid(
        self,
        name: str,
        operands: Sequence[Value],
        types: Sequence[Type],
        attributes: dict[str, Attribute] | None = None,
    ) -> Operation | None:
        """A new operation, unless the rules on its signature refuse it."""
        made = self.create(name, operands, types, attributes)
        assert made.definition is not None
        assert made.definition.verify_signature is not None
        try:
            made.definition.verify_signature(made)
        except VerifyError:
            self.erase(made)
            return None
        return made

    def constant(self, value: Attribute, type: Type) -> Value:
        """An `arith.constant`."""
        return self.value("arith.constant", (), type, {"value": value})

    def index(self, number: int) -> Value:
        """An `arith.constant` of type index."""
        return self.constant(IntegerAttr(number, INDEX), INDEX)


def replace(operation: Operation, values: Sequence[Value]) -> None:
    """Use `values` for the results of an operation, and erase it."""
    for result, value in zip(operation.results, values, strict=True):
        result.replace_all_uses(value)
    operation.erase()


def fold_at_once(root: Operation, folds: Folds, applies: Callable[[Operation], bool]) -> list[Operation]:
    """Fold what yields values that are there already, each operation on the program as it was: what upstream's
    conversion driver does to an operation before it converts it. Returns what is to be erased."""
    decided: dict[Value, Value] = {}
    for operation in root.walk():
        found = fold(operation, folds) if applies(operation) else None
        if found is not None and isinstance(found[0], Value):
            decided[operation.results[0]] = found[0]
    for result, value in decided.items():
        while value in decided:
            value = decided[value]
        result.replace_all_uses(value)
    return [result.operation for result in decided if result.operation is not None]


Made = list[Value] | None
Pattern = Callable[[Operation, Builder], Made]
"""Makes what replaces an operation, and returns its results; None, having made nothing, where it does not apply."""

IN_PLACE: list[Value] = []
"""What a pattern returns that has changed an operation and not replaced it."""


def is_dead(operation: Operation) -> bool:
    """Whether nothing is lost with the operation: nothing uses its results, and it would do nothing else."""
    return not any(value.uses for value in operation.results) and would_be_dead(operation)


def erase_dead(pending: list[Operation]) -> None:
    """Erase those of the operations that are dead, and what only they used."""
    while pending:
        operation = pending.pop()
        if operation.parent is not None and is_dead(operation):
            sources = [value.operation for value in operation.operands]
            operation.erase()
            pending.extend(source for source in sources if source is not None)


def constants_last(operation: Operation) -> bool:
    """Put the constant operands of a commutative operation last; whether there was one to move."""
    ordered = sorted(operation.operands, key=lambda value: constant_of(value) is not None)
    if ordered == list(operation.operands):
        return False
    operation.set_operands(ordered)
    return True
