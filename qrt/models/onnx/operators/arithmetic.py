"""Arithmetic and comparisons of numbers, with NumPy's broadcasting."""

from functools import reduce

import numpy as np

from qrt.ir import Value
from qrt.models.importing.node import index
from qrt.models.importing.unquantized import BOOL, Operand, apply, cast_to, compare, number_of, select
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators import extremes
from qrt.models.onnx.operators.narrow_floats import narrowed
from qrt.models.onnx.operators.operands import (
    F32,
    I64,
    Sizes,
    finish,
    one_type,
    operand,
    set_sizes,
    sizes,
)
from qrt.models.onnx.types import NUMBERS, element_of, signless
from qrt.types import FloatType, IntegerType, Type

_BINARY = {
    "Add": ("arith.addi", "arith.addi", "arith.addf"),
    "Sub": ("arith.subi", "arith.subi", "arith.subf"),
    "Mul": ("arith.muli", "arith.muli", "arith.mulf"),
    "Div": ("arith.divsi", "arith.divui", "arith.divf"),
    "Max": ("arith.maxsi", "arith.maxui", "arith.maximumf"),
    "Min": ("arith.minsi", "arith.minui", "arith.minimumf"),
    "Sum": ("", "", "arith.addf"),
    "And": ("arith.andi", "arith.andi", ""),
    "Or": ("arith.ori", "arith.ori", ""),
    "Xor": ("arith.xori", "arith.xori", ""),
    "BitwiseAnd": ("arith.andi", "arith.andi", ""),
    "BitwiseOr": ("arith.ori", "arith.ori", ""),
    "BitwiseXor": ("arith.xori", "arith.xori", ""),
}
"""The operations on signed integers and bools, on unsigned integers, and on floats."""
_COMPARISONS = {"Equal": "eq", "Less": "slt", "LessOrEqual": "sle", "Greater": "sgt", "GreaterOrEqual": "sge"}
_UNARY = {
    "Abs": ("math.absi", "math.absf"),
    "Ceil": ("", "math.ceil"),
    "Floor": ("", "math.floor"),
    "Neg": ("", "arith.negf"),
    "Round": ("", "math.roundeven"),
    "Sqrt": ("", "math.sqrt"),
}
"""The operations on integers and on floats. An integer is negated by subtraction from 0."""


def form(element: Type) -> int:
    """Return the index of a type in tables of operations: 0 for signed integers, 1 for unsigned ones, 2 for floats."""
    if isinstance(element, FloatType):
        return 2
    return int(isinstance(element, IntegerType) and element.signedness == "unsigned")


def binary(node: Node) -> None:
    """Import an arithmetic, logical or bitwise operator, such as Add: combine numbers or bools of one type.

    Max, Min and Sum take any number of tensors. Integers wrap, and Div truncates quotients of integers towards 0.
    """
    element = one_type(node)
    name = _BINARY[node.op.type][form(element)]
    if not name or (element is BOOL) != (node.op.type in ("And", "Or", "Xor")):
        node.refuse(f"of {node.dtype(0)}")
    if node.op.type in extremes.PAIRWISE and extremes.is_of_bytes(node):
        extremes.pairwise(node)
        return
    signless_type = signless(element)

    def applied(a: Operand, b: Operand) -> Operand:
        return apply(node, name, [a, b], [signless_type, signless_type], signless_type)

    finish(node, 0, reduce(applied, (operand(node, i) for i in range(len(node.op.inputs)))), element)
    set_sizes(node, _sizes(node))


_OF_SIZES = {"Add": "addi", "Sub": "subi", "Mul": "muli", "Div": "divsi", "Max": "maxsi", "Min": "minsi"}
"""The operations on sizes that are traced."""
_NEUTRAL = {"Add": 0, "Sub": 0, "Mul": 1, "Div": 1}
_MOST_SIZES = 64
"""The largest number of elements of a tensor that is traced as a list of sizes."""


