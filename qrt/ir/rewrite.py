"""Rewriting: making operations at a place, folding and patterns driven by a worklist, and changing types."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from qrt.ir import registry
from qrt.ir.attributes import Attribute, LocationAttr
from qrt.ir.core import Block, Operation, Region, Value
from qrt.ir.fold import Folds, constant_of, fold
from qrt.ir.simplify_regions import erase_unreachable, simplify_regions
from qrt.ir.traits import COMMUTATIVE, CONSTANT_LIKE, ISOLATED_FROM_ABOVE, would_be_dead
from qrt.text import Location
from qrt.types import TensorType, Type


class Builder:
    """Makes operations before a place of a block, at the location of what they stand for."""

    __slots__ = ("block", "loc", "location", "place")

    def __init__(self, block: Block, place: Operation | None, location: Location) -> None:
        """`place` None is the end of the block."""
        self.block = block
        self.place = place
        self.location = location
        self.loc: LocationAttr | None = None  # what operations made from here on say in the text of where they are

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

    def absorb(self, block: Block, arguments: Sequence[Value]) -> None:
        """Move what is in a block here, with values for its arguments, and remove the block."""
        for argument, value in zip(block.arguments, arguments, strict=True):
            argument.replace_all_uses(value)
        for operation in block:
            self.insert(operation.detach())
        assert block.parent is not None
        block.parent.blocks.remove(block)

    def inline(self, block: Block, arguments: Sequence[Value]) -> list[Value]:
        """Move what is in a block here, but for its terminator, whose operands are returned."""
        last = block.last
        assert last is not None
        self.absorb(block, arguments)
        values = list(last.operands)
        last.erase()
        return values

    def constant(self, value: Attribute, type: Type) -> Value:
        """An `arith.constant`."""
        return self.value("arith.constant", (), type, {"value": value})


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


# -- the greedy driver ------------------------------------------------------------------------------------------------

Pattern = Callable[[Operation, Builder], "list[Value] | None"]
"""Makes what replaces an operation, and returns its results: the operation's own `results`, if it has been changed in
place. None, having made nothing, where it does not apply."""

_MAX_ITERATIONS = 10  # upstream's; a pattern set that needs more does not converge


def rewrite_greedily(root: Operation, folds: Folds, patterns: Mapping[str, Sequence[Pattern]]) -> None:
    """Fold, apply patterns and erase dead operations below `root` until nothing changes. Equal constants of a function
    become one at its beginning. Blocks that nothing reaches, and block arguments that nothing reads, go. Visits
    operations in the order upstream's driver does."""
    for _ in range(_MAX_ITERATIONS):
        erase_unreachable(root)
        _unique_constants(root)
        changed = _Worklist(folds, patterns).run(root)
        if not erase_dead(root) and not simplify_regions(root) and not changed:
            return


