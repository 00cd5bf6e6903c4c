"""qrt through its public functions, with a result that exists already.

Before a call is handed out, its result is compared bit for bit with the scalar reference kernels: a fast wrong answer
has no time.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import qrt
from benches.peers.cases import Case
from benches.peers.runtimes.peer import Peer
from qrt import kernels


def checked(run: Callable[[Any], object], new_result: Callable[[], Any], get: Callable[[Any], np.ndarray]) -> Peer:
    """The call into a result of its own, once ref has given the same bits."""
    expected, result = new_result(), new_result()
    with kernels.use("ref"):
        run(expected)
    run(result)
    np.testing.assert_array_equal(get(result), get(expected))
    return Peer(lambda: run(result), lambda: get(result))


def empty(shape: tuple[int, ...], t: qrt.UniformType) -> qrt.QuantTensor:
    return qrt.QuantTensor(np.zeros(shape, np.int8 if t.is_signed else np.uint8), t)


def linear_types(data: dict[str, Any], axis: int) -> tuple[qrt.UniformType, ...]:
    """Return the types of the activations (u8), the weights (per channel on ``axis``), the bias and the result."""
    x_scale, w_scales = float(np.float32(data["xs"])), [float(s) for s in data["ws"]]
    return (
        qrt.UniformType("u8", "f32", x_scale, int(data["xz"])),
        qrt.UniformType("i8", "f32", w_scales, axis=axis),
        qrt.UniformType("i32", "f32", [x_scale * s for s in w_scales], axis=0),
        qrt.UniformType("u8", "f32", float(np.float32(data["ys"])), int(data["yz"])),
    )


def gemm(case: Case, requant: str) -> Peer:
    d = case.d
    x_type, w_type, bias_type, out_type = linear_types(d, 1)
    x, w, bias = qrt.QuantTensor(d["x"], x_type), qrt.QuantTensor(d["w"], w_type), qrt.QuantTensor(d["bias"], bias_type)
    packed = qrt.pack(w)

    def run(y: qrt.QuantTensor) -> object:
        return qrt.matmul(x, packed, bias=bias, out_type=out_type, requant=requant, out=y)

    return checked(run, lambda: empty(d["ref"].shape, out_type), lambda y: y.storage)


def conv(case: Case, requant: str) -> Peer:
    d = case.d
    depthwise = case.g > 1
    x_type, w_type, bias_type, out_type = linear_types(d, 2 if depthwise else 0)
    x, bias = qrt.QuantTensor(d["x"], x_type), qrt.QuantTensor(d["bias"], bias_type)
    window = {"strides": (case.s, case.s), "padding": ((case.k // 2,) * 2,) * 2}
    if depthwise:
        packed = qrt.pack(qrt.QuantTensor(np.ascontiguousarray(d["w"][..., 0].transpose(1, 2, 0)), w_type))
        function = qrt.depthwise_conv2d
    else:
        packed, function = qrt.pack(qrt.QuantTensor(d["w"], w_type)), qrt.conv2d

    def run(y: qrt.QuantTensor) -> object:
        return function(x, packed, bias=bias, out_type=out_type, requant=requant, out=y, **window)

    return checked(run, lambda: empty(d["ref"].shape, out_type), lambda y: y.storage)


def cast_type(case: Case) -> qrt.UniformType:
    d = case.d
    if case.axis is None:
        return qrt.UniformType("i8", "f32", float(d["s"][0]), int(d["z"][0]))
    return qrt.UniformType("i8", "f32", d["s"].tolist(), d["z"].tolist(), axis=case.axis)


def cast(case: Case) -> Peer:
    t, x = cast_type(case), case.d["x"]
    if case.kind == "qcast":
        return checked(lambda y: qrt.qcast(x, t, out=y), lambda: empty(x.shape, t), lambda y: y.storage)
    q = qrt.QuantTensor(x, t)
    return checked(lambda y: qrt.dcast(q, out=y), lambda: np.zeros(x.shape, np.float32), lambda y: y)


def weight_only(case: Case) -> Peer:
    """Float activations by block-quantized weights, which the case keeps transposed."""
    d = case.d
    scales = np.ascontiguousarray(d["s"].T).astype(float)
    t = qrt.UniformType(f"i{case.bits}", "f32", scales.tolist(), block_sizes={0: case.block, 1: 1})
    x, w = d["x"], qrt.pack(qrt.QuantTensor(np.ascontiguousarray(d["q"].T), t))
    return checked(lambda y: qrt.float_matmul(x, w, out=y), lambda: np.zeros((case.M, case.N), np.float32), lambda y: y)


def make(case: Case, threads: int, requant: str) -> Peer | None:
    qrt.kernels.set_num_threads(threads)
    if case.kind == "gemm":
        return gemm(case, requant)
    if case.kind == "conv":
        return conv(case, requant)
    if requant != "float32":
        return None
    return weight_only(case) if case.kind == "weight_only" else cast(case)
