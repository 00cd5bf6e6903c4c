"""The GEMM of every ISA against exact integers and qrt.numerics.

Hazards: 8-bit extremes that a 16-bit intermediate would saturate, K beyond what 32 bits hold, a bias near the end of 32
bits, tails in every dimension, empty dimensions, batches that share matrices, zero points per row and per column."""

import functools
import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt import numerics
from qrt._ext.kernels import KernelCall, bind_conv2d, bind_gemm, get_num_threads, set_num_threads
from qrt.errors import KernelError
from tests.kernels.draws import DTYPES, ISAS, Array, Storage, full, kernels, matmul_exact, requants, storages, stored

BIASES: dict[str, Any] = {"i32": np.int32, "i64": np.int64}
seeds = st.integers(0, 2**32 - 1)
sizes = st.sampled_from([0, 1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 17, 31, 32, 33, 47, 64, 65, 97])


def identity(storage: str = "i32") -> numerics.RequantParameters:
    """Stores the accumulator itself, saturated."""
    info = np.iinfo(DTYPES[storage])
    return numerics.requant_parameters("fixed", storage, int(info.min), int(info.max), [(1.0,)], [(1.0,)], [0])


def run(call: KernelCall, *operands: Array) -> Array:
    out = np.zeros(call.operand_shapes[-1], call.operand_dtypes[-1])
    call(*operands, out)
    return out


@pytest.mark.parametrize("isa", ISAS)
@kernels
@given(st.data())
def test_gemm(isa: str, data: st.DataObject) -> None:
    """8-bit and wider operands, every rule, parameters and zero points per layer, row or column."""
    a_type = data.draw(storages((2, 8)) | storages((2, 16)))
    b_type = data.draw(storages((2, 8)) | storages((2, 16)))
    m, n, k = data.draw(sizes), data.draw(sizes), data.draw(sizes)
    rng = np.random.default_rng(data.draw(seeds))
    a, b = stored(rng, a_type, (m, k)), stored(rng, b_type, (k, n))
    by_row, by_column = data.draw(st.booleans()), data.draw(st.booleans())
    za = stored(rng, a_type, (max(m, 1) if by_row else 1,)).astype(np.int64)
    zb = stored(rng, b_type, (max(n, 1) if by_column else 1,)).astype(np.int64)
    acc = matmul_exact(a.astype(np.int64) - za.reshape(-1, 1)[:m], b.astype(np.int64) - zb[:n])
    kind = data.draw(st.sampled_from([None, "i32", "i64"]))
    bias = None
    if kind is not None:
        limit = np.iinfo(BIASES[kind]).max >> data.draw(st.sampled_from([2, 16]))
        bias = rng.integers(-limit, limit, n, BIASES[kind], endpoint=True)
        acc = acc + bias
    step = data.draw(st.sampled_from([(0, 0, 0), (0, 1, 0), (0, 0, 1)]))
    requant = data.draw(requants(max(m, 1) if step[1] else max(n, 1) if step[2] else 1))
    constant, transposed, operand = data.draw(st.booleans()), data.draw(st.booleans()), data.draw(st.booleans())
    given_b = np.ascontiguousarray(b.T) if transposed else b
    call = bind_gemm(
        isa=isa, a=a_type.name, b=b_type.name, m=m, n=n, k=k, a_zero_points=za, b_zero_points=zb,
        a_zero_point_steps=(0, int(by_row)), b_zero_point_steps=(0, 0, int(by_column)), requant=requant,
        requant_steps=step, b_transposed=transposed, b_constant=given_b if constant else None,
        bias=kind if operand else bias,
    )  # fmt: skip
    operands = [a] + [given_b] * (not constant) + ([bias] if operand and bias is not None else [])
    index = step[1] * np.arange(m)[:, None] + step[2] * np.arange(n)
    expected = numerics.requantize(acc, requant, index)
    np.testing.assert_array_equal(run(call, *operands)[0], expected.astype(DTYPES[requant.storage]))


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("k", [1, 33_024, 33_025, 33_026, 40_000, 70_000])
@pytest.mark.parametrize(("a", "za"), [(0, 255), (255, 0)])
@pytest.mark.parametrize("constant", [False, True])
def test_nothing_wraps_in_a_long_sum(isa: str, k: int, a: int, za: int, constant: bool) -> None:
    """Every product is +-255 * 255: past K = 33025 the sum leaves 32 bits, and must still be exact."""
    for b, zb in ((0, 255), (255, 0)):
        left, right = np.full((3, k), a, np.uint8), np.full((k, 5), b, np.uint8)
        scale = (2.0**-8,)  # u32 holds the magnitude, i32 the sign
        requant = numerics.requant_parameters("fixed", "i32", -(2**31), 2**31 - 1, [scale], [(1.0,)], [0])
        call = bind_gemm(
            isa=isa, a="u8", b="u8", m=3, n=5, k=k, a_zero_points=[za], b_zero_points=[zb], requant=requant,
            b_constant=right if constant else None,
        )  # fmt: skip
        acc = np.array(k * (a - za) * (b - zb))
        out = run(call, left) if constant else run(call, left, right)
        assert (out == int(numerics.requantize(acc, requant))).all()


