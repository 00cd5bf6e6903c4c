"""Each 8-bit microkernel of an ISA, whichever suits, on calls that it takes: ref's bits, nothing written outside.

Hazards, each of which once gave wrong bits, a fault or a read outside: a vector of a panel without columns; two panels
and one block of 16 rows; more steps of K than a table has room for; tiles that end past the rows; gap columns of lines
that tiles run across; calls that take all panels; patches put together, whose K is longer than a segment's; a depth
of 0; a preference that was taken for a condition."""

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest

from qrt import compile as compile_program
from qrt import kernels, numerics
from qrt._ext.kernels import bind_conv2d, bind_gemm, microkernels
from qrt.errors import KernelError
from tests.kernels import drawn
from tests.kernels.draws import SIMD_ISAS

PRODUCTS = {
    "two panels and one block of 16 rows": (16, 32, 64),
    "a depth of 0": (33, 0, 97),
    "a vector without columns": (48, 128, 48),
    "a panel of one column over": (40, 130, 65),
    "one column": (40, 64, 1),
    "one row": (1, 512, 97),
    "a last block of one row": (33, 64, 64),
    "blocks that end past the rows": (47, 100, 40),
    "tiles that end past the rows": (23, 128, 64),
    "fewer rows than a tile": (15, 64, 130),
    "a block more than a group": (1057, 64, 33),
    "more panels than a group, the last in part": (33, 80, 545),
    "slices of K, the last in part": (40, 1340, 80),
    "whole slices of K": (33, 2048, 33),
    "K one step longer than a slice may be": (35, 1344, 33),
}
CONVOLUTIONS: dict[str, tuple[Any, ...]] = {
    "72 steps of K": ((4, 5), 512, 33, (3, 3), (1, 1), ((1, 1), (1, 1))),
    "more steps than the table of steps": ((3, 18), 4096, 17, (3, 3)),
    "gap columns, lines of 14": ((14, 14), 64, 40, (3, 3), (1, 1), ((1, 1), (1, 1))),
    "gap columns, lines of 5": ((9, 5), 64, 32, (3, 3), (1, 1), ((1, 1), (1, 1))),
    "gap columns where A is in place": ((9, 8), 64, 32, (2, 2)),
    "gap columns, every second pixel": ((9, 15), 64, 32, (3, 3), (2, 2), ((1, 1), (1, 1))),
    "gap columns, more padding left than right": ((6, 7), 64, 32, (2, 4), (1, 1), ((1, 0), (3, 0))),
    "gap columns, groups that end their pixels": ((5, 7), 32, 16, (2, 2), (1, 1), ((1, 1), (1, 1)), (1, 1), 2),
    "gap columns, more than a line has": ((20, 1), 64, 32, (1, 5), (1, 1), ((0, 0), (2, 2))),
    "lines of 20, which end past two tiles": ((5, 20), 48, 32, (3, 3), (1, 1), ((1, 1), (1, 1))),
    "lines shorter than a tile": ((3, 4), 48, 64, (3, 3)),
    "patches of 117, segments of 39": ((5, 20), 13, 40, (3, 3), (1, 1), ((1, 1), (1, 1))),
    "segments of 4 and a prime": ((5, 20), 29, 33, (2, 2)),
    "lines too long to copy": ((3, 16_503), 16, 17, (3, 3), (1, 1_100)),
    "first layer": ((20, 40), 3, 32, (3, 3), (2, 2), ((1, 1), (1, 1))),
    "three segments, results of one row together": ((6, 40), 16, 32, (3, 4), (1, 1), ((1, 1), (1, 1))),
    "four segments": ((7, 20), 8, 96, (4, 3)),
}
SEEDS = 10


@pytest.mark.parametrize("isa", SIMD_ISAS)
@pytest.mark.parametrize("name", PRODUCTS)
def test_products(isa: str, name: str) -> None:
    counts: Counter[str] = Counter()
    for seed in range(SEEDS):
        drawn.check(drawn.product(np.random.default_rng(seed), *PRODUCTS[name]), isa, counts)
    assert_all_took(isa, counts, PRODUCTS[name][1])


