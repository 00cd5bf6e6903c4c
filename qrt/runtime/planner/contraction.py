"""Binding of contractions: structured ops that add products of two operands to an f32 or i32 output.

Matrix products and convolutions are contractions. The kernel adds the products in the same order as the interpreter.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import qrt.kernels as kernels
from qrt._ext.kernels import KernelCall, bind_contraction
from qrt.ir import Operation, Value
from qrt.ir.core.affine import plain_loops
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.runtime.planner.loops import Constants, Loops, Strided, collapsed, loops_of
from qrt.runtime.planner.unquantized import promises
from qrt.types import FloatType, IntegerType, TensorType

_F32, _I32 = FloatType("f32"), IntegerType(32)
_NARROW = (IntegerType(8), IntegerType(16))
_MOST_LOOPS = 15
"""The limit in csrc/include/qrt/products/contraction.h, without the loop over columns."""


@dataclass(frozen=True)
class ContractionCall:
    """A kernel call bound for an op.

    ``given`` has the indices of the op's operands that the call takes, in this order. ``packed`` has the indices of the
    constant operands that are packed in the call.
    """

    call: KernelCall
    given: tuple[int, ...]
    packed: tuple[int, ...] = ()


def contraction(op: Operation, types: Sequence[TensorType], constants: Constants) -> ContractionCall | None:
    """Bind the kernel of a contraction whose operands have these static types; return None for any other op.

    ``constants`` has the arrays of constant operands by operand index.
    """
    if not isinstance(op, StructuredOp) or len(op.outputs) != 1 or len(op.results) != 1:
        return None
    integers = types[-1].element == _I32
    if not integers and any(t.element != _F32 for t in types):
        return None
    product = _product(op)
    loops = loops_of(op, types) if product is not None else None
    if product is None or loops is None:
        return None
    left, right, is_fused = product
    out = len(types) - 1
    column = next((loop for loop in reversed(loops.parallel) if loops.extents[loop] > 1), None)
    orders = [pair for pair in ((left, right), (right, left)) if _are_supported(types, *pair, constants)]
    chosen = _chosen(loops, column, orders, constants)
    if chosen is None:
        return None
    a, b = chosen
    given = [a, *([] if b in constants else [b]), *([] if out in constants else [out])]
    init, start = loops.operands[out], None
    if out in constants:
        start, init = collapsed(constants[out], init, loops, plain_loops(op.indexing_maps[out]) or ())
    operands = [loops.operands[a], loops.operands[b], init, loops.operands[out]]
    order = _order(loops, column, loops.operands[b])
    turns = [loops.extents[loop] for group in order for loop in group]
    if len(turns) > _MOST_LOOPS:
        return None
    call = bind_contraction(
        isa=kernels.active(),
        loops=[len(group) for group in order],
        extents=[*turns, 1 if column is None else loops.extents[column]],
        strides=[
            [*(x.strides[loop] for group in order for loop in group), _of_column(x, column, is_last=number == 3)]
            for number, x in enumerate(operands)
        ],
        offsets=[operand.offset for operand in operands],
        sizes=[operand.size for operand in operands],
        fused=is_fused,
        integers=integers,
        b_constant=constants[b].astype(np.int32 if integers else np.float32, copy=False) if b in constants else None,
        init_constant=start,
    )
    return ContractionCall(call, tuple(given), (b,) if b in constants else ())


def _product(op: StructuredOp) -> tuple[int, int, bool] | None:
    """Return (operand numbers of the two factors, True if the body multiplies and adds by one fused operation).

    Return None if the body does not add a product of two inputs to the output.
    """
    block = op.regions[0].blocks[0]
    *inputs, out = block.arguments
    *operations, last = block.operations
    combine = _operation_among(last.operands[0], operations)
    if combine is None or any(inner.name not in _USED or promises(inner) for inner in operations):
        return None
    factors: Sequence[Value] = ()
    if combine.name == "math.fma" and combine.operands[2] is out:
        factors = combine.operands[:2]
    elif combine.name in _PRODUCTS:
        terms = [value for value in combine.operands if value is not out]
        source = _operation_among(terms[0], operations) if len(terms) == 1 else None
        if source is not None and source.name == _PRODUCTS[combine.name]:
            factors = source.operands
    read = [_extended(factor, operations) for factor in factors]
    if not read or any(factor not in inputs for factor in read):
        return None
    left, right = (inputs.index(factor) for factor in read)
    return left, right, combine.name == "math.fma"


_PRODUCTS = {"arith.addf": "arith.mulf", "arith.addi": "arith.muli"}
_USED = frozenset({"math.fma", "arith.extsi", *_PRODUCTS, *_PRODUCTS.values()})
"""The ops that the body of a contraction may have. Other ops could be undefined for some values."""


def _are_supported(types: Sequence[TensorType], a: int, b: int, constants: Constants) -> bool:
    """Return True if the kernel supports the element types of operands number ``a`` and ``b``.

    A constant operand ``b`` may have narrower integers than the output, because it is extended when it is packed.
    """
    left, right = types[a].element, types[b].element
    return left == types[-1].element and (right == left or (left == _I32 and right in _NARROW and b in constants))


def _operation_among(value: Value, operations: Sequence[Operation]) -> Operation | None:
    return value.operation if value.operation in operations else None


def _extended(value: Value, operations: Sequence[Operation]) -> Value:
    """Return the operand of the `arith.extsi` that computes a value, or the value itself if another op computes it."""
    extension = _operation_among(value, operations)
    return extension.operands[0] if extension is not None and extension.name == "arith.extsi" else value


def _chosen(
    loops: Loops, column: int | None, orders: Sequence[tuple[int, int]], constants: Constants
) -> tuple[int, int] | None:
    """Return the numbers of the operands that the kernel takes as a and as b; None if it supports neither order.

    ``column`` is the loop that the kernel runs over the columns of b, None if all parallel loops have one iteration.
    The kernel packs b: once if it is constant, otherwise once for each iteration of the other parallel loops that index
    it. So a constant b is best, then a b that few loops index.
    """

    def stride(operand: int) -> int:
        return 0 if column is None else loops.operands[operand].strides[column]

    fitting = [(a, b) for a, b in orders if stride(a) in (0, 1) and (column is None or stride(b))]

    def cost(order: tuple[int, int]) -> tuple[bool, int, int]:
        a, b = order
        batches = sum(loops.operands[b].strides[loop] != 0 for loop in loops.parallel)
        return b not in constants, stride(a), batches

    return min(fitting, key=cost, default=None)


def _order(loops: Loops, column: int | None, b: Strided) -> tuple[list[int], list[int], list[int]]:
    """Return three lists of loops around the kernel: parallel loops that index b, other parallel loops, reduced loops.

    Loops of one iteration are left out. So is ``column``, the loop that the kernel itself runs over the columns of b.
    """
    parallel = [loop for loop in loops.parallel if loops.extents[loop] > 1 and loop != column]
    batches = [loop for loop in parallel if b.strides[loop]]
    return (
        batches,
        [loop for loop in parallel if not b.strides[loop]],
        [loop for loop in loops.reduced if loops.extents[loop] != 1],
    )


def _of_column(operand: Strided, column: int | None, is_last: bool) -> int:
    return operand.strides[column] if column is not None else int(is_last)
