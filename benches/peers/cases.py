"""The workloads: shapes, data, and what a right result is.

A case's data is a dict of arrays, drawn when first asked for, from a fixed seed:

| kind | data |
|---|---|
| gemm | ``x`` u8 [M, K], ``w`` s8 [K, N], ``bias`` i32 [N], ``ref`` u8 [M, N] |
| conv | ``x`` u8 NHWC, ``w`` s8 OHWI, ``bias`` i32 [co], ``ref`` u8 NHWC |
| qcast, dcast | ``x`` f32, or s8; scales ``s`` and zero points ``z`` of the axis; ``ref`` |
| weight_only | ``x`` f32 [M, K], ``q`` signed [N, K], scales ``s`` [N, K / block]; ``ref`` f32 |

Products also have the activations' scale and zero point ``xs``, ``xz``, the weights' scales ``ws`` per output channel,
and the result's ``ys``, ``yz``.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

X_ZERO_POINT = 121  # of u8 activations; 128 would be symmetric once they are made signed
Y_ZERO_POINT = 118

Data = dict[str, Any]


@dataclass
class Case:
    """A workload. ``p`` holds its sizes, which are attributes too."""

    name: str
    kind: str
    p: dict[str, Any] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["p"][name]
        except KeyError:
            raise AttributeError(name) from None

    @cached_property
    def d(self) -> Data:
        return DATA[self.kind](self)

    def forget(self) -> None:
        self.__dict__.pop("d", None)

    @property
    def operations(self) -> int | None:
        """Two for each multiply-add of a product; None of the others."""
        if self.kind == "gemm":
            return 2 * self.M * self.K * self.N
        if self.kind == "conv":
            height, width = self.out_hw
            return 2 * height * width * self.co * self.k**2 * (self.ci // self.g)
        return None

    @property
    def nbytes(self) -> int | None:
        """Bytes that are read and written at least once, of what memory limits."""
        if self.kind in ("qcast", "dcast"):
            return 5 * self.rows * self.cols
        return self.N * self.K * self.bits // 8 if self.kind == "weight_only" else None

    @property
    def out_hw(self) -> tuple[int, int]:
        pad = self.k // 2
        return (self.h + 2 * pad - self.k) // self.s + 1, (self.w + 2 * pad - self.k) // self.s + 1

    def check(self, result: np.ndarray) -> tuple[bool, float, float]:
        """Return whether a result is right, the largest difference, and the share of elements that differ.

        Runtimes round differently: of products and casts to integers 1% may differ by one. Weight-only products may be
        2% off in norm, as some runtimes compute them in bfloat16.
        """
        ref = self.d["ref"]
        result = np.asarray(result).reshape(ref.shape)
        if self.kind == "weight_only":
            error = float(np.linalg.norm(result - ref) / np.linalg.norm(ref))
            return error < 0.02, error, 0.0
        if self.kind == "dcast":
            error = float(np.abs(result - ref).max())
            return error <= 1e-5, error, float((result != ref).mean())
        offset = 128 if result.dtype == np.int8 and ref.dtype == np.uint8 else 0
        difference = np.abs(result.astype(np.int16) + offset - ref.astype(np.int16))
        share = float((difference > 0).mean())
        return bool(difference.max() <= 1 and share < 0.01), int(difference.max()), share


def _requantized(acc: np.ndarray, x_scale: float, w_scales: np.ndarray) -> Data:
    """The result of a product, by float64. About 1% of it saturates."""
    w_wide = w_scales.astype(np.float64)
    y_scale = float(np.float32((acc[: 4096 * 64] * (x_scale * w_wide)).std() * 5 / 255))
    ref = np.clip(np.rint(acc * (x_scale * w_wide / y_scale)) + Y_ZERO_POINT, 0, 255).astype(np.uint8)
    return {"ys": y_scale, "yz": Y_ZERO_POINT, "ref": ref}


def _gemm(c: Case) -> Data:
    r = np.random.default_rng(1)
    x = r.integers(0, 256, (c.M, c.K), np.uint8)
    w = r.integers(-127, 128, (c.K, c.N), np.int8)
    w_scales = (r.random(c.N) * 0.01 + 0.005).astype(np.float32)
    bias = r.integers(-20000, 20000, c.N).astype(np.int32)
    acc = (x.astype(np.float64) - X_ZERO_POINT) @ w.astype(np.float64) + bias
    given = {"x": x, "w": w, "xs": 0.02, "xz": X_ZERO_POINT, "ws": w_scales, "bias": bias}
    return given | _requantized(acc, 0.02, w_scales)


def _conv(c: Case) -> Data:
    r = np.random.default_rng(2)
    x = r.integers(0, 256, (1, c.h, c.w, c.ci), np.uint8)
    w = r.integers(-127, 128, (c.co, c.k, c.k, c.ci // c.g), np.int8)
    w_scales = (r.random(c.co) * 0.01 + 0.005).astype(np.float32)
    bias = r.integers(-5000, 5000, c.co).astype(np.int32)
    pad = c.k // 2
    padded = np.pad(x[0].astype(np.float32) - X_ZERO_POINT, ((pad, pad), (pad, pad), (0, 0)))
    height, width = c.out_hw
    acc = np.zeros((height, width, c.co))
    for i in range(c.k):
        for j in range(c.k):
            tap = padded[i : i + height * c.s : c.s, j : j + width * c.s : c.s][:height, :width]
            if c.g == 1:
                taps = tap.reshape(-1, c.ci).astype(np.float64) @ w[:, i, j, :].T.astype(np.float64)
                acc += taps.reshape(height, width, c.co)
            else:
                acc += tap * w[:, i, j, 0]
    given = {"x": x, "w": w, "xs": 0.02, "xz": X_ZERO_POINT, "ws": w_scales, "bias": bias}
    result = _requantized(acc + bias, 0.02, w_scales)
    return given | result | {"ref": result["ref"][None]}


def _parameters(c: Case, r: np.random.Generator) -> Data:
    """Scales and zero points of a cast; ``sb`` and ``zb`` broadcast to the tensor."""
    count, shape = {None: (1, (1, 1)), 0: (c.rows, (-1, 1)), 1: (c.cols, (1, -1))}[c.axis]
    scales = (r.random(count) * 0.01 + 0.02).astype(np.float32)
    zero_points = r.integers(-10, 10, count).astype(np.int8)
    return {"s": scales, "z": zero_points, "sb": scales.reshape(shape), "zb": zero_points.reshape(shape)}


def _qcast(c: Case) -> Data:
    r = np.random.default_rng(3)
    x = r.standard_normal((c.rows, c.cols), np.float32)
    p = _parameters(c, r)
    return p | {"x": x, "ref": np.clip(np.rint(x / p["sb"]) + p["zb"], -128, 127).astype(np.int8)}


def _dcast(c: Case) -> Data:
    r = np.random.default_rng(4)
    x = r.integers(-128, 128, (c.rows, c.cols), np.int8)
    p = _parameters(c, r)
    return p | {"x": x, "ref": ((x.astype(np.float32) - p["zb"]) * p["sb"]).astype(np.float32)}


def _weight_only(c: Case) -> Data:
    r = np.random.default_rng(5)
    x = r.standard_normal((c.M, c.K)).astype(np.float32)
    limit = 1 << (c.bits - 1)
    q = r.integers(-limit, limit, (c.N, c.K)).astype(np.int8)
    s = (r.random((c.N, c.K // c.block)) * 0.01 + 0.005).astype(np.float32)
    s = (s.view(np.uint32) & 0xFFFF0000).view(np.float32)  # values of bfloat16: some runtimes keep scales in it
    w = (q.reshape(c.N, c.K // c.block, c.block) * s[:, :, None]).reshape(c.N, c.K)
    return {"x": x, "q": q, "s": s, "ref": (x.astype(np.float64) @ w.T.astype(np.float64)).astype(np.float32)}


DATA: dict[str, Callable[[Case], Data]] = {
    "gemm": _gemm,
    "conv": _conv,
    "qcast": _qcast,
    "dcast": _dcast,
    "weight_only": _weight_only,
}

GEMM = [
    (1, 1024, 1024),
    (16, 768, 768),
    (128, 768, 3072),
    (256, 4096, 4096),
    (512, 512, 512),
    (1024, 1024, 1024),
    (127, 129, 65),
    (4, 4, 4),
]
CONV = [  # name, height and width, channels in and out, kernel, stride, groups
    ("3x3s1_56x56x64-64", 56, 64, 64, 3, 1, 1),
    ("1x1_112x112x32-64", 112, 32, 64, 1, 1, 1),
    ("3x3s2_224x224x3-32", 224, 3, 32, 3, 2, 1),
    ("3x3s1_14x14x256-256", 14, 256, 256, 3, 1, 1),
    ("dw3x3_112x112x32", 112, 32, 32, 3, 1, 32),
    ("dw3x3_14x14x512", 14, 512, 512, 3, 1, 512),
]
CAST = [("16", 1, 16), ("4K", 64, 64), ("1M", 1024, 1024), ("64M", 8192, 8192)]
AXES = {None: "tensor", 1: "axislast", 0: "axis0"}
WEIGHT_ONLY = [(4, 32), (4, 128), (8, 128)]


def cases() -> list[Case]:
    found = [Case(f"gemm_{m}x{k}x{n}", "gemm", {"M": m, "K": k, "N": n}) for m, k, n in GEMM]
    for name, size, ci, co, k, s, g in CONV:
        found.append(Case(f"conv_{name}", "conv", {"h": size, "w": size, "ci": ci, "co": co, "k": k, "s": s, "g": g}))
    for kind in ("qcast", "dcast"):
        for tag, rows, cols in CAST:
            for axis, word in AXES.items():
                if tag != "16" or axis is None:
                    found.append(Case(f"{kind}_{tag}_{word}", kind, {"rows": rows, "cols": cols, "axis": axis}))
    for bits, block in WEIGHT_ONLY:
        sizes = {"M": 1, "K": 4096, "N": 4096, "bits": bits, "block": block}
        found.append(Case(f"wo{bits}b{block}_1x4096x4096", "weight_only", sizes))
    return found


def signed(c: Case) -> np.ndarray:
    """The activations of a product in their signed form."""
    return (c.d["x"].astype(np.int16) - 128).astype(np.int8)


def float_bias(c: Case) -> np.ndarray:
    return (c.d["bias"] * c.d["xs"] * c.d["ws"].astype(np.float64)).astype(np.float32)
