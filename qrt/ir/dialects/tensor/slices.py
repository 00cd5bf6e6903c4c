"""`tensor` ops that extract and insert slices, pad, concatenate and regroup dimensions."""

from collections.abc import Sequence
from itertools import pairwise
from math import prod

from qrt.ir.core.attribute_kinds import I64, UNIT
from qrt.ir.core.constraints import INDEX, same_as
from qrt.ir.core.define import AttributeSpec, Definition
from qrt.ir.core.folding import Folded, Folds
from qrt.ir.core.operations import Operation
from qrt.ir.core.traits import PURE, SINGLE_BLOCK
from qrt.ir.dialects._shaped.lists import (
    REASSOCIATION,
    STATIC,
    mixed_values,
    reassociation_of,
    static_values,
    verify_dynamic_sizes,
)
from qrt.ir.dialects._shaped.slices import (
    PARTS,
    SLICE_ATTRIBUTES,
    SLICE_FORMAT,
    SLICE_OPERANDS,
    dropped_dimensions,
    verify_slice_bounds,
    verify_slice_lists,
)
from qrt.ir.dialects._shaped.types import ranked
from qrt.types import TensorType


def _verify_slice(operation: Operation, whole: TensorType, part: TensorType) -> None:
    shape = whole.shape or ()
    verify_slice_lists(operation, len(shape))
    sizes = static_values(operation, "sizes")
    inferred = whole.with_(shape=sizes)
    if len(part.shape or ()) > len(shape):
        raise operation.error("expected rank to be smaller or equal to the other rank. ")
    if dropped_dimensions(sizes, part.shape or ()) is None:
        raise operation.error(f"expected type to be '{inferred}' or a rank-reduced version. (size mismatch) ")
    if part.element is not whole.element:
        raise operation.error(f"expected element type to be '{whole.element}'")
    verify_slice_bounds(operation, shape)


def _verify_extract_slice(operation: Operation) -> None:
    _verify_slice(operation, ranked(operation.operands[0]), ranked(operation.results[0]))


def _verify_insert_slice(operation: Operation) -> None:
    _verify_slice(operation, ranked(operation.operands[1]), ranked(operation.operands[0]))


def _verify_parallel_insert(operation: Operation) -> None:
    combining = operation.parent_operation
    loop = combining.parent_operation if combining is not None else None
    dest = operation.operands[1]
    if loop is None or dest.owner is not loop.regions[0].blocks[0]:
        raise operation.op_error("may only insert into an output block argument")


def _fold_whole(operation: Operation, folds: Folds) -> Folded:
    """Fold an op that extracts or overwrites all elements of a tensor of static shape."""
    source, result_type = ranked(operation.operands[0]), ranked(operation.results[0])
    if source is not result_type or not result_type.has_static_shape:
        return None
    parts = {name: static_values(operation, name) for name in PARTS}
    whole = parts["sizes"] == result_type.shape and set(parts["offsets"]) <= {0} and set(parts["strides"]) <= {1}
    return [operation.operands[0]] if whole else None


def _fold_insert(operation: Operation, folds: Folds) -> Folded:
    """Fold an insertion that overwrites the whole tensor, or that inserts a slice where it was extracted."""
    source, dest = operation.operands[:2]
    taken = source.operation
    if taken is None or taken.name != "tensor.extract_slice" or taken.operands[0] is not dest:
        return _fold_whole(operation, folds)
    same = all(mixed_values(taken, name) == mixed_values(operation, name) for name in PARTS)
    return [dest] if same else None


# -- shapes ----------------------------------------------------------------------------------------------------------


def _verify_reassociation(operation: Operation, expanded: TensorType, collapsed: TensorType) -> None:
    groups = reassociation_of(operation)
    large, small = expanded.shape or (), collapsed.shape or ()
    if expanded.element is not collapsed.element:
        raise operation.op_error("expected the element types of source and result to be the same")
    if len(small) != len(groups):
        raise operation.op_error(
            f"expected collapsed rank ({len(small)}) to equal the number of reassociation maps ({len(groups)})."
        )
    expected = 0
    for number, group in enumerate(groups):
        if not group or group[0] != expected or any(b != a + 1 for a, b in pairwise(group)):
            raise operation.op_error(f"expected reassociation map #{number} to be valid and contiguous.")
        expected += len(group)
    if groups and expected != len(large):
        raise operation.op_error(
            f"expected reassociation map #{len(groups) - 1} to have size equal to the expanded rank ({len(large)}), "
            f"but it is  {expected}."
        )
    for axis, (size, group) in enumerate(zip(small, groups, strict=True)):
        sizes = [large[position] for position in group]
        known = [part for part in sizes if part is not None]
        if len(known) < len(sizes):
            if size is not None:
                raise operation.op_error(
                    f"expected dimension {axis} of collapsed type to be dynamic since one or more of the corresponding "
                    "dimensions in the expanded type is dynamic"
                )
        elif size != prod(known):
            raise operation.op_error(f"expected dimension {axis} of collapsed type to be static value of {prod(known)}")


