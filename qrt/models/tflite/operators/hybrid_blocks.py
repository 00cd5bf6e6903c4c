"""Import of FULLY_CONNECTED with float inputs and int4 weights that have a scale for each block of a row.

As with the rule `rows` of the other hybrid operators, each row of the input is quantized at each run, to integers q
with a scale s and a zero point z. For each output, XNNPACK's kernel for processors with VNNI computes in float32:

    sum = (z + 128) * offset;  sum = sum + sum(w * (q + 128)) * step for each block;  result = sum * s + bias

A step is the scale of a block, rounded to bfloat16. The offset is the sum of -step * sum(w) over the blocks. The sums
over a block are exact integers, and their products with a step are exact too.
"""

import numpy as np

from qrt.ir import Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import F32, I8, I32
from qrt.models.importing.node import lowering_context
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.float_nests import activated, float_bias, reshaped
from qrt.models.tflite.operators.run_time_quantization import parameters_of, stored_integers
from qrt.numerics.conversions import between_floats
from qrt.types import TensorType, UniformType

_MULTIPLE = 32
"""The number that must divide the size of a block."""
_OFFSET = 128
"""The number that is added to q, because VNNI multiplies unsigned bytes by signed ones."""


def is_hybrid(node: Node) -> bool:
    """Return True if the input is quantized at each run; False if the profile converts the weights to floats.

    Raise UnsupportedForm if XNNPACK does not support the operator, because LiteRT's own kernels then compute 0. XNNPACK
    needs blocks whose size is a multiple of 32.
    """
    quantization = node.input(1).quantization
    assert quantization is not None
    is_known = all(node.input(i).is_constant for i in (1, 2) if node.has(i))
    rule = node.rule("hybrid_blocks", storage=node.element(1).storage)
    if rule == "zeros" or not is_known or node.options["fused_activation_function"] == "TANH":
        node.refuse(
            "float32 with weights in blocks, which LiteRT's own kernels compute as 0; only XNNPACK supports them"
        )
    if quantization.block_size % _MULTIPLE:
        node.refuse(f"float32 with weights in blocks of {quantization.block_size}, expected a multiple of {_MULTIPLE}")
    return rule != "floats"


def matrix_product(node: Node, rows: Value, units: int, depth: int) -> None:
    """Import the product of the float ``rows`` [..., depth] and int4 weights [units, depth] with scales for blocks."""
    array, quantization, context = node.constant(1), node.input(1).quantization, lowering_context(node)
    assert array is not None
    assert quantization is not None
    shape = rows.type.shape if isinstance(rows.type, TensorType) else None
    if shape is None or shape.count(None) > 1:
        node.refuse("several dimensions of the input known only at run time")
    count = None if None in shape else int(np.prod([size or 0 for size in shape[:-1]]))
    x = reshaped(node, rows, (count, depth))
    size, blocks = quantization.block_size, depth // quantization.block_size
    steps = np.asarray(between_floats("f32", "bf16")(quantization.scales)).astype(np.float32)
    weights = array.reshape(units, blocks, size)
    weight_sums = weights.sum(2, dtype=np.int64)

    extent = context.extent(x, 0)
    parameters = parameters_of(context, x, (1,), [extent], "rows")
    stored = stored_integers(context, x, parameters, (0,), "rows", I8)
    split = node.emit("qrt.reshape", [stored], None, TensorType((count, blocks, size), I8))
    split = node.emit("qrt.transpose", [split], {"permutation": (1, 0, 2)})
    left = node.emit("quant.scast", [split], None, UniformType("i8", "f32", 1.0))
    right = node.dense(np.ascontiguousarray(weights.transpose(1, 2, 0)), UniformType("i4", "f32", 1.0))
    products = context.storage(node.emit("qrt.matmul", [left, right]))

    assert parameters.zero is not None
    offsets = np.zeros(units, np.float32)
    for block in range(blocks):
        offsets -= weight_sums[:, block].astype(np.float32) * steps[:, block]
    nest = LoopNest(context, "offset", [extent, units])
    row, unit = nest.loops
    zero = nest.value("arith.addf", (nest.read(parameters.zero, [row]), nest.constant(float(_OFFSET), F32)), F32)
    (start,) = nest.finish(nest.value("arith.mulf", (zero, nest.parameter(offsets, F32, [unit])), F32))

    nest = LoopNest(context, "accumulate", [extent, units], [blocks])
    row, unit, place = nest.loops
    rest = nest.parameter((_OFFSET * weight_sums).T.astype(np.int32), I32, [place, unit])
    total = nest.value("arith.addi", (nest.read(products, [place, row, unit]), rest), I32)
    step = nest.parameter(np.ascontiguousarray(steps.T), F32, [place, unit])
    scaled = nest.value("arith.mulf", (nest.value("arith.sitofp", (total,), F32), step), F32)
    (sums,) = nest.finish(nest.value("arith.addf", (nest.running(F32, start), scaled), F32))

    bias = float_bias(node, 2, units)
    nest = LoopNest(context, "scale", [extent, units])
    row, unit = nest.loops
    value = nest.value("arith.mulf", (nest.read(sums, nest.loops), nest.read(parameters.unit, [row])), F32)
    if bias is not None:
        value = nest.value("arith.addf", (value, nest.read(bias, [unit])), F32)
    (result,) = nest.finish(activated(node, nest, value, node.options["fused_activation_function"]))
    node.set(0, reshaped(node, result, (*shape[:-1], units)))
