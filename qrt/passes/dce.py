"""Dead code elimination."""

from dataclasses import dataclass

from qrt.ir import Module, Operation, Trait


@dataclass(frozen=True)
class DeadCodeElimination:
    """Removes pure operations whose results nothing uses, and what only they used. Changes no value."""

    def run(self, module: Module) -> None:
        pending = [operation for operation in module.operation.walk() if _is_dead(operation)]
        while pending:
            operation = pending.pop()
            if operation.parent is None or not _is_dead(operation):
                continue
            sources = [value.operation for value in operation.operands]
            operation.erase()
            pending.extend(source for source in sources if source is not None and _is_dead(source))


def _is_dead(operation: Operation) -> bool:
    return operation.has_trait(Trait.PURE) and not any(value.uses for value in operation.results)
