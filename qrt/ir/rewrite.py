"""Rewriting: making operations at a place, folding and patterns driven by a worklist, and changing types."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from qrt.ir.attributes import Attribute
from qrt.ir.core import Block, Operation, Region, Value
from qrt.ir.define import Trait
from qrt.ir.registry import DEFINITIONS
from qrt.text import Location
from qrt.types import Type


class Builder:
    """Makes operations before a place of a block, at the location of what they stand for."""

    __slots__ = ("block", "location", "place")

    def __init__(self, block: Block, place: Operation | None, location: Location) -> None:
        """`place` None is the end of the block."""
        self.block = block
        self.place = place
        self.location = location

    @classmethod
    def before(cls, operation: Operation) -> "Builder":
        assert operation.parent is not None  # only what stands in a block is rewritten
        return cls(operation.parent, operation, operation.location)

    @classmethod
    def after(cls, value: Value) -> "Builder":
        """Right after the definition of a value."""
        owner = value.owner
        if isinstance(owner, Block):
            return cls(owner, owner.first, owner.location)
        assert owner is not None
        assert owner.parent is not None
        return cls(owner.parent, owner.next, owner.location)

    def create(
        self,
        name: str,
        operands: Iterable[Value] = (),
        types: Iterable[Type] = (),
        attributes: dict[str, Attribute] | None = None,
        regions: Iterable[Region] = (),
    ) -> Operation:
        """A new operation of a known op."""
        definition = DEFINITIONS[name]
        operation = definition.operation_class(
            name, operands, types, attributes, regions, (), self.location, definition
        )
        return self.insert(operation)

    def insert(self, operation: Operation) -> Operation:
        """Put a detached operation here."""
        if self.place is None:
            return self.block.append(operation)
        return self.block.insert_before(self.place, operation)

    def value(
        self,
        name: str,
        operands: Iterable[Value],
        type: Type,
        attributes: dict[str, Attribute] | None = None,
    ) -> Value:
        """The result of a new operation that has one."""
        return self.create(name, operands, (type,), attributes).results[0]

    def constant(self, value: Attribute, type: Type) -> Value:
        """An `arith.constant`."""
        return self.value("arith.constant", (), type, {"value": value})


def replace(operation: Operation, values: Sequence[Value]) -> None:
    """Use `values` for the results of an operation, and erase it."""
    for result, value in zip(operation.results, values, strict=True):
        result.replace_all_uses(value)
    operation.erase()
