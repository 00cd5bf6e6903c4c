"""PyTorch: quantized engines, the ops behind its compiled int8 path, casts, eager and compiled, and int4 weights."""

import warnings
from typing import Any

import numpy as np
import torch

from benches.peers.cases import Case, float_bias, signed
from benches.peers.runtimes.peer import Peer, latest

warnings.simplefilter("ignore")


def _tensor(array: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(array))


def _window(case: Case) -> tuple[list[int], list[int], list[int]]:
    """Strides, padding and dilations."""
    return [case.s] * 2, [case.k // 2] * 2, [1, 1]


def quantized_engine(case: Case, threads: int, engine: str) -> Peer | None:
    if case.kind not in ("gemm", "conv"):
        return None
    torch.set_num_threads(threads)
    torch.backends.quantized.engine = engine
    d, bias = case.d, torch.from_numpy(float_bias(case))
    w_scales, w_zero_points = _tensor(d["ws"].astype(np.float64)), torch.zeros(len(d["ws"]), dtype=torch.int64)
    if case.kind == "gemm":
        x = torch._make_per_tensor_quantized_tensor(_tensor(d["x"]), d["xs"], d["xz"])
        w = torch._make_per_channel_quantized_tensor(_tensor(d["w"].T), w_scales, w_zero_points, 0)
        packed, op = torch.ops.quantized.linear_prepack(w, bias), torch.ops.quantized.linear.default
        return latest(lambda: op(x, packed, d["ys"], d["yz"]), lambda y: y.int_repr().numpy())
    x = torch._make_per_tensor_quantized_tensor(torch.from_numpy(d["x"]).permute(0, 3, 1, 2), d["xs"], d["xz"])
    x = x.contiguous(memory_format=torch.channels_last)
    weights = _tensor(d["w"].transpose(0, 3, 1, 2))
    w = torch._make_per_channel_quantized_tensor(weights, w_scales, w_zero_points, 0)
    packed = torch.ops.quantized.conv2d_prepack(w, bias, *_window(case), case.g)
    op = torch.ops.quantized.conv2d.new
    return latest(lambda: op(x, packed, d["ys"], d["yz"]), lambda y: y.int_repr().permute(0, 2, 3, 1).numpy())


def pointwise(case: Case, threads: int, sign: bool) -> Peer | None:
    """Call the ops of a compiled int8 program: onednn.qlinear_pointwise and onednn.qconv2d_pointwise."""
    if case.kind not in ("gemm", "conv"):
        return None
    torch.set_num_threads(threads)
    d, bias, offset = case.d, torch.from_numpy(float_bias(case)), 128 if sign else 0
    x = torch.from_numpy(signed(case) if sign else d["x"])
    w_scales, w_zero_points = torch.from_numpy(d["ws"]), torch.zeros(len(d["ws"]), dtype=torch.int64)
    result = (d["ys"], d["yz"] - offset, torch.int8 if sign else torch.uint8, "none", [], "")
    x_scale, x_zero_point = d["xs"], d["xz"] - offset
    if case.kind == "gemm":
        packed = torch.ops.onednn.qlinear_prepack(_tensor(d["w"].T), list(x.shape))
        op = torch.ops.onednn.qlinear_pointwise.default
        arguments: tuple[Any, ...] = (x, x_scale, x_zero_point, packed, w_scales, w_zero_points, bias, *result)
        return latest(lambda: op(*arguments), lambda y: y.numpy())
    x = x.permute(0, 3, 1, 2)
    w = _tensor(d["w"].transpose(0, 3, 1, 2))
    packed = torch.ops.onednn.qconv_prepack(w, w_scales, x_scale, x_zero_point, *_window(case), case.g, list(x.shape))
    op = torch.ops.onednn.qconv2d_pointwise.default
    arguments = (x, x_scale, x_zero_point, packed, w_scales, w_zero_points, bias, *_window(case), case.g, *result)
    return latest(lambda: op(*arguments), lambda y: y.permute(0, 2, 3, 1).numpy())


def int_mm(case: Case, threads: int) -> Peer | None:
    """Sums alone: how much less work a product without requantization is."""
    if case.kind != "gemm":
        return None
    torch.set_num_threads(threads)
    d, a, b = case.d, torch.from_numpy(signed(case)), torch.from_numpy(case.d["w"])

    def requantized(sums: torch.Tensor) -> np.ndarray:
        w = d["w"].astype(np.float64)
        acc = sums.numpy().astype(np.float64) + (128 - d["xz"]) * w.sum(0) + d["bias"]
        scaled = np.rint(acc * (d["xs"] * d["ws"].astype(np.float64) / d["ys"])) + d["yz"]
        return np.clip(scaled, 0, 255).astype(np.uint8)

    return latest(lambda: torch._int_mm(a, b), requantized)


def casts(case: Case, threads: int) -> Peer | None:
    if case.kind not in ("qcast", "dcast"):
        return None
    torch.set_num_threads(threads)
    d, x = case.d, torch.from_numpy(case.d["x"])
    s, z = torch.from_numpy(d["s"].astype(np.float64)), torch.from_numpy(d["z"].astype(np.int64))
    scale, zero_point, axis = float(d["s"][0]), int(d["z"][0]), case.axis
    if case.kind == "dcast":
        if axis is None:
            q = torch._make_per_tensor_quantized_tensor(x, scale, zero_point)
        else:
            q = torch._make_per_channel_quantized_tensor(x, s, z, axis)
        return latest(q.dequantize, lambda y: y.numpy())
    if axis is None:
        return latest(
            lambda: torch.quantize_per_tensor(x, scale, zero_point, torch.qint8), lambda y: y.int_repr().numpy()
        )
    return latest(lambda: torch.quantize_per_channel(x, s, z, axis, torch.qint8), lambda y: y.int_repr().numpy())


def compiled_casts(case: Case, threads: int) -> Peer | None:
    """The formula, compiled for the shape; it needs a C++ compiler."""
    if case.kind not in ("qcast", "dcast"):
        return None
    torch.set_num_threads(threads)
    torch._dynamo.reset()
    d, x = case.d, torch.from_numpy(case.d["x"])
    scale, zero_point = torch.from_numpy(d["sb"].copy()), torch.from_numpy(d["zb"].astype(np.float32))
    out = torch.empty(x.shape, dtype=torch.int8 if case.kind == "qcast" else torch.float32)

    def qcast(x: torch.Tensor, inverse: torch.Tensor, zero_point: torch.Tensor, out: torch.Tensor) -> None:
        out.copy_(torch.clamp(torch.round(x * inverse) + zero_point, -128, 127).to(torch.int8))

    def dcast(x: torch.Tensor, scale: torch.Tensor, zero_point: torch.Tensor, out: torch.Tensor) -> None:
        out.copy_((x.to(torch.float32) - zero_point) * scale)

    function = torch.compile(qcast if case.kind == "qcast" else dcast, dynamic=False)
    factor = 1 / scale if case.kind == "qcast" else scale
    return Peer(lambda: function(x, factor, zero_point, out), lambda: out.numpy())


def weight_only(case: Case, threads: int, half: bool) -> Peer | None:
    """Four bits alone: the op of eight has scales per channel only. ``half``: activations and scales in bfloat16."""
    if case.kind != "weight_only" or case.bits != 4:
        return None
    torch.set_num_threads(threads)
    d, kind = case.d, torch.bfloat16 if half else torch.float32
    x = torch.from_numpy(d["x"]).to(kind)
    packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(torch.from_numpy(d["q"].astype(np.int32) + 8), 1)
    parameters = torch.stack([_tensor(d["s"].T), torch.zeros(case.K // case.block, case.N)], -1).to(kind).contiguous()
    op = torch.ops.aten._weight_int4pack_mm_for_cpu.default
    return latest(lambda: op(x, packed, case.block, parameters), lambda y: y.float().numpy())
