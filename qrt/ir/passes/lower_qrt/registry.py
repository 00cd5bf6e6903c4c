"""The table of lowerings of `qrt` ops, by op name; each is a function in another file of this folder."""

from collections.abc import Callable, Sequence

from qrt.ir import Operation, Value
from qrt.ir.dialects.linalg.lowering import LoweringContext
from qrt.ops.core import Attributes
from qrt.registry import Registry

Lower = Callable[[LoweringContext, Operation, Attributes], Value | Sequence[Value]]
"""Emits the lowering of an op, given all its attributes, and returns its result or results.

Quantized results are storage integers."""

LOWERINGS: Registry[Lower] = Registry(
    "lowering",
    {
        "add": "qrt.ir.passes.lower_qrt.binary:lower_add",
        "argmax": "qrt.ir.passes.lower_qrt.extremes:lower_argmax",
        "argmin": "qrt.ir.passes.lower_qrt.extremes:lower_argmin",
        "avg_pool2d": "qrt.ir.passes.lower_qrt.pool:lower_avg_pool2d",
        "clamp": "qrt.ir.passes.lower_qrt.clamp:lower_clamp",
        "concat": "qrt.ir.passes.lower_qrt.movement:lower_concat",
        "conv2d": "qrt.ir.passes.lower_qrt.conv:lower_conv2d",
        "cumsum": "qrt.ir.passes.lower_qrt.sums:lower_cumsum",
        "depthwise_conv2d": "qrt.ir.passes.lower_qrt.conv:lower_depthwise_conv2d",
        "div": "qrt.ir.passes.lower_qrt.pairwise:lower_div",
        "dynamic_lstm": "qrt.ir.passes.lower_qrt.dynamic:lower_dynamic_lstm",
        "dynamic_matmul": "qrt.ir.passes.lower_qrt.dynamic:lower_dynamic_matmul",
        "float_matmul": "qrt.ir.passes.lower_qrt.float_matmul:lower_float_matmul",
        "gather": "qrt.ir.passes.lower_qrt.indexing:lower_gather",
        "gather_nd": "qrt.ir.passes.lower_qrt.indexing:lower_gather_nd",
        "leaky_relu": "qrt.ir.passes.lower_qrt.unary:lower_leaky_relu",
        "log_softmax": "qrt.ir.passes.lower_qrt.softmax:lower_log_softmax",
        "logistic": "qrt.ir.passes.lower_qrt.lookup:lower_logistic",
        "lookup": "qrt.ir.passes.lower_qrt.lookup:lower_lookup",
        "lookup_interpolated": "qrt.ir.passes.lower_qrt.lookup:lower_lookup_interpolated",
        "lstm": "qrt.ir.passes.lower_qrt.lstm:lower_lstm",
        "matmul": "qrt.ir.passes.lower_qrt.matmul:lower_matmul",
        "max_pool2d": "qrt.ir.passes.lower_qrt.pool:lower_max_pool2d",
        "maximum": "qrt.ir.passes.lower_qrt.pairwise:lower_maximum",
        "mean": "qrt.ir.passes.lower_qrt.sums:lower_mean",
        "minimum": "qrt.ir.passes.lower_qrt.pairwise:lower_minimum",
        "mul": "qrt.ir.passes.lower_qrt.binary:lower_mul",
        "pad": "qrt.ir.passes.lower_qrt.slices:lower_pad",
        "prelu": "qrt.ir.passes.lower_qrt.unary:lower_prelu",
        "reduce_max": "qrt.ir.passes.lower_qrt.extremes:lower_reduce_max",
        "reduce_min": "qrt.ir.passes.lower_qrt.extremes:lower_reduce_min",
        "requantize": "qrt.ir.passes.lower_qrt.unary:lower_requantize",
        "reshape": "qrt.ir.passes.lower_qrt.movement:lower_reshape",
        "resize_bilinear": "qrt.ir.passes.lower_qrt.resize:lower_resize_bilinear",
        "resize_nearest": "qrt.ir.passes.lower_qrt.resize:lower_resize_nearest",
        "scatter_nd": "qrt.ir.passes.lower_qrt.indexing:lower_scatter_nd",
        "slice": "qrt.ir.passes.lower_qrt.slices:lower_slice",
        "softmax": "qrt.ir.passes.lower_qrt.softmax:lower_softmax",
        "squared_difference": "qrt.ir.passes.lower_qrt.pairwise:lower_squared_difference",
        "sub": "qrt.ir.passes.lower_qrt.binary:lower_sub",
        "sum": "qrt.ir.passes.lower_qrt.sums:lower_sum",
        "svdf": "qrt.ir.passes.lower_qrt.recurrent:lower_svdf",
        "tanh": "qrt.ir.passes.lower_qrt.lookup:lower_tanh",
        "tile": "qrt.ir.passes.lower_qrt.slices:lower_tile",
        "top_k": "qrt.ir.passes.lower_qrt.extremes:lower_top_k",
        "transpose": "qrt.ir.passes.lower_qrt.movement:lower_transpose",
        "transpose_conv2d": "qrt.ir.passes.lower_qrt.transpose_conv:lower_transpose_conv2d",
    },
)
"""The functions that lower ops."""
