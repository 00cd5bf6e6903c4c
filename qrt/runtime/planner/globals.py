"""Globals in plans: which may change, and which loads may read the array of the global where it stands."""

from qrt.ir import Module, Operation, Value
from qrt.ir.core.attributes import SymbolRefAttr
from qrt.ops import family_of

LOAD, STORE = "ml_program.global_load", "ml_program.global_store"


def name_of(op: Operation) -> str:
    """The global that a load or a store names."""
    return op.attribute("global", SymbolRefAttr).path[-1]


def stored_globals(module: Module) -> set[str]:
    """The names of the globals to which something stores."""
    return {name_of(op) for op in module.operation.walk() if op.name == STORE}


def needs_copy(load: Operation) -> bool:
    """Whether something may store to the global before all that reads the value of a load has run. What the interpreter
    makes of a value may be a view of it, and live longer."""
    name, block = name_of(load), load.parent
    assert block is not None  # it stands in the block that is planned
    readers = _readers(load)
    is_behind = False
    for op in block:
        if op is load:
            is_behind = True
        elif is_behind and op.name != STORE and op in readers and not _is_run(op):
            return any(_may_store(other, name) for other in block)
        elif is_behind and _may_store(op, name):
            readers.discard(op)
            return bool(readers)
        readers.discard(op)
    return False


def _is_run(op: Operation) -> bool:
    """Whether an op reads its operands and keeps nothing of them."""
    return family_of(op) is not None or op.name == "func.return"


def _may_store(op: Operation, name: str) -> bool:
    """A call that is left here may store to anything."""
    return any(inner.name == "func.call" or (inner.name == STORE and name_of(inner) == name) for inner in op.walk())


def _readers(load: Operation) -> set[Operation]:
    """The operations of the block that read the value, or what may be another name of its memory."""
    readers: set[Operation] = set()
    pending: list[Value] = list(load.results)
    while pending:
        for user in pending.pop().users:
            reader = user
            while reader.parent is not load.parent:
                assert reader.parent_operation is not None  # what reads a value stands in its block, or deeper
                reader = reader.parent_operation
            if reader not in readers:
                readers.add(reader)
                family = family_of(reader)
                if family is not None and family.declaration.view:
                    pending.extend(reader.results)
    return readers
