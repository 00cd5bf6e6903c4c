"""Upstream's canonicalization patterns of `vector` ops that extract and insert parts of vectors.

Most patterns apply to static positions only. A position that an operand supplies may be out of bounds, an error that
must not get lost.
"""

from math import prod
from typing import Any

import numpy as np

from qrt.ir import Builder, Operation, Value
from qrt.ir.core.matching import constant_number, constant_of, defining_op
from qrt.ir.dialects._shaped.types import constant_elements, stored
from qrt.ir.dialects.vector.elements import MAX_RESULTS, slice_of
from qrt.ir.dialects.vector.types import integers, shape_of, vector_of
from qrt.ir.dialects.vector.values import (
    Position,
    can_broadcast,
    changed,
    constant,
    dense_of,
    extract,
    has_as_many,
    known_position,
    position_of,
    repeated,
    same_type,
    splat,
    splat_source,
    with_position,
)
from qrt.ir.rewriting.rewrite import PatternResult
from qrt.ir.text.dense import MAX_FOLDED
from qrt.types import VectorType

_MAX_ELEMENTS = 256
"""The size up to which upstream creates a new constant even if the old one is still used."""


def whole_vector(op: Operation, builder: Builder) -> PatternResult:
    """Fold a `vector.extract` or `vector.insert` with an empty position, which moves the whole vector."""
    return None if integers(op, "static_position") else same_type(op, builder)


def constant_position(op: Operation, builder: Builder) -> PatternResult:
    """Make constant index operands static, if they are in bounds."""
    before = op.operands[: 1 if op.name == "vector.extract" else 2]
    position, shape = position_of(op), shape_of(before[-1].type)
    known = [
        number
        if isinstance(index, Value) and (number := constant_number(index)) is not None and 0 <= number < size
        else index
        for index, size in zip(position, shape, strict=False)
    ]
    if known == position:
        return None
    return changed(builder, op, *with_position(known, before))


def _at(builder: Builder, op: Operation, source: Value, position: Position) -> PatternResult:
    """Change a `vector.extract` in place, to another source and position."""
    return changed(builder, op, *with_position(position, (source,)))


# -- vector.extract: other sources of the part -------------------------------------------------------------------------


def of_constant(op: Operation, builder: Builder) -> PatternResult:
    dense, position = dense_of(op.operands[0]), known_position(op)
    if dense is None or position is None:
        return None
    type = op.results[0].type
    if isinstance(type, VectorType):
        return [constant(builder, dense.array[position], type)]
    return [builder.constant(dense.element_at(position), type)]


def of_extract(op: Operation, builder: Builder) -> PatternResult:
    inner = defining_op(op.operands[0], op.name)
    if inner is None:
        return None
    first, second = known_position(inner), known_position(op)
    if first is None or second is None:
        return None
    return _at(builder, op, inner.operands[0], [*first, *second])


def of_inserts(op: Operation, builder: Builder) -> PatternResult:
    """Replace an extraction from a chain of `vector.insert` by the inserted value, or extract from an earlier vector.

    The search goes back through `vector.insert` ops at other positions, and through `vector.transpose` ops.
    """
    position, source = known_position(op), op.operands[0]
    if position is None:
        return None
    rest = [
        -1 - axis for axis in range(len(shape_of(op.results[0].type)))
    ]  # negative numbers name the dimensions of the part
    wanted, value = [*position, *rest], source
    while (producer := value.operation) is not None:
        if producer.name == "vector.transpose":
            order = integers(producer, "permutation")
            wanted, value = [wanted[order.index(axis)] for axis in range(len(order))], producer.operands[0]
            continue
        if producer.name != "vector.insert":
            break
        inserted = integers(producer, "static_position")
        if known_position(producer) is not None and list(inserted) == wanted[: len(inserted)]:
            wanted, value = wanted[len(inserted) :], producer.operands[0]
            break
        if not any(a != b for a, b in zip(inserted, wanted, strict=False) if a >= 0 and b >= 0):
            return None  # they may overlap
        value = producer.operands[1]
    count = len(wanted) - len(rest)
    if value is source or wanted[count:] != rest:
        return None
    return _at(builder, op, value, wanted[:count]) if value.type is not op.results[0].type else [value]


