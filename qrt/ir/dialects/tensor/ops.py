"""`tensor`: ops that create tensors, query extents, and read and write elements; slices are in `slices.py`."""

from math import prod

from qrt.ir.core.attributes import IntegerAttr
from qrt.ir.core.constraints import INDEX, element_type_of, same_as
from qrt.ir.core.define import Definition
from qrt.ir.core.folding import Folded, Folds
from qrt.ir.core.matching import constant_number, constant_of, defining_op, is_known_dimension
from qrt.ir.core.operations import Operation
from qrt.ir.core.traits import (
    NO_MEMORY_EFFECT,
    PURE,
    RECURSIVE_MEMORY_EFFECTS,
    RETURN_LIKE,
    SINGLE_BLOCK,
    TERMINATOR,
    have_compatible_shapes,
)
from qrt.ir.dialects._shaped.lists import mixed_values, static_values
from qrt.ir.dialects._shaped.types import ranked, require_cast, require_sizes
from qrt.ir.dialects.tensor import slices
from qrt.ir.text.dense import DenseElementsAttr
from qrt.types import FloatType, IndexType, IntegerType, TensorType


def _verify_sizes(operation: Operation) -> None:
    require_sizes(operation, ranked(operation.results[0]), len(operation.operand_group("dynamicSizes")))


def _verify_extract(operation: Operation) -> None:
    given = operation.operands[0].type
    if isinstance(given, TensorType) and given.rank != len(operation.operands) - 1:
        raise operation.op_error("incorrect number of indices for extract_element")


def _verify_from_elements(operation: Operation) -> None:
    count = prod(size or 0 for size in ranked(operation.results[0]).shape or ())
    if len(operation.operands) != count:
        raise operation.op_error("failed to verify that operand types match result element type")


def _verify_reshape(operation: Operation) -> None:
    source, shape, result_type = map(ranked, (*operation.operands, *operation.results))
    assert shape.shape is not None
    if source.element is not result_type.element:
        raise operation.op_error("element types of source and destination tensor types should be the same")
    counts = {prod(type.shape) for type in (source, result_type) if type.has_static_shape}  # type: ignore[arg-type]  # static
    if len(counts) > 1:
        raise operation.op_error("source and destination tensor should have the same number of elements")
    if result_type.rank is None or shape.shape == (result_type.rank,):
        return
    if shape.shape[0] is not None:
        raise operation.op_error("length of shape operand differs from the result's tensor rank")
    raise operation.op_error("cannot use shape operand with dynamic length to reshape to statically-ranked tensor type")


def _verify_cast(operation: Operation) -> None:
    given, result_type = ranked(operation.operands[0]), ranked(operation.results[0])
    require_cast(operation, given.element is result_type.element and have_compatible_shapes((given, result_type)))


def _verify_bitcast(operation: Operation) -> None:
    given, result_type = ranked(operation.operands[0]), ranked(operation.results[0])
    widths = {
        type.element.width if isinstance(type.element, IntegerType | FloatType) else 0 for type in (given, result_type)
    }
    require_cast(operation, len(widths) == 1 and 0 not in widths and have_compatible_shapes((given, result_type)))


def _verify_insert(operation: Operation) -> None:
    if ranked(operation.operands[1]).rank != len(operation.operands) - 2:
        raise operation.op_error("incorrect number of indices")


def _verify_generate(operation: Operation) -> None:
    _verify_sizes(operation)
    block = operation.regions[0].blocks[0]
    if any(argument.type is not INDEX for argument in block.arguments):
        raise operation.error("all body arguments must be index")
    if len(block.arguments) != ranked(operation.results[0]).rank:
        raise operation.error("must have one body argument per input dimension")
    last = block.last
    if last is None or last.name != "tensor.yield":
        raise operation.op_error("body must be terminated with a `yield` operation")
    if [value.type for value in last.operands] != [ranked(operation.results[0]).element]:
        raise operation.op_error("body must be terminated with a `yield` operation of the tensor element type")


# -- folding ---------------------------------------------------------------------------------------------------------


def _index(value: int) -> IntegerAttr:
    return IntegerAttr(value, IndexType())


def _fold_identity(operation: Operation, folds: Folds) -> Folded:
    given = operation.operands[0]
    return [given] if given.type is operation.results[0].type else None


def _fold_rank(operation: Operation, folds: Folds) -> Folded:
    given = operation.operands[0].type
    return [_index(given.rank)] if isinstance(given, TensorType) and given.rank is not None else None


def _fold_dim(operation: Operation, folds: Folds) -> Folded:
    """Fold a `tensor.dim` of a static size, or of a size that is an operand of the op that produces the tensor."""
    source, axis = operation.operands[0], constant_number(operation.operands[1])
    shape = ranked(source).shape
    if axis is None or shape is None or not 0 <= axis < len(shape):
        return None
    size = shape[axis]
    if size is not None:
        return [_index(size)]
    for name in ("tensor.empty", "tensor.generate"):
        maker = defining_op(source, name)
        if maker is not None:
            return [maker.operand_group("dynamicSizes")[shape[:axis].count(None)]]
    slice_ = defining_op(source, "tensor.extract_slice")
    if slice_ is not None and len(static_values(slice_, "sizes")) == len(shape):
        size_or_value = mixed_values(slice_, "sizes")[axis]
        return [_index(size_or_value) if isinstance(size_or_value, int) else size_or_value]
    return None


