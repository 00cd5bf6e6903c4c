"""qrt in a harness that times one table of quantized workloads on several runtimes.

The harness loads this file with ``--plugin`` and asks ``PEERS[name](case, threads)`` for ``(call, get)``: ``call()``
runs the op once through the public functions with a preallocated result, ``get()`` returns that result. A case carries
its kind and data (``case.d``): activations, weights, scales, zero points and bias. Before a call is handed out, its
result is compared bit for bit with the scalar reference kernels: a fast wrong answer has no time.

qrt need not be installed where the harness runs: the checkout this file stands in is put on the path.
"""

import ctypes
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import qrt
from qrt import kernels

Peer = tuple[Callable[[], object], Callable[[], np.ndarray]]


def checked(run: Callable[[Any], object], new_result: Callable[[], Any], get: Callable[[Any], np.ndarray]) -> Peer:
    """The call into a result of its own, once ref has given the same bits."""
    expected, result = new_result(), new_result()
    with kernels.use("ref"):
        run(expected)
    run(result)
    np.testing.assert_array_equal(get(result), get(expected))
    return (lambda: run(result)), (lambda: get(result))


def empty(shape: tuple[int, ...], t: qrt.UniformType) -> qrt.QuantTensor:
    return qrt.QuantTensor(np.zeros(shape, np.int8 if t.is_signed else np.uint8), t)


def linear_types(data: dict[str, Any], axis: int) -> tuple[qrt.UniformType, ...]:
    """Of the activations (u8), the weights (per channel on ``axis``), the bias and the result."""
    x_scale, w_scales = float(np.float32(data["xs"])), [float(s) for s in data["ws"]]
    return (
        qrt.UniformType("u8", "f32", x_scale, int(data["xz"])),
        qrt.UniformType("i8", "f32", w_scales, axis=axis),
        qrt.UniformType("i32", "f32", [x_scale * s for s in w_scales], axis=0),
        qrt.UniformType("u8", "f32", float(np.float32(data["ys"])), int(data["yz"])),
    )


def gemm(case: Any, requant: str) -> Peer:
    d = case.d
    x_type, w_type, bias_type, out_type = linear_types(d, 1)
    x, w, bias = qrt.QuantTensor(d["x"], x_type), qrt.QuantTensor(d["w"], w_type), qrt.QuantTensor(d["bias"], bias_type)
    packed = qrt.pack(w)

    def run(y: qrt.QuantTensor) -> object:
        return qrt.matmul(x, packed, bias=bias, out_type=out_type, requant=requant, out=y)

    return checked(run, lambda: empty(d["ref"].shape, out_type), lambda y: y.storage)


def conv(case: Any, requant: str) -> Peer:
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


def cast_type(case: Any) -> qrt.UniformType:
    d = case.d
    if case.axis is None:
        return qrt.UniformType("i8", "f32", float(d["s"][0]), int(d["z"][0]))
    return qrt.UniformType("i8", "f32", d["s"].tolist(), d["z"].tolist(), axis=case.axis)


def cast(case: Any) -> Peer:
    t, x = cast_type(case), case.d["x"]
    if case.kind == "q":
        return checked(lambda y: qrt.qcast(x, t, out=y), lambda: empty(x.shape, t), lambda y: y.storage)
    q = qrt.QuantTensor(x, t)
    return checked(lambda y: qrt.dcast(q, out=y), lambda: np.zeros(x.shape, np.float32), lambda y: y)


def weight_only(case: Any) -> Peer | None:
    """Float activations by block-quantized weights, which the case keeps transposed."""
    d = case.d
    scales = np.ascontiguousarray(d["s"].T).astype(float)
    t = qrt.UniformType(f"i{case.bits}", "f32", scales.tolist(), block_sizes={0: case.block, 1: 1})
    x, w = d["x"], qrt.pack(qrt.QuantTensor(np.ascontiguousarray(d["q"].T), t))
    return checked(lambda y: qrt.float_matmul(x, w, out=y), lambda: np.zeros((case.M, case.N), np.float32), lambda y: y)


def make(requant: str) -> Callable[[Any, int], Peer | None]:
    def peer(case: Any, threads: int) -> Peer | None:
        qrt.set_num_threads(threads)
        if case.kind == "gemm":
            return gemm(case, requant)
        if case.kind == "conv":
            return conv(case, requant)
        if case.kind in ("q", "dq") and requant == "float32":
            return cast(case)
        if case.kind == "wo" and requant == "float32":
            return weight_only(case)
        return None

    return peer


# ---------------------------------------------------------------------- the limits of the machine, measured beside them


SHORTEST_PEAK = 10e-6, 100e-6  # seconds on one thread, on more; below, the meter would measure calls and starts
TRIAL = 10_000  # loops


def load_peaks(folder: Path, *flags: str) -> ctypes.CDLL:
    """peak.c, built in ``folder``."""
    source, library = Path(__file__).with_name("peak.c"), folder / "peak.so"
    include = f"-I{source.parents[1] / 'csrc'}"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", include, *flags, source, "-o", library], check=True)
    return ctypes.CDLL(str(library))


def peak(case: Any, threads: int) -> Peer | None:
    """As many multiply-adds on registers alone, on all threads; its result is the right one, as nobody computes it."""
    with TemporaryDirectory() as folder:
        function = getattr(load_peaks(Path(folder)), f"peak_{kernels.active()}", None)
    if function is None or not case.ops:
        return None
    function.argtypes, function.restype = [ctypes.c_int64], ctypes.c_int64
    start = perf_counter()
    done = function(TRIAL)
    second_of = (perf_counter() - start) / done
    if case.ops / 2 / threads * second_of < SHORTEST_PEAK[threads > 1]:
        return None
    loops = max(1, round(case.ops / 2 / threads / (done / TRIAL)))
    helpers = ThreadPoolExecutor(threads)

    def call() -> None:
        others = [helpers.submit(function, loops) for _ in range(threads - 1)]
        function(loops)
        for other in others:
            other.result()

    return call, (lambda: case.d["ref"])


def copy(case: Any, threads: int) -> Peer | None:
    """A copy of as many bytes as the cast reads and writes, half of them each."""
    if case.kind not in ("q", "dq") or threads > 1:
        return None
    source = np.ones(case.nbytes // 2, np.int8)
    target = np.zeros_like(source)
    return (lambda: np.copyto(target, source)), (lambda: case.d["ref"])


PEERS = {"qrt_float32": make("float32"), "qrt_fixed": make("fixed"), "meter_peak": peak, "meter_copy": copy}