def _sizes(node: Node) -> Sizes | None:
    """Apply the node's operator to two vectors of sizes, such as shapes, and return the elements of the result.

    Return None if an operand is not an int64 vector whose elements the import knows, as numbers or as scalar values.
    """
    if node.op.type not in _OF_SIZES or len(node.op.inputs) != 2 or node.op.outputs[0] in node.graph.constants:
        return None
    if node.plain(0) is not I64 or any(len(node.shape(i)) > 1 for i in (0, 1)):
        return None
    a, b = sizes(node, 0), sizes(node, 1)
    if a is None or b is None or not a or not b or max(len(a), len(b)) > _MOST_SIZES:
        return None
    if len(a) != len(b):
        a, b = a * (len(b) if len(a) == 1 else 1), b * (len(a) if len(b) == 1 else 1)
    return tuple(_size(node, left, right) for left, right in zip(a, b, strict=True))


def _size(node: Node, left: int | Value, right: int | Value) -> int | Value:
    """Apply the node's operator to two sizes.

    If one size is the neutral element of the operator, such as 0 for Add, return the other size without an operation.
    """
    kind = node.op.type
    neutral = _NEUTRAL.get(kind)
    if right == neutral:
        return left
    if left == neutral and kind in ("Add", "Mul"):
        return right
    if isinstance(left, int) and isinstance(right, int):
        known = apply(node, f"arith.{_OF_SIZES[kind]}", [number_of(n, I64) for n in (left, right)], [I64] * 2, I64)
        return int(np.asarray(known))
    return node.emit(f"arith.{_OF_SIZES[kind]}", [n if isinstance(n, Value) else index(node, n) for n in (left, right)])


def comparison(node: Node) -> None:
    """Import Equal, Greater, GreaterOrEqual, Less or LessOrEqual: compare numbers of one type.

    Only Equal also compares bools.
    """
    element, predicate = one_type(node), _COMPARISONS[node.op.type]
    if predicate != "eq" and element is BOOL:
        node.refuse(f"of {node.dtype(0)}")
    if form(element) == 1:
        predicate = predicate.replace("s", "u", 1)
    finish(node, 0, compare(node, predicate, operand(node, 0), operand(node, 1), signless(element)), BOOL)


def not_(node: Node) -> None:
    """Import Not: negate bools."""
    if one_type(node) is not BOOL:
        node.fail(f"its input must be bool, got {node.dtype(0)}")
    finish(node, 0, apply(node, "arith.xori", [operand(node, 0), number_of(1, BOOL)], [BOOL, BOOL], BOOL), BOOL)


def unary(node: Node) -> None:
    """Import Abs, Ceil, Floor, Neg, Round or Sqrt: compute the function of floats, correctly rounded.

    Abs and Neg also take signed integers.
    """
    element = one_type(node)
    if node.op.type == "Neg" and form(element) == 0 and element is not BOOL:
        finish(
            node, 0, apply(node, "arith.subi", [number_of(0, element), operand(node, 0)], [element] * 2, element),
            element,
        )  # fmt: skip
        return
    name = _UNARY[node.op.type][isinstance(element, FloatType)]
    if not name or form(element) == 1 or element is BOOL:
        node.refuse(f"of {node.dtype(0)}")
    finish(node, 0, apply(node, name, [operand(node, 0)], [element], element), element)


def reciprocal(node: Node) -> None:
    """Import Reciprocal: compute 1 divided by each float."""
    element = one_type(node)
    if not isinstance(element, FloatType):
        node.refuse(f"of {node.dtype(0)}")
    finish(
        node, 0, apply(node, "arith.divf", [number_of(1, element), operand(node, 0)], [element, element], element),
        element,
    )  # fmt: skip


def where(node: Node) -> None:
    """Import Where: select each element from one of two tensors by a bool. The three tensors broadcast."""
    if node.plain(0) is not BOOL:
        node.fail(f"the condition (input 0) must be bool, got {node.dtype(0)}")
    element = one_type(node, 1)
    finish(node, 0, select(node, operand(node, 0), operand(node, 1), operand(node, 2), signless(element)), element)


