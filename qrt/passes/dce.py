"""Dead code elimination."""

from dataclasses import dataclass

from qrt.ir import Module
from qrt.ir.core.rewrite import is_dead


@dataclass(frozen=True)
class DeadCodeElimination:
    """Removes pure operations whose results nothing uses, and what only they used. Changes no value."""

    def run(self, module: Module) -> None:
        pending = [operation for operation in module.operation.walk() if is_dead(operation)]
        while pending:
            operation = pending.pop()
            if operation.parent is None or not is_dead(operation):
                continue
            sources = [value.operation for value in operation.operands]
            operation.erase()
            pending.extend(source for source in sources if source is not None and is_dead(source))
