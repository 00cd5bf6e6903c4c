"""Rewriting: folding, making operations at a place, replacing and erasing them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from qrt.errors import VerifyError
from qrt.ir.core import registry
from qrt.ir.core.attributes import Attribute, IntegerAttr, LocationAttr
from qrt.ir.core.constraints import INDEX
from qrt.ir.core.matching import constant_of, cycle_error, cyclic_operations
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
"""The folds that upstream has."""


Folded = list[Value | Attribute] | None
"""The results of an operation as values or constants, one each; None where they are not known."""
Fold = Callable[[Operation, Folds], Folded]


def fold(operation: Operation, folds: Folds) -> Folded:
    """The values or constants that an operation folds to."""
    definition = operation.definition
    if definition is None or definition.fold is None:
        return None
    return definition.fold(operation, folds)


class Observer:
    """Is told what a builder does. A driver of patterns uses it to note the operations to visit again."""

    def changed(self, operation: Operation) -> None:
        """It is new, was moved, or has another operand."""

    def copied(self, block: Block) -> None:
        """The operations of a block count as copied to it, as upstream copies them, and as erased where they were."""

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
        self.loc: LocationAttr | None = None  # the location that later operations have in the text

    @classmethod
    def before(cls, operation: Operation, observer: Observer = _NOBODY) -> "Builder":
        assert operation.parent is not None  # only what stands in a block is rewritten
        return cls(operation.parent, operation, operation.location, observer)

    def before_operation(self, operation: Operation) -> "Builder":
        """A builder that makes operations before an operation, and tells the same observer."""
        return Builder.before(operation, self.observer)

    @classmethod
    def after(cls, value: Value, observer: Observer = _NOBODY) -> "Builder":
        """A builder that makes operations right after the definition of a value."""
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
        """Move the operations of a block here, with values for its arguments, and remove the block."""
        for argument, value in zip(block.arguments, arguments, strict=True):
            self.replace_uses(argument, value)
        for operation in block:
            self.insert(operation.detach())
        assert block.parent is not None
        block.parent.blocks.remove(block)

    def inline(self, block: Block, arguments: Sequence[Value]) -> list[Value]:
        """Move the operations of a block here, except for its terminator, whose operands are returned."""
        last = block.terminator
        self.absorb(block, arguments)
        values = list(last.operands)
        self.observer.erase(last)
        return values

    def moved(self, block: Block, from_end: bool = False) -> None:
        """Tell the observer that operations were moved to a block."""
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
        """A new operation, or None if the rules on its signature refuse it."""
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
    """Use `values` for the results of an operation, and erase it. Raises VerifyError where it would be replaced by a
    result of its own."""
    if any(value.operation is operation for value in values):
        raise cycle_error(operation)
    for result, value in zip(operation.results, values, strict=True):
        result.replace_all_uses(value)
    operation.erase()


def fold_at_once(root: Operation, folds: Folds, applies: Callable[[Operation], bool]) -> list[Operation]:
    """Folds operations to values that exist already, each on the program as it was: upstream's conversion driver does
    this before it converts an operation. What depends on itself is not folded. Returns the operations to erase.
    """
    decided: dict[Value, Value] = {}
    operations = list(root.walk())
    cyclic = cyclic_operations(operations)
    for operation in operations:
        values = fold(operation, folds) if applies(operation) and operation not in cyclic else None
        if values is not None and isinstance(values[0], Value):
            decided[operation.results[0]] = values[0]
    for result, value in decided.items():
        while value in decided:
            value = decided[value]
        result.replace_all_uses(value)
    return [result.operation for result in decided if result.operation is not None]


Made = list[Value] | None
Pattern = Callable[[Operation, Builder], Made]
"""A pattern: makes the replacement of an operation, and returns the values that replace its results. Where it does not
apply it makes nothing and returns None.
"""

IN_PLACE: list[Value] = []
"""A pattern returns this if it has changed an operation without replacing it."""


def is_dead(operation: Operation) -> bool:
    """Whether an operation may be removed: nothing uses its results, and it does nothing else."""
    return not any(value.uses for value in operation.results) and would_be_dead(operation)


def erase_dead(pending: list[Operation]) -> None:
    """Erase the dead ones among operations, and the operations that only these used."""
    while pending:
        operation = pending.pop()
        if operation.parent is not None and is_dead(operation):
            sources = [value.operation for value in operation.operands]
            operation.erase()
            pending.extend(source for source in sources if source is not None)


def constants_last(operation: Operation) -> bool:
    """Put the constant operands of a commutative operation last. Returns whether one was moved."""
    ordered = sorted(operation.operands, key=lambda value: constant_of(value) is not None)
    if ordered == list(operation.operands):
        return False
    operation.set_operands(ordered)
    return True