WIDE = {"i16": (-(2**15), 2**15 - 1), "u16": (0, 2**16 - 1), "i8": (-128, 127), "u8": (0, 255)}


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("k", [1, 33_024, 33_025, 33_026])
@pytest.mark.parametrize(("a_type", "b_type"), [("i16", "u8"), ("u8", "u16"), ("u16", "i16")])
def test_no_byte_of_a_long_sum_wraps(isa: str, k: int, a_type: str, b_type: str) -> None:
    """Up to K = 33025 operands of 16 bits are multiplied by their bytes, whose sums just fit 32 bits."""
    requant = numerics.requant_parameters("fixed", "i32", -(2**31), 2**31 - 1, [(2.0**-18,)], [(1.0,)], [0])
    for (a, za), (b, zb) in itertools.product((WIDE[a_type], WIDE[a_type][::-1]), (WIDE[b_type], WIDE[b_type][::-1])):
        left, right = np.full((3, k), a, DTYPES[a_type]), np.full((k, 5), b, DTYPES[b_type])
        call = bind_gemm(
            isa=isa, a=a_type, b=b_type, m=3, n=5, k=k, a_zero_points=[za], b_zero_points=[zb], requant=requant,
        )  # fmt: skip
        expected = numerics.requantize(np.array(k * (a - za) * (b - zb)), requant)
        assert (run(call, left, right) == int(expected)).all()


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("za", [-129, 128, -40_000, 65_000])
@pytest.mark.parametrize(("a_type", "b_type"), [("i8", "i8"), ("u8", "i16"), ("i16", "u8"), ("u8", "u8")])
def test_zero_points_beyond_a_byte(isa: str, za: int, a_type: str, b_type: str) -> None:
    """A difference from the zero point takes 16 bits, though the operand has 8: it has no bytes to be split into."""
    rng = np.random.default_rng(7)
    a, b = stored(rng, full(a_type), (5, 33)), stored(rng, full(b_type), (33, 17))
    requant = numerics.requant_parameters("fixed", "i32", -(2**31), 2**31 - 1, [(2.0**-8,)], [(1.0,)], [0])
    for points in ((za, 3), (3, za), (za, za)):
        call = bind_gemm(
            isa=isa, a=a_type, b=b_type, m=5, n=17, k=33, a_zero_points=[points[0]], b_zero_points=[points[1]],
            requant=requant,
        )  # fmt: skip
        acc = (a.astype(np.int64) - points[0]) @ (b.astype(np.int64) - points[1])
        np.testing.assert_array_equal(run(call, a, b)[0], numerics.requantize(acc, requant))


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("threads", [1, 3])
def test_blocks_of_16_bit_rows_meet(isa: str, constant: bool, threads: int) -> None:
    """Rows in several blocks, each with a zero point; matrices that batches share; sums on both sides of 32 bits."""
    before = get_num_threads()
    set_num_threads(threads)
    rng = np.random.default_rng(3)
    a, b = stored(rng, full("i16"), (2, 301, 130)), stored(rng, full("u16"), (2, 130, 40))
    a[:, ::3] >>= 8
    za, zb = rng.integers(-(2**15), 2**15, (2, 301)), rng.integers(0, 2**16, (2, 40))
    ia, ib = np.array([1, 0, 1]), np.array([0, 1, 1])
    bias = rng.integers(-(2**40), 2**40, 40)
    requant = numerics.requant_parameters("fixed", "i16", -(2**15), 2**15 - 1, [(2.0**-23,)], [(1.0,)], [7])
    try:
        call = bind_gemm(
            isa=isa, a="i16", b="u16", m=301, n=40, k=130, batch=3, a_matrices=2, b_matrices=2, a_index=ia, b_index=ib,
            a_zero_points=za, a_zero_point_steps=(301, 1), b_zero_points=zb, b_zero_point_steps=(40, 0, 1),
            requant=requant, bias=bias, b_constant=b if constant else None,
        )  # fmt: skip
        acc = (a.astype(np.int64) - za[:, :, None])[ia] @ (b.astype(np.int64) - zb[:, None, :])[ib] + bias
        out = run(call, *([a] if constant else [a, b]))
        np.testing.assert_array_equal(out, numerics.requantize(acc, requant))
    finally:
        set_num_threads(before)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("bias", [2**31 - 1, -(2**31), 2**31 - 1 - 4 * 128 * 128, 2**40])
