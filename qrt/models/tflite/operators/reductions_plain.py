"""Sums and products of plain numbers: CUMSUM, REDUCE_PROD, and SUM and MEAN of integers."""

from math import prod

from qrt.ir import Value
from qrt.models.importing.data_movement import axes_of, axis_of, reshaped
from qrt.models.importing.float_reductions import reduced
from qrt.models.importing.nests import lowering_context
from qrt.models.importing.unquantized import Operand, apply, as_value, number_of
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.data_movement import one_integer, settle, shape_of
from qrt.models.tflite.operators.unquantized import finish
from qrt.types import IntegerType

_I64 = IntegerType(64)
_NUMBERS = ("int32", "int64", "float32")


def cumsum(node: Node) -> None:
    """Sums of what stands before each element along a known axis: int32, int64 or float32."""
    if node.input(0).dtype not in _NUMBERS:
        node.refuse(node.input(0).dtype)
    axis = axis_of(node, one_integer(node, 1, "an axis"), len(shape_of(node)))
    attributes = {"axis": axis, **{name: bool(node.options[name]) for name in ("exclusive", "reverse")}}
    settle(node, 0, node.emit("qrt.cumsum", [node.value(0)], attributes))


def product(node: Node) -> None:
    """The product over known axes, one element after the other: int32, int64 or float32. Integers wrap."""
    if node.input(0).dtype not in _NUMBERS:
        node.refuse(node.input(0).dtype)
    axes = axes_of(node, node.integers(1, "axes"), len(shape_of(node)))
    name = "arith.mulf" if node.is_float else "arith.muli"
    _finish(node, reduced(lowering_context(node), node.value(0), axes, name, 1), axes)


def reduce(node: Node, axes: tuple[int, ...]) -> None:
    """SUM and MEAN of integers. A sum wraps; that of a mean has 64 bits, and the quotient drops its fraction."""
    dtype, element = node.input(0).dtype, node.type(0).element
    if dtype not in ("int32", "int64"):
        node.refuse(f"{dtype} without scales")
    context, x = lowering_context(node), node.value(0)
    if node.op.name == "SUM":
        _finish(node, reduced(context, x, axes, "arith.addi", 0), axes)
        return
    sizes = [shape_of(node)[axis] for axis in axes]
    if None in sizes:
        node.refuse("a mean over elements whose number only the run knows")
    if element is not _I64:
        x = as_value(node, apply(node, "arith.extsi", [x], [element], _I64), _I64)
    count = number_of(prod(size or 0 for size in sizes), _I64)
    made: Operand = reduced(context, x, axes, "arith.addi", 0)
    made = apply(node, "arith.divsi", [made, count], [_I64] * 2, _I64)
    if element is not _I64:
        made = apply(node, "arith.trunci", [made], [_I64], element)
    assert isinstance(made, Value)
    _finish(node, made, axes)


def _finish(node: Node, value: Value, axes: tuple[int, ...]) -> None:
    if node.options["keep_dims"]:
        value = reshaped(node, value, tuple(1 if d in axes else n for d, n in enumerate(shape_of(node))))
    finish(node, 0, value)
