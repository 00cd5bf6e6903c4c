"""Conversions of float32 to floats of 4 to 8 bits.

The types are float8, float6, float4e2m1, and float8e8m0, whose values are powers of 2.
"""

from qrt.models.importing.unquantized import Operand, apply, compare, number_of, select
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.operands import F32
from qrt.types import FloatType, IntegerType

E8M0 = FloatType("f8E8M0FNU")
FINITE = tuple(map(FloatType, ("f4E2M1FN", "f6E2M3FN", "f6E3M2FN")))
"""The types without infinities and NaNs."""
_I32 = IntegerType(32)
_LEAST, _LARGEST = 2.0**-127, 2.0**127
_ADDENDS = {"up": (0x3FFFFF, 0x7FFFFF), "down": (0, 0), "nearest": (0x200000, 0x400000)}
"""For each mode, what is added to the bits of a subnormal and of a normal float32 before its mantissa is removed."""


def narrowed(node: Node, x: Operand, element: FloatType) -> Operand:
    """Convert float32 to ``element``, a float of 4 to 8 bits.

    Numbers are rounded half to even. Numbers beyond the range become the largest one, unless the attribute ``saturate``
    is 0. float4e2m1 and float6 have no infinity and no NaN: a NaN becomes -0. For float8e8m0, see `_powers`.
    """
    if element is E8M0:
        return _powers(node, x)
    if element in FINITE:
        x = select(node, compare(node, "eq", x, x, F32), x, number_of(-0.0, F32), F32)
    if element in FINITE or node.attribute("saturate", 1):
        for name, bound in (("arith.maximumf", -element.largest), ("arith.minimumf", element.largest)):
            x = apply(node, name, [x, number_of(float(bound), F32)], [F32, F32], F32)
    return apply(node, "arith.truncf", [x], [F32], element)


def _powers(node: Node, x: Operand) -> Operand:
    """Round float32 to a power of 2, by the attribute ``round_mode``: up, down or nearest, with ties up.

    A number out of range becomes the nearest power, which for 0 and negative numbers is the least one. If ``saturate``
    is 0, numbers out of range become NaN. NaNs stay NaN.
    """
    mode, saturates = node.attribute("round_mode", "up"), node.attribute("saturate", 1)
    if mode not in _ADDENDS:
        node.fail(f"attribute 'round_mode' must be up, down or nearest, got {mode!r}")
    bits = apply(node, "arith.bitcast", [x], [F32], _I32)
    small, normal = (number_of(addend, _I32) for addend in _ADDENDS[mode])
    is_small = compare(node, "slt", bits, number_of(0x800000, _I32), _I32)
    bits = apply(node, "arith.addi", [bits, select(node, is_small, small, normal, _I32)], [_I32, _I32], _I32)
    result = apply(node, "arith.shrui", [bits, number_of(23, _I32)], [_I32, _I32], _I32)
    for predicate, bound, stored in (
        ("sge", _LEAST, 0 if saturates else 255),
        ("sle", _LARGEST, 254 if saturates else 255),
    ):
        result = select(
            node, compare(node, predicate, x, number_of(bound, F32), F32), result, number_of(stored, _I32), _I32
        )
    is_number = compare(node, "eq", x, x, F32)
    result = select(node, is_number, result, number_of(255, _I32), _I32)
    stored_bits = apply(node, "arith.trunci", [result], [_I32], IntegerType(8))
    return apply(node, "arith.bitcast", [stored_bits], [IntegerType(8)], E8M0)
