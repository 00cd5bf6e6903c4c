"""Canonicalization patterns of `tensor` ops that make, cast, measure and join tensors: upstream's."""

from collections.abc import Iterator

from qrt.ir import Builder, Operation, Value
from qrt.ir.core.constraints import INDEX
from qrt.ir.core.matching import constant_number, constant_of, made_by
from qrt.ir.core.traits import would_be_dead
from qrt.ir.dialects._shaped.lists import constant_sizes
from qrt.ir.dialects._shaped.types import Shape, constant_elements, ranked
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.ir.dialects.tensor.slices import concat_type
from qrt.ir.rewriting.rewrite import Made
from qrt.ir.text.dense import DenseElementsAttr
from qrt.types import TensorType, Type

# -- casts -------------------------------------------------------------------------------------------------------------


def keeps_sizes(given: Type, made: Type) -> bool:
    """Tell whether the other type has all static sizes of a ranked tensor type, and its encoding."""
    if not isinstance(given, TensorType) or not isinstance(made, TensorType) or given.encoding != made.encoding:
        return False
    if given.element is not made.element or given.shape is None or made.shape is None or given.rank != made.rank:
        return False
    return all(size is None or size == other for size, other in zip(given.shape, made.shape, strict=True))


def cast_source(value: Value) -> Value | None:
    """The operand of the cast that made a value, if the cast added no static sizes."""
    inner = made_by(value, "tensor.cast")
    return inner.operands[0] if inner is not None and keeps_sizes(value.type, inner.operands[0].type) else None


def cast(builder: Builder, value: Value, type: Type) -> Value:
    """The value as one of a type, which may be its own."""
    return value if value.type is type else builder.value("tensor.cast", (value,), type)


_NEVER: Shape = (-1,)


def _join(left: Shape | None, right: Shape | None) -> Shape | None:
    """The static sizes that two shapes of one tensor give together; `_NEVER` if no tensor has both shapes."""
    if left is None or right is None:
        return right if left is None else left
    if len(left) != len(right) or any(
        None not in pair and pair[0] != pair[1] for pair in zip(left, right, strict=True)
    ):
        return _NEVER
    return tuple(a if b is None else b for a, b in zip(left, right, strict=True))


def cast_of_cast(op: Operation, builder: Builder) -> Made:
    """``cast(cast(x)) -> cast(x)``, if the type between has no static size that both others lack."""
    inner = made_by(op.operands[0], "tensor.cast")
    if inner is None:
        return None
    types = inner.operands[0].type, inner.results[0].type, op.results[0].type
    source, between, result = (type.shape for type in types if isinstance(type, TensorType))
    joined = _join(source, between)
    known = _NEVER if joined == _NEVER else _join(joined, result)
    if known == _NEVER or known != _join(source, result):
        return None
    return [cast(builder, inner.operands[0], op.results[0].type)]


def cast_of_empty(op: Operation, builder: Builder) -> Made:
    """``cast(empty) -> empty`` of the cast's type."""
    empty, type = made_by(op.operands[0], "tensor.empty"), op.results[0].type
    if empty is None or not isinstance(type, TensorType) or not keeps_sizes(op.operands[0].type, type):
        return None
    kept = []
    for size, known in zip(empty.operands, _opened(ranked(op.operands[0]), type), strict=True):
        if known is None:
            kept.append(size)
        elif constant_number(size) not in (None, known):
            return None
    return [builder.value("tensor.empty", kept, type)]


def _opened(given: TensorType, made: TensorType) -> Iterator[int | None]:
    """The sizes that one type has for the dimensions that are dynamic in the other."""
    return (known for size, known in zip(given.shape or (), made.shape or (), strict=True) if size is None)


def bitcast_of_bitcast(op: Operation, builder: Builder) -> Made:
    inner = made_by(op.operands[0], "tensor.bitcast")
    if inner is None:
        return None
    source, type = inner.operands[0], op.results[0].type
    return [source if source.type is type else builder.value("tensor.bitcast", (source,), type)]


# -- ops that write into a tensor they are given, their destination ----------------------------------------------------


_WRITES_SECOND = (
    "bufferization.materialize_in_destination",
    "tensor.insert",
    "tensor.insert_slice",
    "vector.transfer_write",
)


def destinations(op: Operation) -> list[Value]:
    """The operands that the results are values of, one each; none of an op of another kind."""
    if isinstance(op, StructuredOp):
        return op.outputs if op.results else []
    return op.operands[1:2] if op.name in _WRITES_SECOND and op.results else []


def from_casts(op: Operation, builder: Builder) -> Made:
    """An op takes the operand of a cast that only drops static sizes."""
    sources = [cast_source(value) for value in op.operands]
    if sources.count(None) == len(sources):
        return None
    operands = [value if source is None else source for value, source in zip(op.operands, sources, strict=True)]
    first = len(op.operands) - len(destinations(op)) if isinstance(op, StructuredOp) else 1
    types = [operands[first + index].type for index in range(len(op.results))]
    made = builder.emit(op.name, operands, types, dict(op.attributes), op.take_regions())
    return [cast(builder, value, result.type) for value, result in zip(made.results, op.results, strict=True)]


# -- extents and elements ----------------------------------------------------------------------------------------------


def dim(op: Operation, builder: Builder) -> Made:
    """The size of a tensor is that of the cast's source, of the tensor that was written into, or an entry of the shape
    operand of a reshape.
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


def extract(op: Operation, builder: Builder) -> Made:
    """Extracts from the source of a `tensor.cast` or an `arith.index_cast`, or computes the element as the body of a
    `tensor.generate` does.
    """
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


def elements_as_constant(op: Operation, builder: Builder) -> Made:
    """`splat` and `from_elements` of constants."""
    constant = constant_elements([constant_of(value) for value in op.operands], op.results[0].type)
    return None if constant is None or not op.operands else [builder.constant(constant, constant.type)]


def insert_what_is_there(op: Operation, builder: Builder) -> Made:
    scalar, dest = op.operands[:2]
    constant = constant_of(dest)
    if not isinstance(constant, DenseElementsAttr) or not constant.is_splat:
        return None
    return [dest] if constant_elements([constant_of(scalar)], dest.type) == constant else None


def known_sizes(op: Operation, builder: Builder) -> Made:
    """Constant sizes become part of the type."""
    type = ranked(op.results[0])
    shape, kept = constant_sizes(type.shape or (), op.operands)
    if len(kept) == len(op.operands):
        return None
    made = builder.emit(op.name, kept, (type.with_(shape=shape),), dict(op.attributes), op.take_regions())
    return [cast(builder, made.results[0], type)]


# -- tensor.concat -----------------------------------------------------------------------------------------------------


def concat(op: Operation, builder: Builder) -> Made:
    """The `tensor.concat` of one tensor is that tensor. Otherwise static sizes of any operand hold for all operands and
    the result; none of these has an encoding then, as upstream.
    """
    made = ranked(op.results[0])
    if len(op.operands) == 1:
        return [cast(builder, op.operands[0], made)]
    axis = op.attributes["dim"].python
    inferred = concat_type([ranked(value) for value in op.operands], axis)
    types = []
    for value in op.operands:
        shape = list(inferred.shape or ())
        shape[axis] = (ranked(value).shape or ())[axis]
        types.append(inferred.with_(shape=shape))
    result = made if keeps_sizes(inferred, made) else inferred
    if result is made and all(value.type is type for value, type in zip(op.operands, types, strict=True)):
        return None
    operands = [cast(builder, value, type) for value, type in zip(op.operands, types, strict=True)]
    return [cast(builder, builder.value("tensor.concat", operands, result, dict(op.attributes)), made)]