def _verify_collapse_shape(operation: Operation) -> None:
    _verify_reassociation(operation, ranked(operation.operands[0]), ranked(operation.results[0]))


def _verify_expand_shape(operation: Operation) -> None:
    result_type = ranked(operation.results[0])
    sizes = static_values(operation, "output_shape")
    if len(sizes) != len(result_type.shape or ()):
        raise operation.op_error(
            f"expected number of static shape dims to be equal to the output rank ({len(result_type.shape or ())}) "
            f"but found {len(sizes)} inputs instead"
        )
    verify_dynamic_sizes(operation)
    _verify_reassociation(operation, result_type, ranked(operation.operands[0]))


def concat_type(types: Sequence[TensorType], axis: int) -> TensorType:
    """Return the type of a concatenation of tensors along `axis`, with the sizes that their types determine.

    All tensors have the same rank. The returned type has no encoding.
    """
    shape = list(types[0].shape or ())
    for index in range(len(shape)):
        sizes = [(type.shape or ())[index] for type in types]
        known = [size for size in sizes if size is not None]
        if index == axis:
            shape[index] = sum(known) if len(known) == len(sizes) else None
        else:
            shape[index] = known[0] if known else None
    return TensorType(shape, types[0].element)


def _verify_concat(operation: Operation) -> None:
    if not operation.operands:
        raise operation.op_error("requires at least one input")
    types = [ranked(value) for value in operation.operands]
    result_type = ranked(operation.results[0])
    if any(type.rank != result_type.rank for type in types):
        raise operation.op_error("rank of concatenated inputs must match result rank")
    if any(type.element is not result_type.element for type in types):
        raise operation.op_error("inputs and result element type must match")
    axis = operation.attributes["dim"].python
    shapes = [type.shape or () for type in types]
    if not 0 <= axis < len(shapes[0]):
        raise operation.op_error("concatenation dim must be less than the tensor rank")
    for index in range(len(shapes[0])):
        known = {shape[index] for shape in shapes} - {None}
        if index != axis and len(known) > 1:
            raise operation.op_error(
                "static concatenation size mismatch along non-concatenated dimension " + str(index)
            )
    inferred = concat_type(types, axis)
    for wanted, stated in zip(inferred.shape or (), result_type.shape or (), strict=True):
        if wanted is not None and stated is not None and wanted != stated:
            raise operation.op_error(
                f"result type '{result_type}'does not match inferred shape '{inferred}' static sizes"
            )


def _verify_pad(operation: Operation) -> None:
    given, result_type = ranked(operation.operands[0]), ranked(operation.results[0])
    shape = given.shape or ()
    low, high = static_values(operation, "low"), static_values(operation, "high")
    if len(low) != len(shape) or len(high) != len(shape):
        raise operation.error(
            f"failed to infer expectedType from sourceType '{given}', specified resultType is '{result_type}'"
        )
    sizes = [
        None if None in (size, before, after) else size + before + after  # type: ignore[operator]  # no None
        for size, before, after in zip(shape, low, high, strict=True)
    ]
    wanted = given.with_(shape=sizes)
    stated = result_type.shape or ()
    if (
        result_type.element is not given.element
        or len(stated) != len(sizes)
        or any(a != b and a is not None for a, b in zip(sizes, stated, strict=True))
    ):
        raise operation.error(f"specified type '{result_type}' does not match the inferred type '{wanted}'")
    for name, values in (("low", low), ("high", high)):
        if values.count(None) != len(operation.operand_group(name)):
            raise operation.error(f"expected {values.count(None)} dynamic {name} values")
    block = operation.regions[0].blocks[0]
    if len(block.arguments) != len(shape):
        raise operation.error(f"expected the block to have {len(shape)} arguments")
    for number, argument in enumerate(block.arguments, 1):
        if argument.type is not INDEX:
            raise operation.op_error(f"expected block argument {number} to be an index")
    last = block.last
    if last is None or last.name != "tensor.yield" or [value.type for value in last.operands] != [result_type.element]:
        raise operation.op_error("expected yield type to match shape element type")


