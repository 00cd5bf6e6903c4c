"""Limits of the arithmetic by name, each on the reference, the kernels and the lowered program. Accumulators near 2**31
and past it stand in test_products.py, shifts and multipliers in test_casts.py and test_requantize.py."""

from itertools import product

import numpy as np
import pytest

from qrt import compile
from qrt.errors import ModelError, QuantTypeError, VerifyError
from qrt.ir import parse, run_passes
from qrt.numerics import REQUANT_RULES
from qrt.ops.accumulate import largest_depth
from qrt.types import UniformType
from tests.ir.passes.lower_qrt.harness import OPTIONS, check_lowered, lowered, program, run
from tests.ops import naive
from tests.ops.harness import check_kernels, reference, tensor
from tests.ops.strategies import storage_of

ENDS = ("storage_min", "storage_max")
WIDE_OUT = UniformType("i32", "f32", 0.125)


def at_end(storage: str, end: str, scale: float = 0.5) -> UniformType:
    t = UniformType(storage, "f32", scale)
    return t.with_(zero_points=getattr(t, end))


@pytest.mark.parametrize("ends", list(product(ENDS, ENDS)), ids="-".join)
@pytest.mark.parametrize("storages", [("i8", "u8"), ("u16", "i16"), ("i4", "u2")], ids="-".join)
def test_every_zero_point_at_an_end(storages: tuple[str, str], ends: tuple[str, str]) -> None:
    """Differences need a bit more than storage, unsigned ones a sign; padding stands for 0 and adds nothing."""
    ta, tw = (at_end(storage, end) for storage, end in zip(storages, ends, strict=True))
    tb, to = at_end("i16", ends[0], 0.25), at_end("i32", ends[1], 0.125)
    rng = np.random.default_rng(1)
    arrays = [storage_of(ta, (2, 3), rng), storage_of(tw, (3, 2), rng), storage_of(tb, (2,), rng)]
    types = [tensor((2, 3), ta), tensor((3, 2), tw), tensor((2,), tb)]
    got = check_lowered("matmul", arrays, types, to, options=OPTIONS[::3])
    np.testing.assert_array_equal(got, naive.matmul(*arrays[:2], ta, tw, to, "fixed", (2, 2), (arrays[2], tb)))
    x, w = storage_of(ta, (1, 2, 2, 1), rng), storage_of(tw, (2, 2, 2, 1), rng)
    window = {"padding": ((1, 0), (0, 1))}
    got = check_lowered(
        "conv2d", [x, w], [tensor(x.shape, ta), tensor(w.shape, tw)], to, options=OPTIONS[1:3], **window
    )
    np.testing.assert_array_equal(got, naive.conv2d(x, w, ta, tw, to, "fixed", window))


@pytest.mark.parametrize("rule", REQUANT_RULES)
@pytest.mark.parametrize("with_bias", [False, True])
def test_sums_of_nothing(rule: str, with_bias: bool) -> None:
    """K = 0: the zero point of the result, or what the bias alone makes."""
    ta, tw, tb = at_end("i8", "storage_min"), at_end("u8", "storage_max"), UniformType("i32", "f32", 0.25)
    to = UniformType("i8", "f32", 0.5, 7)
    bias = np.int32([-3, 0, 5])
    types = [tensor((2, 0), ta), tensor((0, 3), tw), tensor((3,), tb)]
    arrays = [np.empty((2, 0), np.int8), np.empty((0, 3), np.uint8), bias]
    count = 2 + with_bias
    got = check_lowered("matmul", arrays[:count], types[:count], to, requant=rule)
    wanted = {"float32": [5, 7, 9], "float64_away": [5, 7, 10]}.get(rule, [6, 7, 10])
    assert got.tolist() == [wanted if with_bias else [7, 7, 7]] * 2
    image, filters = np.empty((1, 2, 2, 0), np.int8), np.empty((3, 1, 1, 0), np.uint8)
    types = [tensor(image.shape, ta), tensor(filters.shape, tw), tensor((3,), tb)]
    got = check_lowered("conv2d", [image, filters, bias][:count], types[:count], to, requant=rule)
    assert got.reshape(4, 3).tolist() == [wanted if with_bias else [7, 7, 7]] * 4


