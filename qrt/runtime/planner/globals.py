"""Analysis of globals for planning: the globals to which a module stores, and the loads that must copy the global."""

from qrt.ir import Module, Operation, Value
from qrt.ir.core.attributes import SymbolRefAttr
from qrt.ops import family_of

LOAD, STORE = "ml_program.global_load", "ml_program.global_store"


def name_of(op: Operation) -> str:
    """Return the name of the global that a load or a store names."""
    return op.attribute("global", SymbolRefAttr).path[-1]


def stored_globals(module: Module) -> set[str]:
    """Return the names of the globals to which any operation of the module stores."""
    return {name_of(op) for op in module.operation.walk() if op.name == STORE}


def needs_copy(load: Operation) -> bool:
    """Return True if a store may change the global while the loaded value is still in use.

    A step of the interpreter may return a view of the loaded value, whose later readers are unknown. So if such a step
    reads the value, any store in the block counts.
    """
    name, block = name_of(load), load.parent
    assert block is not None  # the load is in the planned block
    readers = _readers(load)
    is_behind = False
    for op in block:
        if op is load:
            is_behind = True
        elif is_behind and op.name != STORE and op in readers and not _has_known_views(op):
            return any(_may_store(other, name) for other in block)
        elif is_behind and _may_store(op, name):
            readers.discard(op)
            return bool(readers)
        readers.discard(op)
    return False


def _has_known_views(op: Operation) -> bool:
    """Return True for family ops and returns, for which the planner knows which results are views of operands."""
    return family_of(op) is not None or op.name == "func.return"


def _may_store(op: Operation, name: str) -> bool:
    """Return True if an op, or one in its regions, may store to the global. A call may store to any global."""
    return any(inner.name == "func.call" or (inner.name == STORE and name_of(inner) == name) for inner in op.walk())


def _readers(load: Operation) -> set[Operation]:
    """Return the operations of the load's block that read the loaded value or a view of it.

    An operation with a region counts as a reader if an operation in the region reads the value.
    """
    readers: set[Operation] = set()
    pending: list[Value] = list(load.results)
    while pending:
        for user in pending.pop().users:
            reader = user
            while reader.parent is not load.parent:
                assert reader.parent_operation is not None  # a reader is in the value's block or in a nested one
                reader = reader.parent_operation
            if reader not in readers:
                readers.add(reader)
                family = family_of(reader)
                if family is not None and family.declaration.view:
                    pending.extend(reader.results)
    return readers
