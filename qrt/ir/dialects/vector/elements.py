"""`vector` ops that extract and insert parts of vectors."""

from collections.abc import Sequence
from math import prod

from qrt.ir.core.attribute_kinds import I64_ARRAY
from qrt.ir.core.constraints import element_type_of, same_as
from qrt.ir.core.define import AttributeSpec, Definition
from qrt.ir.core.forms import FormParser, FormPrinter, PendingOperation
from qrt.ir.core.operations import Operation
from qrt.ir.core.traits import PURE
from qrt.ir.dialects.vector.types import NOT_SCALAR, POSITIONS, integers, part_type, shape_of, vector_of
from qrt.ir.text.assembly_elements import DYNAMIC
from qrt.types import Type, VectorType

_SLICE_PART = AttributeSpec(kind=I64_ARRAY, required=True)
_POSITION = "dynamic_indices($dynamic_position, $static_position) attr-dict"


def _require_position(operation: Operation, vector: VectorType, part: Type) -> None:
    positions = integers(operation, "static_position")
    if positions.count(DYNAMIC) != len(operation.operand_group("dynamic_position")):
        raise operation.op_error(
            "mismatch between dynamic and static positions (kDynamic marker but no corresponding dynamic position) -- "
            "this can only happen due to an incorrect fold/rewrite"
        )
    if len(positions) > len(vector.shape):
        raise operation.op_error("expected position attribute of rank no greater than vector rank")
    for index, (position, size) in enumerate(zip(positions, vector.shape, strict=False)):
        if position != DYNAMIC and not -1 <= position < size:
            raise operation.op_error(
                f"expected position attribute #{index + 1} to be a non-negative integer smaller than the corresponding "
                f"vector dimension or poison (-1)"
            )
    expected = part_type(vector, range(len(positions), len(vector.shape)))
    if part is not expected:
        raise operation.op_error(f"the element or subvector must be of type '{expected}', got '{part}'")


def _verify_extract(operation: Operation) -> None:
    _require_position(operation, vector_of(operation.operands[0]), operation.results[0].type)


def _verify_insert(operation: Operation) -> None:
    _require_position(operation, vector_of(operation.operands[1]), operation.operands[0].type)


def slice_of(operation: Operation) -> tuple[slice, ...]:
    """Return the range of indices that a strided slice op extracts or overwrites, by leading dimension.

    The operation is a `vector.extract_strided_slice` or a `vector.insert_strided_slice`.
    """
    offsets = integers(operation, "offsets")
    if operation.name == "vector.extract_strided_slice":  # `insert_strided_slice` has no `sizes`
        sizes = integers(operation, "sizes")
    else:
        small, large = shape_of(operation.operands[0].type), shape_of(operation.operands[1].type)
        sizes = (1,) * (len(large) - len(small)) + small
    return tuple(slice(offset, offset + size) for offset, size in zip(offsets, sizes, strict=False))


def _verify_extract_slice(operation: Operation) -> None:
    large, part = vector_of(operation.operands[0]), vector_of(operation.results[0])
    offsets, sizes, strides = (integers(operation, name) for name in ("offsets", "sizes", "strides"))
    if not len(offsets) == len(sizes) == len(strides):
        raise operation.op_error("expected offsets, sizes and strides attributes of same size")
    if len(offsets) > len(large.shape):
        raise operation.op_error("expected offsets attribute of rank no greater than vector rank")
    _require_confined(operation, "offsets", offsets, large.shape, 0)
    _require_confined(operation, "sizes", sizes, [size + 1 for size in large.shape], 1)
    _require_unit_strides(operation)
    ends = [offset + size for offset, size in zip(offsets, sizes, strict=True)]
    _require_confined(operation, "sum(offsets, sizes)", ends, [size + 1 for size in large.shape], 1)
    expected = VectorType([*sizes, *large.shape[len(sizes) :]], large.element, large.scalable)
    if part is not expected:
        raise operation.op_error(f"expected result type to be '{expected}'")
    for axis, (size, whole, scales) in enumerate(zip(sizes, large.shape, large.scalable, strict=False)):
        _require_whole(operation, axis, size, whole, scales)


def _verify_insert_slice(operation: Operation) -> None:
    part, large = map(vector_of, operation.operands)
    offsets, lead = integers(operation, "offsets"), len(large.shape) - len(part.shape)
    if part.element is not large.element:
        raise operation.op_error("failed to verify that operand #0 and result have same element type")
    if len(offsets) != len(large.shape):
        raise operation.op_error("expected offsets of same size as destination vector rank")
    if len(integers(operation, "strides")) != len(part.shape):
        raise operation.op_error("expected strides of same size as source vector rank")
    if lead < 0:
        raise operation.op_error("expected source rank to be no greater than destination rank")
    _require_confined(operation, "offsets", offsets, large.shape, 0)
    _require_unit_strides(operation)
    ends = [offset + size for offset, size in zip(offsets, (1,) * lead + part.shape, strict=True)]
    bounds = [size + 1 for size in large.shape]
    _require_confined(operation, "sum(offsets, source vector shape)", ends, bounds, 1)
    for axis, (size, whole) in enumerate(zip(part.shape, large.shape[lead:], strict=True)):
        if part.scalable[axis] != large.scalable[axis + lead]:
            raise operation.op_error(f"mismatching scalable flags (at source vector idx={axis})")
        _require_whole(operation, axis, size, whole, part.scalable[axis])


def _require_confined(
    operation: Operation, what: str, values: Sequence[int], bounds: Sequence[int], least: int
) -> None:
    for axis, (value, bound) in enumerate(zip(values, bounds, strict=False)):
        if not least <= value < bound:
            raise operation.op_error(f"expected {what} dimension {axis} to be confined to [{least}, {bound})")


