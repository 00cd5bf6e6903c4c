"""Products and convolutions some of whose biases leave 32 bits, against ref.

Hazards: a bias that is replaced where some sum of its channel is not yet saturated, on either side; a scale so small
that nothing saturates; bounds within the container; a bias of one group that stands for that of another."""

from typing import Any

import numpy as np
import pytest

from qrt import numerics
from qrt._ext.kernels import bind_conv2d, bind_gemm
from tests.kernels.draws import SIMD_ISAS
from tests.kernels.test_isa_elementwise import agree

K = 36
LIMIT = 2**31 - 1 - K * 255 * 255
BIASES = [0, 2**31 - 1, -(2**31), LIMIT, LIMIT + 1, -LIMIT, -LIMIT - 1, 12345]
SCALES = (2.0**-10, 2.0**-24, 2.0**-25, 2.0**-30)


def requant(rule: Any, scale: float, low: int, high: int, count: int) -> numerics.RequantParameters:
    scales = [(scale * (1 + j / 16),) for j in range(count)]
    return numerics.requant_parameters(rule, "i8", low, high, scales, [(1.0,)] * count, [-7] * count)


@pytest.mark.parametrize("isa", SIMD_ISAS)
@pytest.mark.parametrize("rule", ["fixed", "fixed_double", "float32"])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_biases_beyond_32_bits(isa: str, rule: str, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    wide = 2**40 if dtype is np.int64 else 2**31 - 1
    bias = np.array([*BIASES, wide], dtype)
    n = len(bias)
    w = rng.integers(-128, 128, (n, 3, 3, 4)).astype(np.int8)
    x = np.concatenate([rng.choice([-128, 127], (1, 5, 5, 4)), rng.integers(-128, 128, (1, 5, 5, 4))]).astype(np.int8)
    for scale in SCALES:
        for low, high in ((-128, 127), (-7, 100)):
            for count in (1, n):
                common = {"requant": requant(rule, scale, low, high, count), "bias": bias}
                window = {"strides": (1, 1), "padding": ((1, 1), (1, 1)), "dilations": (1, 1), "groups": 1}
                given = {"x": "i8", "w": "i8", "x_shape": x.shape, "w_shape": w.shape, "x_zero_point": 127,
                         "w_zero_points": [0], "w_constant": w}  # fmt: skip
                agree(isa, bind_conv2d, given | window | common, x)
                given = {"a": "i8", "b": "i8", "m": 50, "n": n, "k": K, "a_zero_points": [-128], "b_zero_points": [0],
                         "requant_steps": (0, 0, int(count > 1)), "b_transposed": True, "b_constant": w}  # fmt: skip
                a = np.resize(x, (1, 50, K))
                agree(isa, bind_gemm, given | common, a)


@pytest.mark.parametrize("isa", SIMD_ISAS)
def test_biases_of_groups(isa: str) -> None:
    bias = np.array([5, 2**31 - 1, -(2**31), 7], np.int32)
    w = np.ones((4, 3, 3, 2), np.int8)
    x = np.full((1, 6, 6, 4), 100, np.int8)
    given = {"x": "i8", "w": "i8", "x_shape": x.shape, "w_shape": w.shape, "x_zero_point": 0, "w_zero_points": [0],
             "w_constant": w, "strides": (1, 1), "padding": ((0, 0), (0, 0)), "dilations": (1, 1), "groups": 2,
             "bias": bias, "requant": requant("float32", 2.0**-10, -128, 127, 4)}  # fmt: skip
    agree(isa, bind_conv2d, given, x)
