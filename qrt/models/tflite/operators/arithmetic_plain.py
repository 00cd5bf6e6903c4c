"""Import of arithmetic operators on unquantized integers, floats and bools.

`arithmetic` imports the same operators on quantized tensors.
"""

from collections.abc import Callable

from qrt.models.importing.unquantized import (
    BOOL,
    Operand,
    apply,
    clamped,
    compare,
    number_of,
    select,
    shape_of,
    signless,
)
from qrt.models.tflite.node import ACTIVATIONS, Node
from qrt.models.tflite.operators.operands import finish, operands_of, raw
from qrt.types import FloatType, IntegerType, Type

_NARROW, _WORDS = ("int8", "int16"), ("int32", "int64")
_I32 = IntegerType(32)
_F64 = FloatType("f64")
_BINARY = {
    "ADD": ("arith.addi", "arith.addf"),
    "SUB": ("arith.subi", "arith.subf"),
    "MUL": ("arith.muli", "arith.mulf"),
    "DIV": ("arith.divsi", "arith.divf"),
    "MAXIMUM": ("arith.maxsi", "arith.maximumf"),
    "MINIMUM": ("arith.minsi", "arith.minimumf"),
}
"""The op on integers and the op on floats of each operator."""
_STABLEHLO = {"ADD": _BINARY["ADD"], "AND": ("arith.andi", ""), "MULTIPLY": _BINARY["MUL"]}
"""The op on integers and the op on floats of StableHLO's operators."""
_EXTREMES = {"MAXIMUM": "slt", "MINIMUM": "sgt"}
"""The comparison of the first with the second operand that is true if StableHLO's operators return the second."""
_UNARY = {
    "CEIL": "math.ceil", "COS": "math.cos", "EXP": "math.exp", "FLOOR": "math.floor", "LOG": "math.log",
    "ROUND": "math.roundeven", "RSQRT": "math.rsqrt", "SIN": "math.sin", "SQRT": "math.sqrt", "TANH": "math.tanh",
}  # fmt: skip


def _finish(node: Node, result: Operand) -> None:
    activation, element = node.options.get("fused_activation_function", "NONE"), node.result_type().element
    if activation == "NONE":
        finish(node, 0, result)
    elif activation in ACTIVATIONS:
        finish(node, 0, clamped(node, result, ACTIVATIONS[activation], element))
    else:
        node.refuse(f"fused {activation} of {node.outputs[0].dtype}")


def binary(node: Node) -> None:
    """Import ADD, SUB, MUL, DIV, MAXIMUM or MINIMUM: apply the operator to tensors that broadcast.

    The tensors are int32, int64 or float32. Integers wrap on overflow, and DIV of integers rounds towards zero.
    """
    operands, element = operands_of(node, (*_WORDS, "float32"))
    name = _BINARY[node.op.name][isinstance(element, FloatType)]
    _finish(node, apply(node, name, operands, [element] * 2, element))


def stablehlo(node: Node) -> None:
    """Import a StableHLO operator on two tensors of the same shape.

    The tensors are integers or float32; STABLEHLO_AND takes integers or bools. Integers wrap on overflow. If an operand
    of a maximum or minimum is a NaN, the result is the first operand.
    """
    operator = node.op.name.removeprefix("STABLEHLO_")
    (a, b), element = operands_of(node, (*_NARROW, *_WORDS, "bool" if operator == "AND" else "float32"))
    if shape_of(a) != shape_of(b):
        node.fail(f"operands of shapes {list(shape_of(a))} and {list(shape_of(b))}")
    if operator in _EXTREMES:
        is_second = compare(node, _EXTREMES[operator], a, b, element)
        finish(node, 0, select(node, is_second, b, a, element))
        return
    name = _STABLEHLO[operator][isinstance(element, FloatType)]
    finish(node, 0, apply(node, name, [a, b], [element] * 2, element))


