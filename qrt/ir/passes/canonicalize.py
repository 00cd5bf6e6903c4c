"""Canonicalization: the simplest form of every operation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from qrt.ir import Module, Operation
from qrt.ir.core.folding import Folds
from qrt.ir.dialects.quant.canonicalize import CONSTANT_CASTS
from qrt.ir.passes.options import FOLD_CONSTANTS, FOLD_DCAST_QCAST, FOLD_QCAST_DCAST, option
from qrt.ir.rewriting.greedy import rewrite_greedily
from qrt.ir.rewriting.rewrite import Pattern, canonicalizations


def _patterns(operation: Operation) -> Sequence[Pattern]:
    """Return the patterns that upstream tries, in its order."""
    definition = operation.definition
    return () if definition is None else canonicalizations(definition)


def _patterns_and_constants(operation: Operation) -> Sequence[Pattern]:
    casts = CONSTANT_CASTS.get(operation.name)
    return (*casts, *_patterns(operation)) if casts else _patterns(operation)


@dataclass(frozen=True)
class Canonicalize:
    """Folds, computes constants (casts of constants exactly), merges them, removes dead pure operations, and writes
    `"quant.cast"`, `"quant.conv2d"` and `"quant.matmul"` as the ops with their meaning.

    Preserves every value by default. `fold-qcast-dcast` also removes a quantization of a value that was dequantized
    from the same type, `fold-dcast-qcast` a dequantization of a quantized value: these change values.
    `fold-constants=false` leaves casts of constants alone, as upstream does.
    """

    fold_qcast_dcast: bool = option(False, FOLD_QCAST_DCAST)
    fold_dcast_qcast: bool = option(False, FOLD_DCAST_QCAST)
    fold_constants: bool = option(True, FOLD_CONSTANTS)

    UPSTREAM: ClassVar[Mapping[str, Any]] = {
        "fold_qcast_dcast": True,
        "fold_dcast_qcast": True,
        "fold_constants": False,
    }

    def run(self, module: Module) -> None:
        self.function(module.operation)

    def function(self, root: Operation) -> None:
        """Canonicalize the inside of one operation."""
        folds = Folds(self.fold_qcast_dcast, self.fold_dcast_qcast)
        rewrite_greedily(root, folds, _patterns_and_constants if self.fold_constants else _patterns)
