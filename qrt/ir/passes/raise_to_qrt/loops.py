"""Nests of `affine.for` that fill a buffer: their loops, and the stores of initial and accumulated values."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from qrt.ir import Block, Operation, Value
from qrt.ir.core.affine import AffineMapAttr, Expression, substitute
from qrt.ir.core.matching import constant_number
from qrt.ir.dialects.linalg.structure import shape_of
from qrt.ir.passes.raise_to_qrt.terms import NotRaisedError

READERS = ("affine.load", "vector.load", "bufferization.to_tensor")


@dataclass(frozen=True)
class StoredNest:
    """A loop nest that fills `buffer`: parallel loops, which index the buffer, around reduced loops.

    `update` is the store in the innermost body. `start` is the store of an accumulator's initial value before the
    reduced loops; None if there is only one store.
    """

    buffer: Value
    parallel: tuple[Operation, ...]
    reduced: tuple[Operation, ...]
    update: Operation
    start: Operation | None

    @classmethod
    def of(cls, buffer: Value) -> "StoredNest":
        """Return the loop nest that fills a buffer.

        Raises NotRaisedError if anything else may write to the buffer, or if the buffer is read before it is filled.
        """
        stores = [user for user in buffer.users if user.name == "affine.store" and user.operands[1] is buffer]
        others = [user for user in buffer.users if user not in stores and user.name not in READERS]
        if others or not 1 <= len(stores) <= 2:
            raise NotRaisedError(
                f"a buffer is filled by other operations than one nest of affine.for: {_names(buffer)}"
            )
        stores.sort(key=lambda store: len(list(_loops_around(store, buffer))))
        update, start = stores[-1], stores[0] if len(stores) == 2 else None
        around = list(_loops_around(update, buffer))
        count = len(around) if start is None else len(list(_loops_around(start, buffer)))
        nest = cls(buffer, tuple(around[:count]), tuple(around[count:]), update, start)
        nest._check()
        return nest

    def _check(self) -> None:
        own = list(map(induction_variable, self.parallel))
        for store in filter(None, (self.start, self.update)):
            if _positions(store) != own:
                raise NotRaisedError("a nest of affine.for stores elements in another order than its loops")
        sizes = tuple(map(extent_of, self.parallel))
        if sizes != shape_of(self.buffer.type):
            raise NotRaisedError("a nest of affine.for does not fill its buffer")
        if self.start is not None:
            first = self.reduced[0] if self.reduced else self.update
            if self.start.parent is not first.parent or not _is_before(self.start, first):
                raise NotRaisedError("an accumulator is not stored before its loop")
        nest = self.parallel[0] if self.parallel else self.reduced[0] if self.reduced else self.update
        for user in self.buffer.users:
            if user in (self.start, self.update) or self.is_running(user):
                continue
            if not _is_before(nest, user):
                raise NotRaisedError("a buffer is read before it is filled")

    def is_running(self, load: Operation) -> bool:
        """Return True if a load reads the accumulator in the innermost body, before the store of its next value."""
        is_load = load.name == "affine.load" and load.operands[0] is self.buffer
        return (
            is_load
            and self.start is not None
            and load.parent is self.update.parent
            and _is_before(load, self.update)
            and _positions(load) == list(map(induction_variable, self.parallel))
        )


def _names(buffer: Value) -> str:
    return ", ".join(dict.fromkeys(user.name for user in buffer.users))


def _loops_around(operation: Operation, buffer: Value) -> Iterator[Operation]:
    """Yield the loops around an operation, outermost first, up to the block that allocates the buffer."""
    around = []
    parent = operation.parent_operation
    block = operation.parent
    while block is not buffer.block:
        if parent is None or parent.name != "affine.for" or parent.results:
            raise NotRaisedError("a buffer is filled in other regions than those of affine.for")
        around.append(parent)
        block, parent = parent.parent, parent.parent_operation
    yield from reversed(around)


def _is_before(first: Operation, later: Operation) -> bool:
    """Return True if, in the block of `first`, `later` or the operation that contains it comes after `first`."""
    place: Operation | None = later
    while place is not None and place.parent is not first.parent:
        place = place.parent_operation
    while place is not None and place is not first:
        place = place.previous
        if place is first:
            return place is not None
    return False


def induction_variable(loop: Operation) -> Value:
    return _body(loop).arguments[0]


def _body(loop: Operation) -> Block:
    return loop.regions[0].blocks[0]


def extent_of(loop: Operation) -> int:
    """Return the number of iterations of a loop from 0 in steps of 1; raise NotRaisedError for other loops."""
    low, high = (loop.attribute(f"{end}BoundMap", AffineMapAttr).results for end in ("lower", "upper"))
    if low != (0,) or len(high) != 1 or not isinstance(high[0], int) or loop.attributes["step"].python != 1:
        raise NotRaisedError("an affine.for does not count from 0 to a constant")
    return high[0]


def positions(access: Operation, names: dict[Value, Expression]) -> tuple[Expression, ...]:
    """Return the index expressions of a load or store; `names` maps induction variables to expressions of loops."""
    offset = 2 if access.name == "affine.store" else 1
    operands = [position(value, names) for value in access.operands[offset:]]
    if access.name == "vector.load":
        return tuple(operands)
    indices = access.attribute("map", AffineMapAttr)
    count = indices.dimensions
    return tuple(substitute(result, operands[:count], operands[count:]) for result in indices.results)


def position(value: Value, names: dict[Value, Expression]) -> Expression:
    """Return an index value as an expression of loops; raise NotRaisedError if the value is not such an expression."""
    if value in names:
        return names[value]
    operation, number = value.operation, constant_number(value)
    if number is not None:
        return number
    if operation is None or operation.name != "affine.apply":
        raise NotRaisedError("an index is not an expression of the loops")
    operands: Sequence[Expression] = [position(operand, names) for operand in operation.operands]
    indices = operation.attribute("map", AffineMapAttr)
    return substitute(indices.results[0], operands[: indices.dimensions], operands[indices.dimensions :])


def _positions(access: Operation) -> list[Value | None]:
    """Return the induction variable that each index of a load or store equals; None for other indices."""
    variables = list(_variables_around(access))
    names: dict[Value, Expression] = {variable: ("d", number) for number, variable in enumerate(variables)}
    indices = positions(access, names)
    return [variables[index[1]] if isinstance(index, tuple) and index[0] == "d" else None for index in indices]


def _variables_around(operation: Operation) -> Iterator[Value]:
    parent = operation.parent_operation
    while parent is not None:
        if parent.name == "affine.for":
            yield induction_variable(parent)
        parent = parent.parent_operation
