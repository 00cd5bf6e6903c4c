"""`vector`: the ops of common lowered code."""

from collections.abc import Iterable, Sequence
from math import prod
from typing import TYPE_CHECKING

from qrt.dialects._shaped.strides import is_minor_unit
from qrt.dialects.arith.ops import FLAGS
from qrt.dialects.vector.contract import iterators_of, verify_contract
from qrt.dialects.vector.transfers import TRANSFERS
from qrt.ir.core.attributes import ArrayAttr, Attribute, DenseArrayAttr, OpaqueAttr, StringAttr
from qrt.ir.core.constraints import I1, add_type_constraint, element_of, element_type_of, same_as
from qrt.ir.core.define import PURE, AttributeSpec, Definition
from qrt.ir.core.operations import Operation, Value
from qrt.ir.core.traits import MEM_READ, MEM_WRITE
from qrt.ir.text.assembly_elements import DYNAMIC
from qrt.ir.text.attribute_kinds import (
    AFFINE_MAP_ARRAY,
    ALIGNMENT,
    BOOL,
    ENUMERATIONS,
    I64_ARRAY,
    array_of,
    dense_array,
    enumeration,
)
from qrt.types import FloatType, IndexType, IntegerType, MemRefType, TensorType, Type, VectorType

if TYPE_CHECKING:
    from qrt.ir.text.parser import Parser, PendingOperation
    from qrt.ir.text.printer import Printer

_I64 = IntegerType(64)
KINDS = "add mul minui minsi minnumf maxui maxsi maxnumf and or xor minimumf maximumf"
KIND = AttributeSpec(kind=enumeration("vector.kind", KINDS), required=True)
_ITERATORS = array_of(
    "Iterator type should be an enum.", enumeration("vector.iterator_type", "parallel reduction").holds
)
_CONTRACTION = ("indexing_maps", "iterator_types", "kind")
_PUNCTUATION = enumeration("vector.punctuation", "no_punctuation newline comma open close")
_POSITIONS = AttributeSpec(kind=dense_array(_I64), required=True)

_FIXED, _FLOATS, _NOT_SCALAR = "fixed-length vector", "vector of floats", "vector of rank above 0"

add_type_constraint(
    _FIXED,
    lambda type: isinstance(type, VectorType) and not any(type.scalable),
    "fixed-length vector of any type values",
)
add_type_constraint(
    _FLOATS,
    lambda type: isinstance(type, VectorType) and isinstance(type.element, FloatType),
    "vector of floating-point values",
)
add_type_constraint(
    _NOT_SCALAR, lambda type: isinstance(type, VectorType) and type.shape != (), "vector of any type values"
)
add_type_constraint("printable", lambda type: isinstance(type, VectorType | IntegerType | IndexType | FloatType), "")
add_type_constraint("vector of i1", lambda type: isinstance(type, VectorType) and type.element is I1)
add_type_constraint(
    "1D vector of index",
    lambda type: isinstance(type, VectorType) and len(type.shape) == 1 and isinstance(type.element, IndexType),
    "vector of index values of ranks 1",
)


def vector_of(value: Value) -> VectorType:
    """The type of a value that a constraint holds to be a vector."""
    assert isinstance(value.type, VectorType)
    return value.type


def shape_of(type: Type) -> tuple[int, ...]:
    """The shape of a vector; a scalar has none."""
    return type.shape if isinstance(type, VectorType) else ()


def part_type(vector: VectorType, axes: Iterable[int]) -> Type:
    """A vector with some of the dimensions of another; its element itself where there is none."""
    kept = list(axes)
    if not kept:
        return vector.element
    return VectorType([vector.shape[axis] for axis in kept], vector.element, [vector.scalable[axis] for axis in kept])


def integers(operation: Operation, name: str) -> tuple[int, ...]:
    """An attribute that lists integers."""
    found = operation.attributes[name]
    return found.values if isinstance(found, DenseArrayAttr) else tuple(found.python)


