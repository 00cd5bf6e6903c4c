"""Greedy pattern driver with a worklist, which visits operations in the order of upstream MLIR's driver."""

from collections.abc import Callable, Collection, Iterator, Sequence

from qrt.ir.builder import Builder, BuilderObserver
from qrt.ir.core.attributes import Attribute
from qrt.ir.core.folding import Folds, fold
from qrt.ir.core.matching import constant_of, cyclic_operations
from qrt.ir.core.operations import Block, Operation, Region, Value
from qrt.ir.core.simplify_regions import erase_unreachable, simplify_regions
from qrt.ir.core.traits import COMMUTATIVE, CONSTANT_LIKE, ISOLATED_FROM_ABOVE, TERMINATOR, removal_blocker
from qrt.ir.rewriting.rewrite import IN_PLACE, Pattern, constants_last, is_dead
from qrt.types import TensorType, Type

_MAX_ITERATIONS = 10  # as upstream: a set of patterns that needs more does not converge
_MANY_USES = 64  # so many uses count as those of several users: finding the first one would walk over all earlier ones

_REWRITES = 1000
_REWRITES_PER_OPERATION = 16
"""The limit on rewrites of an operation and of the operations created in its place: `_REWRITES`, plus this number for
each operation of the program. A `tensor.dim` at the end of a chain of insertions moves past each of them."""

Patterns = Callable[[Operation], Sequence[Pattern]]
"""The patterns to try on an operation, in order."""


def rewrite_greedily(root: Operation, folds: Folds, patterns: Patterns) -> None:
    """Fold operations, apply patterns and erase dead operations below `root` until nothing changes.

    At most 10 iterations are made, as in upstream MLIR. `patterns` returns the patterns to try on an operation.
    """
    for _ in range(_MAX_ITERATIONS):
        erase_unreachable(root)
        changed = _Worklist(folds, patterns).run(root)
        changed = simplify_regions(root) or changed
        changed = _erase_dead(root) or changed
        if not changed:
            return


def _erase_dead(root: Operation) -> bool:
    """Erase all dead operations below `root`, last one first. Return True if there were any.

    As in upstream MLIR's driver, an operation whose result a terminator uses is not erased in this iteration, even if
    the terminator itself disappears with its parent.
    """
    operations = root.walk()
    read = {value.operation for user in operations if user.has_trait(TERMINATOR) for value in user.operands}
    changed = False
    for operation in reversed(operations):
        if operation is not root and operation not in read and is_dead(operation):
            operation.erase()
            changed = True
    return changed


class _Worklist(BuilderObserver):
    """Worklist of operations to visit, last in first out.

    When an operation changes, its parent operations are added too, because a change in their regions may let them fold.
    """

    def __init__(self, folds: Folds, patterns: Patterns) -> None:
        self.folds = folds
        self.patterns = patterns
        self.pending: dict[Operation, None] = {}
        self.blockers: dict[Operation, Operation] = {}
        self.budget = _Budget()
        self.cyclic: Collection[Operation] = ()

    def run(self, root: Operation) -> bool:
        """Visit the operations below `root`, and again those that changed. Return True if any changed."""
        constants = _Constants(self)
        operations = root.walk()
        self.budget.start(operations)
        self.cyclic = cyclic_operations(operations)
        for operation in operations:
            if operation is not root and not (operation.has_trait(CONSTANT_LIKE) and constants.known(operation)):
                self.changed(operation)
        self.pending = dict(reversed(self.pending.items()))
        changed = False
        while self.pending:
            operation, _ = self.pending.popitem()
            if operation.parent is not None:  # a pattern may take it away
                self.budget.visit(operation)
                changed = self.visit(operation) or changed
        return changed

    def changed(self, operation: Operation) -> None:
        self.budget.count(operation)
        at: Operation | None = operation
        while at is not None and at.parent is not None:
            self.pending.setdefault(at)
            at = at.parent_operation

    def copied(self, block: Block) -> None:
        inside = [operation for top in block for operation in top.walk()]
        for operation in inside:
            self.pending.pop(operation, None)
            self.changed(operation)
        for operation in reversed(inside):
            for value in operation.operands:
                if value.operation is not None and len(value.users) == 1:
                    self.changed(value.operation)

    def erase(self, operation: Operation) -> None:
        """Erase the operations in an operation's regions, the last one first, and then the operation itself."""
        for region in reversed(operation.regions):
            for block in _successors_first(region):
                for inner in reversed(block.operations):
                    for result in inner.results:
                        for user, _ in list(result.uses):  # in a block that nothing reaches
                            user.drop_operands()
                    self.erase(inner)
        for source in [value.operation for value in operation.operands if _has_few_users(value, operation)]:
            if source is not None:
                self.changed(source)
        self.pending.pop(operation, None)
        operation.erase()

    def is_dead(self, operation: Operation) -> bool:
        """Return True if an operation is dead: its results have no uses, and nothing in its regions must be kept.

        A loop is tested again after each change inside it. Therefore the inner operation that kept the loop alive last
        time is remembered and tested first.
        """
        if not operation.regions:
            return is_dead(operation)
        if any(value.uses for value in operation.results):
            return False
        known = self.blockers.get(operation)
        if known is not None and _is_inside(known, operation):
            return False
        keeper = removal_blocker(operation)
        if keeper is not None:
            self.blockers[operation] = keeper
        return keeper is None

    def visit(self, operation: Operation) -> bool:
        if self.is_dead(operation):
            self.erase(operation)
            return True
        if operation in self.cyclic or any(value.owner in self.cyclic for value in operation.operands):
            return False
        if operation.has_trait(COMMUTATIVE) and constants_last(operation):
            self.changed(operation)
            return True
        builder = Builder(operation, observer=self)
        results = self.results(operation, builder)
        if results is None:
            return False
        if results is not IN_PLACE:
            builder.replace(operation, results)
        return True

    def results(self, operation: Operation, builder: Builder) -> list[Value] | None:
        """Return the values by which a fold or a pattern replaces an operation's results; None if neither applies."""
        folded = None if operation.has_trait(CONSTANT_LIKE) else fold(operation, self.folds)
        if folded is not None:
            self.budget.spend(operation, "fold")
            return [
                value if isinstance(value, Value) else _materialized(builder, operation, value, result.type)
                for value, result in zip(folded, operation.results, strict=True)
            ]
        for pattern in self.patterns(operation):
            values = pattern(operation, builder)
            if values is not None:
                self.budget.spend(operation, pattern)
                return values
        return None


