"""The simplest form of every operation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from qrt.dialects._shaped.canonicalize_reshapes import RESHAPE_PATTERNS
from qrt.dialects.affine.canonicalize import AFFINE_PATTERNS
from qrt.dialects.arith.canonicalize import ARITH_PATTERNS
from qrt.dialects.bufferization.canonicalize import BUFFERIZATION_PATTERNS
from qrt.dialects.cf.canonicalize import BRANCH_PATTERNS
from qrt.dialects.linalg.canonicalize import LINALG_PATTERNS
from qrt.dialects.memref.canonicalize import MEMREF_PATTERNS
from qrt.dialects.memref.canonicalize_scopes import SCOPE_PATTERNS
from qrt.dialects.memref.canonicalize_views import VIEW_PATTERNS
from qrt.dialects.quant.canonicalize import QUANT_KERNELS
from qrt.dialects.quant.constant_casts import CONSTANT_CASTS
from qrt.dialects.scf.canonicalize import REGION_PATTERNS
from qrt.dialects.scf.canonicalize_branches import REGION_BRANCH_PATTERNS
from qrt.dialects.scf.canonicalize_casts import CARRIED_CASTS
from qrt.dialects.scf.canonicalize_parallel import FORALL_PATTERNS
from qrt.dialects.scf.canonicalize_while import WHILE_PATTERNS
from qrt.dialects.shape.canonicalize import SHAPE_PATTERNS
from qrt.dialects.tensor.canonicalize import TENSOR_PATTERNS
from qrt.dialects.tensor.canonicalize_padding import PADDING_FOLDS, PADDING_PATTERNS
from qrt.dialects.tensor.canonicalize_slices import SLICE_FOLDS, SLICE_PATTERNS
from qrt.dialects.vector.canonicalize import VECTOR_PATTERNS
from qrt.dialects.vector.canonicalize_elements import ELEMENT_PATTERNS
from qrt.dialects.vector.canonicalize_masks import MASK_PATTERNS
from qrt.dialects.vector.canonicalize_reductions import REDUCTION_PATTERNS
from qrt.dialects.vector.canonicalize_slices import SLICE_OF_VECTOR_PATTERNS
from qrt.dialects.vector.canonicalize_transfers import TRANSFER_PATTERNS
from qrt.ir import Module, Operation
from qrt.ir.core.fold import Folds
from qrt.ir.core.greedy import rewrite_greedily
from qrt.ir.core.rewrite import Pattern

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