def _require_unit_strides(operation: Operation) -> None:
    if any(stride != 1 for stride in integers(operation, "strides")):
        raise operation.op_error("expected strides to be confined to [1, 2)")


def _require_whole(operation: Operation, axis: int, size: int, whole: int, scales: bool) -> None:
    """Raise VerifyError if an axis is scalable (`scales`) and the slice's size along the axis is not the whole size."""
    if scales and size != whole:
        raise operation.op_error(
            f"expected size at idx={axis} to match the corresponding base size from the input vector ({size} vs "
            f"{whole})"
        )


def _verify_from_elements(operation: Operation) -> None:
    if len(operation.operands) != prod(vector_of(operation.results[0]).shape):
        raise operation.op_error("failed to verify that operand types match result element type")


MAX_RESULTS = 1 << 16
"""The maximum number of results of a `to_elements`: a short vector type could demand billions."""


def _parse_to_elements(parser: FormParser, pending: PendingOperation) -> None:
    pending.operands = [parser.operand()]
    pending.attributes.update(parser.optional_attributes())
    parser.scanner.expect(":", " before the type")
    start = parser.scanner.skip()
    vector = parser.type()
    count = prod(vector.shape) if isinstance(vector, VectorType) else 0
    if count > MAX_RESULTS:
        message = f"an op can have at most {MAX_RESULTS} results, but this vector has {count} elements"
        raise parser.scanner.error(message, start, parser.scanner.pos)
    pending.operand_types = [vector]
    pending.result_types = [vector.element] * count if isinstance(vector, VectorType) else []


def _print_to_elements(printer: FormPrinter, operation: Operation) -> None:
    printer.operands(operation.operands)
    printer.attributes(operation)
    printer.word(f": {operation.operands[0].type}")


def _verify_to_elements(operation: Operation) -> None:
    vector = vector_of(operation.operands[0])
    count = prod(vector.shape)
    if len(operation.results) != count or any(value.type is not vector.element for value in operation.results):
        got = ", ".join(f"'{value.type}'" for value in operation.results[:4]) or "none"
        raise operation.op_error(
            f"must have {count} results of type '{vector.element}', the elements of '{vector}', got "
            f"{len(operation.results)}: {got}{', ...' * (len(operation.results) > 4)}"
        )


OPS = [
    Definition(
        "vector.extract",
        operands=("source: vector", "dynamic_position*: index"),
        results=("result",),
        attributes={"static_position": POSITIONS},
        traits={PURE},
        format=f"$source `` {_POSITION} `:` type($result) `from` type($source)",
        verify_signature=_verify_extract,
        canonicalize=(
            "vector.canonicalize_elements: whole_vector constant_position of_constant of_extract of_inserts",
            "vector.canonicalize_elements: of_repeated of_shuffle of_shape_cast of_slice of_inserted_slices",
            "vector.canonicalize_elements: to_broadcast to_mask to_shape_cast of_elements",
        ),
    ),
    Definition(
        "vector.insert",
        operands=("valueToStore", "dest: vector", "dynamic_position*: index"),
        results=("result: vector",),
        attributes={"static_position": POSITIONS},
        infer={"result": same_as("dest")},
        traits={PURE},
        format=f"$valueToStore `,` $dest {_POSITION} `:` type($valueToStore) `into` type($dest)",
        verify_signature=_verify_insert,
        canonicalize=(
            "vector.canonicalize_elements: whole_vector constant_position over_insert into_constant as_broadcast",
            "vector.canonicalize_elements: as_elements",
        ),
    ),
    Definition(
        "vector.extract_strided_slice",
        operands=("source: vector",),
        results=("result: vector",),
        attributes=dict.fromkeys(("offsets", "sizes", "strides"), _SLICE_PART),
        traits={PURE},
        format="$source attr-dict `:` type($source) `to` type($result)",
        verify_signature=_verify_extract_slice,
        canonicalize=(
            "vector.values: same_type",
            "vector.canonicalize_slices: of_inserted of_constant",
            "vector.canonicalize_masks: slice_of_mask",
            "vector.canonicalize_slices: of_broadcast to_extract",
        ),
    ),
    Definition(
        "vector.insert_strided_slice",
        operands=(f"valueToStore: {NOT_SCALAR}", f"dest: {NOT_SCALAR}"),
        results=("result: vector",),
        attributes=dict.fromkeys(("offsets", "strides"), _SLICE_PART),
        infer={"result": same_as("dest")},
        traits={PURE},
        format="$valueToStore `,` $dest attr-dict `:` type($valueToStore) `into` type($dest)",
        verify_signature=_verify_insert_slice,
        canonicalize=("vector.canonicalize_slices: insert_of_existing into_constant",),
    ),
    Definition(
        "vector.from_elements",
        operands=("elements*",),
        results=("dest: vector",),
        infer={"elements": element_type_of("dest", "operand types match result element type")},
        traits={PURE},
        format="$elements attr-dict `:` type($dest)",
        verify_signature=_verify_from_elements,
        canonicalize=("vector.canonicalize_elements: of_own_elements of_constants of_one_element of_neighbours",),
    ),
    Definition(
        "vector.to_elements",
        operands=("source: vector",),
        results=("elements*",),
        traits={PURE},
        parse=_parse_to_elements,
        print=_print_to_elements,
        verify_signature=_verify_to_elements,
        canonicalize=("vector.canonicalize_elements: elements_of_elements elements_of_broadcast",),
    ),
]
