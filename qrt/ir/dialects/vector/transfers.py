"""`vector.transfer_read` and `vector.transfer_write`, which copy padded and masked slices of memrefs or tensors."""

from qrt.ir.core.affine import AffineMapAttr
from qrt.ir.core.attribute_kinds import AFFINE_MAP, BOOL_ARRAY
from qrt.ir.core.attributes import FALSE, TRUE, ArrayAttr
from qrt.ir.core.constraints import I1, INDEX, element_of
from qrt.ir.core.define import AttributeSpec, Definition, segments
from qrt.ir.core.forms import FormParser, FormPrinter, PendingOperation
from qrt.ir.core.operations import Operation
from qrt.ir.core.traits import MEM_READ, MEM_WRITE
from qrt.ir.dialects._regions.forms import parse_values, spell_values
from qrt.types import FloatType, IndexType, IntegerType, MemRefType, TensorType, Type, VectorType

MAP, BOUNDS = "permutation_map", "in_bounds"


def minor_identity(rank: int, vector_rank: int) -> AffineMapAttr:
    """Return the permutation map of a vector along the last `vector_rank` of the memory's `rank` dimensions."""
    return AffineMapAttr(rank, 0, tuple(("d", axis) for axis in range(rank - vector_rank, rank)))


def permutation_of(operation: Operation) -> tuple[int | None, ...]:
    """Return the memory's dimension along which each dimension of the vector lies; None for a broadcast dimension."""
    map = operation.attribute(MAP, AffineMapAttr)
    return tuple(result[1] if isinstance(result, tuple) else None for result in map.results)


def is_in_bounds(operation: Operation) -> tuple[bool, ...]:
    """Return the `in_bounds` flag of each dimension of the vector: True promises that no lane is out of bounds."""
    return tuple(flag == TRUE for flag in operation.attribute(BOUNDS, ArrayAttr).elements)


def mask_type(vector: VectorType, permutation: tuple[int | None, ...]) -> VectorType:
    """Return the type of a transfer's mask: the vector's sizes, in the order of the memory's dimensions.

    The mask lacks the broadcast dimensions. It has one lane if all dimensions are broadcast.
    """
    lanes = zip(permutation, vector.shape, vector.scalable, strict=True)
    used = sorted((axis, size, scalable) for axis, size, scalable in lanes if axis is not None)
    if not used:
        return VectorType((1,), I1)
    return VectorType([size for _, size, _ in used], I1, [scalable for _, _, scalable in used])


def is_plain(operation: Operation) -> bool:
    """Return True if each lane of a transfer is one element of the memory.

    Upstream's verifier also accepts a memory whose elements are vectors or have another width.
    """
    reads = operation.name == "vector.transfer_read"
    vector = operation.results[0].type if reads else operation.operands[0].type
    return element_of(operation.operand_group("base")[0].type) is element_of(vector)


_NOT_PROJECTED = "requires a projected permutation_map (at most one dim or the zero constant can appear in each result)"


def _is_projected(map: AffineMapAttr) -> bool:
    return all(result == 0 or (isinstance(result, tuple) and result[0] == "d") for result in map.results)


def _transfer_rank(element: Type, vector: VectorType) -> int:
    """Return the number of the vector's dimensions that lie along the memory.

    The other dimensions are inside the memory's elements, if these are vectors.
    """
    return len(vector.shape) - (len(element.shape) if isinstance(element, VectorType) else 0)


def _finish(parser: FormParser, pending: PendingOperation, memory: Type, vector: Type, is_masked: bool) -> None:
    """Add the attributes that the custom form omits, and the type of the mask operand, to `pending`.

    `memory` and `vector` are the types in the text. Raise ParseError if the vector does not fit the memory.
    """
    scanner = parser.scanner
    if not isinstance(vector, VectorType):
        raise parser.error_at(pending, "requires vector type")
    if not isinstance(memory, TensorType | MemRefType) or memory.shape is None:
        raise parser.error_at(pending, "requires memref or ranked tensor type")
    rank = _transfer_rank(memory.element, vector)
    if not 0 <= rank <= len(memory.shape) and MAP not in pending.attributes:
        raise parser.error_at(pending, "expected a custom permutation_map when rank(source) != rank(destination)")
    map = pending.attributes.setdefault(MAP, minor_identity(len(memory.shape), rank))
    if isinstance(map, AffineMapAttr):
        pending.attributes.setdefault(BOUNDS, ArrayAttr((FALSE,) * len(map.results)))
    if is_masked and isinstance(memory.element, VectorType):
        raise scanner.error("does not support masks with vector element type", pending.start)
    if is_masked and isinstance(map, AffineMapAttr) and len(map.results) == len(vector.shape):
        if not _is_projected(map):
            raise scanner.error(f"'{pending.name}' op {_NOT_PROJECTED}", pending.start)
        permutation = tuple(result[1] if isinstance(result, tuple) else None for result in map.results)
        pending.operand_types.append(mask_type(vector, permutation))


