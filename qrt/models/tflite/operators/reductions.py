"""Import of reductions: SUM, MEAN, CUMSUM, REDUCE_PROD, and minima and maxima such as ARG_MAX and TOPK_V2."""

from math import prod

import numpy as np

from qrt.ir import Value
from qrt.models.importing.data_movement import axes_of, axis_of, reshaped
from qrt.models.importing.float_reductions import reduced
from qrt.models.importing.node import lowering_context
from qrt.models.importing.unquantized import Operand, apply, as_value, number_of
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators import float_sums
from qrt.models.tflite.operators.operands import finish, input_shape, one_integer, raw, settle
from qrt.types import FloatType, IntegerType, TensorType, UniformType


def reduce(node: Node) -> None:
    """Import SUM or MEAN: add or average 8-bit, int16, int32, int64 or float32 elements over axes known at import.

    SUM of int32 and int64 wraps on overflow; MEAN of int32 and int64 rounds the quotient towards zero.
    """
    name = node.op.name.lower()
    numbers = axes_of(node, node.integers(1, "axes"), node.type(0).rank or 0)
    if node.is_float:
        float_sums.reduce(node, numbers)
        return
    if node.input(0).quantization is None:
        reduce_integers(node, numbers)
        return
    x, out = node.element(0), node.result_element()
    if x.storage != out.storage:
        node.refuse(f"{node.input(0).dtype} to {node.outputs[0].dtype}")
    rule = node.rule(name, storage=x.storage)
    if rule == "float32_away":
        node.set(0, _sum_scaled_as_float(node, numbers, x, out))
        return
    attributes = {"axes": numbers, "keepdims": bool(node.options["keep_dims"]), "requant": rule}
    node.set(0, node.emit(f"qrt.{name}", [node.value(0)], attributes, out))


def _sum_scaled_as_float(node: Node, axes: tuple[int, ...], x: UniformType, out: UniformType) -> Value:
    """Return the sum of the storage by the rule `float32_away`: scaled in float32 and rounded half away from zero."""
    wide = as_value(node, apply(node, "arith.extsi", [raw(node, 0)], [IntegerType(16)], _I32), _I32)
    total = _with_dims(node, reduced(lowering_context(node), wide, axes, "arith.addi", 0), axes)
    scaled = apply(node, "arith.sitofp", [total], [_I32], _F32)
    ratio = float(np.float32(x.scale) / np.float32(out.scale))
    scaled = as_value(node, apply(node, "arith.mulf", [scaled, number_of(ratio, _F32)], [_F32] * 2, _F32), _F32)
    attributes = {"rounding": "half_away", "zero_point": "after"}
    whole = node.emit("quant.qcast", [scaled], attributes, out.with_(scales=1.0))
    assert isinstance(whole.type, TensorType)
    stored = node.emit("quant.scast", [whole], None, whole.type.with_(element=out.storage_type))
    return node.emit("quant.scast", [stored], None, whole.type.with_(element=out))


_F32, _I32, _I64 = FloatType("f32"), IntegerType(32), IntegerType(64)
_NUMBERS = ("int32", "int64", "float32")


def cumsum(node: Node) -> None:
    """Import CUMSUM: compute cumulative sums of int32, int64 or float32 values along an axis known at import."""
    if node.input(0).dtype not in _NUMBERS:
        node.refuse(node.input(0).dtype)
    axis = axis_of(node, one_integer(node, 1, "an axis"), len(input_shape(node)))
    attributes = {"axis": axis, **{name: bool(node.options[name]) for name in ("exclusive", "reverse")}}
    settle(node, 0, node.emit("qrt.cumsum", [node.value(0)], attributes))


def product(node: Node) -> None:
    """Import REDUCE_PROD: multiply int32, int64 or float32 elements over axes known at import.

    Elements are multiplied in order, and integers wrap.
    """
    if node.input(0).dtype not in _NUMBERS:
        node.refuse(node.input(0).dtype)
    axes = axes_of(node, node.integers(1, "axes"), len(input_shape(node)))
    name = "arith.mulf" if node.is_float else "arith.muli"
    _finish(node, reduced(lowering_context(node), node.value(0), axes, name, 1), axes)


def reduce_integers(node: Node, axes: tuple[int, ...]) -> None:
    """Import SUM or MEAN of int32 or int64 elements.

    SUM wraps on overflow. MEAN adds in 64 bits and rounds the quotient towards zero.
    """
    dtype, element = node.input(0).dtype, node.type(0).element
    if dtype not in ("int32", "int64"):
        node.refuse(f"{dtype} without scales")
    context, x = lowering_context(node), node.value(0)
    if node.op.name == "SUM":
        _finish(node, reduced(context, x, axes, "arith.addi", 0), axes)
        return
    sizes = [input_shape(node)[axis] for axis in axes]
    if None in sizes:
        node.refuse("a mean over elements whose number is known only at run time")
    if element is not _I64:
        x = as_value(node, apply(node, "arith.extsi", [x], [element], _I64), _I64)
    count = number_of(prod(size or 0 for size in sizes), _I64)
    mean: Operand = reduced(context, x, axes, "arith.addi", 0)
    mean = apply(node, "arith.divsi", [mean, count], [_I64] * 2, _I64)
    if element is not _I64:
        mean = apply(node, "arith.trunci", [mean], [_I64], element)
    assert isinstance(mean, Value)
    _finish(node, mean, axes)


def _finish(node: Node, value: Value, axes: tuple[int, ...]) -> None:
    finish(node, 0, _with_dims(node, value, axes))


def _with_dims(node: Node, value: Value, axes: tuple[int, ...]) -> Value:
    if not node.options["keep_dims"]:
        return value
    return reshaped(node, value, tuple(1 if d in axes else n for d, n in enumerate(input_shape(node))))


_REDUCED = {"REDUCE_MAX": "max", "REDUCE_MIN": "min", "REDUCE_ANY": "max", "REDUCE_ALL": "min"}


def arg(node: Node) -> None:
    """Import ARG_MAX or ARG_MIN: compute the int32 or int64 index of the first maximum or minimum along an axis.

    The axis must be known at import.
    """
    axis = axis_of(node, one_integer(node, 1, "an axis"), len(input_shape(node)))
    wanted, declared = node.options["output_type"], node.outputs[0].dtype
    if wanted.lower() != declared:
        node.fail(f"option output_type must be the type of the result, {declared}, got {wanted}")
    name = "qrt.argmax" if node.op.name == "ARG_MAX" else "qrt.argmin"
    settle(node, 0, node.emit(name, [node.value(0)], {"axis": axis}, node.result_type().element))


def reduce_extreme(node: Node) -> None:
    """Import REDUCE_MAX, REDUCE_MIN, REDUCE_ANY or REDUCE_ALL: compute the maximum or minimum over axes.

    The axes must be known at import. REDUCE_ANY and REDUCE_ALL are the maximum and minimum of bools.
    """
    axes = axes_of(node, node.integers(1, "axes"), len(input_shape(node)))
    attributes = {"axes": list(axes), "keepdims": bool(node.options["keep_dims"])}
    settle(node, 0, node.emit(f"qrt.reduce_{_REDUCED[node.op.name]}", [node.value(0)], attributes))


def top_k(node: Node) -> None:
    """Import TOPK_V2: compute the k largest elements along the last axis and their int32 indices.

    k must be known at import.
    """
    k = one_integer(node, 1, "a number of elements")
    values, indices = node.emit_all("qrt.top_k", [node.value(0)], {"k": k}, None)
    settle(node, 0, values)
    settle(node, 1, indices)