OPS = [
    Definition(
        "tensor.extract_slice",
        operands=("source: ranked tensor", *SLICE_OPERANDS),
        results=("result: ranked tensor",),
        attributes=SLICE_ATTRIBUTES,
        traits={PURE},
        format=f"$source `` {SLICE_FORMAT} attr-dict `:` type($source) `to` type($result)",
        verify_signature=_verify_extract_slice,
        fold=_fold_whole,
        canonicalize=("tensor.canonicalize_slices: slice_of_constant slice_of_insert static_extract slice_of_cast",),
    ),
    Definition(
        "tensor.insert_slice",
        operands=("source: ranked tensor", "dest: ranked tensor", *SLICE_OPERANDS),
        results=("result: ranked tensor",),
        attributes=SLICE_ATTRIBUTES,
        infer={"result": same_as("dest")},
        traits={PURE},
        fold=_fold_insert,
        format=f"$source `into` $dest `` {SLICE_FORMAT} attr-dict `:` type($source) `into` type($dest)",
        verify_signature=_verify_insert_slice,
        canonicalize=(
            "tensor.canonicalize_slices: insert_over",
            "linalg.canonicalize: insert_of_pad",
            "tensor.canonicalize_slices: static_insert insert_of_casts",
            "vector.canonicalize_transfers: insert_of_written",
        ),
    ),
    Definition(
        "tensor.parallel_insert_slice",
        operands=("source: ranked tensor", "dest: ranked tensor", *SLICE_OPERANDS),
        attributes=SLICE_ATTRIBUTES,
        parents=("scf.forall.in_parallel",),
        format=f"$source `into` $dest `` {SLICE_FORMAT} attr-dict `:` type($source) `into` type($dest)",
        verify_signature=_verify_insert_slice,
        verify=_verify_parallel_insert,
        canonicalize=("tensor.canonicalize_slices: static_insert insert_of_casts",),
    ),
    Definition(
        "tensor.collapse_shape",
        operands=("src: ranked tensor",),
        results=("result: ranked tensor",),
        attributes={"reassociation": REASSOCIATION},
        traits={PURE},
        format="$src $reassociation attr-dict `:` type($src) `into` type($result)",
        verify_signature=_verify_collapse_shape,
        canonicalize=(
            "linalg.canonicalize: reshape_of_fill",
            "_shaped.canonicalize_reshapes: to_itself of_constant twice collapse_of_expand collapse_of_cast",
        ),
    ),
    Definition(
        "tensor.expand_shape",
        operands=("src: ranked tensor", "output_shape*: index"),
        results=("result: ranked tensor",),
        attributes={"reassociation": REASSOCIATION, "static_output_shape": STATIC},
        traits={PURE},
        format="$src $reassociation `output_shape` dynamic_indices($output_shape, $static_output_shape) attr-dict `:` "
        "type($src) `into` type($result)",
        verify_signature=_verify_expand_shape,
        canonicalize=(
            "linalg.canonicalize: reshape_of_fill",
            "_shaped.canonicalize_reshapes: to_itself of_constant twice expand_of_collapse static_expand",
        ),
    ),
    Definition(
        "tensor.concat",
        operands=("inputs*: ranked tensor",),
        results=("result: ranked tensor",),
        attributes={"dim": AttributeSpec(kind=I64, required=True)},
        traits={PURE},
        format="`dim` `(` $dim `)` $inputs attr-dict `:` functional-type(operands, results)",
        verify_signature=_verify_concat,
        canonicalize=("linalg.canonicalize: concat_of_fills", "tensor.canonicalize: concat"),
    ),
    Definition(
        "tensor.pad",
        operands=("source: ranked tensor", "low*: index", "high*: index"),
        results=("result: ranked tensor",),
        attributes={"static_low": STATIC, "static_high": STATIC, "nofold": AttributeSpec(kind=UNIT)},
        regions=("region: 1",),
        traits={PURE, SINGLE_BLOCK},
        format="$source (`nofold` $nofold^)? `low` `` dynamic_indices($low, $static_low) "
        "`high` `` dynamic_indices($high, $static_high) $region attr-dict `:` type($source) `to` type($result)",
        verify=_verify_pad,
        canonicalize=(
            "tensor.canonicalize_padding: pad_to_itself",
            "linalg.canonicalize: pad_of_fill",
            "tensor.canonicalize_padding: pad_by_nothing pad_of_cast cast_of_pad pad_of_slice_of_pad static_pad",
            "tensor.canonicalize_padding: pad_of_pad",
        ),
    ),
]
