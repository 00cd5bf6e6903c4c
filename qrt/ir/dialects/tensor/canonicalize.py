"""Upstream's canonicalization patterns of `tensor` ops, except slices and paddings."""

from collections.abc import Iterator

from qrt.ir import Builder, Operation, Value
from qrt.ir.core.constraints import INDEX
from qrt.ir.core.matching import constant_number, constant_of, defining_op
from qrt.ir.core.traits import would_be_dead
from qrt.ir.dialects._shaped.lists import constant_sizes
from qrt.ir.dialects._shaped.types import Shape, constant_elements, ranked
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.ir.dialects.tensor.slices import concat_type
from qrt.ir.rewriting.rewrite import PatternResult
from qrt.ir.text.dense import DenseElementsAttr
from qrt.types import TensorType, Type

# -- casts -------------------------------------------------------------------------------------------------------------


def keeps_sizes(given: Type, other: Type) -> bool:
    """Return True if `other` has all static sizes of `given`, its element type and its encoding.

    Both must be ranked tensor types.
    """
    if not isinstance(given, TensorType) or not isinstance(other, TensorType) or given.encoding != other.encoding:
        return False
    if given.element is not other.element or given.shape is None or other.shape is None or given.rank != other.rank:
        return False
    return all(a is None or a == b for a, b in zip(given.shape, other.shape, strict=True))


def cast_source(value: Value) -> Value | None:
    """Return the operand of the cast that produces a value, if the cast adds no static sizes; None otherwise."""
    inner = defining_op(value, "tensor.cast")
    return inner.operands[0] if inner is not None and keeps_sizes(value.type, inner.operands[0].type) else None


def cast(builder: Builder, value: Value, type: Type) -> Value:
    """Cast a value to a type, or return it if it has the type already."""
    return value if value.type is type else builder.value("tensor.cast", (value,), type)


_NEVER: Shape = (-1,)


def _join(left: Shape | None, right: Shape | None) -> Shape | None:
    """Combine the static sizes of two shapes of one tensor; return `_NEVER` if the shapes contradict each other.

    None is the shape of an unranked tensor.
    """
    if left is None or right is None:
        return right if left is None else left
    if len(left) != len(right) or any(
        None not in pair and pair[0] != pair[1] for pair in zip(left, right, strict=True)
    ):
        return _NEVER
    return tuple(a if b is None else b for a, b in zip(left, right, strict=True))


def cast_of_cast(op: Operation, builder: Builder) -> PatternResult:
    """Rewrite ``cast(cast(x))`` to ``cast(x)``, if no static size gets lost.

    Each static size of the intermediate type must also be in the type of x or of the result.
    """
    inner = defining_op(op.operands[0], "tensor.cast")
    if inner is None:
        return None
    types = inner.operands[0].type, inner.results[0].type, op.results[0].type
    source, between, result = (type.shape for type in types if isinstance(type, TensorType))
    joined = _join(source, between)
    known = _NEVER if joined == _NEVER else _join(joined, result)
    if known == _NEVER or known != _join(source, result):
        return None
    return [cast(builder, inner.operands[0], op.results[0].type)]


def cast_of_empty(op: Operation, builder: Builder) -> PatternResult:
    """Rewrite ``cast(empty)`` to ``empty``, with the cast's type."""
    empty, type = defining_op(op.operands[0], "tensor.empty"), op.results[0].type
    if empty is None or not isinstance(type, TensorType) or not keeps_sizes(op.operands[0].type, type):
        return None
    dynamic = []
    for size, known in zip(empty.operands, _sizes_of_dynamic(ranked(op.operands[0]), type), strict=True):
        if known is None:
            dynamic.append(size)
        elif constant_number(size) not in (None, known):
            return None
    return [builder.value("tensor.empty", dynamic, type)]


def _sizes_of_dynamic(given: TensorType, other: TensorType) -> Iterator[int | None]:
    """Yield the sizes in `other` of the dimensions that are dynamic in `given`."""
    return (known for size, known in zip(given.shape or (), other.shape or (), strict=True) if size is None)


def bitcast_of_bitcast(op: Operation, builder: Builder) -> PatternResult:
    inner = defining_op(op.operands[0], "tensor.bitcast")
    if inner is None:
        return None
    source, type = inner.operands[0], op.results[0].type
    return [source if source.type is type else builder.value("tensor.bitcast", (source,), type)]


# -- ops that write into a destination tensor ----------------------------------------------------


_WRITES_SECOND = (
    "bufferization.materialize_in_destination",
    "tensor.insert",
    "tensor.insert_slice",
    "vector.transfer_write",
)


def destinations(op: Operation) -> list[Value]:
    """Return the destination operand of each result, into which the op writes; empty for ops without destinations."""
    if isinstance(op, StructuredOp):
        return op.outputs if op.results else []
    return op.operands[1:2] if op.name in _WRITES_SECOND and op.results else []


