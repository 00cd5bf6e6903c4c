"""The simplest form of every operation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from qrt.ir import Module, Operation
from qrt.ir.core.fold import Folds
from qrt.ir.core.greedy import rewrite_greedily
from qrt.ir.core.rewrite import Pattern
from qrt.passes.affine_patterns import AFFINE_PATTERNS
from qrt.passes.arith_patterns import ARITH_PATTERNS
from qrt.passes.branch_patterns import BRANCH_PATTERNS
from qrt.passes.bufferization_patterns import BUFFERIZATION_PATTERNS
from qrt.passes.carried_casts import CARRIED_CASTS
from qrt.passes.constant_casts import CONSTANT_CASTS
from qrt.passes.forall_patterns import FORALL_PATTERNS
from qrt.passes.linalg_patterns import LINALG_PATTERNS
from qrt.passes.mask_patterns import MASK_PATTERNS
from qrt.passes.memref_patterns import MEMREF_PATTERNS
from qrt.passes.padding_patterns import PADDING_FOLDS, PADDING_PATTERNS
from qrt.passes.quant_kernels import QUANT_KERNELS
from qrt.passes.reduction_patterns import REDUCTION_PATTERNS
from qrt.passes.region_branch_patterns import REGION_BRANCH_PATTERNS
from qrt.passes.region_patterns import REGION_PATTERNS
from qrt.passes.reshape_patterns import RESHAPE_PATTERNS
from qrt.passes.scope_patterns import SCOPE_PATTERNS
from qrt.passes.shape_patterns import SHAPE_PATTERNS
from qrt.passes.slice_patterns import SLICE_FOLDS, SLICE_PATTERNS
from qrt.passes.tensor_patterns import TENSOR_PATTERNS
from qrt.passes.transfer_patterns import TRANSFER_PATTERNS
from qrt.passes.vector_element_patterns import ELEMENT_PATTERNS
from qrt.passes.vector_patterns import VECTOR_PATTERNS
from qrt.passes.vector_slice_patterns import SLICE_OF_VECTOR_PATTERNS
from qrt.passes.view_patterns import VIEW_PATTERNS
from qrt.passes.while_patterns import WHILE_PATTERNS

_SETS = (
    AFFINE_PATTERNS,
    ARITH_PATTERNS,
    BRANCH_PATTERNS,
    QUANT_KERNELS,
    REGION_PATTERNS,
    CARRIED_CASTS,
    FORALL_PATTERNS,
    SLICE_FOLDS,
    PADDING_FOLDS,
    LINALG_PATTERNS,
    TENSOR_PATTERNS,
    SLICE_PATTERNS,
    PADDING_PATTERNS,
    RESHAPE_PATTERNS,
    MEMREF_PATTERNS,
    VIEW_PATTERNS,
    SCOPE_PATTERNS,
    BUFFERIZATION_PATTERNS,
    SHAPE_PATTERNS,
    VECTOR_PATTERNS,
    ELEMENT_PATTERNS,
    SLICE_OF_VECTOR_PATTERNS,
    MASK_PATTERNS,
    REDUCTION_PATTERNS,
    TRANSFER_PATTERNS,
    WHILE_PATTERNS,
    REGION_BRANCH_PATTERNS,
)
_PATTERNS: dict[str, Sequence[Pattern]] = {
    name: tuple(pattern for patterns in _SETS for pattern in patterns.get(name, ()))
    for name in {name for patterns in _SETS for name in patterns}
}
"""Those of an op in the order in which upstream tries them."""


@dataclass(frozen=True)
class Canonicalize:
    """Folds, computes constants (casts of constants exactly), merges them, removes dead pure operations, and writes
    `"quant.cast"`, `"quant.conv2d"` and `"quant.matmul"` as the ops they stand for.

    Preserves every value by default. `fold-qcast-dcast` also drops every quantization of what was dequantized from the
    same type, `fold-dcast-qcast` every dequantization of what was quantized: these change values.
    `fold-constants=false` leaves casts of constants alone, as upstream does.
    """

    fold_qcast_dcast: bool = False
    fold_dcast_qcast: bool = False
    fold_constants: bool = True

    UPSTREAM: ClassVar[Mapping[str, Any]] = {
        "fold_qcast_dcast": True,
        "fold_dcast_qcast": True,
        "fold_constants": False,
    }

    def run(self, module: Module) -> None:
        self.function(module.operation)

    def function(self, root: Operation) -> None:
        """What is inside one operation."""
        folds = Folds(self.fold_qcast_dcast, self.fold_dcast_qcast)
        constants = CONSTANT_CASTS if self.fold_constants else {}
        rewrite_greedily(root, folds, {**_PATTERNS, **constants})