def _fold_extract(operation: Operation, folds: Folds) -> Folded:
    """Fold an element of a constant, a splat or a `tensor.from_elements`.

    An index that is known to be out of bounds is not folded: it is an error at run time.
    """
    tensor, *positions = operation.operands
    index, shape = [constant_number(value) for value in positions], ranked(tensor).shape or ()
    for at, size in zip(index, shape, strict=True):
        if at is not None and (at < 0 or (size is not None and at >= size)):
            return None
    splat = defining_op(tensor, "tensor.splat")
    if splat is not None:
        return [splat.operands[0]]
    constant = constant_of(tensor)
    if isinstance(constant, DenseElementsAttr) and constant.is_splat:
        return [constant.element_at((0,) * constant.array.ndim)]
    known = tuple(at for at in index if at is not None)
    if len(known) < len(shape) or None in shape:
        return None
    elements = defining_op(tensor, "tensor.from_elements")
    if elements is not None:
        flat = 0
        for at, size in zip(known, shape, strict=True):
            flat = flat * (size or 0) + at
        return [elements.operands[flat]]
    return [constant.element_at(known)] if isinstance(constant, DenseElementsAttr) else None


OPS = [
    Definition(
        "tensor.empty",
        operands=("dynamicSizes*: index",),
        results=("result: ranked tensor",),
        traits={PURE},
        format="`(` $dynamicSizes `)` attr-dict `:` type($result)",
        verify_signature=_verify_sizes,
        canonicalize=("tensor.canonicalize: known_sizes",),
    ),
    Definition(
        "tensor.splat",
        operands=("input", "dynamicSizes*: index"),
        results=("aggregate: ranked tensor",),
        infer={"input": element_type_of("aggregate", "operand type matches element type of result")},
        traits={PURE},
        format="$input (`[` $dynamicSizes^ `]`)? attr-dict `:` type($aggregate)",
        verify_signature=_verify_sizes,
        canonicalize=("tensor.canonicalize: elements_as_constant",),
    ),
    Definition(
        "tensor.dim",
        operands=("source: non-0-ranked or unranked tensor", "index: index"),
        results=("result: index",),
        traits={NO_MEMORY_EFFECT},
        format="attr-dict $source `,` $index `:` type($source)",
        fold=_fold_dim,
        speculatable=is_known_dimension,
        canonicalize=(
            "scf.canonicalize_parallel: extent_of_result",
            "tensor.canonicalize: dim",
            "bufferization.canonicalize: dim_of_tensor",
        ),
    ),
    Definition(
        "tensor.extract",
        operands=("tensor: ranked tensor", "indices*: index"),
        results=("result",),
        infer={"result": element_type_of("tensor")},
        traits={PURE},
        format="$tensor `[` $indices `]` attr-dict `:` type($tensor)",
        verify_signature=_verify_extract,
        fold=_fold_extract,
        canonicalize=(
            "linalg.canonicalize: extract_of_fill",
            "tensor.canonicalize: extract",
            "shape.canonicalize: extract_of_shape",
        ),
    ),
    Definition(
        "tensor.from_elements",
        operands=("elements*",),
        results=("result: statically shaped tensor",),
        infer={"elements": element_type_of("result", "operand types match result element type")},
        traits={PURE},
        format="$elements attr-dict `:` type($result)",
        verify_signature=_verify_from_elements,
        canonicalize=("tensor.canonicalize: elements_as_constant",),
    ),
    Definition(
        "tensor.reshape",
        operands=("source: tensor", "shape: 1D tensor of signless integer or index"),
        results=("result: tensor",),
        traits={PURE},
        format="$source `(` $shape `)` attr-dict `:` functional-type(operands, results)",
        verify_signature=_verify_reshape,
        canonicalize=("_shaped.canonicalize_reshapes: known_reshape",),
    ),
    Definition(
        "tensor.cast",
        operands=("source: tensor",),
        results=("dest: tensor",),
        traits={PURE},
        format="$source attr-dict `:` type($source) `to` type($dest)",
        verify_signature=_verify_cast,
        fold=_fold_identity,
        canonicalize=(
            "linalg.canonicalize: cast_of_result",
            "tensor.canonicalize: cast_of_empty cast_of_cast",
            "tensor.canonicalize_slices: cast_of_slice",
            "shape.canonicalize: cast_of_shape",
        ),
    ),
    Definition(
        "tensor.bitcast",
        operands=("source: tensor",),
        results=("dest: tensor",),
        traits={PURE},
        format="$source attr-dict `:` type($source) `to` type($dest)",
        verify_signature=_verify_bitcast,
        fold=_fold_identity,
        canonicalize=("tensor.canonicalize: bitcast_of_bitcast",),
    ),
    Definition(
        "tensor.rank",
        operands=("tensor: tensor",),
        results=("result: index",),
        traits={PURE},
        format="$tensor attr-dict `:` type($tensor)",
        fold=_fold_rank,
    ),
    Definition(
        "tensor.insert",
        operands=("scalar", "dest: ranked tensor", "indices*: index"),
        results=("result: ranked tensor",),
        infer={
            "result": same_as("dest"),
            "scalar": element_type_of("dest", "scalar type matches element type of dest"),
        },
        traits={PURE},
        format="$scalar `into` $dest `[` $indices `]` attr-dict `:` type($dest)",
        verify_signature=_verify_insert,
        canonicalize=("tensor.canonicalize: insert_what_is_there from_casts",),
    ),
    Definition(
        "tensor.generate",
        operands=("dynamicSizes*: index",),
        results=("result: ranked tensor",),
        regions=("body: 1",),
        traits={RECURSIVE_MEMORY_EFFECTS, SINGLE_BLOCK},
        format="$dynamicSizes $body attr-dict `:` type($result)",
        verify=_verify_generate,
        canonicalize=("tensor.canonicalize: known_sizes",),
    ),
    Definition(
        "tensor.yield",
        operands=("value",),
        traits={PURE, RETURN_LIKE, TERMINATOR},
        parents=("tensor.generate", "tensor.pad"),
        format="$value attr-dict `:` type($value)",
    ),
    *slices.OPS,
]