def of_repeated(op: Operation, builder: Builder) -> PatternResult:
    """Extract a part of a broadcast from the broadcast's source, if the part has no repeated dimension."""
    source, position = repeated(op.operands[0]), position_of(op)
    if source is None:
        return None
    given, taken = shape_of(source.type), shape_of(op.results[0].type)
    count = len(given) - len(taken)
    if count < 0 or given[count:] != taken:
        return None
    added = len(position) - count
    where = [0 if size == 1 else index for index, size in zip(position[added:], given, strict=False)]
    dropped = [*position[:added], *(index for index, at in zip(position[added:], where, strict=True) if at == 0)]
    if any(isinstance(index, Value) or index < 0 for index in dropped):
        return None
    return _at(builder, op, source, where) if source.type is not op.results[0].type else [source]


def of_shuffle(op: Operation, builder: Builder) -> PatternResult:
    shuffle, position = defining_op(op.operands[0], "vector.shuffle"), known_position(op)
    if shuffle is None or position is None or len(shape_of(shuffle.operands[0].type)) != 1:
        return None
    lane, size = integers(shuffle, "mask")[position[0]], shape_of(shuffle.operands[0].type)[0]
    if lane < 0:
        return None
    return _at(builder, op, shuffle.operands[lane >= size], [lane if lane < size else lane - size])


def of_shape_cast(op: Operation, builder: Builder) -> PatternResult:
    """Extract a part of a `shape_cast` from the cast's source, if both shapes end with the dimensions of the part."""
    cast, position = defining_op(op.operands[0], "vector.shape_cast"), known_position(op)
    if cast is None or position is None:
        return None
    given, taken = shape_of(cast.operands[0].type), shape_of(op.results[0].type)
    count = len(given) - len(taken)
    if count < 0 or given[count:] != taken:
        return None
    lead = shape_of(cast.results[0].type)[: len(position)]
    flat = 0
    for index, size in zip(position, lead, strict=True):  # not by NumPy: the products may exceed 64 bits
        flat = flat * size + index
    where: list[int] = []
    for size in reversed(given[:count]):
        flat, index = divmod(flat, size)
        where.insert(0, index)
    return _at(builder, op, cast.operands[0], where)


def of_slice(op: Operation, builder: Builder) -> PatternResult:
    """Rewrite the extraction of a part of a slice so that it extracts directly from the slice's source.

    The slice must cover its source completely along the dimensions of the part.
    """
    cut, position = defining_op(op.operands[0], "vector.extract_strided_slice"), known_position(op)
    if cut is None or position is None:
        return None
    given, slice_shape = shape_of(cut.operands[0].type), shape_of(cut.results[0].type)
    offsets = list(integers(cut, "offsets"))
    while offsets and offsets[-1] == 0 and given[len(offsets) - 1] == slice_shape[len(offsets) - 1]:
        offsets.pop()
    if len(offsets) > len(position):
        return None
    offsets += [0] * (len(position) - len(offsets))
    return _at(builder, op, cut.operands[0], [a + b for a, b in zip(position, offsets, strict=True)])


def of_inserted_slices(op: Operation, builder: Builder) -> PatternResult:
    """Extract a part from the last inserted slice that contains it, instead of from the result of the insertions."""
    position, value = known_position(op), op.operands[0]
    if position is None:
        return None
    rest = len(shape_of(op.results[0].type))
    while (insert := defining_op(value, "vector.insert_strided_slice")) is not None:
        part, whole = (shape_of(operand.type) for operand in insert.operands)
        if rest > len(part):
            return None
        where = slice_of(insert)
        if all(extent.start <= index < extent.stop for index, extent in zip(position, where, strict=False)):
            if part[len(part) - rest :] != whole[len(whole) - rest :]:
                return None
            inside = [index - extent.start for index, extent in zip(position, where, strict=False)]
            return _at(builder, op, insert.operands[0], inside[len(whole) - len(part) :])
        value = insert.operands[1]
    return None