def _parse_read(parser: FormParser, pending: PendingOperation) -> None:
    scanner = parser.scanner
    source = parser.operand()
    indices = parse_values(parser, "[]")
    scanner.expect(",", " before the padding")
    rest = parser.operand_list()
    pending.operands = [source, *indices, *rest]
    pending.attributes.update(parser.optional_attributes())
    scanner.expect(":", " before the types")
    memory = parser.type()
    scanner.expect(",", " between the types")
    vector = parser.type()
    pending.operand_types = [memory, *[INDEX] * len(indices), getattr(memory, "element", memory)]
    pending.result_types = [vector]
    pending.attributes["operandSegmentSizes"] = segments(1, len(indices), 1, len(rest) - 1)
    _finish(parser, pending, memory, vector, len(rest) > 1)


def _parse_write(parser: FormParser, pending: PendingOperation) -> None:
    scanner = parser.scanner
    value = parser.operand()
    scanner.expect(",", " after the vector")
    target = parser.operand()
    indices = parse_values(parser, "[]")
    mask = parser.operand_list() if scanner.accept(",") else []
    pending.operands = [value, target, *indices, *mask]
    pending.attributes.update(parser.optional_attributes())
    scanner.expect(":", " before the types")
    vector = parser.type()
    scanner.expect(",", " between the types")
    memory = parser.type()
    pending.operand_types = [vector, memory, *[INDEX] * len(indices)]
    pending.result_types = [memory] if isinstance(memory, TensorType) else []
    pending.attributes["operandSegmentSizes"] = segments(1, 1, len(indices), len(mask))
    _finish(parser, pending, memory, vector, bool(mask))


def _print(printer: FormPrinter, operation: Operation) -> None:
    group = operation.operand_group
    reads = operation.name == "vector.transfer_read"
    memory = group("base")[0]
    indexed = f"{printer.name(memory)}{spell_values(printer, group('indices'), '[]')}"
    mask = [printer.name(value) for value in group("mask")]
    if reads:
        vector: Type = operation.results[0].type
        printer.word(", ".join([indexed, printer.name(group("padding")[0]), *mask]))
    else:
        value = group("valueToStore")[0]
        vector = value.type
        printer.word(", ".join([printer.name(value), indexed, *mask]))
    assert isinstance(vector, VectorType)  # the constraints
    assert isinstance(memory.type, TensorType | MemRefType)
    elided = ["operandSegmentSizes"]
    rank = _transfer_rank(memory.type.element, vector)
    if operation.attributes[MAP] == minor_identity(len(memory.type.shape or ()), rank):
        elided.append(MAP)
    if not any(is_in_bounds(operation)):
        elided.append(BOUNDS)
    printer.attributes(operation, elided)
    types = (memory.type, vector) if reads else (vector, memory.type)
    printer.word(f": {types[0]}, {types[1]}")