class _Budget:
    """Limit on the rewrites per operation of the original program, which detects patterns that never stop.

    A rewrite of an operation that a pattern created counts for the original operation that the pattern was applied to.
    """

    def __init__(self) -> None:
        self.limit = 0
        self.origins: dict[Operation, Operation] = {}
        self.spent: dict[Operation, int] = {}
        self.visited: Operation | None = None

    def start(self, operations: Sequence[Operation]) -> None:
        self.limit = _REWRITES + _REWRITES_PER_OPERATION * len(operations)
        self.origins = {operation: operation for operation in operations}

    def visit(self, operation: Operation) -> None:
        self.visited = self.origins.get(operation, operation)

    def count(self, operation: Operation) -> None:
        """Attribute the later rewrites of a new operation to the original operation that is being visited."""
        self.origins.setdefault(operation, self.visited or operation)

    def spend(self, operation: Operation, rewrite: str | Pattern) -> None:
        """Count one rewrite (a fold or a pattern) for the visited operation. Raise VerifyError beyond the limit."""
        assert self.visited is not None
        times = self.spent[self.visited] = self.spent.get(self.visited, 0) + 1
        if times > self.limit:
            name = rewrite if isinstance(rewrite, str) else f"pattern '{getattr(rewrite, '__name__', rewrite)}'"
            raise self.visited.op_error(
                f"is rewritten without end: after {self.limit:,} rewrites (the last by the {name} on "
                f"'{operation.name}') a rewrite still applies; change the operation that the {name} rewrites, or omit "
                "the passes that simplify (canonicalize, inline)"
            )


def _has_few_users(value: Value, operation: Operation) -> bool:
    """Return True if at most one operation besides `operation` uses `value`.

    When `operation` is erased, the operation that defines `value` may then fold or be dead, and is visited again.
    """
    left = len(value.uses) - operation.operands.count(value)
    if left <= 1 or left > _MANY_USES:
        return left <= 1
    other = next(user for user, _ in value.uses if user is not operation)
    return other.operands.count(value) == left


def _is_inside(operation: Operation, outer: Operation) -> bool:
    at: Operation | None = operation
    while at is not None and at is not outer:
        at = at.parent_operation
    return at is outer


def _successors_first(region: Region) -> Iterator[Block]:
    """Yield the blocks of a region in post-order from the entry block, then the unreachable blocks in post-order."""
    seen: set[Block] = set()
    for root in region.blocks:
        if root in seen:
            continue
        seen.add(root)
        stack = [(root, iter(root.successors))]
        while stack:
            block, successors = stack[-1]
            following = next((successor for successor in successors if successor not in seen), None)
            if following is None:
                stack.pop()
                yield block
            else:
                seen.add(following)
                stack.append((following, iter(following.successors)))


def _materialized(builder: Builder, operation: Operation, value: Attribute, type: Type) -> Value:
    """Build the constant `value` of type `type`, which replaces a result of `operation`.

    This is a `shape.const_shape` for a tensor result of a `shape` op, else an `arith.constant`.
    """
    if operation.name.startswith("shape.") and isinstance(type, TensorType):
        return builder.value("shape.const_shape", (), type, {"shape": value})
    return builder.constant(value, type)


class _Constants:
    """Deduplicated constant operations of each isolated region, moved to the start of the region's entry block."""

    def __init__(self, observer: BuilderObserver) -> None:
        self.observer = observer
        self.first: dict[tuple[Region, str, Attribute, Type], Operation] = {}
        self.placed: set[Operation] = set()

    def known(self, operation: Operation) -> bool:
        """Replace a constant operation by an equal one of its isolated region, and return True.

        If there is no equal one, move the operation to the start of the region and return False.
        """
        region = _isolated_region(operation)
        entry = region.blocks[0]
        value = constant_of(operation.results[0])
        assert value is not None  # operations like constants have a value
        key = region, operation.name, value, operation.results[0].type
        if key in self.first:
            Builder(operation, observer=self.observer).replace(operation, self.first[key].results)
            return True
        if entry.first is not operation and operation.previous not in self.placed:
            assert entry.first is not None
            entry.insert_before(entry.first, operation.detach())
        self.first[key] = operation
        self.placed.add(operation)
        return False


def _isolated_region(operation: Operation) -> Region:
    """Return the innermost region that contains `operation` and is isolated from above."""
    while True:
        block = operation.parent
        assert block is not None
        assert block.parent is not None
        parent = block.parent.parent
        if parent is None or parent.parent is None or parent.has_trait(ISOLATED_FROM_ABOVE):
            return block.parent
        operation = parent