def of_elements(op: Operation, builder: Builder) -> PatternResult:
    elements, position = defining_op(op.operands[0], "vector.from_elements"), known_position(op)
    if elements is None or position is None:
        return None
    type = op.results[0].type
    shape = shape_of(elements.results[0].type)
    first = np.ravel_multi_index((*position, *[0] * (len(shape) - len(position))), shape) if shape else 0
    if not isinstance(type, VectorType):
        return [elements.operands[int(first)]]
    count = int(np.prod(type.shape))
    return [builder.value(elements.name, elements.operands[int(first) : int(first) + count], type)]


# -- vector.extract: other ops that produce the part -------------------------------------------------------------------


def to_broadcast(op: Operation, builder: Builder) -> PatternResult:
    source, type = repeated(op.operands[0]), op.results[0].type
    if source is None or known_position(op) is None or not isinstance(type, VectorType):
        return None
    return [builder.value("vector.broadcast", (source,), type)] if can_broadcast(source.type, type) else None


def to_mask(op: Operation, builder: Builder) -> PatternResult:
    """Replace a part extracted from a `create_mask` by a smaller `create_mask`, or by a constant that is all false."""
    mask, position, type = defining_op(op.operands[0], "vector.create_mask"), known_position(op), op.results[0].type
    if mask is None or position is None or not isinstance(type, VectorType):
        return None
    sizes = [constant_number(size) for size in mask.operands]
    known = list(zip(position, sizes, strict=False))
    is_clear = any(size is not None and size <= 0 for size in sizes)
    if is_clear or any(size is not None and index >= size for index, size in known):
        return splat(builder, np.False_, type)
    if any(size is None for _, size in known):
        return None
    return [builder.value(mask.name, mask.operands[len(position) :], type)]


def to_shape_cast(op: Operation, builder: Builder) -> PatternResult:
    """Replace a part extracted from a `shape_cast` by a `shape_cast` of its source, if the part has all elements."""
    cast, type = defining_op(op.operands[0], "vector.shape_cast"), op.results[0].type
    if cast is None or known_position(op) is None or not isinstance(type, VectorType):
        return None
    return [builder.value(cast.name, cast.operands, type)] if has_as_many(cast.operands[0].type, type) else None


# -- vector.insert -----------------------------------------------------------------------------------------------------


def over_insert(op: Operation, builder: Builder) -> PatternResult:
    """Rewrite ``insert(x, insert(y, dest))`` to ``insert(x, dest)``, if x and y have the same position."""
    inner = defining_op(op.operands[1], op.name)
    if inner is None or position_of(inner) != position_of(op):
        return None
    return changed(builder, op, [op.operands[0], *inner.operands[1:]], {})


def into_constant(op: Operation, builder: Builder) -> PatternResult:
    part, whole = op.operands[:2]
    into, position, type = dense_of(whole), known_position(op), vector_of(op.results[0])
    dense = dense_of(part)
    value = stored(constant_of(part), type) if dense is None else dense.array
    if into is None or position is None or value is None:
        return None
    if into.array.size > (_MAX_ELEMENTS if len(op.results[0].uses) != 1 else MAX_FOLDED):
        return None
    elements = into.array.copy()
    elements[position] = value
    return [constant(builder, elements, type)]


def as_broadcast(op: Operation, builder: Builder) -> PatternResult:
    """Replace an insertion by a broadcast, if it sets all elements or inserts a splat into a splat of equal value."""
    part, whole, type = op.operands[0], op.operands[1], op.results[0].type
    if known_position(op) is None:
        return None
    if isinstance(part.type, VectorType) and has_as_many(part.type, type):
        return [builder.value("vector.broadcast", (part,), type)]
    splat = splat_source(part)
    if splat is None or splat_source(whole) is not splat:
        return None
    return [builder.value("vector.broadcast", (splat,), type)]


