"""Helpers for patterns and folds: the constant of a value, its defining operation, and cycles of operations."""

from collections.abc import Callable, Collection, Container, Iterable

from qrt.errors import VerifyError
from qrt.ir.core.attributes import Attribute, IntegerAttr
from qrt.ir.core.operations import Operation, Value

_CONSTANTS = {"arith.constant": "value", "shape.const_shape": "shape"}
"""By op: the attribute that holds the value of its result."""


def constant_of(value: Value) -> Attribute | None:
    """Return the attribute of the constant operation that defines a value; None if no constant operation defines it."""
    source = value.operation
    if source is None or source.name not in _CONSTANTS:
        return None
    return source.attributes.get(_CONSTANTS[source.name])


def constant_number(value: Value) -> int | None:
    """Return the integer of the scalar `arith.constant` that defines a value; None for any other value."""
    constant = constant_of(value)
    return constant.value if isinstance(constant, IntegerAttr) else None


def number_of(size: int | Value) -> int | None:
    """Return `size` if it is an int; for a value, the integer of its `arith.constant`, or None without a constant."""
    return size if isinstance(size, int) else constant_number(size)


def is_known_dimension(operation: Operation) -> bool:
    """Return True if a `dim` operation has a constant index within the rank of its operand."""
    rank, index = getattr(operation.operands[0].type, "rank", None), constant_of(operation.operands[1])
    return rank is not None and isinstance(index, IntegerAttr) and 0 <= index.value < rank


def defining_op(value: Value, name: str) -> Operation | None:
    """Return the operation that defines a value if its name is `name`; else None."""
    source = value.operation
    return source if source is not None and source.name == name else None


def value_behind(value: Value, names: Container[str]) -> Value:
    """Follow first operands from `value` through operations whose names are in `names`; return the value reached.

    A graph region or an unreachable block may contain a cycle: the search then stops at the first repeated operation.
    """
    passed: set[Operation] = set()
    while (source := value.operation) is not None and source.name in names and source not in passed:
        passed.add(source)
        value = source.operands[0]
    return value


def has_parts_throughout(value: Value, parts_of: Callable[[Value], Iterable[Value] | None]) -> bool:
    """Return True if `parts_of` accepts `value` and, recursively, all parts of `value`.

    `parts_of` returns the parts of a value, or None to reject the value. Each value is visited once, so the search also
    ends if a value is a part of itself.
    """
    visited, pending = {value}, [value]
    while pending:
        parts = parts_of(pending.pop())
        if parts is None:
            return False
        fresh = [part for part in dict.fromkeys(parts) if part not in visited]
        visited.update(fresh)
        pending += fresh
    return True


def cyclic_operations(operations: Iterable[Operation]) -> Collection[Operation]:
    """Return the operations that depend on their own results, and all operations that use or contain such an operation.

    A graph region allows such cycles. Patterns and folds skip these operations, because their values are undefined and
    a search along their operands would never end.
    """
    waiting = dict.fromkeys(operations, 0)
    holders = {operation: operation.parent_operation for operation in waiting}
    for operation, holder in holders.items():
        waiting[operation] += sum([value.owner in waiting for value in operation.operands])
        if holder in waiting:
            waiting[holder] += 1
    ready = [operation for operation, count in waiting.items() if not count]
    while ready:
        operation = ready.pop()
        del waiting[operation]
        readers = [user for value in operation.results for user, _ in value.uses]
        for reader in [*readers, holders[operation]]:
            if reader in waiting:
                waiting[reader] -= 1
                if not waiting[reader]:
                    ready.append(reader)
    return waiting


def acyclic_operations(root: Operation) -> list[Operation]:
    """Return the operations below `root`, in text order, without those of `cyclic_operations`.

    A search along the operands of the returned operations always ends.
    """
    operations = root.walk()
    cyclic = cyclic_operations(operations)
    return [operation for operation in operations if operation not in cyclic]


def require_acyclic(root: Operation) -> None:
    """Raise VerifyError if an operation depends on its own result.

    Passes that follow operands recursively call this first.
    """
    cyclic = cyclic_operations(root.walk())
    if not cyclic:
        return
    passed: set[Operation] = set()
    operation = next(iter(cyclic))
    while operation not in passed:  # each waits for another of them: for one that it reads or, if for none, holds
        passed.add(operation)
        owners = [value.owner for value in operation.operands]
        inner = (child for region in operation.regions for block in region.blocks for child in block)
        operation = next(owner for owner in (*owners, *inner) if isinstance(owner, Operation) and owner in cyclic)
    raise cycle_error(operation)


def cycle_error(operation: Operation) -> VerifyError:
    """Return the VerifyError for an operation that depends on its own result."""
    return operation.op_error(
        "depends on its own result, so its value is undefined: remove the operation, or run canonicalize first, "
        "which removes blocks that nothing reaches"
    )
