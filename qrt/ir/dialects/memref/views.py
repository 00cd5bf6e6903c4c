"""`memref` ops that create views: another shape, layout or part of the same buffer."""

from collections import Counter
from collections.abc import Sequence

from qrt.ir.core.affine import AffineMapAttr
from qrt.ir.core.attribute_kinds import AFFINE_MAP, I32
from qrt.ir.core.constraints import INDEX, add_type_constraint, same_as
from qrt.ir.core.define import AttributeSpec, Definition
from qrt.ir.core.operations import Operation, incompatible
from qrt.ir.core.traits import PURE
from qrt.ir.dialects._shaped.lists import REASSOCIATION, STATIC, reassociation_of, static_values, verify_dynamic_sizes
from qrt.ir.dialects._shaped.slices import (
    PARTS,
    SLICE_ATTRIBUTES,
    SLICE_FORMAT,
    SLICE_OPERANDS,
    dropped_dimensions,
    verify_slice_bounds,
    verify_slice_lists,
)
from qrt.ir.dialects._shaped.strides import (
    Number,
    collapsed,
    expanded,
    has_identity_layout,
    is_contiguous,
    product,
    strides_of,
    subview,
)
from qrt.ir.dialects._shaped.types import memref_type, require_cast, require_sizes
from qrt.types import MemRefType, StridedLayout, Type

_CAST = "$source attr-dict `:` type($source) `to` type($result)"


def _types(operation: Operation) -> tuple[MemRefType, MemRefType]:
    return memref_type(operation.operands[0]), memref_type(operation.results[0])


# -- casts -----------------------------------------------------------------------------------------------------------


def _agree(left: Sequence[int | None], right: Sequence[int | None]) -> bool:
    return len(left) == len(right) and all(None in (a, b) or a == b for a, b in zip(left, right, strict=True))


def _verify_cast(operation: Operation) -> None:
    given, result = _types(operation)
    fits = given.element is result.element and given.space == result.space
    if given.shape is None or result.shape is None:
        fits = fits and given.shape is not result.shape
    else:
        old, new = strides_of(given), strides_of(result)
        fits = fits and _agree(given.shape, result.shape)
        if given.layout != result.layout:
            fits = fits and old is not None and new is not None and _agree(old.strides, new.strides)
            fits = fits and old is not None and new is not None and _agree((old.offset,), (new.offset,))
    require_cast(operation, fits)


def _verify_memory_space_cast(operation: Operation) -> None:
    given, result = _types(operation)
    require_cast(operation, (given.shape, given.element, given.layout) == (result.shape, result.element, result.layout))


def _verify_alignment(operation: Operation) -> None:
    alignment = operation.attributes["alignment"].python
    if alignment <= 0:
        raise operation.op_error(
            "attribute 'alignment' failed to satisfy constraint: 32-bit signless integer attribute whose value is "
            "positive"
        )
    if alignment & (alignment - 1):
        raise operation.op_error("alignment must be power of 2")


# -- subview, reinterpret_cast ---------------------------------------------------------------------------------------


def _verify_subview(operation: Operation) -> None:
    given, result = _types(operation)
    shape = given.shape or ()
    verify_slice_lists(operation, len(shape))
    offsets, sizes, steps = (static_values(operation, name) for name in PARTS)
    if result.element is not given.element:
        raise operation.error(f"expected result element type to be '{given.element}', but got '{result}'")
    expected = subview(given, offsets, sizes, steps)
    if expected is None:
        raise operation.op_error(f"base type '{given}' is not strided")
    text = f"expected result type to be '{expected}' or a rank-reduced version. (mismatch of result"
    dropped = dropped_dimensions(sizes, result.shape or ())
    if dropped is None:
        raise operation.error(f"{text} sizes), but got '{result}'")
    if result.space != given.space:
        raise operation.error(
            f"different memory spaces specified for base memref type '{given}' and subview memref type '{result}'"
        )
    wanted, layout = strides_of(expected), strides_of(result)
    assert wanted is not None  # a subview is strided
    if (
        layout is None
        or wanted.offset != layout.offset
        or layout.strides != _remaining_strides(wanted.strides, sizes, layout.strides)
    ):
        raise operation.error(f"{text} layout), but got '{result}'")
    verify_slice_bounds(operation, shape)


def _remaining_strides(strides: Sequence[Number], sizes: Sequence[Number], left: Sequence[Number]) -> Sequence[Number]:
    """Return the `strides` of a slice without those of the dimensions that `_dropped` returns."""
    dropped = _dropped(strides, sizes, left)
    return tuple(stride for axis, stride in enumerate(strides) if axis not in dropped)