class _Worklist:
    def __init__(self, folds: Folds, patterns: Mapping[str, Sequence[Pattern]]) -> None:
        self.folds = folds
        self.patterns = patterns
        self.pending: list[Operation] = []
        self.queued: set[Operation] = set()
        self.erased: set[Operation] = set()

    def run(self, root: Operation) -> bool:
        """Whether anything changed."""
        self.pending = [operation for operation in root.walk() if operation is not root][::-1]
        self.queued = set(self.pending)
        changed = False
        while self.pending:
            operation = self.pending.pop()
            self.queued.discard(operation)
            if operation not in self.erased and operation.parent is not None:  # a pattern may erase others
                changed = self.visit(operation) or changed
        return changed

    def add(self, operation: Operation | None) -> None:
        """An operation, and those around it: what is inside them may be what they fold by."""
        while operation is not None and operation.parent is not None:
            if operation not in self.queued:
                self.queued.add(operation)
                self.pending.append(operation)
            operation = operation.parent_operation

    def visit(self, operation: Operation) -> bool:
        if is_dead(operation):
            self.erase(operation)
            return True
        moved = operation.has_trait(COMMUTATIVE) and constants_last(operation)
        results = self.results(operation)
        if results is None:
            return moved
        if results is operation.results:
            self.add(operation)
            return True
        for result, value in zip(operation.results, results, strict=True):
            for user in result.users:
                self.add(user)
            result.replace_all_uses(value)
        self.erase(operation)
        return True

    def results(self, operation: Operation) -> list[Value] | None:
        """What folding or a pattern replaces the results by."""
        builder = Builder.before(operation)
        folded = None if operation.has_trait(CONSTANT_LIKE) else fold(operation, self.folds)
        if folded is not None:
            return [
                value if isinstance(value, Value) else _materialized(builder, operation, value, result.type)
                for value, result in zip(folded, operation.results, strict=True)
            ]
        for pattern in self.patterns.get(operation.name, ()):
            previous = operation.previous
            values = pattern(operation, builder)
            if values is not None:
                assert operation.parent is not None
                made = operation.parent.first if previous is None else previous.next
                while made is not None and made is not operation:
                    self.add(made)
                    made = made.next
                return values
        return None

    def erase(self, operation: Operation) -> None:
        operands = [value for inner in operation.walk() for value in inner.operands]
        self.erased.update(operation.walk())
        operation.erase()
        for value in operands:
            if _has_few_users(value):
                self.add(value.operation)


def _has_few_users(value: Value) -> bool:
    """Whether at most one operation uses a value: what makes it may be dead, or there for that one only."""
    first = next(iter(value.uses), None)
    return first is None or all(user is first[0] for user, _ in value.uses)


def _materialized(builder: Builder, operation: Operation, value: Attribute, type: Type) -> Value:
    """A constant, as the dialect of the operation it stands for writes it: extents are a `shape.const_shape`."""
    if operation.name.startswith("shape.") and isinstance(type, TensorType):
        return builder.value("shape.const_shape", (), type, {"shape": value})
    return builder.constant(value, type)


def is_dead(operation: Operation) -> bool:
    """Whether nothing is lost with the operation: nothing uses its results, and it would do nothing else."""
    return not any(value.uses for value in operation.results) and would_be_dead(operation)


def erase_dead(root: Operation) -> bool:
    """Erase the dead operations below `root`. Whether there were any."""
    dead = False
    for operation in [*root.walk()][:0:-1]:  # uses before definitions
        if is_dead(operation):
            operation.erase()
            dead = True
    return dead


def constants_last(operation: Operation) -> bool:
    """Put the constant operands of a commutative operation last; whether there was one to move."""
    ordered = sorted(operation.operands, key=lambda value: constant_of(value) is not None)
    if ordered == list(operation.operands):
        return False
    operation.set_operands(ordered)
    return True


def _unique_constants(root: Operation) -> None:
    """One constant of each value in each isolated region, all before the other operations of its first block."""
    known: dict[tuple[Region, str, Attribute, Type], Operation] = {}
    placed: set[Operation] = set()
    for operation in list(root.walk()):
        if not operation.has_trait(CONSTANT_LIKE):
            continue
        assert operation.parent is not None
        assert operation.parent.parent is not None
        region = _isolated_region(operation.parent.parent)
        entry = region.blocks[0]
        value = constant_of(operation.results[0])
        assert value is not None  # of what is like a constant
        key = region, operation.name, value, operation.results[0].type
        if key in known:
            replace(operation, known[key].results)
            continue
        if entry.first is not operation and operation.previous not in placed:
            assert entry.first is not None
            entry.insert_before(entry.first, operation.detach())
        known[key] = operation
        placed.add(operation)


def _isolated_region(region: Region) -> Region:
    """The innermost region around this one, or this, that sees no values from outside."""
    while True:
        parent = region.parent
        if parent is None or parent.parent is None or parent.has_trait(ISOLATED_FROM_ABOVE):
            return region
        assert parent.parent.parent is not None
        region = parent.parent.parent
