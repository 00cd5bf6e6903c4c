"""Symbols: operations with a `sym_name`, the symbol tables that contain them, and references to them."""

from collections.abc import Iterator

from qrt.ir.core.attributes import ArrayAttr, Attribute, DictAttr, StringAttr, SymbolRefAttr
from qrt.ir.core.operations import Operation
from qrt.ir.core.traits import SYMBOL_TABLE


def references(operation: Operation) -> Iterator[SymbolRefAttr]:
    """Yield all symbol references in an operation's attributes, including those inside arrays and dictionaries."""
    pending: list[Attribute] = list(operation.attributes.values())
    while pending:
        value = pending.pop()
        if isinstance(value, SymbolRefAttr):
            yield value
        elif isinstance(value, ArrayAttr):
            pending.extend(value.elements)
        elif isinstance(value, DictAttr):
            pending.extend(entry for _, entry in value.items)


def symbols(table: Operation) -> dict[str, Operation]:
    """Return the symbol operations directly inside a symbol table, by name."""
    by_name = {}
    for region in table.regions:
        for block in region.blocks:
            for operation in block:
                if is_symbol(operation):
                    by_name[str(operation.attributes["sym_name"].python)] = operation
    return by_name


def is_symbol(operation: Operation) -> bool:
    return operation.definition is not None and isinstance(operation.attributes.get("sym_name"), StringAttr)


def may_be_discarded(symbol: Operation) -> bool:
    """Return True if a symbol without uses may be removed, because no operation outside the program can refer to it.

    Such a symbol has private visibility, or nested visibility in a symbol table that is private or at the top level.
    """
    visibility = symbol.attributes.get("sym_visibility")
    if visibility == StringAttr("private"):
        return True
    table = symbol.parent_operation
    if visibility != StringAttr("nested") or table is None:
        return False
    return table.parent_operation is None or table.attributes.get("sym_visibility") == StringAttr("private")


def nearest_table(operation: Operation) -> Operation | None:
    """Return the innermost symbol table that contains an operation; None if there is none."""
    parent = operation.parent_operation
    while parent is not None and not parent.has_trait(SYMBOL_TABLE):
        parent = parent.parent_operation
    return parent


def searched_table(operation: Operation) -> Operation | None:
    """Return the symbol table in which the symbol references of an operation are resolved, or None.

    Return None if no symbol table contains the operation. Return None too if an unregistered op with one region is
    between the operation and the table, because that op may itself be a symbol table.
    """
    table = operation.parent_operation
    while table is not None and not table.has_trait(SYMBOL_TABLE):
        if table.definition is None and len(table.regions) == 1:
            return None
        table = table.parent_operation
    return table


def symbol_of(operation: Operation) -> Operation | None:
    """Return the operation that a call's `callee` attribute refers to; None if it is not found."""
    callee, table = operation.attribute("callee", SymbolRefAttr), searched_table(operation)
    return table.regions[0].blocks[0].symbol(callee.path[0]) if table is not None and len(callee.path) == 1 else None


def require_known_tables(root: Operation) -> None:
    """Raise VerifyError at an unregistered op with one region.

    The op may be a symbol table, so that symbol references inside it cannot be resolved.
    """
    for operation in root.walk():
        if operation.definition is None and len(operation.regions) == 1:
            raise operation.op_error(
                "is unregistered and has a region, so it may be a symbol table: the uses of symbols cannot be "
                "determined"
            )
