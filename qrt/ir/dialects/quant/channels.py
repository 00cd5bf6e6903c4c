"""Integrity checks of quantization parameters on every value of a program.

The parameters must fit the tensor, and an operation must not move elements to a channel with other parameters. These
are the rules of 'Per-axis quantization integrity' in upstream's description of the quant dialect. Upstream's verifiers
check them on `quant` ops only.

An operation of an upstream dialect gives its result the quantized type of its operand. Each axis along which the
parameters differ must therefore keep its number, its size and the order of its elements. ``MOVES`` lists the operations
that move elements between axes, with a function that maps the axes. ``AXIS_KEEPING_OPS`` leave every element in its
place. ``SCALAR_OPS`` insert or extract single elements; per-axis types do not allow them, because a scalar has no
channel. ``SHAPE_OPS`` read no element. The operations of `qrt` check the types of their results themselves.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from qrt.errors import QuantTypeError, VerifyError
from qrt.ir.core.attributes import IntegerAttr, TypeAttr
from qrt.ir.core.matching import number_of
from qrt.ir.core.operations import Operation, Value
from qrt.ir.dialects._shaped.lists import mixed_values, reassociation_of, static_values
from qrt.ir.dialects._shaped.slices import PARTS, dropped_dimensions
from qrt.ir.dialects._shaped.types import Shape
from qrt.types import FunctionType, TensorType, TupleType, Type, UniformType, check_integrity

if TYPE_CHECKING:
    from qrt.ir.dialects.linalg.structure import StructuredOp


@dataclass(frozen=True)
class Move:
    """Movement of an operand's elements into another value of the same type, whose name is ``target``.

    ``arrival(axis)`` is None if that axis of the operand becomes, complete and in order, the same axis of the target.
    Otherwise it is the part of an error message that describes the change, such as "becomes axis 1 of".
    """

    operand: Value
    target: str
    arrival: Callable[[int], str | None]


Moves = Callable[[Operation], Iterator[Move]]


def check_channels(program: Operation) -> None:
    """Raise VerifyError for the first operation that violates the integrity of quantization parameters.

    The parameters of each value must fit its shape, and no operation may move elements to a channel with other
    parameters.
    """
    fitting: set[Type] = set()
    for operation in program.walk():
        for value in _values_of(operation):
            if value.type not in fitting:
                name = _name_of(value)
                _check_type(operation, value.type, f"the value {name}" if name.startswith("%") else name)
                fitting.add(value.type)
        for attribute in operation.attributes.values():
            if isinstance(attribute, TypeAttr) and isinstance(attribute.type, FunctionType):
                for part in (*attribute.type.inputs, *attribute.type.results):
                    _check_type(operation, part, "a value")
        if operation.name in MOVES or _is_structured(operation):
            _check_moves(operation)


def _values_of(operation: Operation) -> Iterator[Value]:
    """Yield the results of an operation and the arguments of its blocks.

    The block arguments of a structured operation are left out: they are single elements of its tensors, whose channels
    follow from the indexing maps.
    """
    yield from operation.results
    if not _is_structured(operation):
        for region in operation.regions:
            for block in region.blocks:
                yield from block.arguments


def _check_type(operation: Operation, type: Type, what: str) -> None:
    for part in type.elements if isinstance(type, TupleType) else (type,):
        element = part.element if isinstance(part, TensorType) else part
        if not isinstance(element, UniformType) or element.is_per_layer:
            continue
        try:
            if not isinstance(part, TensorType):
                axes = f"axis {element.axis}" if element.is_per_axis else f"axes {_listed(_axes_of(element))}"
                raise QuantTypeError(
                    "scalar types may not use per-axis or sub-channel quantization: a scalar has no "
                    f"{axes}; extract the element from the storage (quant.scast) or from the floats (quant.dcast)"
                )
            check_integrity(element, part.shape)
        except QuantTypeError as error:
            raise operation.op_error(f"has {what} of type {_shown(part)}: {error}") from None


def _axes_of(element: UniformType) -> tuple[int, ...]:
    """Return the axes along which a type may have several scales or zero points."""
    if element.is_per_axis:
        assert element.axis is not None
        return (element.axis,)
    return tuple(axis for axis, _ in element.block_sizes or ())


def varying_axes(element: UniformType) -> tuple[int, ...]:
    """Return the axes along which the scales or zero points of a type differ.

    Elements may move along all other axes without a change of their parameters.
    """
    if element.is_per_layer:
        return ()
    parameters = element.scale_array, element.zero_point_array
    axes = range(element.scale_array.ndim)
    varying = [axis for axis in axes if any(np.any(array != array.take([0], axis)) for array in parameters)]
    return tuple(varying) if element.is_sub_channel else tuple(_axes_of(element)[:1] if varying else ())


def _check_moves(operation: Operation) -> None:
    moves = _structured_moves if _is_structured(operation) else MOVES[operation.name]
    quantized = [value.type for value in operation.operands if _axes_that_vary(value.type)]
    if not quantized:
        return
    for move in moves(operation):
        for axis in _axes_that_vary(move.operand.type):
            arrival = move.arrival(axis)
            if arrival is not None:
                raise _error(operation, move, axis, arrival)


def _axes_that_vary(type: Type) -> tuple[int, ...]:
    if isinstance(type, TensorType) and isinstance(type.element, UniformType):
        return varying_axes(type.element)
    return ()


def _error(operation: Operation, move: Move, axis: int, arrival: str) -> VerifyError:
    kind = cast("TensorType", move.operand.type)
    following = _FOLLOWING.get(operation.name)
    own = "" if following is None else f"use {following}, which adapts the type of its result, or "
    return operation.op_error(
        f"moves channels: axis {axis} of {_name_of(move.operand)} {arrival} {move.target}, but both are of type "
        f"{_shown(kind)}, whose quantization parameters belong to axis {axis}; {own}move floats instead (quant.dcast "
        "before, quant.qcast after)"
    )


_FOLLOWING: Final = {
    "linalg.transpose": "qrt.transpose",
    "tensor.collapse_shape": "qrt.reshape",
    "tensor.expand_shape": "qrt.reshape",
    "tensor.reshape": "qrt.reshape",
    "tensor.concat": "qrt.concat",
}
"""The operations of `qrt` that do the same but adapt the quantized type of the result."""


def _shown(type: Type) -> str:
    if isinstance(type, TensorType) and isinstance(type.element, UniformType):
        sizes = "*" if type.shape is None else "x".join("?" if size is None else str(size) for size in type.shape)
        return f"tensor<{sizes}x{type.element.shown()}>"
    return type.shown() if isinstance(type, UniformType) else str(type)


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers))


_DEFINED = re.compile(r"(%[\w$.-]+)(?::\d+)?\s*=\s*$", re.ASCII)


def _name_of(value: Value) -> str:
    """Return the name of a value in the program's text; a description of its position if it has none."""
    if value.owner is None or isinstance(value.owner, Operation):
        operation = value.operation
        if operation is None:
            return "an undefined value"
        location = operation.location
        match = _DEFINED.search(location.source.text, max(0, location.start - 200), location.start)
        if match is None:
            return f"result #{value.index} of '{operation.name}'"
        return match[1] if len(operation.results) == 1 else f"{match[1]}#{value.index}"
    names = value.owner.names
    return names[value.index] if len(names) == len(value.owner.arguments) else f"block argument #{value.index}"


