"""The sizes of products, convolutions and pools."""

import itertools
from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from qrt import numerics
from qrt.ops import elementwise
from qrt.ops.float_matmul import _float_sums, pieces
from qrt.types import FloatType
from tests.kernels.draws import Array, matmul_exact
from tests.kernels.size_cases import BYTES, CONTAINERS, Case, combinations, draw, requants
from tests.kernels.windows import pooled, window_sums

# Around the tiles: 4, 6, 14, 32 rows; panels of 4, 16, 32 columns and pairs of them; steps of 1, 2, 4, 64 values of K,
# and the depth of pairs, 192 and 384.
M = (0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14, 15, 16, 27, 28, 29, 31, 32, 33, 63, 65)
N = (0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 66, 95, 96, 97, 127, 128, 129)
K = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 191, 192, 193, 255, 256, 257, 383,
     384, 385)  # fmt: skip
CHANNELS = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 129)
PADDING = (((0, 0), (0, 0)), ((1, 1), (1, 1)), ((0, 1), (2, 0)), ((3, 0), (0, 5)), ((0, 0), (1, 0)))


# ---- products ----


def biased(rng: np.random.Generator, kind: str | None, constant: bool, n: Any) -> tuple[Array | None, Any]:
    """The values and what binds them; one of few does not fit 32 bits with a sum."""
    if kind is None:
        return None, None
    limit = 1 << 31 if rng.random() < 0.2 else 1 << 12
    values = rng.integers(-limit, limit, n).astype(f"{kind[0]}{int(kind[1:]) // 8}")
    return values, values if constant else kind


GEMM = {
    "a": CONTAINERS,
    "b": CONTAINERS,
    "batch": (0, 1, 1, 1, 2, 3),
    "bias": (None, "i32", "i64"),
    "raw": (False, True),
    "by": ((0, 0, 0), (0, 1, 0), (0, 0, 1)),
    "constant": (False, True),
    "transposed": (False, True),
    "zeros_by": (False, True),
}


def gemm() -> Iterator[Case]:
    rng = np.random.default_rng(6)
    for m, n in itertools.product(M, N):
        yield product(rng, next(combinations(rng, 1, m=(m,), n=(n,), k=(0,), **GEMM)) | {"batch": 1})
    for given in combinations(rng, 8, m=M, n=N, k=K, **GEMM):
        yield product(rng, given)
    for k, kind in itertools.product((16_384, 33_024, 33_025, 33_026), ("i8", "u8", "i16")):
        yield product(rng, next(combinations(rng, 1, m=(3,), n=(5,), k=(k,), **GEMM)) | {"a": kind, "b": "u8"})
    for m, n in itertools.product((1, 5, 33, 65), (16, 33, 129)):
        yield product(rng, next(combinations(rng, 1, m=(m,), n=(n,), k=(1000,), **GEMM)) | {"a": "u8", "b": "i8"}, 3)
    for given in combinations(rng, 3, m=M[:8], n=N[:14], k=K[:16], k_block=(1, 2, 7, 16, 31, 32, 33),
                              rule=("fixed", "float32"), bias=(False, True)):  # fmt: skip
        yield sub_channel_product(rng, given)