def test_a_bias_near_the_end_of_32_bits(isa: str, bias: int) -> None:
    a = b = np.full((4, 4), -128, np.int8)
    requant = numerics.requant_parameters("fixed", "i32", -(2**31), 2**31 - 1, [(2.0**-12,)], [(1.0,)], [0])
    call = bind_gemm(
        isa=isa, a="i8", b="i8", m=4, n=4, k=4, a_zero_points=[0], b_zero_points=[0], requant=requant, bias="i64"
    )
    expected = numerics.requantize(np.array(bias + 4 * 128 * 128), requant)
    assert (run(call, a, b, np.full(4, bias)) == int(expected)).all()


@functools.cache
def large(m: int, n: int, k: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(1)
    a, b = stored(rng, full("i8"), (m, k)), stored(rng, full("u8"), (k, n))
    # Float products of 8-bit values are exact here, and quicker than NumPy's integer ones.
    return a, b, (a.astype(np.float64) - 3) @ (b.astype(np.float64) - 130)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_blocks_meet(isa: str, constant: bool, threads: int) -> None:
    """Sizes past every block of the loops: rows, columns and K in several blocks, the same bits on any thread count."""
    before = get_num_threads()
    set_num_threads(threads)
    try:
        for m, n, k in ((300, 70, 1100), (1, 1500, 3000), (37, 300, 17_000)):
            a, b, exact = large(m, n, k)
            call = bind_gemm(
                isa=isa, a="i8", b="u8", m=m, n=n, k=k, a_zero_points=[3], b_zero_points=[130], requant=identity(),
                b_constant=b if constant else None,
            )  # fmt: skip
            np.testing.assert_array_equal(run(call, *([a] if constant else [a, b]))[0], exact)
    finally:
        set_num_threads(before)


@pytest.mark.parametrize("isa", ISAS)
@kernels
@given(st.data())
def test_batches(isa: str, data: st.DataObject) -> None:
    """Broadcast batches: any matrix for any batch, zero points per matrix, parameters and bias per batch."""
    batch, mats_a, mats_b = data.draw(st.integers(0, 6)), data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    m, n, k = data.draw(st.integers(1, 20)), data.draw(st.integers(1, 40)), data.draw(st.integers(0, 40))
    rng = np.random.default_rng(data.draw(seeds))
    a, b = stored(rng, full("i8"), (mats_a, m, k)), stored(rng, full("u8"), (mats_b, k, n))
    ia, ib = rng.integers(0, mats_a, batch), rng.integers(0, mats_b, batch)
    za, zb = rng.integers(-128, 128, mats_a), rng.integers(0, 256, (mats_b, n))
    bias = rng.integers(-1000, 1000, (batch, n), np.int32)
    requant = data.draw(requants(max(batch, 1)))
    constant = data.draw(st.booleans())
    call = bind_gemm(
        isa=isa, a="i8", b="u8", m=m, n=n, k=k, batch=batch, a_matrices=mats_a, b_matrices=mats_b, a_index=ia,
        b_index=ib, a_zero_points=za, a_zero_point_steps=(1, 0), b_zero_points=zb, b_zero_point_steps=(n, 0, 1),
        requant=requant, requant_steps=(1, 0, 0), bias=bias.ravel() if batch else None, bias_batch_step=n,
        b_constant=b if constant else None,
    )  # fmt: skip
    acc = np.einsum("bmk,bkn->bmn", (a - za[:, None, None])[ia], (b - zb[:, None, :])[ib]) + bias[:, None, :]
    expected = numerics.requantize(acc, requant, np.arange(batch)[:, None, None])
    np.testing.assert_array_equal(run(call, *([a] if constant else [a, b])), expected)


@pytest.mark.parametrize("isa", ISAS)
@kernels
@given(st.data())
def test_sub_channel_weights(isa: str, data: st.DataObject) -> None:
    """Blocks along K with their own scales and zero points; the last block may be short."""
    rule = data.draw(st.sampled_from(["fixed", "float32"]))
    m, n, k = data.draw(st.integers(0, 5)), data.draw(st.integers(1, 9)), data.draw(st.integers(1, 40))
    block = data.draw(st.integers(1, k))
    blocks = -(-k // block)
    rng = np.random.default_rng(data.draw(seeds))
    b_type = data.draw(storages((2, 8)))
    a, b = stored(rng, full("i8"), (m, k)), stored(rng, b_type, (k, n))
    zb = stored(rng, b_type, (blocks, n)).astype(np.int64)
    requant = data.draw(requants(1, (rule,)))
    corrected = (a.astype(np.int64) + 5), b.astype(np.int64) - np.repeat(zb, block, axis=0)[:k]
    sums = [corrected[0][:, s : s + block] @ corrected[1][s : s + block] for s in range(0, k, block)]
    has_bias = data.draw(st.booleans())
    extra: dict[str, Any] = {}
    if rule == "fixed":
        multipliers = rng.integers(0, 2**31, (blocks, n))
        bias, bias_multipliers = rng.integers(-(2**40), 2**40, n), rng.integers(0, 2**31, n)
        extra = {"block_multiplier": multipliers}
        total = sum((s.astype(object) * p for s, p in zip(sums, multipliers, strict=True)), np.zeros((m, n), object))
        if has_bias:
            total = total + bias.astype(object) * bias_multipliers
            extra |= {"bias": bias, "bias_multiplier": bias_multipliers}
        unit = numerics.RequantParameters(
            rule, requant.storage, requant.storage_min, requant.storage_max, requant.zero_point, np.ones(1, np.int32),
            requant.shift, requant.scale_f32, requant.scale_f64,
        )  # fmt: skip
        expected = numerics.requantize(total, unit)
    else:
        scales = rng.uniform(0.001, 2, (blocks, n)).astype(np.float32)
        floats = np.zeros((m, n), np.float32)
        for s, scale in zip(sums, scales, strict=True):
            floats = floats + s.astype(np.float32) * scale
        extra = {"block_scale": scales}
        if has_bias:
            extra["bias"] = rng.normal(size=n).astype(np.float32) * 100
            floats = floats + extra["bias"]
        expected = numerics.round_scaled_float32(
            floats * requant.scale_f32[0], requant.zero_point[0], requant.storage_min, requant.storage_max
        )
    call = bind_gemm(
        isa=isa, a="i8", b=b_type.name, m=m, n=n, k=k, a_zero_points=[-5], b_zero_points=zb, b_constant=b,
        b_zero_point_steps=(0, n, 1), requant=requant, k_block=block, **extra,
    )  # fmt: skip
    np.testing.assert_array_equal(run(call, a)[0], expected.astype(DTYPES[requant.storage]))


@pytest.mark.parametrize("isa", ISAS)
def test_an_accumulator_beyond_64_bits_is_an_error(isa: str) -> None:
    a = np.full((1, 8), 2**32 - 1, np.uint32)
    call = bind_gemm(isa=isa, a="u32", b="u32", m=1, n=1, k=8, a_zero_points=[0], b_zero_points=[0], requant=identity())
    with pytest.raises(KernelError, match="gemm: the exact accumulator needs more than 64 bits"):
        run(call, a, a.reshape(8, 1))


@pytest.mark.parametrize("isa", ISAS)
def test_operands_and_outputs_at_any_address(isa: str) -> None:
    """Nothing outside the output is written, whatever its alignment; K and N are odd."""
    rng = np.random.default_rng(0)
    m, n, k = 13, 35, 67
    for offset in range(0, 70, 7):
        a = rng.integers(-128, 128, m * k + offset, dtype=np.int8)[offset:].reshape(m, k)
        b = rng.integers(-128, 128, k * n + offset, dtype=np.int8)[offset:].reshape(k, n)
        whole = np.full(m * n + 200, 99, np.int8)
        out = whole[offset : offset + m * n].reshape(m, n)
        requant = numerics.requant_parameters("fixed", "i8", -128, 127, [(2.0**-9,)], [(1.0,)], [1])
        call = bind_gemm(isa=isa, a="i8", b="i8", m=m, n=n, k=k, a_zero_points=[0], b_zero_points=[0], requant=requant)
        call(a, b, out)
        np.testing.assert_array_equal(out, numerics.requantize(a.astype(np.int64) @ b.astype(np.int64), requant))
        assert (whole[:offset] == 99).all()
        assert (whole[offset + m * n :] == 99).all()


def conv_exact(x: Array, w: Array, strides: Any, padding: Any, dilations: Any, groups: int) -> Array:
    """x and w without zero points, int64."""
    x = np.pad(x, ((0, 0), *padding, (0, 0)))
    o, kh, kw, cg = w.shape
    oh = max((x.shape[1] - (kh - 1) * dilations[0] - 1) // strides[0] + 1, 0)
    ow = max((x.shape[2] - (kw - 1) * dilations[1] - 1) // strides[1] + 1, 0)
    out = np.zeros((x.shape[0], oh, ow, o), np.int64)
    for i in range(kh if oh and ow else 0):
        for j in range(kw):
            rows = x[:, i * dilations[0] :: strides[0], j * dilations[1] :: strides[1]][:, :oh, :ow]
            for g in range(groups):
                outs = slice(g * (o // groups), (g + 1) * (o // groups))
                out[..., outs] += rows[..., g * cg : (g + 1) * cg] @ w[outs, i, j].T
    return out


@pytest.mark.parametrize("isa", ISAS)
@kernels
@given(st.data())
def test_conv2d(isa: str, data: st.DataObject) -> None:
    """Groups, strides, dilations, uneven padding filled with the zero point, 1x1 kernels, 16-bit inputs."""
    x_type = data.draw(st.sampled_from([full("i8"), full("u8"), full("i16"), Storage("i8", -8, 7)]))
    w_type = data.draw(st.sampled_from([full("i8"), full("u8"), Storage("i8", -1, 0)]))
    groups, cg, og = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 9)), data.draw(st.integers(1, 9))
    small = st.integers(1, 3)
    kernel, strides, dilations = ((data.draw(small), data.draw(small)) for _ in range(3))
    padding = tuple((data.draw(st.integers(0, 3)), data.draw(st.integers(0, 3))) for _ in range(2))
    x_shape = (data.draw(st.integers(0, 2)), data.draw(st.integers(1, 9)), data.draw(st.integers(1, 9)), groups * cg)
    rng = np.random.default_rng(data.draw(seeds))
    x, w = stored(rng, x_type, x_shape), stored(rng, w_type, (groups * og, *kernel, cg))
    zx = int(stored(rng, x_type, (1,))[0])
    zw = stored(rng, w_type, (data.draw(st.sampled_from([1, groups * og])),)).astype(np.int64)
    requant = data.draw(requants(data.draw(st.sampled_from([1, groups * og]))))
    bias = rng.integers(-(2**20), 2**20, groups * og, np.int32)
    constant = data.draw(st.booleans())
    call = bind_conv2d(
        isa=isa, x=x_type.name, w=w_type.name, x_shape=x_shape, w_shape=w.shape, x_zero_point=zx, w_zero_points=zw,
        requant=requant, strides=strides, padding=padding, dilations=dilations, groups=groups,
        w_constant=w if constant else None, bias=bias if constant else "i32",
    )  # fmt: skip
    difference = w.astype(np.int64) - zw.reshape(-1, 1, 1, 1)
    acc = conv_exact(x.astype(np.int64) - zx, difference, strides, padding, dilations, groups) + bias
    index = np.arange(groups * og) if len(requant.zero_point) > 1 else np.array(0)
    expected = numerics.requantize(acc, requant, index).astype(DTYPES[requant.storage])
    np.testing.assert_array_equal(run(call, *([x] if constant else [x, w, bias])), expected)
