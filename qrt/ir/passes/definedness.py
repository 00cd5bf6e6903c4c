"""A test for operations that raise no error for any operand values; a pass may run these where the program does not.

Upstream's speculatable operations may have undefined results: these are poison, which is harmless until it is used. In
qrt an operation with an undefined result raises an error.
"""

from qrt.ir import Operation
from qrt.ir.core.attribute_kinds import ENUMERATIONS
from qrt.ir.core.constraints import Shaped, element_of
from qrt.ir.core.folding import Folds
from qrt.ir.core.matching import constant_number
from qrt.ir.core.traits import CONSTANT_LIKE, ELEMENTWISE, is_speculatable
from qrt.ir.dialects._shaped.types import ranked
from qrt.ir.dialects.arith.ops import has_safe_constant
from qrt.ir.dialects.arith.scalars import fold_constants
from qrt.types import FloatType, Type

_UNBOUNDED = frozenset(("f16", "bf16", "f32", "f64"))
"""Formats that can represent every computed value; others have no NaN, and one has no zero."""
_OF_SAFE_CONSTANTS = frozenset(
    f"arith.{name}"
    for name in ["divsi", "divui", "ceildivsi", "ceildivui", "floordivsi", "remsi", "remui", "shli", "shrsi", "shrui"]
)
_PARTIAL = frozenset(("arith.fptosi", "arith.fptoui", "math.ipowi"))
_SPECULATABLE_WHERE_DEFINED = frozenset(("memref.dim", "tensor.dim", "scf.for"))
_DEFINED = frozenset(
    [
        "affine.yield",
        "linalg.index",
        "linalg.yield",
        "memref.rank",
        "quant.const_fake_quant",
        "quant.const_fake_quant_per_axis",
        "quant.coupled_ref",
        "quant.dcast",
        "quant.qcast",
        "quant.region",
        "quant.return",
        "quant.scast",
        "quant.stats",
        "quant.stats_ref",
        "scf.if",
        "scf.yield",
        "tensor.from_elements",
        "tensor.rank",
        "tensor.splat",
        "tensor.yield",
        "vector.broadcast",
        "vector.constant_mask",
        "vector.fma",
        "vector.from_elements",
        "vector.interleave",
        "vector.shape_cast",
        "vector.step",
        "vector.to_elements",
        "vector.transpose",
    ]
)
"""Ops that are defined for all operands of static shape."""


def is_defined(operation: Operation) -> bool:
    """Return True if an operation, with all operations in its regions, raises no error for any values of its operands.

    An operand that is a constant counts with its value: `arith.divsi` with the constant divisor 2 is defined.
    """
    return _is_defined_itself(operation) and all(
        is_defined(child) for region in operation.regions for block in region.blocks for child in block
    )


def _is_defined_itself(operation: Operation) -> bool:
    if operation.has_trait(CONSTANT_LIKE):
        return True
    if operation.name in _SPECULATABLE_WHERE_DEFINED:
        return is_speculatable(operation)
    if operation.name == "tensor.extract":
        return _is_within(operation)
    if not all(_is_known(value.type) for value in (*operation.operands, *operation.results)):
        return False
    if operation.has_trait(ELEMENTWISE):
        return _is_total(operation) or fold_constants(operation, Folds()) is not None
    return operation.name in _DEFINED


def _is_known(type: Type) -> bool:
    """Return True if a type is a scalar, or has a static shape."""
    return not isinstance(type, Shaped) or (type.shape is not None and None not in type.shape)


def _is_total(operation: Operation) -> bool:
    """Return True if an element-wise operation has a defined result for all values of its operands.

    That is: it has no flags (`nsw`, `exact`, ...) that operands could violate, no operands for which the op is
    undefined, and result types that can represent every computed value.
    """
    flags = operation.attributes.get("overflowFlags")
    if "isExact" in operation.attributes or (flags is not None and ENUMERATIONS["arith.overflow"].flags(flags)):
        return False
    if operation.name in _PARTIAL or (operation.name in _OF_SAFE_CONSTANTS and not has_safe_constant(operation)):
        return False
    floats = (t for value in operation.results if isinstance(t := element_of(value.type), FloatType))
    return all(t.name in _UNBOUNDED for t in floats)


def _is_within(extract: Operation) -> bool:
    """Return True if all indices of a `tensor.extract` are constants within the static shape of its tensor."""
    source, indices = extract.operands[0], map(constant_number, extract.operands[1:])
    return all(
        index is not None and size is not None and 0 <= index < size
        for index, size in zip(indices, ranked(source).shape or (), strict=True)
    )