@pytest.mark.parametrize("isa", SIMD_ISAS)
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(isa: str, name: str) -> None:
    counts: Counter[str] = Counter()
    for seed in range(SEEDS // 2):
        drawn.check(drawn.convolution(np.random.default_rng(seed), *CONVOLUTIONS[name]), isa, counts)


def assert_all_took(isa: str, counts: Counter[str], depth: int) -> None:
    """But for tiles without rows."""
    taking = [name for name in microkernels(isa) if depth or not name.startswith("amx")]
    assert all(counts[name] for name in taking), counts


@pytest.mark.parametrize("isa", SIMD_ISAS)
def test_what_is_drawn(isa: str) -> None:
    counts: Counter[str] = Counter()
    for case in itertools.islice(drawn.draws(11, most_work=1e6), 200):
        drawn.check(case, isa, counts)
    assert all(counts[name] > 40 for name in microkernels(isa)), counts


CHOICES = {
    "one row by few columns": ((1, 640, 128), "avx512vnni"),
    "one row by a b that stays in L2": ((1, 1024, 1024), "amx-u8"),
    "one row by a b that does not": ((1, 2048, 1024), "avx512vnni"),
    "few products": ((16, 64, 64), "avx512vnni"),
    "few products of short K": ((32, 32, 64), "avx512vnni"),
    "sixteen rows": ((16, 768, 768), "amx-u8"),
    "short K": ((784, 32, 64), "amx-u8-short"),
    "a square": ((512, 512, 512), "amx-u8"),
}
WINDOWS = {
    "first layer": ((64, 64), 3, 32, (3, 3), (2, 2), "amx-u8-short"),
    "first layer of a small image": ((16, 16), 3, 32, (3, 3), (2, 2), "avx512vnni"),
    "16 channels, which leave half of a panel empty": ((32, 32), 16, 16, (3, 3), (1, 1), "avx512vnni"),
    "64 channels": ((28, 28), 64, 64, (3, 3), (1, 1), "amx-u8"),
}


@pytest.mark.skipif("amx" not in SIMD_ISAS, reason="make test-kernels ISA=amx emulates it")
@pytest.mark.parametrize("name", [*CHOICES, *WINDOWS])
def test_amx_leaves_what_it_serves_worse_to_its_ancestor(name: str) -> None:
    rng = np.random.default_rng(0)
    requant = numerics.requant_parameters("fixed", "i8", -128, 127, [(2.0**-11,)], [(1.0,)], [1])
    given: dict[str, Any] = {"requant": requant}
    if name in CHOICES:
        (m, k, n), expected = CHOICES[name]
        a, b = rng.integers(0, 256, (m, k), np.uint8), rng.integers(-128, 128, (k, n), np.int8)
        given |= {"a": "u8", "b": "i8", "m": m, "n": n, "k": k, "a_zero_points": [3], "b_zero_points": [0]}
        calls = [bind_gemm(isa=isa, b_constant=b, **given) for isa in ("ref", "amx")]
    else:
        image, channels, n, kernel, strides, expected = WINDOWS[name]
        a = rng.integers(0, 256, (1, *image, channels), np.uint8)
        w = rng.integers(-128, 128, (n, *kernel, channels), np.int8)
        given |= {"x": "u8", "w": "i8", "x_shape": a.shape, "w_shape": w.shape, "x_zero_point": 3}
        given |= {"w_zero_points": [0], "padding": ((1, 1), (1, 1)), "strides": strides, "dilations": (1, 1)}
        calls = [bind_conv2d(isa=isa, w_constant=w, groups=1, **given) for isa in ("ref", "amx")]
    outs = [np.empty(call.operand_shapes[-1], np.int8) for call in calls]
    for call, out in zip(calls, outs, strict=True):
        call(a, out)
    assert calls[1].microkernel == expected
    assert outs[0].tobytes() == outs[1].tobytes()


@pytest.mark.skipif("amx" not in SIMD_ISAS, reason="make test-kernels ISA=amx emulates it")
def test_a_plan_says_which_microkernel_was_chosen() -> None:
    q = "!quant.uniform<u8:f32, 0.5>"
    types = [f"tensor<{shape}x{q}>" for shape in ("1x640", "640x128", "512x512", "512x512")]
    program = compile_program(f"""func.func @main(%a: {types[0]}, %b: {types[1]}, %c: {types[2]}, %d: {types[3]})
        -> (tensor<1x128x{q}>, {types[2]}) {{
      %0 = qrt.matmul %a, %b : ({types[0]}, {types[1]}) -> tensor<1x128x{q}>
      %1 = qrt.matmul %c, %d : ({types[2]}, {types[3]}) -> {types[2]}
      return %0, %1 : tensor<1x128x{q}>, {types[2]} }}""")
    with kernels.use("amx"):
        details = [step.detail for step in program.coverage()]
    assert details == ["gemm (amx, avx512vnni)", "gemm (amx, amx-u8)"]


@pytest.mark.parametrize("isa", SIMD_ISAS[-1:])
def test_a_microkernel_that_is_wanted_is_bound_where_it_takes_the_call(isa: str) -> None:
    rng = np.random.default_rng(0)
    for name in microkernels(isa):
        cases = [drawn.product(rng, 4, 5, 6) for _ in range(20)]
        bound = {drawn.bind(case, isa, name).microkernel for case in cases}
        assert name in bound
    with pytest.raises(KernelError, match=f"unknown microkernel 'none', expected one of those of {isa}: "):
        drawn.bind(cases[0], isa, "none")