# -- moves of axes, by operation ---------------------------------------------------------------------------------------


def _is_structured(operation: Operation) -> bool:
    return operation.name.startswith("linalg.") and hasattr(operation, "indexing_maps")


def _structured_moves(operation: Operation) -> Iterator[Move]:
    """Yield, for each tensor operand of a structured operation, the `Move` into the last operand of that element type.

    The body may yield an element of any operand as an element of any result of the same type. In each iteration, the
    indexing maps must therefore select elements of the same channel in all operands of one type. Each operand is
    compared with the last operand of its type, usually the output.
    """
    op = cast("StructuredOp", operation)
    pairs = [
        (value, map)
        for value, map in zip(op.operands, op.indexing_maps, strict=True)
        if isinstance(value.type, TensorType)
    ]
    for value, map in pairs:
        last, other = next(pair for pair in reversed(pairs) if _element(pair[0]) is _element(value))
        if value is last and map == other:
            continue

        def arrival(axis: int, map=map, other=other) -> str | None:  # type: ignore[no-untyped-def]
            if map.results[axis] == other.results[axis]:
                return None
            places = [at for at, place in enumerate(other.results) if place == map.results[axis]]
            return f"becomes axis {places[0]} of" if places else "has no corresponding axis in"

        target = op.results[op.outputs.index(last)] if last in op.outputs and op.results else last
        yield Move(value, _name_of(target), arrival)


def _element(value: Value) -> Type:
    return cast("TensorType", value.type).element


def _shape(value: Value) -> Shape:
    return cast("TensorType", value.type).shape or ()


def _arrival_in(operand: Value, target: Value, axes: tuple[int | None, ...], whole: Callable[[int], bool]) -> Move:
    """Return the `Move` of an operand's elements into a target.

    Axis i of the operand becomes axis ``axes[i]`` of the target, or is dropped if ``axes[i]`` is None. ``whole(axis)``
    is True if all indices of the axis are moved, in order.
    """

    def arrival(axis: int) -> str | None:
        if axes[axis] is None:
            return "is dropped in"
        if axes[axis] != axis:
            return f"becomes axis {axes[axis]} of"
        return None if whole(axis) else "is not copied as a whole, from 0 in steps of 1, to"

    return Move(operand, _name_of(target), arrival)