def kind_of(operation: Operation) -> str:
    """How a reduction combines: one of `KINDS`."""
    return ENUMERATIONS["vector.kind"].flags(operation.attributes["kind"])[0]


def combination(operation: Operation) -> str:
    """The op of `arith` that combines two elements of a reduction."""
    kind, element = kind_of(operation), element_of(operation.results[0].type)
    if kind in ("add", "mul"):
        kind += "f" if isinstance(element, FloatType) else "i"
    elif kind in ("and", "or", "xor"):
        kind += "i"
    return f"arith.{kind}"


def _require_kind(operation: Operation, element: Type) -> None:
    kind = kind_of(operation)
    is_integer = isinstance(element, IntegerType | IndexType)
    if kind not in ("add", "mul") and (kind[-1] == "f") == is_integer:
        raise operation.op_error(f"unsupported reduction type ''{element}'' for kind '{kind}'")


# -- reductions --------------------------------------------------------------------------------------------------------


def _verify_reduction(operation: Operation) -> None:
    vector = vector_of(operation.operands[0])
    if len(vector.shape) > 1:
        raise operation.op_error(f"unsupported reduction rank: {len(vector.shape)}")
    _require_kind(operation, vector.element)


def _verify_multi_reduction(operation: Operation) -> None:
    source, dimensions = vector_of(operation.operands[0]), integers(operation, "reduction_dims")
    if any(not 0 <= axis < len(source.shape) for axis in dimensions) or len(set(dimensions)) < len(dimensions):
        raise operation.op_error(f"reduces dimensions {list(dimensions)} of a vector of rank {len(source.shape)}")
    kept = (axis for axis in range(len(source.shape)) if axis not in dimensions)
    if operation.results[0].type is not part_type(source, kept):
        raise operation.op_error(
            f"destination type '{operation.results[0].type}' is incompatible with source type '{source}'"
        )
    _require_kind(operation, source.element)


def _parse_contract(parser: "Parser", pending: "PendingOperation") -> None:
    scanner = parser.scanner
    start = scanner.skip()
    pending.attributes = parser.dictionary()
    pending.operands = parser.operand_list()
    for name, value in parser.optional_attributes().items():
        if name in pending.attributes:
            raise scanner.error(f"attribute '{name}' occurs more than once in the attribute list", start)
        pending.attributes[name] = value
    iterators = pending.attributes.get("iterator_types")
    if not isinstance(iterators, ArrayAttr):
        raise scanner.error('expected "iterator_types" array attribute', start)
    pending.attributes["iterator_types"] = ArrayAttr(tuple(map(_iterator, iterators.elements)))
    pending.attributes.setdefault("kind", OpaqueAttr("#vector.kind<add>"))
    scanner.expect(":", " before the types")
    pending.operand_types = [parser.type()]
    scanner.expect(",", " between the types")
    pending.operand_types.append(parser.type())
    scanner.expect_word("into", " before the type of the accumulator")
    pending.result_types = [parser.type()]
    pending.operand_types.extend(pending.result_types)


def _iterator(element: Attribute) -> Attribute:
    return OpaqueAttr(f"#vector.iterator_type<{element.value}>") if isinstance(element, StringAttr) else element


def _print_contract(printer: "Printer", operation: Operation) -> None:
    names = ArrayAttr(tuple(StringAttr(name) for name in iterators_of(operation)))
    header = operation.attributes | {"iterator_types": names}
    printer.word(f"{{{', '.join(f'{name} = {header[name]}' for name in _CONTRACTION)}}}")
    printer.operands(operation.operands)
    printer.attributes(operation, _CONTRACTION)
    left, right, accumulator = (value.type for value in operation.operands)
    printer.word(f": {left}, {right} into {accumulator}")


def _verify_contract(operation: Operation) -> None:
    verify_contract(operation)
    _require_kind(operation, element_of(operation.results[0].type))


# -- shapes ------------------------------------------------------------------------------------------------------------


