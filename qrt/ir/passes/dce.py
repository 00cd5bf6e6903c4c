"""Dead code elimination."""

from dataclasses import dataclass

from qrt.ir import Module
from qrt.ir.rewriting.rewrite import erase_dead, is_dead


@dataclass(frozen=True)
class DeadCodeElimination:
    """Removes pure operations whose results nothing uses, and those that only these used. Changes no value."""

    def run(self, module: Module) -> None:
        erase_dead([operation for operation in module.operation.walk() if is_dead(operation)])