def from_casts(op: Operation, builder: Builder) -> PatternResult:
    """Replace each operand by the source of the `tensor.cast` that produces it, if the cast only drops static sizes."""
    sources = [cast_source(value) for value in op.operands]
    if sources.count(None) == len(sources):
        return None
    operands = [value if source is None else source for value, source in zip(op.operands, sources, strict=True)]
    first = len(op.operands) - len(destinations(op)) if isinstance(op, StructuredOp) else 1
    types = [operands[first + index].type for index in range(len(op.results))]
    rebuilt = builder.emit(op.name, operands, types, dict(op.attributes), op.take_regions())
    return [cast(builder, value, result.type) for value, result in zip(rebuilt.results, op.results, strict=True)]


# -- extents and elements ----------------------------------------------------------------------------------------------


def dim(op: Operation, builder: Builder) -> PatternResult:
    """Replace a `tensor.dim` of an op's result by a size that is known from the op's operands.

    The size is a `tensor.dim` of a cast's source, a `tensor.dim` of a destination, or an element of a reshape's shape
    operand.
    """
    (tensor, axis), source = op.operands, op.operands[0].operation
    if source is None:
        return None
    written = destinations(source)
    if source.name == "tensor.cast" or written:
        of = written[tensor.index] if written else source.operands[0]
        return [builder.value("tensor.dim", (of, axis), INDEX)]
    if source.name != "tensor.reshape":
        return None
    shape = source.operands[1]
    size = builder.value("tensor.extract", (shape, axis), ranked(shape).element)
    return [size if size.type is INDEX else builder.value("arith.index_cast", (size,), INDEX)]


def extract(op: Operation, builder: Builder) -> PatternResult:
    """Let a `tensor.extract` read the source of a cast, or replace it by the body of a `tensor.generate`."""
    tensor, *indices = op.operands
    source = tensor.operation
    if source is None:
        return None
    if source.name == "tensor.cast" and getattr(source.operands[0].type, "rank", None) is not None:
        return [builder.value("tensor.extract", (source.operands[0], *indices), op.results[0].type)]
    if source.name == "arith.index_cast":
        element = builder.value("tensor.extract", source.operands + indices, ranked(source.operands[0]).element)
        return [builder.value("arith.index_cast", (element,), op.results[0].type)]
    if source.name != "tensor.generate" or not would_be_dead(source):
        return None
    body = source.regions[0].blocks[0]
    values = dict(zip(body.arguments, indices, strict=True))
    for inner in body:
        if inner is not body.last:
            builder.insert(inner.clone(values))
    (yielded,) = body.terminator.operands
    return [values.get(yielded, yielded)]


def elements_as_constant(op: Operation, builder: Builder) -> PatternResult:
    """Replace a `tensor.splat` or `tensor.from_elements` of constants by a constant."""
    constant = constant_elements([constant_of(value) for value in op.operands], op.results[0].type)
    return None if constant is None or not op.operands else [builder.constant(constant, constant.type)]


def insert_what_is_there(op: Operation, builder: Builder) -> PatternResult:
    scalar, dest = op.operands[:2]
    constant = constant_of(dest)
    if not isinstance(constant, DenseElementsAttr) or not constant.is_splat:
        return None
    return [dest] if constant_elements([constant_of(scalar)], dest.type) == constant else None


def known_sizes(op: Operation, builder: Builder) -> PatternResult:
    """Move constant size operands of an op into its result type."""
    type = ranked(op.results[0])
    shape, dynamic = constant_sizes(type.shape or (), op.operands)
    if len(dynamic) == len(op.operands):
        return None
    rebuilt = builder.emit(op.name, dynamic, (type.with_(shape=shape),), dict(op.attributes), op.take_regions())
    return [cast(builder, rebuilt.results[0], type)]


# -- tensor.concat -----------------------------------------------------------------------------------------------------


def concat(op: Operation, builder: Builder) -> PatternResult:
    """Replace a `tensor.concat` of one tensor by that tensor; for several tensors, make known sizes static.

    A size is known if it is static in the type of any operand. As in upstream, the operands and the result then have no
    encoding.
    """
    stated = ranked(op.results[0])
    if len(op.operands) == 1:
        return [cast(builder, op.operands[0], stated)]
    axis = op.attributes["dim"].python
    inferred = concat_type([ranked(value) for value in op.operands], axis)
    types = []
    for value in op.operands:
        shape = list(inferred.shape or ())
        shape[axis] = (ranked(value).shape or ())[axis]
        types.append(inferred.with_(shape=shape))
    result = stated if keeps_sizes(inferred, stated) else inferred
    if result is stated and all(value.type is type for value, type in zip(op.operands, types, strict=True)):
        return None
    operands = [cast(builder, value, type) for value, type in zip(op.operands, types, strict=True)]
    return [cast(builder, builder.value("tensor.concat", operands, result, dict(op.attributes)), stated)]