def as_elements(op: Operation, builder: Builder) -> PatternResult:
    """Replace a chain of insertions by a `vector.from_elements`, if they set all elements of the vector."""
    if any(user.name == op.name and user.operands[1] is op.results[0] for user in op.results[0].users):
        return None
    inserts: list[Operation] = []
    following: Operation | None = op
    while following is not None:
        if known_position(following) is None or (inserts and len(following.results[0].uses) != 1):
            return None
        inserts.append(following)
        following = defining_op(following.operands[1], op.name)
    type = vector_of(op.results[0])
    if prod(type.shape) > MAX_RESULTS or any(type.scalable):
        return None
    is_open, left, count = np.ones(type.shape, np.bool_), prod(type.shape), 0
    while left and count < len(inserts):
        place: Any = (*(known_position(inserts[count]) or ()), ...)
        left -= int(np.count_nonzero(is_open[place]))
        is_open[place] = False
        count += 1
    if left:
        return None
    elements = np.empty(type.shape, object)
    for insert in inserts[count - 1 :: -1]:
        part, position = insert.operands[0], known_position(insert)
        if isinstance(part.type, VectorType):
            parts = builder.emit("vector.to_elements", (part,), [type.element] * int(np.prod(part.type.shape)))
            values = np.empty(len(parts.results), object)
            values[:] = parts.results
            elements[position] = values.reshape(part.type.shape)
        else:
            elements[position] = part
    return [builder.value("vector.from_elements", elements.reshape(-1).tolist(), type)]


# -- vector.from_elements, vector.to_elements --------------------------------------------------------------------------


def of_own_elements(op: Operation, builder: Builder) -> PatternResult:
    source = op.operands[0].operation
    if source is None or source.name != "vector.to_elements" or op.operands != source.results:
        return None
    return source.operands[:] if source.operands[0].type is op.results[0].type else None


def of_constants(op: Operation, builder: Builder) -> PatternResult:
    elements = constant_elements([constant_of(value) for value in op.operands], op.results[0].type)
    return None if elements is None else [builder.constant(elements, elements.type)]


def of_one_element(op: Operation, builder: Builder) -> PatternResult:
    first = op.operands[0]
    if any(value is not first for value in op.operands):
        return None
    return [builder.value("vector.broadcast", (first,), op.results[0].type)]


def of_neighbours(op: Operation, builder: Builder) -> PatternResult:
    """Replace a `from_elements` of consecutive elements of a vector by the part of the vector that they form.

    The elements must fill complete dimensions of the vector.
    """
    first, size = defining_op(op.operands[0], "vector.extract"), len(op.operands)
    if first is None or size == 1:
        return None
    source, places = first.operands[0], []
    shape = shape_of(source.type)
    for element in op.operands:
        taken = defining_op(element, "vector.extract")
        position = known_position(taken) if taken is not None and taken.operands[0] is source else None
        if position is None:
            return None
        places.append(int(np.ravel_multi_index(position, shape)) if position else 0)
    count = len(shape)
    while count and np.prod(shape[count:]) < size:
        count -= 1
    if np.prod(shape[count:]) != size or places != list(range(places[0], places[0] + size)) or places[0] % size:
        return None
    part = extract(builder, source, integers(first, "static_position")[:count])
    return [builder.value("vector.shape_cast", (part,), op.results[0].type)]


def elements_of_elements(op: Operation, builder: Builder) -> PatternResult:
    source = defining_op(op.operands[0], "vector.from_elements")
    return None if source is None else source.operands[:]


def elements_of_broadcast(op: Operation, builder: Builder) -> PatternResult:
    """Replace a `vector.to_elements` of a broadcast by the elements of the broadcast's source, repeated."""
    broadcast = defining_op(op.operands[0], "vector.broadcast")
    if broadcast is None:
        return None
    source, shape = broadcast.operands[0], shape_of(op.operands[0].type)
    if not isinstance(source.type, VectorType):
        return [source] * len(op.results)
    size = int(np.prod(source.type.shape))
    elements = builder.emit(op.name, (source,), [source.type.element] * size).results
    numbers = np.arange(size).reshape(source.type.shape)
    return [elements[number] for number in np.broadcast_to(numbers, shape).reshape(-1).tolist()]