def cast(node: Node) -> None:
    """Import Cast or CastLike: convert numbers to another type.

    Floats are rounded half to even to a narrower float type, and truncated to integers. A float out of the range of an
    integer of 32 or 64 bits becomes the least signed integer, as on x86. Integers of 8 or 16 bits are the low-order
    bits of such a 32-bit integer, and so is a uint32 from a float16. For integers of 2 or 4 bits, the float is rounded
    half away from zero, and the low-order bits are taken. In the runtime, the uint32 of a NaN, or of a float below
    -2^31 or from 2^32 on, depends on the position of the element.

    To float8 with ``saturate``, numbers beyond the largest float8 become the largest. To float4e2m1 and float6, they
    always do, and a NaN becomes -0; the runtime does not cast to these types. To float8e8m0, ``round_mode`` is up, down
    or nearest.
    """
    source = node.plain(0)
    if node.op.type == "CastLike":
        target = node.plain(1)
    else:
        number = node.required("to", int)
        if number not in NUMBERS:
            node.fail(f"attribute 'to' must be a number of the enum TensorProto.DataType, got {number}")
        target = element_of(NUMBERS[number])
    if (
        any(isinstance(element, FloatType) and element.width < 16 for element in (source, target))
        and source is not target
    ):
        finish(node, 0, _cast_small(node, source, target), target)
        return
    finish(node, 0, _converted(node, operand(node, 0), source, target), target)
    if isinstance(source, IntegerType) and target in (IntegerType(32), IntegerType(64)):
        set_sizes(node, sizes(node, 0))


def _converted(node: Node, x: Operand, source: Type, target: Type) -> Operand:
    """Convert elements of one type to another. Neither is a float of 8 bits or fewer."""
    if isinstance(source, FloatType) and isinstance(target, IntegerType) and target is not BOOL:
        return truncated(node, x, source, target)
    if isinstance(source, FloatType) and isinstance(target, FloatType) and source.width == target.width != 32:
        if source is target:
            return x
        x, source = cast_to(node, x, source, F32, False, False), F32  # from one type of 16 bits to the other
    from_unsigned = form(source) == 1 or source is BOOL
    return cast_to(node, x, signless(source), signless(target), from_unsigned, form(target) == 1)


def truncated(node: Node, x: Operand, source: FloatType, target: IntegerType) -> Operand:
    """Truncate floats to integers. A float out of range becomes the same integer as on x86.

    To integers of 2 and 4 bits, floats are rounded half away from zero instead.
    """
    is_half, width, is_unsigned = source.width == 16, target.width, form(target) == 1
    if is_half:
        x, source = cast_to(node, x, source, F32, False, False), F32
    if width < 8:
        x = apply(node, "math.round", [x], [source], source)
    if not is_unsigned or width < 32 or (width == 32 and is_half):
        wide = IntegerType(64 if width == 64 or (is_unsigned and width == 32) else 32)
        return cast_to(node, _signed(node, x, source, wide), wide, IntegerType(width), False, False)
    wide, middle = IntegerType(width), 2.0 ** (width - 1)
    is_large = compare(node, "sge", x, number_of(middle, source), source)
    reduced = apply(node, "arith.subf", [x, number_of(middle, source)], [source] * 2, source)
    signed = _signed(node, select(node, is_large, reduced, x, source), source, wide)
    flipped = apply(node, "arith.xori", [signed, number_of(-(2 ** (width - 1)), wide)], [wide] * 2, wide)
    return select(node, is_large, flipped, signed, wide)


def _signed(node: Node, x: Operand, source: FloatType, target: IntegerType) -> Operand:
    """Truncate floats to signed integers. A float out of range, or a NaN, becomes the least integer."""
    limit = 2.0 ** (target.width - 1)
    within = [compare(node, predicate, x, number_of(bound, source), source)
              for predicate, bound in (("sge", -limit), ("slt", limit))]  # fmt: skip
    fits = apply(node, "arith.andi", within, [BOOL] * 2, BOOL)
    inside = select(node, fits, x, number_of(0, source), source)
    integers = apply(node, "arith.fptosi", [inside], [source], target)
    return select(node, fits, integers, number_of(-(2 ** (target.width - 1)), target), target)


def _cast_small(node: Node, source: Type, target: Type) -> Operand:
    """Cast from or to floats of 4 or 8 bits by way of float32, which represents all of their numbers."""
    is_narrow = [isinstance(element, FloatType) and element.width < 16 for element in (source, target)]
    x = operand(node, 0)
    x = cast_to(node, x, source, F32, False, False) if is_narrow[0] else _converted(node, x, source, F32)
    if isinstance(target, FloatType) and is_narrow[1]:
        return narrowed(node, x, target)
    return _converted(node, x, F32, target)
