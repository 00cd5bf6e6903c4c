"""Dead code elimination, and removal of private symbols to which nothing refers."""

from dataclasses import dataclass

from qrt.ir import Module, Operation, SymbolRefAttr
from qrt.ir.core.symbols import is_symbol, may_be_discarded, nearest_table, references, require_known_tables, symbols
from qrt.ir.core.traits import SYMBOL_TABLE
from qrt.ir.rewriting.rewrite import erase_dead, is_dead


@dataclass(frozen=True)
class DeadCodeElimination:
    """Removes pure operations without used results, and then the operations that only the removed ones used.

    Changes no value.
    """

    def run(self, module: Module) -> None:
        erase_dead([operation for operation in module.operation.walk() if is_dead(operation)])


@dataclass(frozen=True)
class SymbolDeadCodeElimination:
    """Removes private symbols, such as functions, to which no live operation refers. Changes no value."""

    def run(self, module: Module) -> None:
        require_known_tables(module.operation)
        tables = _Tables(module.operation)
        live: set[Operation] = set()
        pending = [module.operation]
        while pending:
            operation = pending.pop()
            if operation in live:
                continue
            live.add(operation)
            pending.extend(tables.named(operation))
            inside = [child for region in operation.regions for block in region.blocks for child in block]
            if operation.has_trait(SYMBOL_TABLE):
                inside = [child for child in inside if not (is_symbol(child) and may_be_discarded(child))]
            pending.extend(inside)
        for table in [operation for operation in module.operation.walk() if operation.has_trait(SYMBOL_TABLE)]:
            for symbol in tables.of(table).values():
                if table in live and symbol not in live:
                    symbol.erase()


class _Tables:
    """A cache of the symbols of each symbol table below `root`, by name."""

    def __init__(self, root: Operation) -> None:
        self.root = root
        self.known: dict[Operation, dict[str, Operation]] = {}

    def of(self, table: Operation) -> dict[str, Operation]:
        if table not in self.known:
            self.known[table] = symbols(table)
        return self.known[table]

    def named(self, operation: Operation) -> list[Operation]:
        """Return all symbols to which an operation refers; for `@a::@b` both `@a` and `@b`."""
        return [symbol for reference in references(operation) for symbol in self.resolve(operation, reference)]

    def resolve(self, operation: Operation, reference: SymbolRefAttr) -> list[Operation]:
        table = nearest_table(operation)
        while table is not None and reference.path[0] not in self.of(table):
            table = nearest_table(table)
        resolved: list[Operation] = []
        for name in reference.path:
            symbol = self.of(table).get(name) if table is not None else None
            if symbol is None:
                break
            resolved.append(symbol)
            table = symbol if symbol.has_trait(SYMBOL_TABLE) else None
        return resolved
