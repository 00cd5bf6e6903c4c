"""Convolutions that read patches where they overlap, by every ISA against ref, which gathers them.

Hazards: segments that are no whole steps of the microkernel, reads past the last pixel, regions cut along rows and
along columns of the output, regions of padding alone, groups, weights whose zero points need row sums, a bias that does
not fit 32 bits, panels shared among threads."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from qrt import numerics
from qrt._ext.kernels import KernelCall, bind_conv2d, get_num_threads, set_num_threads
from tests.kernels.draws import DTYPES, ISAS, Array

Pair = tuple[int, int]


@dataclass(frozen=True)
class Case:
    size: Pair
    channels: int
    out_channels: int
    kernel: Pair = (3, 3)
    strides: Pair = (1, 1)
    padding: tuple[Pair, Pair] = ((1, 1), (1, 1))
    dilations: Pair = (1, 1)
    groups: int = 1
    images: int = 1
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def w_shape(self) -> tuple[int, ...]:
        return (self.out_channels, *self.kernel, self.channels // self.groups)


NONE = ((0, 0), (0, 0))
CASES = {
    "whole steps": Case((7, 15), 8, 33),
    "segments of 9, filled": Case((9, 30), 3, 32, strides=(2, 2)),
    "filled, per group": Case((5, 6), 6, 10, groups=2),
    "dilated: a segment per tap": Case((9, 9), 5, 7, dilations=(2, 3), padding=((2, 2), (3, 3))),
    "in place": Case((6, 7), 4, 20, padding=NONE),
    "in place, strided 1x1": Case((5, 29), 12, 16, (1, 1), (2, 2), NONE, images=2),
    "nothing symmetric": Case((6, 40), 4, 5, (2, 3), (2, 1), ((0, 3), (2, 0))),
    "padding beyond the image": Case((2, 3), 4, 4, padding=((4, 4), (5, 5)), images=2),
    "dilation past the image": Case((2, 3), 4, 4, (3, 2), dilations=(3, 4), padding=((9, 0), (0, 9))),
    "regions along rows": Case((300, 40), 32, 3),
    "regions along columns": Case((1, 9000), 16, 3, (1, 3), padding=((0, 0), (1, 1))),
    "lines too long": Case((3, 3000), 64, 2, (3, 1), padding=((0, 0), (0, 0)), dilations=(1, 1)),
    "signed": Case((5, 17), 16, 16, more={"x": "i8"}),
    "unsigned weights": Case((5, 6), 7, 9, more={"w": "u8", "w_zero": 128}),
    "row sums": Case((5, 6), 8, 9, more={"w_zero": 3}),
    "zero points per channel": Case((5, 6), 3, 9, more={"w": "u8", "w_zero": range(0, 252, 28)}),
    "a bias past 32 bits": Case((4, 5), 4, 9, more={"bias": 2**31 - 1}),
    "filled and a bias past 32 bits": Case((4, 5), 3, 9, more={"bias": 2**31 - 1}),
    "sums as they are": Case((4, 5), 3, 9, more={"out": "i32"}),
}


def bound(case: Case, isa: str, w: Array | None, bias: Array | None) -> KernelCall:
    """With the weights and the bias that are constants."""
    out = case.more.get("out", "u8")
    low, high = int(np.iinfo(DTYPES[out]).min), int(np.iinfo(DTYPES[out]).max)
    scale = 1.0 if out == "i32" else 2.0**-11
    zeros = np.atleast_1d(np.array(case.more.get("w_zero", 0), np.int64))
    return bind_conv2d(
        isa=isa, x=case.more.get("x", "u8"), w=case.more.get("w", "i8"),
        x_shape=(case.images, *case.size, case.channels), w_shape=case.w_shape, x_zero_point=7, w_zero_points=zeros,
        requant=numerics.requant_parameters("fixed", out, low, high, [(scale,)], [(1.0,)], [0]),
        strides=case.strides, padding=case.padding, dilations=case.dilations, groups=case.groups,
        w_constant=w, bias="i32" if bias is None else bias,
    )  # fmt: skip


@pytest.mark.parametrize("isa", [isa for isa in ISAS if isa != "ref"])
@pytest.mark.parametrize("name", CASES)
def test_agrees_with_ref(isa: str, name: str) -> None:
    case, rng = CASES[name], np.random.default_rng(3)
    x_info = np.iinfo(DTYPES[case.more.get("x", "u8")])
    w_info = np.iinfo(DTYPES[case.more.get("w", "i8")])
    x = rng.choice(np.array([x_info.min, x_info.max], x_info.dtype), (case.images, *case.size, case.channels))
    w = rng.integers(w_info.min, w_info.max, case.w_shape, w_info.dtype, endpoint=True)
    bias = rng.integers(-9999, 9999, case.out_channels, np.int32)
    bias[0] = case.more.get("bias", 0)
    odd = np.empty(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)  # vectors of it cross cache lines
    odd[...] = x
    before = get_num_threads()
    try:
        expected: Array | None = None
        for by, constants, threads in (("ref", 2, 2), (isa, 2, 1), (isa, 1, 1), (isa, 0, 1), (isa, 2, 3)):
            set_num_threads(threads)
            call = bound(case, by, *(value if i < constants else None for i, value in enumerate((w, bias))))
            out = np.full(call.operand_shapes[-1], 85, call.operand_dtypes[-1])
            call(odd, *(w, bias)[constants:], out)
            expected = out if expected is None else expected
            np.testing.assert_array_equal(out, expected)
    finally:
        set_num_threads(before)
