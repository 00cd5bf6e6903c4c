"""Helpers to import operators on unquantized tensors: operands, broadcasting, elementwise operations.

An operand is an array if its elements are known at import, or else a value of the program. An operation whose operands
are all arrays is computed at import, by the functions that would compute it in a program, so that both give the same
bits.
"""

from collections.abc import Sequence

import numpy as np

from qrt.errors import QuantError, UndefinedError
from qrt.ir import Block, Builder, Region, Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import Extent, LoweringContext
from qrt.models.importing.graph import bits
from qrt.models.importing.node import Node, index, lowering_context
from qrt.ops import elementwise
from qrt.ops.core import Array, element_dtype
from qrt.types import FloatType, IntegerType, TensorType, Type, UniformType

Operand = Array | Value
BOOL = IntegerType(1)
COMPARISONS = {
    "eq": (0, 1), "ne": (1, 13), "slt": (2, 4), "sle": (3, 5), "sgt": (4, 2), "sge": (5, 3),
    "ult": (6, 4), "ule": (7, 5), "ugt": (8, 2), "uge": (9, 3),
}  # fmt: skip
"""Each comparison's predicate numbers: (of arith.cmpi, of arith.cmpf). With a NaN only `ne` is true."""
_FLOAT_PREDICATES = {1: "oeq", 13: "une", 4: "olt", 5: "ole", 2: "ogt", 3: "oge"}
LARGEST = 1 << 20
"""The largest number of elements that are computed at import; larger results are computed by the program."""
_F32 = FloatType("f32")


def signless(element: Type) -> Type:
    """Return the element type with which `arith` ops compute: ``ui8`` -> ``i8``, a quantized type -> its storage width.

    Float types are returned unchanged.
    """
    if isinstance(element, UniformType):
        return IntegerType(element.storage_width)
    return IntegerType(element.width) if isinstance(element, IntegerType) else element


def stored(node: Node, value: Value, element: Type) -> Value:
    """Reinterpret a quantized or unsigned tensor as a tensor of the signless type ``element`` with the same bits."""
    given = value.type
    assert isinstance(given, TensorType)
    if given.element is element:
        return value
    name = "quant.scast" if isinstance(given.element, UniformType) else "tensor.bitcast"
    return node.emit(name, [value], None, TensorType(given.shape, element))


def shape_of(operand: Operand) -> tuple[int | None, ...]:
    """Return the shape of an operand, with None for a size known only at run time."""
    if isinstance(operand, np.ndarray):
        return operand.shape
    assert isinstance(operand.type, TensorType)
    assert operand.type.shape is not None
    return operand.type.shape


def as_value(node: Node, operand: Operand, element: Type) -> Value:
    """Return an operand as a value of the program. An array is appended as a constant."""
    return operand if isinstance(operand, Value) else node.dense(np.asarray(operand, order="C"), element)


# -- broadcasting ----------------------------------------------------------------------------------------------------


