"""Weights of recurrent operators on floats. Every step quantizes the operands that it multiplies by int8 weights."""

from typing import NamedTuple

import numpy as np

from qrt.ir import Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import F32, I32, LoweringContext
from qrt.models.importing.float_products import total
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.run_time_quantization import parameters_of, stored_integers
from qrt.ops.core import Array
from qrt.types import UniformType


class Matrix(NamedTuple):
    """Weights [units, depth], of floats or int8.

    For int8, ``scale`` is the scale of the weights, and ``rule`` names how the input that they multiply is quantized.
    """

    value: Value
    scale: float | None = None
    rule: str = ""


def matrix(node: Node, i: int) -> Matrix:
    """Return the weights of input ``i``. Raise UnsupportedForm if they are not float32 or symmetric int8."""
    element = _element(node, i)
    if element is None:
        return Matrix(node.value(i))
    is_asymmetric = bool(node.options.get("asymmetric_quantize_inputs", False))
    rule = node.rule("hybrid", operator=node.op.name, is_asymmetric=is_asymmetric)
    if rule == "floats":
        return Matrix(node.emit("quant.dcast", [node.value(i)], None, F32))
    return Matrix(node.dense(_storage(node, i), element.storage_type), element.scale, rule)


def dequantized(node: Node, i: int) -> Value:
    """Return the weights of input ``i`` as float32. Raise UnsupportedForm if they are not float32 or symmetric int8."""
    element = _element(node, i)
    if element is None:
        return node.value(i)
    return node.dense(_storage(node, i).astype(np.float32) * np.float32(element.scale), F32)


def _element(node: Node, i: int) -> UniformType | None:
    """Return the quantized type of input ``i`` if it is symmetric int8, or None if it is float32.

    Raise UnsupportedForm for any other type.
    """
    element = node.type(i).element
    if element is F32:
        return None
    if not isinstance(element, UniformType) or element.storage != "i8" or not element.is_per_layer:
        node.refuse(f"float32 with weights of {node.input(i).dtype}, or of several scales")
    if element.zero_point:
        node.refuse("float32 with weights that have a zero point")
    return element


def _storage(node: Node, i: int) -> Array:
    array = node.constant(i)
    if array is None:
        node.refuse("float32 with int8 weights known only at run time")
    return array


def require_one_dtype(node: Node, *operands: int) -> None:
    """Raise UnsupportedForm if the inputs with the indices ``operands`` have different dtypes."""
    dtypes = {node.input(i).dtype for i in operands if node.has(i)}
    if len(dtypes) > 1:
        node.refuse(f"weights of {' and '.join(sorted(dtypes))}")


def products(context: LoweringContext, x: Value, w: Matrix) -> Value:
    """Return the product of ``x`` [batch, depth] and weights ``w`` [units, depth].

    Products of floats are summed by fused multiply-adds. Products of integers are summed exactly.
    """
    parallel, reduced = [context.extent(x, 0), context.extent(w.value, 0)], [context.extent(w.value, 1)]
    if w.scale is None:

        def operands(nest: LoopNest) -> tuple[Value, Value]:
            row, unit, k = nest.loops
            return nest.read(x, (row, k)), nest.read(w.value, (unit, k))

        return total(context, parallel, reduced, operands, "bias_then_fma", None)
    parameters = parameters_of(context, x, (1,), parallel[:1], w.rule)
    centred = stored_integers(context, x, parameters, (0,), w.rule, I32)
    nest = LoopNest(context, "accumulate", parallel, reduced)
    row, unit, k = nest.loops
    factors = nest.read(centred, (row, k)), nest.extend(nest.read(w.value, (unit, k)), I32)
    product = nest.value("arith.muli", factors, I32)
    (sums,) = nest.finish(nest.value("arith.addi", (nest.running(I32, 0), product), I32))
    nest = LoopNest(context, "scale", parallel)
    scale = nest.value("arith.mulf", (nest.read(parameters.unit, nest.loops[:1]), nest.constant(w.scale, F32)), F32)
    number = nest.value("arith.sitofp", (nest.read(sums, nest.loops),), F32)
    return nest.finish(nest.value("arith.mulf", (number, scale), F32))[0]