def _dropped(strides: Sequence[Number], sizes: Sequence[Number], left: Sequence[Number]) -> list[int]:
    """Return the dimensions of a full slice that a rank-reduced view drops, by upstream's rule.

    The slice has these `strides` and `sizes`, the view has the strides `left`. If dropping all dimensions of size 1
    gives the rank of the view, they are all dropped. Otherwise, for each stride that `left` lacks n times, the first n
    dimensions of size 1 with that stride are dropped.
    """
    ones = [axis for axis, size in enumerate(sizes) if size == 1]
    if len(strides) == len(left):
        return []
    if len(strides) - len(ones) == len(left):
        return ones
    lacking, dropped = Counter(strides), []
    lacking.subtract(left)
    for axis in ones:
        if lacking[strides[axis]] > 0:
            lacking[strides[axis]] -= 1
            dropped.append(axis)
    return dropped


def dropped_axes(operation: Operation) -> list[int]:
    """Return the dimensions of the source that the result of a `memref.subview` drops."""
    source, result = _types(operation)
    offsets, sizes, steps = (static_values(operation, name) for name in PARTS)
    whole = subview(source, offsets, sizes, steps)
    assert whole is not None  # the verifier has checked it
    before, after = strides_of(whole), strides_of(result)
    assert before is not None
    assert after is not None
    return _dropped(before.strides, sizes, after.strides)


def _verify_reinterpret_cast(operation: Operation) -> None:
    given, result = _types(operation)
    verify_slice_lists(operation, len(result.shape or ()), offsets=1)
    if given.space != result.space:
        raise operation.error(
            f"different memory spaces specified for source type '{given}' and result memref type '{result}'"
        )
    if given.element is not result.element:
        raise operation.error(
            f"different element types specified for source type '{given}' and result memref type '{result}'"
        )
    (offset,), sizes, strides = (static_values(operation, name) for name in PARTS)
    for axis, (size, stated) in enumerate(zip(result.shape or (), sizes, strict=True)):
        if size is not None and stated is not None and size != stated:
            raise operation.error(f"expected result type with size = {stated} instead of {size} in dim = {axis}")
    layout = strides_of(result)
    if layout is None:
        raise operation.error(f"expected result type to have strided layout but found '{result}'")
    if layout.offset is not None and offset != layout.offset:
        raise operation.error(f"expected result type with offset = {_spell(offset)} instead of {layout.offset}")
    for axis, (stride, stated) in enumerate(zip(layout.strides, strides, strict=True)):
        if stride is not None and stride != stated:
            raise operation.error(
                f"expected result type with stride = {_spell(stated)} instead of {stride} in dim = {axis}"
            )


def _spell(number: int | None) -> str:
    return "dynamic" if number is None else str(number)


# -- expand_shape, collapse_shape, transpose, reshape, view ----------------------------------------------------------


def _verify_groups(operation: Operation, large: MemRefType, small: MemRefType) -> None:
    groups, shape, small_shape = reassociation_of(operation), large.shape or (), small.shape or ()
    if len(groups) != len(small_shape):
        raise operation.op_error(
            f"invalid number of reassociation groups: found {len(groups)}, expected {len(small_shape)}"
        )
    following = 0
    for number, (group, size) in enumerate(zip(groups, small_shape, strict=True)):
        for axis in group:
            if axis != following:
                raise operation.op_error("reassociation indices must be contiguous")
            if axis >= len(shape):
                raise operation.op_error(f"reassociation index {axis} is out of bounds")
            following += 1
        sizes = [shape[axis] for axis in group]
        if (size is None) != (None in sizes):
            raise operation.op_error(
                f"collapsed dim ({number}) must be dynamic if and only if reassociation group is dynamic"
            )
        if size is not None and size != product(sizes):
            raise operation.op_error(
                f"collapsed dim size ({size}) must equal reassociation group size ({product(sizes)})"
            )
    if not small_shape and any(size != 1 for size in shape):
        raise operation.op_error("rank 0 memrefs can only be extended/collapsed with/from ones")
    if small_shape and following != len(shape):
        raise operation.op_error(
            f"expanded rank ({len(shape)}) inconsistent with number of reassociation indices ({following})"
        )


def _verify_expand_shape(operation: Operation) -> None:
    given, result = _types(operation)
    shape, old_rank = result.shape or (), len(given.shape or ())
    if old_rank > len(shape):
        raise operation.op_error(
            f"has source rank {old_rank} and result rank {len(shape)}. This is not an expansion ({old_rank} > "
            f"{len(shape)})."
        )
    _verify_groups(operation, result, given)
    expected = expanded(given, reassociation_of(operation), shape)
    if expected is None:
        raise operation.op_error("invalid source layout map")
    if expected is not result:
        raise operation.op_error(f"expected expanded type to be '{expected}' but found '{result}'")
    sizes = static_values(operation, "output_shape")
    if len(sizes) != len(shape):
        raise operation.op_error(
            f"expected number of static shape bounds to be equal to the output rank ({len(shape)}) but found "
            f"{len(sizes)} inputs instead"
        )
    verify_dynamic_sizes(operation)
    for position, (size, stated) in enumerate(zip(shape, sizes, strict=True)):
        if size is not None and size != stated:
            raise operation.op_error(f"invalid output shape provided at pos {position}")