def product(rng: np.random.Generator, drawn: dict[str, Any], threads: int = 1) -> Case:
    m, n, k, batch, kind = (drawn[name] for name in ("m", "n", "k", "batch", "bias"))
    raw, by, constant, transposed = (drawn[name] for name in ("raw", "by", "constant", "transposed"))
    matrices, by_element = int(rng.choice([1, batch])) if batch else 0, int(drawn["zeros_by"])
    a, b = draw(rng, drawn["a"], (batch, m, k)), draw(rng, drawn["b"], (matrices, k, n))
    za, zb = (draw(rng, "u8" if drawn[name] == "u8" else "i8", max(size, 1) if by_element else 1)
              for name, size in (("a", m), ("b", n)))  # fmt: skip
    a_zero, b_zero = (za.reshape(-1, 1)[:m], zb[:n]) if by_element else (za, zb)
    bias, bound = biased(rng, kind, bool(rng.integers(2)), (max(batch, 1) if by_element else 1, n))
    requant = requants(rng, max(m, 1) if by[1] else max(n, 1) if by[2] else 1, raw)
    stored = np.ascontiguousarray(b.transpose(0, 2, 1)) if transposed else b
    given = {
        "a": drawn["a"],
        "b": drawn["b"],
        "m": m,
        "n": n,
        "k": k,
        "batch": batch,
        "a_zero_points": za,
        "b_zero_points": zb,
        "requant": requant,
        "requant_steps": by,
        "b_matrices": matrices,
        "bias": bound,
        "k_block": 0,
        "a_matrices": batch,
        "a_index": range(batch) if by_element else None,
        "b_index": [0] * batch if matrices != batch else None,
        "bias_batch_step": n * by_element,
        "a_zero_point_steps": (0, by_element),
        "b_zero_point_steps": (0, 0, by_element),
        "b_transposed": transposed,
        "b_constant": stored if constant else None,
    }

    def expected() -> Array:
        left, right = a.astype(np.int64) - a_zero, np.broadcast_to(b.astype(np.int64) - b_zero, (batch, k, n))
        acc = np.zeros((batch, m, n), np.int64)
        for i in range(batch):
            acc[i] = matmul_exact(left[i], right[i])
        index = by[1] * np.arange(m)[:, None] + by[2] * np.arange(n)
        added = 0 if bias is None else bias[:batch, None]  # of each batch, or one for all
        return numerics.requantize(acc + added, requant, index)

    operands = (a, *([] if constant else [stored]), *([bias] if isinstance(bound, str) else []))
    return Case("gemm", given, operands, expected, threads)


