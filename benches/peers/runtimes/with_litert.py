"""LiteRT, which hands what it can to XNNPACK: a model of one op, or of PAD and an op."""

from typing import Any

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter

from benches.peers.cases import Case, signed
from benches.peers.runtimes.peer import Peer

OPERATOR = schema.BuiltinOperator
INT8, INT32, FLOAT32 = schema.TensorType.INT8, schema.TensorType.INT32, schema.TensorType.FLOAT32


def make(case: Case, threads: int) -> Peer | None:
    if case.kind == "weight_only" or (case.kind in ("qcast", "dcast") and case.axis is not None):
        return None
    products = case.kind in ("gemm", "conv")
    model = _product(case) if products else _cast(case)
    interpreter = Interpreter(model_content=model.bytes(), num_threads=threads)
    interpreter.allocate_tensors()
    x, y = interpreter.get_input_details()[0]["index"], interpreter.get_output_details()[0]["index"]
    interpreter.set_tensor(x, np.ascontiguousarray(signed(case) if products else case.d["x"]))
    return Peer(interpreter.invoke, lambda: interpreter.get_tensor(y))


class _Model:
    """A model of one subgraph, made op by op."""

    def __init__(self) -> None:
        self.model, self.graph = schema.ModelT(), schema.SubGraphT()
        self.model.version, self.model.buffers, self.model.operatorCodes = 3, [schema.BufferT()], []
        self.graph.name, self.graph.tensors, self.graph.operators = "main", [], []
        self.model.subgraphs = [self.graph]

    def tensor(self, name: str, shape: Any, kind: int, data: Any = None, **quantization: Any) -> int:
        made = schema.TensorT()
        made.name, made.shape, made.type, made.buffer = name, list(shape), kind, 0
        if data is not None:
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)
            self.model.buffers.append(buffer)
            made.buffer = len(self.model.buffers) - 1
        if quantization:
            made.quantization = _parameters(**quantization)
        self.graph.tensors.append(made)
        return len(self.graph.tensors) - 1

    def op(self, code: int, version: int, inputs: list[int], output: int, options: Any = None) -> None:
        kind, op = schema.OperatorCodeT(), schema.OperatorT()
        kind.builtinCode, kind.deprecatedBuiltinCode, kind.version = code, min(code, 127), version
        op.opcodeIndex, op.inputs, op.outputs = len(self.model.operatorCodes), inputs, [output]
        if options is not None:
            name = type(options).__name__.removesuffix("T")
            op.builtinOptionsType, op.builtinOptions = getattr(schema.BuiltinOptions, name), options
        self.model.operatorCodes.append(kind)
        self.graph.operators.append(op)
        self.graph.outputs = [output]

    def bytes(self) -> bytes:
        self.graph.inputs = [0]
        builder = flatbuffers.Builder(1 << 20)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def _parameters(scale: Any, zero_point: Any = 0, axis: int = 0) -> Any:
    made = schema.QuantizationParametersT()
    made.scale = [float(s) for s in np.atleast_1d(scale)]
    made.zeroPoint = [int(z) for z in np.broadcast_to(zero_point, len(made.scale))]
    made.quantizedDimension = axis
    return made


def _cast(case: Case) -> _Model:
    model, shape = _Model(), [case.rows, case.cols]
    parameters = {"scale": case.d["s"], "zero_point": case.d["z"]}
    if case.kind == "qcast":
        x, y = model.tensor("x", shape, FLOAT32), model.tensor("y", shape, INT8, **parameters)
        model.op(OPERATOR.QUANTIZE, 1, [x], y)
    else:
        x, y = model.tensor("x", shape, INT8, **parameters), model.tensor("y", shape, FLOAT32)
        model.op(OPERATOR.DEQUANTIZE, 1, [x], y)
    return model


def _product(case: Case) -> _Model:
    d, model = case.d, _Model()
    x = model.tensor("x", d["x"].shape, INT8, scale=d["xs"], zero_point=d["xz"] - 128)
    if case.kind == "gemm":
        w = model.tensor("w", [case.N, case.K], INT8, d["w"].T, scale=d["ws"])
        code, version, options = OPERATOR.FULLY_CONNECTED, 5, schema.FullyConnectedOptionsT()
    elif case.g == 1:
        w = model.tensor("w", d["w"].shape, INT8, d["w"], scale=d["ws"])
        code, version, options = OPERATOR.CONV_2D, 3, _window(case, schema.Conv2DOptionsT())
    else:
        weights = d["w"][..., 0].transpose(1, 2, 0)
        w = model.tensor("w", [1, case.k, case.k, case.co], INT8, weights, scale=d["ws"], axis=3)
        code, version = OPERATOR.DEPTHWISE_CONV_2D, 3
        options = _window(case, schema.DepthwiseConv2DOptionsT())
        options.depthMultiplier = 1
    if case.kind == "conv" and case.s != 1:
        x = _padded(case, model, x)
    bias = model.tensor("b", [len(d["bias"])], INT32, d["bias"], scale=d["xs"] * d["ws"].astype(np.float64))
    y = model.tensor("y", d["ref"].shape, INT8, scale=d["ys"], zero_point=d["yz"] - 128)
    model.op(code, version, [x, w, bias], y, options)
    return model


def _window(case: Case, options: Any) -> Any:
    options.strideH = options.strideW = case.s
    options.dilationHFactor = options.dilationWFactor = 1
    options.padding = schema.Padding.SAME if case.s == 1 else schema.Padding.VALID
    return options


def _padded(case: Case, model: _Model, x: int) -> int:
    """Padding alike on all sides, which SAME is not with a stride of 2: a PAD, which the delegate fuses."""
    d, pad = case.d, case.k // 2
    amounts = model.tensor("p", [4, 2], INT32, np.array([[0, 0], [pad, pad], [pad, pad], [0, 0]], np.int32))
    shape = [1, case.h + 2 * pad, case.w + 2 * pad, case.ci]
    y = model.tensor("padded", shape, INT8, scale=d["xs"], zero_point=d["xz"] - 128)
    model.op(OPERATOR.PAD, 2, [x, amounts], y, schema.PadOptionsT())
    return y
