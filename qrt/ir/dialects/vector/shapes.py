"""`vector` ops that repeat, reshape and reorder elements."""

from math import prod

from qrt.ir.core.attributes import DenseArrayAttr
from qrt.ir.core.constraints import element_of, same_as
from qrt.ir.core.define import Definition
from qrt.ir.core.forms import FormParser, FormPrinter, PendingOperation
from qrt.ir.core.operations import Operation
from qrt.ir.core.traits import PURE
from qrt.ir.dialects.vector.types import FIXED, I64_NUMBERS, POSITIONS, integers, part_type, vector_of
from qrt.types import MemRefType, TensorType, VectorType


def _verify_broadcast(operation: Operation) -> None:
    source, result_type = operation.operands[0].type, vector_of(operation.results[0])
    if element_of(source) is not result_type.element:
        raise operation.op_error("failed to verify that source operand and result have same element type")
    if not isinstance(source, VectorType):
        if isinstance(source, TensorType | MemRefType):
            raise operation.op_error("source type is not a vector")
        return
    lead = len(result_type.shape) - len(source.shape)
    if lead < 0:
        raise operation.op_error("source rank higher than destination rank")
    given, wanted = _spell_sizes(source), _spell_sizes(result_type)[lead:]
    for old, new in zip(given, wanted, strict=True):
        if old not in ("1", new):
            raise operation.op_error(f"dimension mismatch ({old} vs. {new})")


def _spell_sizes(vector: VectorType) -> list[str]:
    return [f"[{size}]" if scales else str(size) for size, scales in zip(vector.shape, vector.scalable, strict=True)]


def _verify_shape_cast(operation: Operation) -> None:
    given, result_type = vector_of(operation.operands[0]), vector_of(operation.results[0])
    if prod(given.shape) != prod(result_type.shape):
        raise operation.op_error(
            f"has different number of elements at source ({prod(given.shape)}) and result ({prod(result_type.shape)})"
        )
    if given.element is not result_type.element:
        raise operation.op_error("has different source and result element types")


def _verify_transpose(operation: Operation) -> None:
    given, result_type = vector_of(operation.operands[0]), vector_of(operation.results[0])
    order = integers(operation, "permutation")
    if len(order) != len(given.shape):
        raise operation.op_error(f"transposition length mismatch: {len(order)}")
    for index, axis in enumerate(order):
        if not 0 <= axis < len(order):
            raise operation.op_error(f"position index out of range: {axis}")
        if axis in order[:index]:
            raise operation.op_error(f"duplicate position index: {axis}")
    for axis, size in zip(order, result_type.shape, strict=False):
        if given.shape[axis] != size:
            raise operation.op_error(f"dimension size mismatch at: {axis}")
    if result_type is not part_type(given, order) and order:
        raise operation.op_error(
            f"result type must be '{part_type(given, order)}', the transposed operand type, got '{result_type}'"
        )


def _verify_interleave(operation: Operation) -> None:
    given = vector_of(operation.operands[0])
    shape = (*given.shape[:-1], 2 * (given.shape or (1,))[-1])
    expected = VectorType(shape, given.element, given.scalable or (False,))
    if operation.results[0].type is not expected:
        raise operation.op_error(f"result type must be '{expected}', got '{operation.results[0].type}'")


def _verify_shuffle(operation: Operation) -> None:
    left, right = (vector_of(value) for value in operation.operands)
    mask = integers(operation, "mask")
    if left.element is not right.element:
        raise operation.op_error("failed to verify that second operand v2 and result have same element type")
    total = (left.shape or (1,))[0] + (right.shape or (1,))[0]
    for index, lane in enumerate(mask, 1):
        if not -1 <= lane < total:
            raise operation.op_error(f"mask index #{index} out of range")
    expected = VectorType((len(mask), *left.shape[1:]), left.element)
    if operation.results[0].type is not expected:
        raise operation.op_error(f"result type must be '{expected}', got '{operation.results[0].type}'")


def _parse_shuffle(parser: FormParser, pending: PendingOperation) -> None:
    scanner = parser.scanner
    pending.operands = parser.operand_list()
    mask = I64_NUMBERS.parse(parser)
    pending.attributes.update(parser.optional_attributes())
    pending.attributes["mask"] = mask
    scanner.expect(":", " before the types")
    pending.operand_types = [parser.type()]
    scanner.expect(",", " between the types")
    pending.operand_types.append(parser.type())
    first = pending.operand_types[0]
    assert isinstance(mask, DenseArrayAttr)
    if isinstance(first, VectorType) and mask.values:
        pending.result_types = [VectorType((len(mask.values), *first.shape[1:]), first.element)]


def _print_shuffle(printer: FormPrinter, operation: Operation) -> None:
    printer.operands(operation.operands)
    printer.word(f"[{', '.join(map(str, integers(operation, 'mask')))}]")
    printer.attributes(operation, ("mask",))
    printer.word(f": {', '.join(str(value.type) for value in operation.operands)}")


OPS = [
    Definition(
        "vector.broadcast",
        operands=("source",),
        results=("vector: vector",),
        traits={PURE},
        format="$source attr-dict `:` type($source) `to` type($vector)",
        verify_signature=_verify_broadcast,
        canonicalize=(
            "vector.values: same_type",
            "vector.canonicalize: broadcast_of_shape_cast broadcast_of_constant broadcast_of_broadcast",
        ),
    ),
    Definition(
        "vector.shape_cast",
        operands=("source: vector",),
        results=("result: vector",),
        traits={PURE},
        format="$source attr-dict `:` type($source) `to` type($result)",
        verify_signature=_verify_shape_cast,
        canonicalize=(
            "vector.values: same_type",
            "vector.canonicalize: cast_of_cast cast_to_source cast_of_constant",
            "vector.canonicalize_masks: mask_without_ones",
            "vector.canonicalize: cast_of_broadcast",
        ),
    ),
    Definition(
        "vector.transpose",
        operands=("vector: vector",),
        results=("result: vector",),
        attributes={"permutation": POSITIONS},
        traits={PURE},
        format="$vector `,` $permutation attr-dict `:` type($vector) `to` type($result)",
        verify_signature=_verify_transpose,
        canonicalize=(
            "vector.canonicalize: transpose_of_constant transpose_to_itself",
            "vector.canonicalize_masks: transposed_mask",
            "vector.canonicalize: transpose_of_shape_cast transpose_of_transpose transpose_of_elements",
            "vector.canonicalize: transpose_of_broadcast",
        ),
    ),
    Definition(
        "vector.interleave",
        operands=("lhs: vector", "rhs: vector"),
        results=("result: vector",),
        infer={"rhs": same_as("lhs")},
        traits={PURE},
        format="$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)",
        verify_signature=_verify_interleave,
    ),
    Definition(
        "vector.shuffle",
        operands=(f"v1: {FIXED}", f"v2: {FIXED}"),
        results=("vector: vector",),
        attributes={"mask": POSITIONS},
        traits={PURE},
        parse=_parse_shuffle,
        print=_print_shuffle,
        verify_signature=_verify_shuffle,
        canonicalize=(
            "vector.canonicalize: identity_shuffle shuffle_of_constants shuffle_of_splats interleave",
            "vector.canonicalize: shuffle_of_scalars",
        ),
    ),
]