def sub_channel_product(rng: np.random.Generator, drawn: dict[str, Any]) -> Case:
    m, n, k, block, rule = (drawn[name] for name in ("m", "n", "k", "k_block", "rule"))
    blocks = -(-k // block)
    a, b = draw(rng, "u8", (1, m, k)), draw(rng, "i8", (1, k, n))
    scale, multiplier = rng.random((blocks, n)).astype(np.float32), rng.integers(1, 1 << 20, (blocks, n))
    requant = numerics.requant_parameters(rule, "i16", -(2**15), 2**15 - 1, [(2.0**-4,)], [(1.0,)], [3])
    bias = rng.normal(0, 9, n).astype(np.float32) if rule == "float32" else rng.integers(-999, 999, n, np.int32)
    bias_multiplier = rng.integers(1, 1 << 20, n)
    given = {"a": "u8", "b": "i8", "m": m, "n": n, "k": k, "k_block": block, "a_zero_points": [7], "b_zero_points": [2],
             "requant": requant, "bias": bias if drawn["bias"] else None}  # fmt: skip
    given |= {"block_scale": scale} if rule == "float32" else {
        "block_multiplier": multiplier, "bias_multiplier": bias_multiplier}  # fmt: skip

    def expected() -> Array:
        left, right = a[0].astype(np.int64) - 7, b[0].astype(np.int64) - 2
        cuts = [slice(at, at + block) for at in range(0, k, block)]
        sums = np.array([left[:, cut] @ right[cut] for cut in cuts]).reshape(blocks, m, n)
        added = bias if drawn["bias"] else None
        zp, low, high = requant.zero_point, requant.storage_min, requant.storage_max
        if rule == "float32":
            total = numerics.blocks_float32(sums, scale, added, np.float32(1)) * requant.scale_f32[0]
            return numerics.round_scaled_float32(total, zp, low, high)
        ones = numerics.RequantParameters(**vars(requant) | {"multiplier": np.ones(1, np.int32)})
        return numerics.requantize(numerics.blocks_fixed(sums, multiplier, added, bias_multiplier), ones)

    return Case("gemm", given, (a, b), expected)


def float_matmul() -> Iterator[Case]:
    rng = np.random.default_rng(7)
    drawn = combinations(rng, 5, m=M, n=N, k=K, constant=(False, True), bias=(None, "constant", "operand"))
    for given in itertools.chain(
        drawn, ({"m": 70, "n": 130, "k": k, "constant": False, "bias": None} for k in (0, 50))
    ):
        m, n, k, constant, kind = (given[name] for name in ("m", "n", "k", "constant", "bias"))
        a, w, bias = (rng.normal(0, 1, shape).astype(np.float32) for shape in ((m, k), (k, n), (n,)))
        bound = {None: None, "constant": bias, "operand": "operand"}[kind]
        operands = (a, *([] if constant else [w]), *([bias] if kind == "operand" else []))
        yield Case(
            "float_matmul",
            {"m": m, "n": n, "k": k, "w_constant": w if constant else None, "bias": bound},
            operands,
            lambda a=a, w=w, b=bias if kind else None: _float_sums(a, w) if b is None else _float_sums(a, w) + b,
            3 if m == 70 else 1,
        )


def mixed_matmul() -> Iterator[Case]:
    rng = np.random.default_rng(8)
    fma = elementwise.bind("math.fma", [FloatType("f32")] * 3, [FloatType("f32")])
    for drawn in combinations(
        rng,
        5,
        m=(0, 1, 2, 3, 4, 5, 8, 9, 65),
        n=N,
        k=K,
        k_block=(1, 2, 7, 8, 31, 32, 33, 128, 200, None),
        nibbles=(False, True),
        constant=(False, True),
        bias=(None, "constant", "operand"),
        zero=(0, 1),
        along_k=(False, False, True),
    ):
        m, n, k, k_block, constant, kind = (drawn[name] for name in ("m", "n", "k", "k_block", "constant", "bias"))
        block = max(k, 1) if k_block is None else k_block
        a, bias = rng.normal(0, 1, (m, k)).astype(np.float32), rng.normal(0, 1, n).astype(np.float32)
        w = rng.integers(-8, 8, (k, n), np.int8)
        shape = (max(-(-k // block), 1), n)
        scales, zps = rng.uniform(0.5, 1, shape).astype(np.float32), rng.integers(0, 1 + 5 * drawn["zero"], shape)
        points = np.repeat(zps, block, axis=0)[:k]
        bound = {None: None, "constant": bias, "operand": "operand"}[kind]
        given = {"m": m, "n": n, "k": k, "k_block": k_block, "nibbles": drawn["nibbles"], "w": "i8", "scales": scales,
                 "zero_points": zps, "w_constant": w if constant else None, "bias": bound}  # fmt: skip
        operands = (a, *([] if constant else [w]), *([bias] if kind == "operand" else []))
        if drawn["along_k"]:
            k_scales, k_zps = rng.uniform(0.5, 1, k).astype(np.float32), rng.integers(0, 1 + 5 * drawn["zero"], k)
            block, scales, points = max(k, 1), np.ones((1, n), np.float32), k_zps[:, None]
            a = a * k_scales
            given |= {"k_block": None, "scales": [1.0], "zero_points": [0], "k_scales": k_scales}
            if drawn["zero"]:
                given["k_zero_points"] = k_zps

        def expected(a: Array = a, w: Array = w, scales: Array = scales, points: Array = points, block: int = block,
                     bias: Array | None = bias if kind else None) -> Array:  # fmt: skip
            total = np.zeros((len(a), w.shape[1]), np.float32)
            for piece in pieces(len(w), block):
                integers, unit = numerics.unit_integers(a[:, piece])
                sums = (integers @ (w[piece].astype(np.int64) - points[piece])).astype(np.float32)
                total = np.asarray(fma(*np.broadcast_arrays(sums * scales[piece.start // block], unit, total)))
            return total if bias is None else total + bias

        yield Case("mixed_matmul", given, operands, expected)


# ---- windows ----

WINDOWS: dict[str, tuple[Any, ...]] = {
    "images": (0, 1, 1, 1, 2),
    "height": (0, 1, 2, 3, 5, 9),
    "width": (0, 1, 2, 3, 7, 8, 17, 33, 40),
    "kernel": ((1, 1), (1, 2), (2, 1), (3, 3), (3, 3), (2, 5), (7, 3), (1, 9)),
    "strides": ((1, 1), (1, 2), (2, 1), (3, 2)),
    "padding": PADDING,
    "dilations": ((1, 1), (1, 1), (2, 1), (1, 3)),
}
WEIGHTS: dict[str, tuple[Any, ...]] = {
    "x": BYTES,
    "w": (*BYTES, "i16"),
    "constant": (False, True),
    "bias": (None, "i32", "i64"),
    "by_channel": (False, True),
    "raw": (False, True),
    "threads": (1, 1, 3),
}


def convolution(
    rng: np.random.Generator, entry: str, drawn: dict[str, Any], x_shape: Any, w: Array, groups: int
) -> Case:
    """`w` is [outputs, height, width, channels of a group]."""
    outputs, count = w.shape[0], max(w.shape[0], 1) if drawn["by_channel"] else 1
    x, zx, zw = (
        draw(rng, drawn["x"], x_shape),
        int(draw(rng, drawn["x"], ())),
        draw(rng, "u8" if drawn["w"] == "u8" else "i8", count),
    )
    bias, bound = biased(rng, drawn["bias"], bool(rng.integers(2)), outputs)
    requant = requants(rng, count, drawn["raw"])
    windows = {name: drawn[name] for name in ("strides", "padding", "dilations")}
    stored, more = w, {"groups": groups}
    if entry == "depthwise_conv2d":
        stored, more = w[..., 0], {"channels_first": drawn["channels_first"]}
        stored = np.ascontiguousarray(stored if drawn["channels_first"] else stored.transpose(1, 2, 0))
    given = {"x": drawn["x"], "w": drawn["w"], "x_shape": x_shape, "w_shape": stored.shape, "x_zero_point": zx,
             "w_zero_points": zw, "requant": requant, "w_constant": stored if drawn["constant"] else None,
             "bias": bound} | windows | more  # fmt: skip

    def expected() -> Array:
        acc = window_sums(x, w, zx, zw, **windows, groups=groups)
        return numerics.requantize(acc if bias is None else acc + bias, requant, np.arange(outputs) % count)

    operands = (x, *([] if drawn["constant"] else [stored]), *([bias] if isinstance(bound, str) else []))
    return Case(entry, given, operands, expected, drawn["threads"])


def conv2d() -> Iterator[Case]:
    rng = np.random.default_rng(9)
    for drawn in combinations(
        rng,
        9,
        groups=(1, 1, 2, 3),
        channels=(0, 1, 2, 3, 4, 5, 8, 16, 17, 33),
        outputs=(0, 1, 3, 4, 5, 15, 16, 17, 31, 32, 33, 64, 65),
        **WINDOWS,
        **WEIGHTS,
    ):
        groups, channels = drawn["groups"], drawn["channels"]
        w = draw(rng, drawn["w"], (drawn["outputs"] * groups, *drawn["kernel"], channels))
        yield convolution(
            rng, "conv2d", drawn, (drawn["images"], drawn["height"], drawn["width"], channels * groups), w, groups
        )


def depthwise_conv2d() -> Iterator[Case]:
    rng = np.random.default_rng(10)
    for drawn in combinations(rng, 9, channels=CHANNELS, multiplier=(0, 1, 1, 1, 2, 3), channels_first=(False, True),
                              **WINDOWS, **WEIGHTS):  # fmt: skip
        w = draw(rng, drawn["w"], (drawn["channels"] * drawn["multiplier"], *drawn["kernel"], 1))
        yield convolution(
            rng,
            "depthwise_conv2d",
            drawn,
            (drawn["images"], drawn["height"], drawn["width"], drawn["channels"]),
            w,
            drawn["channels"],
        )


def transpose_conv2d() -> Iterator[Case]:
    rng = np.random.default_rng(19)
    for drawn in combinations(
        rng, 6, images=(0, 1, 2), height=(0, 1, 2, 5), width=(1, 3, 4), kernel=(1, 2, 3, 5), stride=(1, 2, 3),
        channels=CHANNELS[:9], outputs=CHANNELS[:13], cut=(0, 1, 2), more=(0, 1, 4), bias=(None, "i32", "i64"),
        constant=(False, True), raw=(False, True), x=CONTAINERS, w=CONTAINERS,
    ):  # fmt: skip
        yield _transpose_conv(rng, drawn)


def _transpose_conv(rng: np.random.Generator, drawn: dict[str, Any]) -> Case:
    kernel = (drawn["kernel"], int(rng.integers(1, 4)))
    strides, padding = (drawn["stride"], int(rng.integers(1, 4))), (drawn["cut"], int(rng.integers(0, 2)))
    x = draw(rng, drawn["x"], (drawn["images"], drawn["height"], drawn["width"], drawn["channels"]))
    w = draw(rng, drawn["w"], (drawn["outputs"], *kernel, drawn["channels"]))
    whole = [max((n - 1) * s + k, 0) for n, s, k in zip(x.shape[1:3], strides, kernel, strict=True)]
    out_size = [max(n - cut, 0) + drawn["more"] for n, cut in zip(whole, padding, strict=True)]
    zx, zw = int(rng.integers(0, 100)), rng.integers(0, 100, max(len(w), 1) if rng.random() < 0.5 else 1)
    bias, bound = biased(rng, drawn["bias"], bool(rng.integers(2)), len(w))
    requant = requants(rng, max(len(w), 1) if rng.random() < 0.5 and not drawn["raw"] else 1, drawn["raw"])
    given = {
        "x": drawn["x"], "w": drawn["w"], "x_shape": x.shape, "w_shape": w.shape, "out_size": out_size,
        "x_zero_point": zx, "w_zero_points": zw, "requant": requant, "strides": strides, "padding": padding,
        "bias": bound, **({"w_constant": w} if drawn["constant"] else {}),
    }  # fmt: skip

    def expected() -> Array:
        sums = np.zeros((len(x), *(n + cut + 9 for n, cut in zip(out_size, padding, strict=True)), len(w)), np.int64)
        weights = w.astype(np.int64) - np.broadcast_to(zw, max(len(w), 1))[: len(w)].reshape(-1, 1, 1, 1)
        for image, row, column in np.ndindex(*x.shape[:3]):
            for ky, kx in np.ndindex(*kernel):
                at = row * strides[0] + ky, column * strides[1] + kx
                sums[(image, *at)] += weights[:, ky, kx] @ (x[image, row, column].astype(np.int64) - zx)
        part = sums[:, padding[0] : padding[0] + out_size[0], padding[1] : padding[1] + out_size[1]]
        index = np.arange(len(w)) if len(requant.zero_point) > 1 else 0
        return numerics.requantize(part if bias is None else part + bias, requant, index)

    operands = (x, *(() if drawn["constant"] else (w,)), *((bias,) if isinstance(bound, str) else ()))
    return Case("transpose_conv2d", given, operands, expected)


def pools(entry: str) -> Iterator[Case]:
    rng = np.random.default_rng(11)
    windows = WINDOWS | {"padding": PADDING[:3]}
    del windows["dilations"]
    for drawn in combinations(rng, 8, channels=CHANNELS, storage=CONTAINERS, by_channel=(False, True),
                              by_count=(True, True, False), **windows):  # fmt: skip
        kernel, strides, padding = drawn["kernel"], drawn["strides"], drawn["padding"]
        x = draw(rng, drawn["storage"], (drawn["images"], drawn["height"], drawn["width"], drawn["channels"]))
        given = {
            "storage": drawn["storage"],
            "x_shape": x.shape,
            "kernel": kernel,
            "strides": strides,
            "padding": padding,
        }
        if entry == "max_pool2d":
            yield Case(entry, given, (x,), lambda x=x, w=(kernel, strides, padding): pooled(x, *w, "max")[0])
            continue
        channels = max(drawn["channels"], 1) if drawn["by_channel"] else 1
        requant, zps = requants(rng, channels * prod(kernel)), rng.integers(0, 99, channels)
        given |= {"zero_points": zps, "requant": requant, "channel_step": int(drawn["by_channel"]),
                  "count_step": channels if drawn["by_count"] else 0}  # fmt: skip

        def expected(x: Array = x, w: Any = (kernel, strides, padding), z: Array = zps, g: Any = given) -> Array:
            sums, counts = pooled(x, *w, "sum")
            index, r = (counts - 1) * g["count_step"] + np.arange(x.shape[3]) * g["channel_step"], g["requant"]
            return numerics.requantize(sums - counts * z, r, index)

        yield Case(entry, given, (x,), expected)