def _verify_collapse_shape(operation: Operation) -> None:
    given, result = _types(operation)
    old_rank, rank = len(given.shape or ()), len(result.shape or ())
    if old_rank < rank:
        raise operation.op_error(
            f"has source rank {old_rank} and result rank {rank}. This is not a collapse ({old_rank} < {rank})."
        )
    _verify_groups(operation, given, result)
    expected = collapsed(given, reassociation_of(operation), result.shape or ())
    if expected is None:
        raise operation.op_error("invalid source layout map or collapsing non-contiguous dims")
    if expected is not result:
        raise operation.op_error(f"expected collapsed type to be '{expected}' but found '{result}'")


def permutation_of(operation: Operation) -> tuple[int, ...]:
    """Return the source dimension of each dimension of a `memref.transpose`; -1 if the map's result is no dimension."""
    map = operation.attribute("permutation", AffineMapAttr)
    return tuple(result[1] if isinstance(result, tuple) and result[0] == "d" else -1 for result in map.results)


def _verify_transpose(operation: Operation) -> None:
    given, result_type = _types(operation)
    order, layout = permutation_of(operation), strides_of(given)
    if sorted(order) != list(range(len(given.shape or ()))):
        raise operation.op_error("expected a permutation map")
    if layout is None or given.shape is None:
        raise operation.op_error(f"operand #0 must be a strided memref, got '{given}'")
    strides = tuple(layout.strides[axis] for axis in order)
    shape, transposed = [given.shape[axis] for axis in order], StridedLayout(strides, layout.offset)
    is_plain = transposed == StridedLayout((1,))  # then upstream compares the layout as spelled, not the strides
    stated = result_type.layout if is_plain else strides_of(result_type)
    expected = MemRefType(shape, given.element, transposed, given.space)
    if (result_type.shape, result_type.element, result_type.space, stated) != (
        expected.shape,
        given.element,
        given.space,
        transposed,
    ):
        raise operation.op_error(
            f"result type '{result_type}' is not equivalent to the canonical transposed input type '{expected}'"
        )


def _verify_reshape(operation: Operation) -> None:
    given, result = _types(operation)
    lengths = memref_type(operation.operands[1]).shape or ()
    if given.element is not result.element:
        raise operation.op_error("element types of source and destination memref types should be the same")
    for what, type in (("source", given), ("result", result)):
        if type.shape is not None and not is_contiguous(type):
            raise operation.op_error(f"{what} memref type should have identity affine map")
    if result.shape is not None and lengths != (len(result.shape),):
        if lengths[0] is None:
            raise operation.op_error(
                "cannot use shape operand with dynamic length to reshape to statically-ranked memref type"
            )
        raise operation.op_error("length of shape operand differs from the result's memref rank")


def _verify_view(operation: Operation) -> None:
    given, result = _types(operation)
    for what, type in (("base", given), ("result", result)):
        if not has_identity_layout(type):
            raise operation.error(f"unsupported map for {what} memref type '{type}'")
    if given.space != result.space:
        raise operation.error(
            f"different memory spaces specified for base memref type '{given}' and view memref type '{result}'"
        )
    require_sizes(operation, result, len(operation.operands) - 2)


def _is_strided(type: Type) -> bool:
    return isinstance(type, MemRefType) and strides_of(type) is not None


add_type_constraint("strided memref", _is_strided, "strided memref of any type values")


def _verify_metadata(operation: Operation) -> None:
    given = memref_type(operation.operands[0])
    count = 2 * len(given.shape or ()) + 2
    if len(operation.results) != count:
        raise operation.op_error(f"has {len(operation.results)} results, expected {count}")
    inferred = [MemRefType((), given.element, None, given.space), *[INDEX] * (count - 1)]
    if [value.type for value in operation.results] != inferred:
        raise incompatible(operation, inferred)