def _verify_broadcast(operation: Operation) -> None:
    source, made = operation.operands[0].type, vector_of(operation.results[0])
    if element_of(source) is not made.element:
        raise operation.op_error("failed to verify that source operand and result have same element type")
    if not isinstance(source, VectorType):
        if isinstance(source, TensorType | MemRefType):
            raise operation.op_error("source type is not a vector")
        return
    lead = len(made.shape) - len(source.shape)
    if lead < 0:
        raise operation.op_error("source rank higher than destination rank")
    given, wanted = _spell_sizes(source), _spell_sizes(made)[lead:]
    for old, new in zip(given, wanted, strict=True):
        if old not in ("1", new):
            raise operation.op_error(f"dimension mismatch ({old} vs. {new})")


def _spell_sizes(vector: VectorType) -> list[str]:
    return [f"[{size}]" if scales else str(size) for size, scales in zip(vector.shape, vector.scalable, strict=True)]


def _verify_shape_cast(operation: Operation) -> None:
    given, made = vector_of(operation.operands[0]), vector_of(operation.results[0])
    if prod(given.shape) != prod(made.shape):
        raise operation.op_error(
            f"has different number of elements at source ({prod(given.shape)}) and result ({prod(made.shape)})"
        )
    if given.element is not made.element:
        raise operation.op_error("has different source and result element types")


def _verify_transpose(operation: Operation) -> None:
    given, made = vector_of(operation.operands[0]), vector_of(operation.results[0])
    order = integers(operation, "permutation")
    if len(order) != len(given.shape):
        raise operation.op_error(f"transposition length mismatch: {len(order)}")
    for index, axis in enumerate(order):
        if not 0 <= axis < len(order):
            raise operation.op_error(f"position index out of range: {axis}")
        if axis in order[:index]:
            raise operation.op_error(f"duplicate position index: {axis}")
    for axis, size in zip(order, made.shape, strict=False):
        if given.shape[axis] != size:
            raise operation.op_error(f"dimension size mismatch at: {axis}")
    if made is not part_type(given, order) and order:
        raise operation.op_error(f"result type '{made}' is not the transposed type of '{given}'")


def _require_position(operation: Operation, vector: VectorType, part: Type) -> None:
    positions = integers(operation, "static_position")
    assert operation.definition is not None  # that says this rule
    if positions.count(DYNAMIC) != len(operation.definition.operand_group(operation, "dynamic_position")):
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
        raise operation.op_error(f"takes a part of type '{expected}', not '{part}'")


def _verify_extract(operation: Operation) -> None:
    _require_position(operation, vector_of(operation.operands[0]), operation.results[0].type)


def _verify_insert(operation: Operation) -> None:
    _require_position(operation, vector_of(operation.operands[1]), operation.operands[0].type)


def slice_of(operation: Operation, rank: int) -> tuple[slice, ...]:
    """Where the slice of a `vector.extract_strided_slice` or `insert_strided_slice` stands in the first dimensions."""
    offsets = integers(operation, "offsets")
    if "sizes" in operation.attributes:
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
    """A scalable dimension is taken whole."""
    if scales and size != whole:
        raise operation.op_error(
            f"expected size at idx={axis} to match the corresponding base size from the input vector ({size} vs "
            f"{whole})"
        )


def _verify_from_elements(operation: Operation) -> None:
    if len(operation.operands) != prod(vector_of(operation.results[0]).shape):
        raise operation.op_error("failed to verify that operand types match result element type")


MAX_RESULTS = 1 << 16
"""Most results that a type of a few characters stands for."""


def _parse_to_elements(parser: "Parser", pending: "PendingOperation") -> None:
    pending.operands = [parser.operand()]
    pending.attributes.update(parser.optional_attributes())
    parser.scanner.expect(":", " before the type")
    start = parser.scanner.skip()
    vector = parser.type()
    count = prod(vector.shape) if isinstance(vector, VectorType) else 0
    if count > MAX_RESULTS:
        raise parser.scanner.error(f"more than {MAX_RESULTS} results of one op", start, parser.scanner.pos)
    pending.operand_types = [vector]
    pending.result_types = [vector.element] * count if isinstance(vector, VectorType) else []