def stablehlo_shift_left(node: Node) -> None:
    """Import STABLEHLO_SHIFT_LEFT: shift int8, int16 or int32 elements left, each by the element of a second tensor.

    Both tensors have the same shape. Bits beyond the width are lost. A run fails if a shift is not from 0 to 31.
    """
    (x, count), element = operands_of(node, (*_NARROW, "int32"))
    if shape_of(x) != shape_of(count):
        node.fail(f"operands of shapes {list(shape_of(x))} and {list(shape_of(count))}")
    if element is not _I32:
        x, count = (apply(node, "arith.extsi", [operand], [element], _I32) for operand in (x, count))
    shifted = apply(node, "arith.shli", [x, count], [_I32] * 2, _I32)
    finish(node, 0, shifted if element is _I32 else apply(node, "arith.trunci", [shifted], [_I32], element))


def floor_div(node: Node) -> None:
    """Import FLOOR_DIV: divide int32 or float32 values, or the storage of int8 or int16 tensors, and round down."""
    if node.input(0).dtype in _NARROW:
        _of_storage(node, _floor_div)
        return
    (a, b), element = operands_of(node, ("int32", "float32"))
    finish(node, 0, _floor_div(node, a, b, element))


def _of_storage(node: Node, function: Callable[[Node, Operand, Operand, Type], Operand]) -> None:
    """Set the result to ``function`` of the storage of both inputs.

    The function is computed in 32 bits, and its result is truncated to the width of the storage.
    """
    dtypes = {tensor.dtype for tensor in (node.input(0), node.input(1), node.outputs[0])}
    if len(dtypes) != 1:
        node.fail(f"its inputs and its result must have the same type, got {' and '.join(sorted(dtypes))}")
    narrow = signless(node.type(0).element)
    a, b = (apply(node, "arith.extsi", [raw(node, i)], [narrow], _I32) for i in (0, 1))
    finish(node, 0, apply(node, "arith.trunci", [function(node, a, b, _I32)], [_I32], narrow))


def _floor_div(node: Node, a: Operand, b: Operand, element: Type) -> Operand:
    if isinstance(element, FloatType):  # a quotient in float32 may be rounded up to the next integer
        wide = [apply(node, "arith.extf", [operand], [element], _F64) for operand in (a, b)]
        floor = apply(node, "math.floor", [apply(node, "arith.divf", wide, [_F64] * 2, _F64)], [_F64], _F64)
        return apply(node, "arith.truncf", [floor], [_F64], element)
    return apply(node, "arith.floordivsi", [a, b], [element] * 2, element)


def floor_mod(node: Node) -> None:
    """Import FLOOR_MOD: compute the remainder of a division, with the sign of the divisor.

    Operands are int32, int64 or float32 values, or the storage of int8 or int16 tensors.
    """
    if node.input(0).dtype in _NARROW:
        _of_storage(node, _floor_mod)
        return
    (a, b), element = operands_of(node, (*_WORDS, "float32"))
    pair, zero = [element] * 2, number_of(0, element)
    if not isinstance(element, FloatType):
        finish(node, 0, _floor_mod(node, a, b, element))
        return
    rest = apply(node, "arith.remf", [a, b], pair, element)
    signs = [compare(node, "slt", operand, zero, element) for operand in (rest, b)]
    differ = apply(node, "arith.xori", signs, [BOOL] * 2, BOOL)
    wrong = apply(node, "arith.andi", [differ, compare(node, "ne", rest, zero, element)], [BOOL] * 2, BOOL)
    finish(node, 0, select(node, wrong, apply(node, "arith.addf", [rest, b], pair, element), rest, element))


def _floor_mod(node: Node, a: Operand, b: Operand, element: Type) -> Operand:
    product = apply(node, "arith.muli", [_floor_div(node, a, b, element), b], [element] * 2, element)
    return apply(node, "arith.subi", [a, product], [element] * 2, element)


def power(node: Node) -> None:
    """Import POW: raise float32 values to float32 powers."""
    operands, element = operands_of(node, ("float32",))
    finish(node, 0, apply(node, "math.powf", operands, [element] * 2, element))


