"""Canonicalization: rewriting of every operation to its simplest form."""

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
    """Return an operation's upstream canonicalization patterns, in the order in which upstream tries them."""
    definition = operation.definition
    return () if definition is None else canonicalizations(definition)


def _patterns_and_constants(operation: Operation) -> Sequence[Pattern]:
    casts = CONSTANT_CASTS.get(operation.name)
    return (*casts, *_patterns(operation)) if casts else _patterns(operation)


@dataclass(frozen=True)
class Canonicalize:
    """Folds operations, computes casts of constants exactly, merges equal constants, and removes dead pure operations.

    Also replaces `"quant.cast"` by `quant.qcast` or `quant.dcast`, and `"quant.conv2d"` and `"quant.matmul"` by the
    `qrt` ops of those names.

    Preserves every value by default. Two options change values: `fold-qcast-dcast` also replaces `qcast(dcast(x))` by
    `x` if `x` has the result's type, and `fold-dcast-qcast` replaces `dcast(qcast(x))` by `x`. With
    `fold-constants=false`, casts of constants are not computed, as in upstream.
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
        """Canonicalize all operations in the regions of `root`, such as a function or a module."""
        folds = Folds(self.fold_qcast_dcast, self.fold_dcast_qcast)
        rewrite_greedily(root, folds, _patterns_and_constants if self.fold_constants else _patterns)