def _verify(operation: Operation) -> None:
    group = operation.operand_group
    memory = group("base")[0].type
    reads = operation.name == "vector.transfer_read"
    vector = operation.results[0].type if reads else group("valueToStore")[0].type
    assert isinstance(memory, TensorType | MemRefType)  # the constraints
    assert isinstance(vector, VectorType)
    rank, map = len(memory.shape or ()), operation.attribute(MAP, AffineMapAttr)
    if len(group("indices")) != rank:
        raise operation.op_error(f"requires {rank} indices")
    _require_widths(operation, memory.element, vector)
    transfer_rank = _transfer_rank(memory.element, vector)
    if len(map.results) != transfer_rank:
        raise operation.op_error("requires a permutation_map with result dims of the same rank as the vector type")
    if map.symbols:
        raise operation.op_error("requires permutation_map without symbols")
    if map.dimensions != rank:
        raise operation.op_error("requires a permutation_map with input dims of the same rank as the source type")
    if not _is_projected(map):
        raise operation.op_error(_NOT_PROJECTED)
    seen = [result for result in map.results if result != 0]
    if len(set(seen)) != len(seen):
        raise operation.op_error("requires a permutation_map that is a permutation (found one dim used more than once)")
    if not reads and len(seen) < len(map.results):
        raise operation.op_error("should not have broadcast dimensions")
    if len(is_in_bounds(operation)) != transfer_rank:
        raise operation.op_error(
            f"expects the in_bounds attr of same rank as permutation_map results: {map} vs inBounds of size: "
            f"{len(is_in_bounds(operation))}"
        )
    masks = [value.type for value in group("mask")]
    if masks and isinstance(memory.element, VectorType):
        raise operation.op_error("does not support masks with vector element type")
    if masks and masks[0] is not (expected := mask_type(vector, permutation_of(operation))):
        raise operation.op_error(f"inferred mask type ({expected}) and mask operand type ({masks[0]}) don't match")
    if reads and group("padding")[0].type is not memory.element:
        raise operation.op_error(f"padding must be of the element type of '{memory}', got '{group('padding')[0].type}'")
    if not reads and [value.type for value in operation.results] != [memory] * isinstance(memory, TensorType):
        raise operation.op_error(
            f"must have one result of the written tensor's type, or none for a memref: it writes to '{memory}', got "
            f"{', '.join(str(value.type) for value in operation.results) or 'no result'}"
        )


def _width(element: Type) -> int:
    """Return the number of bits of an element; 64 for index."""
    return element.width if isinstance(element, IntegerType | FloatType) else 64


def _require_widths(operation: Operation, element: Type, vector: VectorType) -> None:
    """Raise VerifyError unless the bits of the vector's last dimension are a multiple of those of a memory element.

    Upstream's verifier has the same rule. If the memory's elements are vectors, only their last dimension counts.
    """
    row = (vector.shape or (1,))[-1] * _width(vector.element)
    if isinstance(element, VectorType):
        if row % ((element.shape or (1,))[-1] * _width(element.element)):
            raise operation.op_error(
                "requires the bitwidth of the minor 1-D vector to be an integral multiple of the bitwidth of the minor "
                "1-D vector of the source"
            )
        if len(element.shape) > len(vector.shape):
            raise operation.op_error("requires source vector element and vector result ranks to match.")
    elif not isinstance(element, IntegerType | FloatType | IndexType):
        raise operation.op_error("requires valid padding vector elemental type")
    elif element is not vector.element and row % _width(element):
        raise operation.op_error(
            "requires the bitwidth of the minor 1-D vector to be an integral multiple of the bitwidth of the source "
            "element type"
        )


_ATTRIBUTES = {
    MAP: AttributeSpec(kind=AFFINE_MAP, required=True),
    BOUNDS: AttributeSpec(kind=BOOL_ARRAY, required=True),
}

OPS = [
    Definition(
        "vector.transfer_read",
        operands=("base: tensor or memref", "indices*: index", "padding", "mask?: vector"),
        results=("vector: vector",),
        attributes=_ATTRIBUTES,
        effects=lambda op: (MEM_READ,) if isinstance(op.operands[0].type, MemRefType) else (),
        speculatable=lambda op: isinstance(op.operands[0].type, TensorType),
        parse=_parse_read,
        print=_print,
        verify_signature=_verify,
        canonicalize=(
            "memref.canonicalize: from_ranked_casts",
            "vector.canonicalize_transfers: read_of_written known_in_bounds without_mask of_cast written_otherwise",
        ),
    ),
    Definition(
        "vector.transfer_write",
        operands=("valueToStore: vector", "base: tensor or memref", "indices*: index", "mask?: vector"),
        results=("result?: ranked tensor",),
        attributes=_ATTRIBUTES,
        effects=lambda op: (MEM_WRITE,) if isinstance(op.operands[1].type, MemRefType) else (),
        speculatable=lambda op: isinstance(op.operands[1].type, TensorType),
        parse=_parse_write,
        print=_print,
        verify_signature=_verify,
        canonicalize=(
            "tensor.canonicalize: from_casts",
            "memref.canonicalize: from_ranked_casts",
            "vector.canonicalize_transfers: write_of_read known_in_bounds without_mask over_write",
        ),
    ),
]
