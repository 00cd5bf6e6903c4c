"""A case as an ONNX model: of one fused integer op (``fused``), or of DequantizeLinear, op, QuantizeLinear."""

from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from benches.peers.cases import Case, float_bias

MICROSOFT = "com.microsoft"


def _model(nodes: list[Any], x: Any, y: Any, constants: list[Any]) -> bytes:
    graph = helper.make_graph(nodes, "graph", [x], [y], constants)
    opsets = [helper.make_opsetid("", 19), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()


def _constant(name: str, array: Any) -> Any:
    return numpy_helper.from_array(np.ascontiguousarray(array), name)


def _scalar(name: str, value: float, dtype: Any) -> Any:
    return numpy_helper.from_array(np.array(value, dtype), name)


def cast(case: Case) -> bytes:
    d, axis = case.d, {} if case.axis is None else {"axis": case.axis}
    flat = (lambda a: a.reshape(())) if case.axis is None else (lambda a: a)
    constants = [numpy_helper.from_array(flat(d["s"]), "s"), numpy_helper.from_array(flat(d["z"]), "z")]
    quantizes = case.kind == "qcast"
    kinds = (TensorProto.FLOAT, TensorProto.INT8) if quantizes else (TensorProto.INT8, TensorProto.FLOAT)
    x, y = (
        helper.make_tensor_value_info(name, kind, [case.rows, case.cols])
        for name, kind in zip("xy", kinds, strict=True)
    )
    op = "QuantizeLinear" if quantizes else "DequantizeLinear"
    return _model([helper.make_node(op, ["x", "s", "z"], ["y"], **axis)], x, y, constants)


def weight_only(case: Case, accuracy: int) -> bytes:
    d, groups = case.d, case.K // case.block
    q = (d["q"].astype(np.int16) + (1 << (case.bits - 1))).astype(np.uint8).reshape(case.N, groups, case.block)
    if case.bits == 4:
        q = (q[..., 0::2] | (q[..., 1::2] << 4)).astype(np.uint8)
    sizes = {"K": case.K, "N": case.N, "bits": case.bits, "block_size": case.block, "accuracy_level": accuracy}
    node = helper.make_node("MatMulNBits", ["x", "q", "s"], ["y"], domain=MICROSOFT, **sizes)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [case.M, case.K])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [case.M, case.N])
    return _model([node], x, y, [_constant("q", q), _constant("s", d["s"].reshape(case.N, -1))])


def product(case: Case, sign: bool, fused: bool) -> bytes:
    """A gemm or a convolution. A fused convolution is NHWC, the other NCHW."""
    d, offset = case.d, 128 if sign else 0
    dtype, kind = (np.int8, TensorProto.INT8) if sign else (np.uint8, TensorProto.UINT8)
    constants = [
        _scalar("xs", d["xs"], np.float32),
        _scalar("xz", d["xz"] - offset, dtype),
        _scalar("ys", d["ys"], np.float32),
        _scalar("yz", d["yz"] - offset, dtype),
        _constant("ws", d["ws"]),
        _constant("wz", np.zeros(len(d["ws"]), np.int8)),
    ]
    make = _gemm if case.kind == "gemm" else _conv
    nodes, shapes, others = make(case, fused)
    x, y = (helper.make_tensor_value_info(n, kind, shape) for n, shape in zip("xy", shapes, strict=True))
    return _model(nodes, x, y, constants + others)


def _around(op: Any, axis: int, bias: Any) -> list[Any]:
    """An op on floats, with what makes them of storage and storage of its result."""
    return [
        helper.make_node("DequantizeLinear", ["x", "xs", "xz"], ["xf"]),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wf"], axis=axis),
        bias,
        op,
        helper.make_node("QuantizeLinear", ["yf", "ys", "yz"], ["y"]),
    ]


def _gemm(case: Case, fused: bool) -> tuple[list[Any], tuple[list[int], list[int]], list[Any]]:
    d, shapes = case.d, ([case.M, case.K], [case.M, case.N])
    w, bias = _constant("w", d["w"]), _constant("b", d["bias"])
    if fused:
        operands = ["x", "xs", "xz", "w", "ws", "wz", "b", "ys", "yz"]
        return [helper.make_node("QGemm", operands, ["y"], domain=MICROSOFT)], shapes, [w, bias]
    scales = _constant("bs", (d["xs"] * d["ws"].astype(np.float64)).astype(np.float32))
    zeros = _constant("bz", np.zeros(case.N, np.int32))
    dequantized = helper.make_node("DequantizeLinear", ["b", "bs", "bz"], ["bf"], axis=0)
    op = helper.make_node("Gemm", ["xf", "wf", "bf"], ["yf"])
    return _around(op, 1, dequantized), shapes, [w, bias, scales, zeros]


def _conv(case: Case, fused: bool) -> tuple[list[Any], tuple[list[int], list[int]], list[Any]]:
    d, (height, width) = case.d, case.out_hw
    w = _constant("w", d["w"].transpose(0, 3, 1, 2))
    window = {"kernel_shape": [case.k] * 2, "strides": [case.s] * 2, "pads": [case.k // 2] * 4, "group": case.g}
    if fused:
        operands = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"]
        node = helper.make_node("QLinearConv", operands, ["y"], domain=MICROSOFT, channels_last=1, **window)
        shapes = [1, case.h, case.w, case.ci], [1, height, width, case.co]
        return [node], shapes, [w, _constant("b", d["bias"])]
    op = helper.make_node("Conv", ["xf", "wf", "bf"], ["yf"], **window)
    bias = helper.make_node("Identity", ["bq"], ["bf"])
    shapes = [1, case.ci, case.h, case.w], [1, case.co, height, width]
    return _around(op, 0, bias), shapes, [w, _constant("bq", float_bias(case))]