@pytest.mark.parametrize("rule", REQUANT_RULES)
@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0])
def test_outputs_saturate(rule: str, scale: float) -> None:
    """To bounds within the storage type, with zero points at both, from sums far beyond them and just inside."""
    t, a = UniformType("i8", "f32", 1.0, 0), np.int8([[-128, 127], [1, 0], [-1, 0], [127, -128]])
    w = np.int8([[127, 1], [-128, 0]])
    for storage, low, high in (("i8", -100, 90), ("u8", 3, 200), ("i4", -8, 7)):
        for zero_point in (low, high):
            to = UniformType(storage, "f32", scale, zero_point, storage_min=low, storage_max=high)
            types = [tensor(a.shape, t), tensor(w.shape, t)]
            got = check_lowered("matmul", [a, w], types, to, options=OPTIONS[:1], requant=rule)
            assert {low, high} <= {*got.ravel().tolist()}


@pytest.mark.parametrize("rule", REQUANT_RULES)
@pytest.mark.parametrize("ratios", [(2.0**37,), (2.0**46, 0.3, 2.0**-70), (3e13, 2.0**31, 1.0)], ids=str)
def test_a_bias_far_above_the_accumulator(rule: str, ratios: tuple[float, ...]) -> None:
    """Its rescaled values have up to 62 bits, all of which the result may show: none may saturate on the way."""
    unit = 1e-9
    t, out = UniformType("i8", "f32", unit**0.5), UniformType("i32", "f32", unit * 2.0**29)
    scales = [unit * ratio for ratio in ratios]
    tb = UniformType("i16", "f32", scales if len(scales) > 1 else scales[0], axis=0 if len(scales) > 1 else None)
    arrays = [np.int8([[1, -2]]), np.int8([[3, 4, 5], [6, 7, 8]]), np.int16([-32768, 7, 1000])]
    types = [tensor((1, 2), t), tensor((2, 3), t), tensor((3,), tb)]
    got = check_lowered("matmul", arrays, types, out, [(), (2,)], options=OPTIONS[:1], requant=rule)
    np.testing.assert_array_equal(got, naive.matmul(*arrays[:2], t, t, out, rule, (1, 3), (arrays[2], tb)))


@pytest.mark.parametrize("exponent", [46, 47, 61, 62])
def test_a_bias_of_more_than_62_bits_is_refused(exponent: int) -> None:
    """Of its type where it is given at each run, which has 16 bits; of its values where they are constant, here 1."""
    t, tb = UniformType("i8", "f32", 2.0**-40), UniformType("i16", "f32", 2.0 ** (exponent - 80))
    arrays = [np.int8([[0]]), np.int8([[0]]), np.int16([1])]
    types = [tensor((1, 1), t), tensor((1, 1), t), tensor((1,), tb)]
    for fixed, limit in (((), 47), ((2,), 62)):
        text = program("matmul", arrays, types, tensor((1, 1), WIDE_OUT), fixed)
        if exponent < limit:
            assert "qrt.matmul" not in str(lowered(text))
            continue
        with pytest.raises(VerifyError, match="the bias overflows 64 bits"):
            lowered(text)


def test_a_bias_is_shifted_by_more_than_30_places() -> None:
    """Its multiplier is `2**30 << 31`; the result is `2**29`."""
    t, tb, out = (UniformType(of, "f32", 2.0**scale) for of, scale in (("i8", -40), ("i16", -19), ("i32", -48)))
    arrays = [np.int8([[0]]), np.int8([[0]]), np.int16([1])]
    types = [tensor((1, 1), t), tensor((1, 1), t), tensor((1,), tb)]
    got = check_lowered("matmul", arrays, types, out, [(2,)], options=OPTIONS[:1], requant="fixed")
    assert got.tolist() == [[1 << 29]]


