"""The ops `vector.load`, `store`, `create_mask`, `constant_mask`, `fma`, `print` and `step`."""

from math import prod

from qrt.ir.core.attribute_kinds import ALIGNMENT, BOOL, enumeration
from qrt.ir.core.attributes import OpaqueAttr
from qrt.ir.core.constraints import same_as
from qrt.ir.core.define import AttributeSpec, Definition
from qrt.ir.core.operations import Operation
from qrt.ir.core.traits import MEM_READ, MEM_WRITE, PURE
from qrt.ir.dialects._shaped.strides import is_minor_unit
from qrt.ir.dialects.vector import contract, elements, reductions, shapes, transfers
from qrt.ir.dialects.vector.types import FLOATS, POSITIONS, integers, vector_of
from qrt.types import MemRefType, VectorType

_PUNCTUATION = enumeration("vector.punctuation", "no_punctuation newline comma open close")


def _verify_access(operation: Operation) -> None:
    stores = operation.name == "vector.store"
    value = operation.operands[0] if stores else operation.results[0]
    memory, indices = operation.operands[int(stores)].type, operation.operands[int(stores) + 1 :]
    assert isinstance(memory, MemRefType)  # the constraint
    access = vector_of(value)
    is_scalar = prod(access.shape) == 1 and not any(access.scalable)
    if not is_scalar and not is_minor_unit(memory):
        raise operation.op_error("most minor memref dim must have unit stride")
    if len(vector_of(value).shape) > len(memory.shape or ()):
        raise operation.op_error(
            "source memref has lower rank than the vector to store"
            if stores
            else "destination memref has lower rank than the result vector"
        )
    if isinstance(memory.element, VectorType):
        if memory.element is not value.type:
            raise operation.op_error(
                f"base memref and {'valueToStore' if stores else 'result'} vector types should match"
            )
    elif memory.element is not vector_of(value).element:
        raise operation.op_error(
            f"base and {'valueToStore element type' if stores else 'result element types'} should match"
        )
    if len(indices) != len(memory.shape or ()):
        raise operation.op_error(f"requires {len(memory.shape or ())} indices")


def _verify_create_mask(operation: Operation) -> None:
    rank = len(vector_of(operation.results[0]).shape)
    if len(operation.operands) != max(rank, 1):
        raise operation.op_error("must specify an operand for each result vector dimension")


def _verify_constant_mask(operation: Operation) -> None:
    mask_type, sizes = vector_of(operation.results[0]), integers(operation, "mask_dim_sizes")
    if not mask_type.shape:
        if len(sizes) != 1:
            raise operation.error("array attr must have length 1 for 0-D vectors")
        if sizes[0] not in (0, 1):
            raise operation.error("mask dim size must be either 0 or 1 for 0-D vectors")
        return
    if len(sizes) != len(mask_type.shape):
        raise operation.op_error("must specify array attr of size equal vector result rank")
    for size, bound, is_scalable in zip(sizes, mask_type.shape, mask_type.scalable, strict=True):
        if not 0 <= size <= bound:
            raise operation.op_error("array attr of size out of bounds of vector result dimension size")
        if is_scalable and size not in (0, bound):
            raise operation.op_error("only supports 'none set' or 'all set' scalable dimensions")
    if 0 in sizes and any(sizes):
        raise operation.op_error(
            "expected all mask dim sizes to be zeros, as a result of conjunction with zero mask dim"
        )


_ACCESS = {"nontemporal": AttributeSpec(kind=BOOL), "alignment": AttributeSpec(kind=ALIGNMENT)}

OPS = [
    *transfers.OPS,
    *contract.OPS,
    *reductions.OPS,
    *shapes.OPS,
    *elements.OPS,
    Definition(
        "vector.fma",
        operands=(f"lhs: {FLOATS}", f"rhs: {FLOATS}", f"acc: {FLOATS}"),
        results=(f"result: {FLOATS}",),
        infer={"rhs": same_as("lhs"), "acc": same_as("lhs"), "result": same_as("lhs")},
        traits={PURE},
        format="$lhs `,` $rhs `,` $acc attr-dict `:` type($lhs)",
    ),
    Definition(
        "vector.load",
        operands=("base: memref", "indices*: index"),
        results=("result: vector",),
        attributes=_ACCESS,
        traits={MEM_READ},
        format="$base `[` $indices `]` attr-dict `:` type($base) `,` type($result)",
        verify_signature=_verify_access,
        canonicalize=("memref.canonicalize: from_ranked_casts",),
    ),
    Definition(
        "vector.store",
        operands=("valueToStore: vector", "base: memref", "indices*: index"),
        attributes=_ACCESS,
        traits={MEM_WRITE},
        format="$valueToStore `,` $base `[` $indices `]` attr-dict `:` type($base) `,` type($valueToStore)",
        verify_signature=_verify_access,
        canonicalize=("memref.canonicalize: from_ranked_casts",),
    ),
    Definition(
        "vector.print",
        operands=("source: printable",),
        attributes={
            "punctuation": AttributeSpec(kind=_PUNCTUATION, default=OpaqueAttr("#vector.punctuation<newline>"))
        },
        traits={MEM_WRITE},
        format="$source attr-dict `:` type($source) (`punctuation` $punctuation^)?",
    ),
    Definition(
        "vector.step",
        results=("result: 1D vector of index",),
        traits={PURE},
        format="attr-dict `:` type($result)",
    ),
    Definition(
        "vector.create_mask",
        operands=("operands*: index",),
        results=("result: vector of i1",),
        traits={PURE},
        format="$operands attr-dict `:` type($result)",
        verify_signature=_verify_create_mask,
        canonicalize=("vector.canonicalize_masks: of_constant_sizes",),
    ),
    Definition(
        "vector.constant_mask",
        results=("result: vector of i1",),
        attributes={"mask_dim_sizes": POSITIONS},
        traits={PURE},
        format="$mask_dim_sizes attr-dict `:` type($result)",
        verify_signature=_verify_constant_mask,
        canonicalize=("vector.canonicalize_masks: full_or_empty",),
    ),
]
