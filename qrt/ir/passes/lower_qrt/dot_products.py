"""Sums of products of 8-bit integers in vectors, in the form that compilers translate to dot-product instructions.

Such an instruction (`vpdpbusd` of x86, `sdot` and `udot` of Arm) multiplies bytes and adds the products, four to a
32-bit sum. The form is

    a8 = vector.load a packed : vector<64xi8>       a32 = arith.extui a8
    w8 = vector.load w packed : vector<64xi8>       w32 = arith.extsi w8
    acc = vector.reduction <add>, arith.muli(a32, w32), acc : vector<64xi32> into i32

An instruction needs an unsigned (u) or signed (s) byte as each factor, as the option `signs` of the pass states. If an
operand's storage does not fit, 128 is added or subtracted, which flips the highest bit of each byte. Its zero point is
shifted equally, so that no difference `a - za` changes:

    (a + 128) - (za + 128) = a - za

Both operands are packed: the factors of each sum lie one after another, and zeros fill the last vector. Constant
operands are packed when the program is lowered.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np

from qrt.ir import OpaqueAttr, Value
from qrt.ir.core.affine import Expression, floordiv, modulo, multiply
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import I8, I32, Array, LoweringContext
from qrt.ir.passes.lower_qrt.contraction import Contraction, ProductOperand
from qrt.ir.passes.lower_qrt.corrections import Correct, constant_values, corrections
from qrt.ir.passes.lower_qrt.window import pad_behind
from qrt.types import UniformType

FEWEST = 8
"""The least number of products of a sum in vectors: a shorter sum would be mostly zeros."""
_LENGTHS = (16, 32, 64)
"""The numbers of factors in a vector. 64 bytes are the longest vector of x86."""
_ADD = OpaqueAttr("#vector.kind<add>")
_HALF = 128
_MAX_BYTE = 255


def dot_products(context: LoweringContext, c: Contraction) -> tuple[Value, Correct] | None:
    """Emit the sums of a contraction by dot products, and return (tensor of accumulators, function that corrects them).

    Returns None if the options of the pass do not ask for dot products. Returns None and reports the reason if the
    contraction cannot be computed by them.
    """
    if not context.dot_signs:
        return None
    reason = _obstacle(c)
    if reason:
        context.choices.append(f"loops instead of dot products: {reason}")
        return None
    signs = [sign == "s" for sign in context.dot_signs]
    a, w = (_with_sign(factor, signed) for factor, signed in zip((c.a, c.w), signs, strict=True))
    shifted = replace(c, a=a, w=w)
    depth = _depth(c)
    assert depth is not None  # `_obstacle` has seen that it is static
    length = next((n for n in _LENGTHS if n >= depth), _LENGTHS[-1])
    packed = [_packed(context, factor, shifted, depth, length) for factor in (a, w)]
    correct = corrections(context, shifted)
    nest = LoopNest(context, "accumulate", c.outer, [-(-depth // length)])
    first = multiply(nest.loops[-1], length)
    factors = [
        nest.extend_vector(nest.read_vector(tensor, (*factor.coordinates, first), length), I32, signed)
        for tensor, factor, signed in zip(packed, (a, w), signs, strict=True)
    ]
    acc = nest.running(I32, 0)
    product = nest.value("arith.muli", factors, factors[0].type)
    (sums,) = nest.finish(nest.value("vector.reduction", (product, acc), I32, {"kind": _ADD}))
    return sums, correct


def _depth(c: Contraction) -> int | None:
    """Return the number of products that the reduced loops add; None if it is dynamic."""
    static = [size for size in c.reduced if isinstance(size, int)]
    return prod(static) if len(static) == len(c.reduced) else None


def _obstacle(c: Contraction) -> str:
    """Return why the products of a contraction cannot be dot products of bytes; "" if they can."""
    for factor in (c.a, c.w):
        if factor.type.storage_width > I8.width:
            return f"storage of {factor.type.storage_width} bits has more than 8 bits"
    depth = _depth(c)
    if depth is None:
        return "the number of products in a sum is dynamic"
    if depth < FEWEST:
        return f"a sum has {depth} products, fewer than {FEWEST}"
    if c.width is not I32:
        return f"a sum of {depth} products may exceed 32 bits"
    return ""


def _with_sign(factor: ProductOperand, signed: bool) -> ProductOperand:
    """Return the operand with signed bytes as factors, or with unsigned bytes if `signed` is False.

    If the storage type does not fit, the stored integers and the zero points are shifted by 128.
    """
    offset = _offset(factor.type, signed)
    return replace(factor, offset=offset, zero_points=factor.zero_points + offset)


def _offset(t: UniformType, signed: bool) -> int:
    if t.is_signed:
        return 0 if signed else _HALF
    fits_signed = t.storage_width < I8.width
    return -_HALF if signed and not fits_signed else 0


def _packed(context: LoweringContext, factor: ProductOperand, c: Contraction, depth: int, length: int) -> Value:
    """Return an operand's factors as bytes: its axes are `factor.extents`, then one axis with the factors of each sum.

    `depth` is the number of factors of a sum. The last axis is padded with zeros to a multiple of `length`.
    """
    values = constant_values(factor, c.reduced)
    if values is not None:
        context.stage("accumulate")
        return context.dense(_packed_constant(values, len(factor.extents), depth, length), I8)
    nest = LoopNest(context, "accumulate", (*factor.extents, depth))
    reduced = _split(nest.loops[-1], [size for size in c.reduced if isinstance(size, int)])
    byte = nest.extend(nest.read(factor.tensor, factor.index(nest.loops[:-1], reduced)), I8, factor.type.is_signed)
    if factor.offset:
        byte = nest.value("arith.xori", (byte, nest.constant(-_HALF, I8)), I8)
    (packed,) = nest.finish(byte)
    context.stage("accumulate")
    return pad_behind(context, packed, len(factor.extents), -depth % length)


def _packed_constant(values: Array, rank: int, depth: int, length: int) -> Array:
    rows = values.reshape((*values.shape[:rank], depth))
    padded = np.pad(rows, [(0, 0)] * rank + [(0, -depth % length)])
    return (padded & _MAX_BYTE).astype(np.uint8).view(np.int8)


def _split(position: Expression, sizes: Sequence[int]) -> list[Expression]:
    """Convert a row-major position in loops of the given sizes to one index per loop."""
    indices: list[Expression] = []
    for size in reversed(sizes[1:]):
        indices.insert(0, modulo(position, size))
        position = floordiv(position, size)
    return [position, *indices]