@pytest.mark.parametrize(("scale", "is_refused"), [(3.4e38, True), (1e34, False)])
def test_sums_of_blocks_that_may_leave_float32_are_refused(scale: float, is_refused: bool) -> None:
    """Two infinities would make a NaN, which no storage stands for."""
    ta, tw = UniformType("i8", "f32", 1.0), UniformType("i8", "f32", [[scale], [scale]], block_sizes={0: 1})
    arrays = [np.int8([[2, -2], [127, 127]]), np.int8([[2], [2]])]
    types = [tensor((2, 2), ta), tensor((2, 1), tw)]
    out = UniformType("i8", "f32", 1.0, 3)
    if not is_refused:
        got = check_lowered("matmul", arrays, types, out, requant="float32")
        assert got.tolist() == [[3], [127]]
        return
    for call in (reference, check_kernels):
        with pytest.raises(QuantTypeError, match="may exceed the range of float32: use requant = 'fixed'"):
            call("matmul", arrays, types, out, requant="float32")
    with pytest.raises(VerifyError, match="may exceed the range of float32: use"):
        lowered(program("matmul", arrays, types, tensor((2, 1), out), requant="float32"))


@pytest.mark.parametrize(
    ("storage", "rule", "with_bias", "most"),
    [
        ("i32", "fixed", False, 0),  # one product may have 62 bits
        ("u16", "float32", False, (2**62 - 1) // 65535**2),
        ("u24", "fixed_double", False, (2**62 - 1) // (2**24 - 1) ** 2),
        ("u24", "fixed", True, (2**62 - 1 - 2**31) // (2**24 - 1) ** 2),
    ],
)
def test_a_depth_that_is_not_known_is_asserted(storage: str, rule: str, with_bias: bool, most: int) -> None:
    """It is refused when it runs, as the op itself refuses it: a sum that wraps is no result."""
    t, tb = UniformType(storage, "f32", 1.0), UniformType("i32", "f32", 1.0)
    out = UniformType("i32", "f32", 1e9)
    assert largest_depth(t, t, tb if with_bias else None) == most
    types = [tensor((1, None), t), tensor((None, 1), t), *([tensor((1,), tb)] if with_bias else [])]
    bias = [np.int32([0])] if with_bias else []
    for depth in (most, most + 1):
        if depth > 1 << 20:
            continue  # 1 GiB of operands
        line = np.zeros((1, depth), storage_of(t, (1,), np.random.default_rng(0)).dtype)
        arrays = [line, line.T.copy(), *bias]
        text = program("matmul", arrays, types, tensor((1, 1), out), requant=rule)
        for module, interpret in product((parse(text), lowered(text)), (False, True)):
            if depth <= most:
                assert run(module, arrays, interpret).tolist() == [[0]]
                continue
            with pytest.raises(ModelError, match="accumulator"):
                run(module, arrays, interpret)


@pytest.mark.parametrize("options", ["", "{to=loops}"])
@pytest.mark.parametrize("sizes", [(1, 5), (5, 1)])
@pytest.mark.parametrize("declared", ["?", "5"])
@pytest.mark.parametrize("op", ["add", "sub", "mul", "matmul"])
def test_an_open_dimension_of_size_1_is_no_broadcast(
    op: str, declared: str, sizes: tuple[int, int], options: str
) -> None:
    """Loops over the sizes of the first operand gave one value of five, or read beyond the end of memory."""
    first, second = ("?", declared) if sizes[0] == 1 else (declared, "?")
    types = [f"tensor<{size}x1x1x!quant.uniform<i8:f32, 0.5>>" for size in (first, second, declared)]
    text = f"""func.func @main(%x: {types[0]}, %y: {types[1]}) -> {types[2]} {{
      %0 = qrt.{op} %x, %y : ({types[0]}, {types[1]}) -> {types[2]}
      return %0 : {types[2]}
    }}"""
    inputs = {f"arg{i}": np.ones((size, 1, 1), np.int8) for i, size in enumerate(sizes)}
    assert next(iter(compile(text).run(inputs).values())).shape == (5, 1, 1)
    made = compile(run_passes(parse(text), f"lower-qrt{options}"))
    for interpret in (False, True):
        with pytest.raises(ModelError, match=r"two dimensions that must be equal differ|shapes disagree"):
            made.run(inputs, interpret=interpret)