def _print_to_elements(printer: "Printer", operation: Operation) -> None:
    printer.operands(operation.operands)
    printer.attributes(operation)
    printer.word(f": {operation.operands[0].type}")


def _verify_to_elements(operation: Operation) -> None:
    vector = vector_of(operation.operands[0])
    count = prod(vector.shape)
    if len(operation.results) != count or any(value.type is not vector.element for value in operation.results):
        raise operation.op_error(f"results in each of the {count} elements of '{vector}'")


def _verify_interleave(operation: Operation) -> None:
    given = vector_of(operation.operands[0])
    shape = (*given.shape[:-1], 2 * (given.shape or (1,))[-1])
    made = VectorType(shape, given.element, given.scalable or (False,))
    if operation.results[0].type is not made:
        raise operation.op_error(f"results in '{made}', not in '{operation.results[0].type}'")


def _verify_shuffle(operation: Operation) -> None:
    left, right = (vector_of(value) for value in operation.operands)
    mask = integers(operation, "mask")
    if left.element is not right.element:
        raise operation.op_error("failed to verify that second operand v2 and result have same element type")
    total = (left.shape or (1,))[0] + (right.shape or (1,))[0]
    for index, lane in enumerate(mask, 1):
        if not -1 <= lane < total:
            raise operation.op_error(f"mask index #{index} out of range")
    made = VectorType((len(mask), *left.shape[1:]), left.element)
    if operation.results[0].type is not made:
        raise operation.op_error(f"results in '{made}', not in '{operation.results[0].type}'")


def _parse_shuffle(parser: "Parser", pending: "PendingOperation") -> None:
    scanner = parser.scanner
    pending.operands = parser.operand_list()
    mask = dense_array(_I64).parse(parser)
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


def _print_shuffle(printer: "Printer", operation: Operation) -> None:
    printer.operands(operation.operands)
    printer.word(f"[{', '.join(map(str, integers(operation, 'mask')))}]")
    printer.attributes(operation, ("mask",))
    printer.word(f": {', '.join(str(value.type) for value in operation.operands)}")


# -- memory, masks -----------------------------------------------------------------------------------------------------


def _verify_access(operation: Operation) -> None:
    stores = operation.name == "vector.store"
    value = operation.operands[0] if stores else operation.results[0]
    memory, indices = operation.operands[int(stores)].type, operation.operands[int(stores) + 1 :]
    assert isinstance(memory, MemRefType)  # the constraint
    if memory.element is not vector_of(value).element:
        raise operation.op_error(
            f"base and {'valueToStore element type' if stores else 'result element types'} should match"
        )
    if not is_minor_unit(memory):
        raise operation.op_error("most minor memref dim must have unit stride")
    if len(indices) != len(memory.shape or ()):
        raise operation.op_error(f"requires {len(memory.shape or ())} indices")


def _verify_create_mask(operation: Operation) -> None:
    rank = len(vector_of(operation.results[0]).shape)
    if len(operation.operands) != max(rank, 1):
        raise operation.op_error("must specify an operand for each result vector dimension")


def _verify_constant_mask(operation: Operation) -> None:
    made, sizes = vector_of(operation.results[0]), integers(operation, "mask_dim_sizes")
    if len(sizes) != max(len(made.shape), 1):
        raise operation.op_error("must specify array attr of size equal vector result rank")
    for size, bound in zip(sizes, made.shape, strict=False):
        if not 0 <= size <= bound:
            raise operation.op_error("array attr of size out of bounds of vector result dimension size")
    if 0 in sizes and any(sizes):
        raise operation.op_error("expected mask dim sizes to all be zero if any is")


_SLICE_PART = AttributeSpec(kind=I64_ARRAY, required=True)
_ACCESS = {"nontemporal": AttributeSpec(kind=BOOL), "alignment": AttributeSpec(kind=ALIGNMENT)}
_POSITION = "dynamic_indices($dynamic_position, $static_position) attr-dict"

