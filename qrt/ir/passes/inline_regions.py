"""Inlining of `quant.region` operations, and removal of annotations."""

from dataclasses import dataclass

from qrt.ir import Builder, Module
from qrt.ir.core.matching import acyclic_operations
from qrt.ir.dialects.quant import FAKE_QUANTS
from qrt.ir.dialects.quant.annotations import IDENTITIES
from qrt.ir.dialects.quant.fake_quant import as_casts
from qrt.ir.passes.options import OBSERVING, option
from qrt.ir.passes.planned import OBSERVED
from qrt.ir.rewriting.rewrite import replace

ANNOTATED = frozenset({"quant.region", *IDENTITIES, *FAKE_QUANTS})
"""The ops that the pass replaces."""


@dataclass(frozen=True)
class InlineRegions:
    """Replaces each `quant.region` by its body, and each annotation by its operand. Preserves every value.

    A `quant.region` holds the float ops that a target computes by one quantized kernel; annotations are `quant.stats`,
    `quant.stats_ref` and `quant.coupled_ref`. The result is the float program that was annotated: the quantized types
    specified for the operands and results of regions are dropped. The pass `unfuse-kernels` instead keeps the types
    that are already chosen, as casts. A fake quantization becomes a `quant.qcast` and a `quant.dcast`, for which qrt
    has kernels.
    """

    observed: bool = option(False, OBSERVING)

    def run(self, module: Module) -> None:
        annotated = [op for op in acyclic_operations(module.operation) if op.name in ANNOTATED]
        for op in annotated:
            if self.observed and op.name == OBSERVED:
                continue
            if op.name == "quant.region":
                replace(op, Builder(op).inline(op.regions[0].blocks[0], op.operands))
            elif op.name in FAKE_QUANTS:
                replace(op, [as_casts(op, Builder(op))])
            else:
                replace(op, op.operands)
