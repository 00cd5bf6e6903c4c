"""Convolutions, requantized, as a share of the ISA's multiply-add peak. Depthwise ones are bound by interleaving and
requantization, not by it."""

import numpy as np
import pytest

from qrt import numerics
from qrt._ext.kernels import KernelCall, bind_conv2d, bind_depthwise_conv2d
from qrt.cli.bench import CONVS, DEPTHWISE, ConvCase, DepthwiseCase


def bound(case: ConvCase, isa: str) -> KernelCall:
    rng = np.random.default_rng(0)
    bind = bind_depthwise_conv2d if isinstance(case, DepthwiseCase) else bind_conv2d
    return bind(
        isa=isa,
        x="u8",
        w="i8",
        x_shape=case.x_shape,
        w_shape=case.w_shape,
        x_zero_point=121,
        w_zero_points=[0],
        requant=numerics.requant_parameters("float32", "u8", 0, 255, [(2.0**-11,)], [(1.0,)], [118]),
        strides=case.strides,
        padding=case.padding,
        dilations=case.dilations,
        w_constant=rng.integers(-128, 128, case.w_shape, np.int8),
        bias=rng.integers(-5000, 5000, case.out_channels, np.int32),
    )


@pytest.mark.parametrize("case", [*CONVS, *DEPTHWISE], ids=lambda case: case.name)
def test_conv(benchmark, isa, paired, peak, report, case: ConvCase):
    call = bound(case, isa)
    x = np.random.default_rng(1).integers(0, 256, case.x_shape, np.uint8)
    y = np.zeros(call.operand_shapes[-1], np.uint8)

    def run() -> None:
        call(x, y)

    meter, multiply_adds = peak(isa)
    time, ratio = paired(run, meter)
    products = y.size * np.prod(case.kernel) * case.channels // case.groups
    share = products / multiply_adds / ratio
    benchmark.group = f"conv {case.name}"
    benchmark.extra_info |= {"share_of_peak": round(share, 3)}
    report(f"conv {case.name:<28} {isa:<11} {time * 1e6:8.1f} us {share:6.0%} of the peak")
    benchmark.pedantic(run, rounds=25)
