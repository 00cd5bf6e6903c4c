"""OpenVINO: models of ONNX for casts and gemm; convolutions and weights of few bits are built here.

Its ONNX front end leaves a convolution's weights per channel in floats. The FakeQuantize of the input is what makes the
plugin choose int8.
"""

from typing import Any

import numpy as np
import openvino
from openvino import opset13 as op
from openvino.preprocess import PrePostProcessor

from benches.peers.cases import Case, float_bias, signed
from benches.peers.runtimes import onnx_models
from benches.peers.runtimes.peer import Peer


def make(case: Case, threads: int, sign: bool) -> Peer | None:
    products = case.kind in ("gemm", "conv")
    if sign and not products:
        return None
    core, stored = openvino.Core(), None
    if case.kind == "conv":
        model = _conv(case, sign)
    elif case.kind == "weight_only":
        model, stored = _weight_only(case)
    else:
        text = onnx_models.product(case, sign, fused=False) if products else onnx_models.cast(case)
        model = core.read_model(model=text, weights=b"")
    options = {
        "INFERENCE_NUM_THREADS": threads,
        "PERFORMANCE_HINT": "LATENCY",
        "NUM_STREAMS": 1,
        "ENABLE_CPU_PINNING": False,
    }
    if case.kind != "weight_only":
        options["INFERENCE_PRECISION_HINT"] = "f32"
    compiled = core.compile_model(model, "CPU", options)
    request = compiled.create_infer_request()
    x = np.ascontiguousarray(signed(case) if sign and products else case.d["x"])
    request.set_input_tensor(openvino.Tensor(x, shared_memory=True))
    return Peer(
        lambda: request.infer(share_outputs=True),
        lambda: np.array(request.get_output_tensor().data),
        keeps=(x, compiled, stored),
    )


def _weight_only(case: Case) -> tuple[Any, np.ndarray]:
    """The model, and its weights, which it does not own."""
    d, groups, middle = case.d, case.K // case.block, 1 << (case.bits - 1)
    x = op.parameter([case.M, case.K], np.float32)
    q = (d["q"].astype(np.int16) + middle).astype(np.uint8)
    shape = [case.N, groups, case.block]
    if case.bits == 4:
        pairs = q.reshape(-1, 2)
        q = np.ascontiguousarray((pairs[:, 0] | (pairs[:, 1] << 4)).astype(np.uint8))
        stored = openvino.Tensor(q, shape, openvino.Type.u4)
    else:
        q = q.reshape(shape)
        stored = openvino.Tensor(q)
    w = op.convert(op.constant(stored), openvino.Type.f16)
    w = op.subtract(w, op.constant(np.full((case.N, 1, 1), middle, np.float16)))
    w = op.multiply(w, op.constant(d["s"].astype(np.float16)[:, :, None]))
    flat = op.reshape(w, np.array([case.N, case.K], np.int64), False)
    return openvino.Model([op.matmul(x, op.convert(flat, openvino.Type.f32), False, True)], [x]), q


def _point(value: float) -> Any:
    return op.constant(np.full((1, 1, 1, 1), value, np.float32))


def _fake_quantize(x: Any, ranges: tuple[float, float, float, float]) -> Any:
    return op.fake_quantize(x, *map(_point, ranges), 256)


def _conv(case: Case, sign: bool) -> Any:
    d, offset, pad = case.d, 128 if sign else 0, [case.k // 2] * 2
    x = op.parameter([1, case.ci, case.h, case.w], np.int8 if sign else np.uint8)
    x_ends = -d["xz"] * d["xs"], (255 - d["xz"]) * d["xs"]
    a = _fake_quantize(op.convert(x, "f32"), (0 - offset, 255 - offset, *x_ends))
    w = d["w"].transpose(0, 3, 1, 2)
    w = w[:, None] if case.g > 1 else w
    scales = op.constant(d["ws"].reshape((-1,) + (1,) * (w.ndim - 1)))
    weights = op.multiply(op.convert(op.constant(np.ascontiguousarray(w)), "f32"), scales)
    convolution = op.convolution if case.g == 1 else op.group_convolution
    sums = convolution(a, weights, [case.s] * 2, pad, pad, [1, 1])
    y_ends = -d["yz"] * d["ys"], (255 - d["yz"]) * d["ys"]
    y = op.add(sums, op.constant(float_bias(case).reshape(1, -1, 1, 1)))
    y = op.convert(_fake_quantize(y, (*y_ends, 0 - offset, 255 - offset)), "i8" if sign else "u8")
    steps = PrePostProcessor(openvino.Model([y], [x]))
    steps.input().tensor().set_layout(openvino.Layout("NHWC"))
    steps.input().model().set_layout(openvino.Layout("NCHW"))
    steps.output().model().set_layout(openvino.Layout("NCHW"))
    steps.output().tensor().set_layout(openvino.Layout("NHWC"))
    return steps.build()