VIEWS = [
    Definition(
        "memref.cast",
        operands=("source: ranked or unranked memref",),
        results=("result: ranked or unranked memref",),
        traits={PURE},
        format=_CAST,
        verify_signature=_verify_cast,
        canonicalize=("memref.canonicalize: cast_of_cast",),
    ),
    Definition(
        "memref.memory_space_cast",
        operands=("source: ranked or unranked memref",),
        results=("result: ranked or unranked memref",),
        traits={PURE},
        format=_CAST,
        verify_signature=_verify_memory_space_cast,
        canonicalize=("memref.canonicalize: space_cast",),
    ),
    Definition(
        "memref.assume_alignment",
        operands=("memref: memref",),
        results=("result: memref",),
        attributes={"alignment": AttributeSpec(kind=I32, required=True)},
        infer={"result": same_as("memref")},
        traits={PURE},
        format="$memref `,` $alignment attr-dict `:` type($memref)",
        verify_signature=_verify_alignment,
        canonicalize=("memref.canonicalize_views: aligned_twice",),
    ),
    Definition(
        "memref.subview",
        operands=("source: memref", *SLICE_OPERANDS),
        results=("result: memref",),
        attributes=SLICE_ATTRIBUTES,
        traits={PURE},
        format=f"$source `` {SLICE_FORMAT} attr-dict `:` type($source) `to` type($result)",
        verify_signature=_verify_subview,
        canonicalize=("memref.canonicalize_views: same_view static_view view_of_cast whole_view",),
    ),
    Definition(
        "memref.reinterpret_cast",
        operands=("source: ranked or unranked memref", *SLICE_OPERANDS),
        results=("result: memref",),
        attributes=SLICE_ATTRIBUTES,
        traits={PURE},
        format="$source `to` `offset` `` `:` dynamic_indices($offsets, $static_offsets) `` `,` `sizes` `` `:` "
        "dynamic_indices($sizes, $static_sizes) `` `,` `strides` `` `:` dynamic_indices($strides, $static_strides) "
        "attr-dict `:` type($source) `to` type($result)",
        verify_signature=_verify_reinterpret_cast,
        canonicalize=(
            "memref.canonicalize_views: reinterpret_of_view reinterpret_to_itself reinterpret_of_metadata",
            "memref.canonicalize_views: static_reinterpret",
        ),
    ),
    Definition(
        "memref.expand_shape",
        operands=("src: memref", "output_shape*: index"),
        results=("result: memref",),
        attributes={"reassociation": REASSOCIATION, "static_output_shape": STATIC},
        traits={PURE},
        format="$src $reassociation `output_shape` dynamic_indices($output_shape, $static_output_shape) attr-dict `:` "
        "type($src) `into` type($result)",
        verify_signature=_verify_expand_shape,
        canonicalize=(
            "_shaped.canonicalize_reshapes: to_itself twice expand_of_collapse",
            "memref.canonicalize_views: expand_of_cast",
        ),
    ),
    Definition(
        "memref.collapse_shape",
        operands=("src: memref",),
        results=("result: memref",),
        attributes={"reassociation": REASSOCIATION},
        traits={PURE},
        format="$src $reassociation attr-dict `:` type($src) `into` type($result)",
        verify_signature=_verify_collapse_shape,
        canonicalize=(
            "_shaped.canonicalize_reshapes: to_itself twice collapse_of_expand",
            "memref.canonicalize_views: collapse_of_cast",
        ),
    ),
    Definition(
        "memref.transpose",
        operands=("in: memref",),
        results=("result: memref",),
        attributes={"permutation": AttributeSpec(kind=AFFINE_MAP, required=True)},
        traits={PURE},
        format="$in permutation_map($permutation) attr-dict `:` type($in) `to` type($result)",
        verify_signature=_verify_transpose,
        canonicalize=("memref.canonicalize_views: transpose",),
    ),
    Definition(
        "memref.reshape",
        operands=("source: ranked or unranked memref", "shape: 1D memref of signless integer or index"),
        results=("result: ranked or unranked memref",),
        format="$source `(` $shape `)` attr-dict `:` functional-type(operands, results)",
        verify_signature=_verify_reshape,
        traits={PURE},
    ),
    Definition(
        "memref.view",
        operands=("source: 1D memref of 8-bit signless integer", "byte_shift: index", "sizes*: index"),
        results=("result: memref",),
        traits={PURE},
        format="$source `[` $byte_shift `]` `` `[` $sizes `]` attr-dict `:` type($source) `to` type($result)",
        verify_signature=_verify_view,
        canonicalize=("memref.canonicalize_views: view_of_all static_sizes", "memref.canonicalize: from_ranked_casts"),
    ),
    Definition(
        "memref.extract_strided_metadata",
        operands=("source: strided memref",),
        results=("results*",),
        traits={PURE},
        format="$source `:` type($source) `->` type($results) attr-dict",
        verify_signature=_verify_metadata,
        canonicalize=("memref.canonicalize_views: known_metadata", "memref.canonicalize: from_ranked_casts"),
    ),
]