def arc_tangent(node: Node) -> None:
    """Import ATAN2: compute the angle atan2(y, x) of float32 tensors of the same shape."""
    operands, element = operands_of(node, ("float32",))
    if shape_of(operands[0]) != shape_of(operands[1]):
        node.fail(
            f"its inputs must have the same shape, got {' and '.join(str(shape_of(operand)) for operand in operands)}"
        )
    finish(node, 0, apply(node, "math.atan2", operands, [element] * 2, element))


def squared_difference(node: Node) -> None:
    """Import SQUARED_DIFFERENCE: compute the squared difference of int32 or float32 tensors that broadcast."""
    operands, element = operands_of(node, ("int32", "float32"))
    suffix = "f" if isinstance(element, FloatType) else "i"
    difference = apply(node, f"arith.sub{suffix}", operands, [element] * 2, element)
    finish(node, 0, apply(node, f"arith.mul{suffix}", [difference] * 2, [element] * 2, element))


def square(node: Node) -> None:
    """Import SQUARE: compute the square of float32 values."""
    (x,), element = operands_of(node, ("float32",))
    finish(node, 0, apply(node, "arith.mulf", [x, x], [element] * 2, element))


def absolute(node: Node) -> None:
    """Import ABS: compute the absolute value of int32 or float32 values."""
    operands, element = operands_of(node, ("int32", "float32"))
    name = "math.absf" if isinstance(element, FloatType) else "math.absi"
    finish(node, 0, apply(node, name, operands, [element], element))


def negate(node: Node) -> None:
    """Import NEG: negate int32, int64 or float32 values."""
    (x,), element = operands_of(node, (*_WORDS, "float32"))
    if isinstance(element, FloatType):
        finish(node, 0, apply(node, "arith.negf", [x], [element], element))
    else:
        finish(node, 0, apply(node, "arith.subi", [number_of(0, element), x], [element] * 2, element))


def sign(node: Node) -> None:
    """Import SIGN: compute the sign -1, 0 or 1 of int32 or float32 values. The sign of a NaN is a NaN."""
    (x,), element = operands_of(node, ("int32", "float32"))
    zero = number_of(0, element)
    below = select(node, compare(node, "slt", x, zero, element), number_of(-1, element), x, element)
    finish(node, 0, select(node, compare(node, "sgt", x, zero, element), number_of(1, element), below, element))


def add_n(node: Node) -> None:
    """Import ADD_N: add int32 or float32 tensors of the same shape, in the order of the operands."""
    (total, *others), element = operands_of(node, ("int32", "float32"))
    if len({shape_of(operand) for operand in (total, *others)}) > 1:
        node.fail(
            "its inputs must have the same shape, got "
            f"{' and '.join(str(shape_of(operand)) for operand in (total, *others))}"
        )
    name = "arith.addf" if isinstance(element, FloatType) else "arith.addi"
    for operand in others:
        total = apply(node, name, [total, operand], [element] * 2, element)
    finish(node, 0, total)


def unary(node: Node) -> None:
    """Import an operator of one operand, such as COS: apply the function to float32 values."""
    operands, element = operands_of(node, ("float32",))
    finish(node, 0, apply(node, _UNARY[node.op.name], operands, [element], element))


def logical(node: Node) -> None:
    """Import LOGICAL_AND or LOGICAL_OR: compute the logical AND or OR of bools."""
    operands, element = operands_of(node, ("bool",))
    name = "arith.andi" if node.op.name == "LOGICAL_AND" else "arith.ori"
    finish(node, 0, apply(node, name, operands, [element] * 2, element))


def logical_not(node: Node) -> None:
    """Import LOGICAL_NOT: compute the logical NOT of bools."""
    (x,), element = operands_of(node, ("bool",))
    finish(node, 0, apply(node, "arith.xori", [x, number_of(True, element)], [element] * 2, element))