def _slice_moves(operation: Operation, operand: Value, target: Value, reduced: Value) -> Iterator[Move]:
    """Yield the `Move` of the elements of an extracted or inserted slice.

    ``reduced`` is the value that has the slice's shape, perhaps without some of its axes of size 1.
    """
    lists = {name: [number_of(value) for value in mixed_values(operation, name)] for name in PARTS}
    dropped = dropped_dimensions(static_values(operation, "sizes"), _shape(reduced)) or ()
    remaining = [axis for axis in range(len(lists["sizes"])) if axis not in dropped]
    position = {axis: at for at, axis in enumerate(remaining)}
    axes = tuple(remaining) if reduced is operand else tuple(position.get(axis) for axis in range(len(lists["sizes"])))

    def whole(axis: int) -> bool:
        return lists["offsets"][axis] == 0 and lists["strides"][axis] == 1

    yield _arrival_in(operand, target, axes, whole)


def _extract_slice_moves(operation: Operation) -> Iterator[Move]:
    return _slice_moves(operation, operation.operands[0], operation.results[0], operation.results[0])


def _insert_slice_moves(operation: Operation) -> Iterator[Move]:
    source, dest = operation.operands[:2]
    return _slice_moves(operation, source, operation.results[0] if operation.results else dest, source)


def _regrouping_moves(operation: Operation) -> Iterator[Move]:
    """Yield the `Move` of the elements of an `expand_shape` or `collapse_shape`.

    An axis that keeps its number and size keeps all its indices in order, because the other axes of its group have size
    1.
    """
    group_of = {axis: number for number, group in enumerate(reassociation_of(operation)) for axis in group}
    rank = len(_shape(operation.operands[0]))
    (source, target) = operation.operands[0], operation.results[0]
    if operation.name == "tensor.collapse_shape":
        axes: tuple[int | None, ...] = tuple(group_of.get(axis) for axis in range(rank))
    else:
        axes = tuple(
            axis if group_of.get(axis) == axis else next((at for at, group in group_of.items() if group == axis), None)
            for axis in range(rank)
        )
    yield _arrival_in(source, target, axes, lambda axis: True)


def _reshape_moves(operation: Operation) -> Iterator[Move]:
    """Yield the `Move` of the elements of a `tensor.reshape`.

    An axis stays the same if its size does not change, and if the product of the sizes before it, or of the sizes
    after it, does not change either.
    """
    source, target = operation.operands[0], operation.results[0]
    old, new = (cast("TensorType", value.type).shape for value in (source, target))

    def arrival(axis: int) -> str | None:
        if old == new or (new is not None and 0 in new) or (old is not None and 0 in old):
            return None  # an empty tensor has no elements to move
        if old is None or new is None:
            return "becomes an unknown axis, because a type is unranked, of"
        is_kept = _have_equal_counts(old[:axis], new[:axis]) or _have_equal_counts(old[axis + 1 :], new[axis + 1 :])
        return None if is_kept and old[axis] == new[axis] else "may become another axis of"

    yield Move(source, _name_of(target), arrival)


def _have_equal_counts(sizes: Shape, others: Shape) -> bool:
    return sizes == others or (None not in (*sizes, *others) and prod(sizes) == prod(others))  # type: ignore[arg-type]  # no size is None


def _concat_moves(operation: Operation) -> Iterator[Move]:
    joined = operation.attribute("dim", IntegerAttr).value
    for value in operation.operands:
        rank = len(_shape(value))
        yield _arrival_in(value, operation.results[0], tuple(range(rank)), lambda axis: axis != joined)


MOVES: Final[dict[str, Moves]] = {
    "tensor.collapse_shape": _regrouping_moves,
    "tensor.concat": _concat_moves,
    "tensor.expand_shape": _regrouping_moves,
    "tensor.extract_slice": _extract_slice_moves,
    "tensor.insert_slice": _insert_slice_moves,
    "tensor.parallel_insert_slice": _insert_slice_moves,
    "tensor.reshape": _reshape_moves,
}
"""The operations that move elements between axes, except structured ones of `linalg`, which `_structured_moves`
handles."""
AXIS_KEEPING_OPS: Final = frozenset(
    {
        "affine.for", "affine.if", "affine.parallel", "affine.yield", "arith.constant", "arith.select",
        "bufferization.alloc_tensor", "bufferization.dealloc_tensor", "bufferization.materialize_in_destination",
        "cf.br", "cf.cond_br", "cf.switch", "func.call", "func.return", "ml_program.global_load",
        "ml_program.global_load_const", "ml_program.global_store", "scf.condition", "scf.execute_region", "scf.for",
        "scf.forall", "scf.if", "scf.index_switch", "scf.parallel", "scf.reduce", "scf.reduce.return", "scf.while",
        "scf.yield", "tensor.bitcast", "tensor.cast", "tensor.empty", "ub.poison",
    }
)  # fmt: skip
"""The operations that leave every element in its place and keep the type, or that create new elements."""
SCALAR_OPS: Final = frozenset(
    {
        "linalg.fill", "tensor.extract", "tensor.from_elements", "tensor.generate", "tensor.insert", "tensor.pad",
        "tensor.splat", "tensor.yield",
    }
)  # fmt: skip
"""The operations that take or return a single element."""
SHAPE_OPS: Final = frozenset(
    {
        "shape.shape_of", "tensor.dim", "tensor.rank",
    }
)  # fmt: skip
"""The operations that only read the shape of a tensor."""
