"""The table of sizes: for every entry of the seam calls with 0, 1, and what lies around the blocks of every ISA's
kernels. sweep.py runs them."""

from collections.abc import Callable, Iterator

from tests.kernels.size_cases import Case
from tests.kernels.sizes_elementwise import (
    binary,
    bits,
    casts,
    clamp,
    copy,
    leaky_relu,
    lookup,
    mean,
    pair,
    requantize,
)
from tests.kernels.sizes_floats import contraction, float_loops
from tests.kernels.sizes_functions import dynamic_lstm, dynamic_matmul, lookup_interpolated, lstm, softmax, svdf
from tests.kernels.sizes_plain import plain, plain_cast, plain_select
from tests.kernels.sizes_products import (
    conv2d,
    depthwise_conv2d,
    float_matmul,
    gemm,
    mixed_matmul,
    pools,
    transpose_conv2d,
)
from tests.kernels.sizes_select import extremum, gather, resize_bilinear, slices, top_k

ENTRIES: dict[str, Callable[[], Iterator[Case]]] = {
    "qcast": lambda: casts("qcast"), "dcast": lambda: casts("dcast"), "requantize": requantize, "clamp": clamp,
    "binary": binary, "pair": pair, "leaky_relu": leaky_relu, "transpose_conv2d": transpose_conv2d, "lookup": lookup,
    "gemm": gemm, "float_matmul": float_matmul, "mixed_matmul": mixed_matmul,
    "contraction": contraction, "float_loops": float_loops,
    "conv2d": conv2d, "depthwise_conv2d": depthwise_conv2d, "avg_pool2d": lambda: pools("avg_pool2d"),
    "max_pool2d": lambda: pools("max_pool2d"), "mean": mean, "softmax": softmax, "copy": copy,
    "lookup_interpolated": lookup_interpolated, "lstm": lstm, "svdf": svdf, "dynamic_matmul": dynamic_matmul,
    "dynamic_lstm": dynamic_lstm,
    "pack_bits": lambda: bits("pack_bits"), "unpack_bits": lambda: bits("unpack_bits"),
    "gather": gather, "slice": slices, "extremum": extremum, "top_k": top_k, "resize_bilinear": resize_bilinear,
    "plain": plain, "plain_select": plain_select, "plain_cast": plain_cast,
}  # fmt: skip