OPS = [
    *TRANSFERS,
    Definition(
        "vector.contract",
        operands=("lhs: vector", "rhs: vector", "acc"),
        results=("result",),
        attributes={
            "indexing_maps": AttributeSpec(kind=AFFINE_MAP_ARRAY, required=True),
            "iterator_types": AttributeSpec(kind=_ITERATORS, required=True),
            "kind": KIND,
        },
        infer={"result": same_as("acc")},
        traits={PURE},
        parse=_parse_contract,
        print=_print_contract,
        verify_signature=_verify_contract,
    ),
    Definition(
        "vector.reduction",
        operands=("vector: vector", "acc?"),
        results=("dest",),
        attributes={"kind": KIND, "fastmath": FLAGS["fastmath"]},
        infer={"dest": element_type_of("vector"), "acc": same_as("dest")},
        traits={PURE},
        format="$kind `,` $vector (`,` $acc^)? (`fastmath` `` $fastmath^)? attr-dict `:` "
        "type($vector) `into` type($dest)",
        verify_signature=_verify_reduction,
        canonicalize=("vector.canonicalize_reductions: one_element",),
    ),
    Definition(
        "vector.multi_reduction",
        operands=("source: vector", "acc"),
        results=("dest",),
        attributes={"kind": KIND, "reduction_dims": _POSITIONS},
        infer={"acc": same_as("dest")},
        traits={PURE},
        format="$kind `,` $source `,` $acc attr-dict $reduction_dims `:` type($source) `to` type($dest)",
        verify_signature=_verify_multi_reduction,
        canonicalize=("vector.canonicalize_reductions: unit_dimensions",),
    ),
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
        "vector.extract",
        operands=("source: vector", "dynamic_position*: index"),
        results=("result",),
        attributes={"static_position": _POSITIONS},
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
        attributes={"static_position": _POSITIONS},
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
        attributes={"permutation": _POSITIONS},
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
    *(
        Definition(
            f"vector.{name}_strided_slice",
            operands=operands,
            results=("result: vector",),
            attributes=dict.fromkeys(parts, _SLICE_PART),
            infer={} if name == "extract" else {"result": same_as("dest")},
            traits={PURE},
            format=f"{form} attr-dict `:` {types}",
            verify_signature=verify,
            canonicalize=canonicalize,
        )
        for name, verify, operands, parts, form, types, canonicalize in (
            (
                "extract",
                _verify_extract_slice,
                ("source: vector",),
                ("offsets", "sizes", "strides"),
                "$source",
                "type($source) `to` type($result)",
                (
                    "vector.values: same_type",
                    "vector.canonicalize_slices: of_inserted of_constant",
                    "vector.canonicalize_masks: slice_of_mask",
                    "vector.canonicalize_slices: of_broadcast to_extract",
                ),
            ),
            (
                "insert",
                _verify_insert_slice,
                (f"valueToStore: {_NOT_SCALAR}", f"dest: {_NOT_SCALAR}"),
                ("offsets", "strides"),
                "$valueToStore `,` $dest",
                "type($valueToStore) `into` type($dest)",
                ("vector.canonicalize_slices: into_what_is_there into_constant",),
            ),
        )
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
        operands=(f"v1: {_FIXED}", f"v2: {_FIXED}"),
        results=("vector: vector",),
        attributes={"mask": _POSITIONS},
        traits={PURE},
        parse=_parse_shuffle,
        print=_print_shuffle,
        verify_signature=_verify_shuffle,
        canonicalize=(
            "vector.canonicalize: identity_shuffle shuffle_of_constants shuffle_of_splats interleave",
            "vector.canonicalize: shuffle_of_scalars",
        ),
    ),
    Definition(
        "vector.fma",
        operands=(f"lhs: {_FLOATS}", f"rhs: {_FLOATS}", f"acc: {_FLOATS}"),
        results=(f"result: {_FLOATS}",),
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
        attributes={"mask_dim_sizes": _POSITIONS},
        traits={PURE},
        format="$mask_dim_sizes attr-dict `:` type($result)",
        verify_signature=_verify_constant_mask,
        canonicalize=("vector.canonicalize_masks: full_or_empty",),
    ),
]