def broadcast_shape(node: Node, operands: Sequence[Operand]) -> tuple[int | None, ...]:
    """Return the shape to which operands broadcast. Raise ModelError if they do not.

    An operand's dynamic size is never broadcast: in a run it must be the size of the result.
    """
    shapes = [shape_of(operand) for operand in operands]
    rank = max(map(len, shapes))
    sizes: list[int | None] = []
    for column in zip(*[(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes], strict=True):
        wanted = {size for size in column if size != 1}
        if len(wanted) > 1:
            wanted.discard(None)
        if len(wanted) > 1:
            node.fail(f"the shapes of its inputs must broadcast, got {' and '.join(map(str, shapes))}")
        sizes.append(wanted.pop() if wanted else 1)
    return tuple(sizes)


def _refined(node: Node, operand: Operand, shape: tuple[int | None, ...]) -> Operand:
    """Return an operand, cast so that its dynamic sizes are those of the broadcast ``shape``.

    The cast is checked at run time.
    """
    given = shape_of(operand)
    own = tuple(size if size is not None else wanted
                for size, wanted in zip(given, shape[len(shape) - len(given) :], strict=True))  # fmt: skip
    if own == given:
        return operand
    assert isinstance(operand, Value)
    assert isinstance(operand.type, TensorType)
    return node.emit("tensor.cast", [operand], None, operand.type.with_(shape=own))


def broadcast(node: Node, operand: Operand, element: Type, shape: tuple[int | None, ...]) -> Operand:
    """Broadcast an operand to a larger static shape. Raise UnsupportedForm for a shape with a dynamic dimension.

    Axes of size 1 that grow are removed by `qrt.reshape`, and then added in full size by `linalg.broadcast`.
    """
    given = shape_of(operand)
    if given == shape:
        return operand
    static = tuple(size for size in shape if size is not None)
    if len(static) < len(shape):
        node.refuse("broadcasting to a dynamic dimension")
    if isinstance(operand, np.ndarray):
        if int(np.prod(static, dtype=object)) > LARGEST:
            return broadcast(node, node.dense(operand, element), element, shape)
        return np.broadcast_to(operand, static)
    padded = (1,) * (len(shape) - len(given)) + tuple(given)
    missing = [axis for axis, (here, there) in enumerate(zip(padded, shape, strict=True)) if here != there]
    remaining = [size for axis, size in enumerate(static) if axis not in missing]
    if list(given) != remaining:
        operand = node.emit("qrt.reshape", [operand], None, TensorType(tuple(remaining), element))
    if not missing:
        return operand
    empty = node.emit("tensor.empty", [], None, TensorType(static, element))
    body = Block([element, element])
    Builder(body).create("linalg.yield", body.arguments[0])
    types, regions = [TensorType(static, element)], [Region([body])]
    return node.make("linalg.broadcast", [operand, empty], {"dimensions": missing}, types, regions=regions).result


# -- elementwise operations ------------------------------------------------------------------------------------------


def apply(
    node: Node,
    name: str,
    operands: Sequence[Operand],
    elements: Sequence[Type],
    result: Type,
    number: int | None = None,
) -> Operand:
    """Return the result of an elementwise op of `arith` or `math` on operands, which broadcast.

    ``elements`` has the operands' element types, and ``result`` is the result's. ``number`` is the predicate of an
    `arith.cmpi` or `arith.cmpf`.
    """
    for operand, element in zip(operands, elements, strict=True):
        _check_element(node, name, operand, element)
    shape = broadcast_shape(node, operands)
    operands = [_refined(node, operand, shape) for operand in operands]
    known = [operand for operand in operands if isinstance(operand, np.ndarray)]
    size = int(np.prod([extent or 1 for extent in shape], dtype=object))
    if len(known) == len(operands) and size <= LARGEST:
        attributes = {} if number is None else {"predicate": number}
        try:
            with np.errstate(all="ignore"):
                computed = elementwise.bind(name, elements, [result], attributes)(*known)
        except (UndefinedError, QuantError) as error:
            node.fail(str(error))
        return np.asarray(computed, element_dtype(result))
    if None in shape and any(shape_of(operand) != shape for operand in operands):
        if _F32 not in elements:
            operands = _spread(node, operands, elements, shape)
        if any(shape_of(operand) != shape for operand in operands):
            return _nested(node, name, operands, elements, result, number, shape)
    values = [
        as_value(node, broadcast(node, operand, element, shape), element)
        for operand, element in zip(operands, elements, strict=True)
    ]
    if number is None:
        return node.emit(name, values, None, TensorType(shape, result))
    names = _FLOAT_PREDICATES if name == "arith.cmpf" else {pair[0]: text for text, pair in COMPARISONS.items()}
    return node.emit(name, values, {"predicate": names[number]}, TensorType(shape, result))


def _check_element(node: Node, name: str, operand: Operand, element: Type) -> None:
    """Raise ModelError if the elements of an operand are not of type ``element``."""
    if isinstance(operand, np.ndarray):
        is_other = operand.dtype != bits(np.empty(0, element_dtype(element))).dtype
        own = str(operand.dtype)
    else:
        is_other = not isinstance(operand.type, TensorType) or operand.type.element is not element
        own = str(operand.type)
    if is_other:
        node.fail(f"an operand has elements of {own}, but {name} expects {element}")


def _spread(
    node: Node, operands: Sequence[Operand], elements: Sequence[Type], shape: tuple[int | None, ...]
) -> list[Operand]:
    """Replace each one-element constant among operands by a tensor of the dynamic ``shape``, filled with the constant.

    With operands of equal shapes, a kernel of an elementwise op can compute the result for every element type. A loop
    nest that broadcasts would not support all types. The dynamic sizes are read from an operand that has the full
    ``shape``. If no operand has this shape, the operands are returned unchanged.
    """
    whole = next((value for value in operands if isinstance(value, Value) and shape_of(value) == shape), None)
    if whole is None:
        return list(operands)
    spread: list[Operand] = []
    for operand, element in zip(operands, elements, strict=True):
        if isinstance(operand, np.ndarray) and operand.size == 1:
            scalar = node.emit("tensor.extract", [node.dense(operand.reshape(()), element)], None, element)
            axes = [axis for axis, size in enumerate(shape) if size is None]
            sizes = [node.emit("tensor.dim", [whole, index(node, axis)]) for axis in axes]
            operand = node.emit("tensor.splat", [scalar, *sizes], None, TensorType(shape, element))
        spread.append(operand)
    return spread


def _nested(
    node: Node,
    name: str,
    operands: Sequence[Operand],
    elements: Sequence[Type],
    result: Type,
    number: int | None,
    shape: tuple[int | None, ...],
) -> Operand:
    """Append an elementwise operation as a loop nest, for operands that broadcast to the dynamic ``shape``.

    The parameters are those of `apply`.
    """
    values = [as_value(node, operand, element) for operand, element in zip(operands, elements, strict=True)]
    context = lowering_context(node)
    nest = LoopNest(context, name.rpartition(".")[2], _extents(context, values, shape))
    scalars = []
    for value, element in zip(values, elements, strict=True):
        given = shape_of(value)
        first = len(shape) - len(given)
        axes = [first + axis for axis, size in enumerate(given) if size != 1 or shape[first + axis] == 1]
        if len(axes) < len(given):
            squeezed = TensorType(tuple(given[axis - first] for axis in axes), element)
            value = node.emit("qrt.reshape", [value], None, squeezed)
        scalars.append(nest.read(value, [nest.loops[axis] for axis in axes]))
    if number is None:
        return nest.finish(nest.value(name, scalars, result))[0]
    compared = nest.compare_floats if name == "arith.cmpf" else nest.compare
    return nest.finish(compared(number, *scalars))[0]


def _extents(context: LoweringContext, values: Sequence[Value], shape: tuple[int | None, ...]) -> list[Extent]:
    """Return the sizes of the dynamic ``shape`` to which values broadcast.

    If a value has the full ``shape``, all sizes are read from that value. Otherwise each dynamic size is read from the
    first value whose size on this axis is dynamic.
    """
    whole = next((value for value in values if shape_of(value) == shape), None)
    if whole is not None:
        return list(context.extents(whole))
    extents: list[Extent] = []
    for axis, size in enumerate(shape):
        owners = [(value, axis - len(shape) + len(shape_of(value))) for value in values]
        extents.append(
            size
            if size is not None
            else next(context.extent(value, own) for value, own in owners if own >= 0 and shape_of(value)[own] is None)
        )
    return extents


def compare(node: Node, predicate: str, a: Operand, b: Operand, element: Type) -> Operand:
    """Compare ``a`` and ``b`` elementwise, and return a tensor of bools. ``predicate`` is a key of `COMPARISONS`."""
    of_integers, of_floats = COMPARISONS[predicate]
    if isinstance(element, FloatType):
        return apply(node, "arith.cmpf", [a, b], [element] * 2, BOOL, of_floats)
    return apply(node, "arith.cmpi", [a, b], [element] * 2, BOOL, of_integers)


def select(node: Node, condition: Operand, a: Operand, b: Operand, element: Type) -> Operand:
    """Return the elements of ``a`` where the condition is true, else those of ``b``."""
    return apply(node, "arith.select", [condition, a, b], [BOOL, element, element], element)


def clamped(node: Node, x: Operand, bounds: tuple[float, float | None], element: Type) -> Operand:
    """Clamp an operand to ``(low, high)`` bounds. If ``high`` is None, there is no upper bound."""
    suffix = "imumf" if isinstance(element, FloatType) else "si"
    low, high = bounds
    x = apply(node, f"arith.max{suffix}", [x, number_of(low, element)], [element] * 2, element)
    return (
        x if high is None else apply(node, f"arith.min{suffix}", [x, number_of(high, element)], [element] * 2, element)
    )


def number_of(value: float, element: Type) -> Array:
    """Return a number as a scalar array of the NumPy dtype of an element type."""
    return np.asarray(value, element_dtype(element))


def cast_to(node: Node, x: Operand, source: Type, target: Type, from_unsigned: bool, to_unsigned: bool) -> Operand:
    """Cast an operand's elements from the type ``source`` to ``target``.

    Both types are signless. ``from_unsigned`` says whether the integers of ``source`` are unsigned, and ``to_unsigned``
    whether those of ``target`` are. ``from_unsigned`` must be True if ``source`` is bool.
    """
    if target is BOOL:
        return x if source is BOOL else compare(node, "ne", x, number_of(0, source), source)
    if source is target:
        return x
    if isinstance(source, FloatType):
        if isinstance(target, FloatType):
            name = "arith.extf" if target.width > source.width else "arith.truncf"
        else:
            name = "arith.fptoui" if to_unsigned else "arith.fptosi"
    elif isinstance(target, FloatType):
        name = "arith.uitofp" if from_unsigned else "arith.sitofp"
    else:
        assert isinstance(source, IntegerType)
        assert isinstance(target, IntegerType)
        extended = "arith.extui" if from_unsigned else "arith.extsi"
        name = extended if target.width > source.width else "arith.trunci"
    return apply(node, name, [x], [source], target)
