"""QuantizeLinear and DequantizeLinear in every form, beside NumPy."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from qrt.errors import ModelError
from tests.models.onnx.running import has_oracle, imported, run, run_oracle
from tests.models.onnx.writing import DTYPES, model, node, port, tensor

BOUNDS = {
    "INT8": (-128, 127), "UINT8": (0, 255), "INT16": (-32768, 32767), "UINT16": (0, 65535), "INT4": (-8, 7),
    "UINT4": (0, 15), "INT2": (-2, 1), "UINT2": (0, 3),
}  # fmt: skip
SHAPE = (3, 4, 10)


def drawn(shape: tuple[int, ...] = SHAPE) -> Any:
    """Floats with ties, infinities and large numbers among them."""
    rng = np.random.default_rng(7)
    x = rng.normal(0, 3, shape).astype(np.float32)
    x.flat[:6] = [0.125, -0.125, 0.375, np.inf, -np.inf, 1e30]
    return x


def expected(x: Any, scale: Any, zero: Any, bounds: tuple[int, int]) -> Any:
    """x / scale in float32, rounded half to even, the zero point after."""
    with np.errstate(over="ignore", invalid="ignore"):
        quotient = np.rint(np.asarray(x / scale, np.float32).astype(np.float64))
    return np.clip(quotient + zero, *bounds).astype(np.int64)


def parameters(form: str, dtype: str) -> tuple[Any, Any, dict[str, int]]:
    """(scales, zero points, attributes) of a form, and how they broadcast."""
    rng = np.random.default_rng(3)
    low, high = BOUNDS[dtype]
    shape, more = {
        "tensor": ((), {}), "axis": ((4,), {"axis": 1}), "blocks": ((3, 4, 2), {"axis": 2, "block_size": 5}),
    }[form]  # fmt: skip
    scale = rng.uniform(0.1, 0.6, shape).astype(np.float32)
    return scale, rng.integers(low, high, shape, endpoint=True), more


def spread(form: str, values: Any) -> Any:
    if form == "axis":
        return values.reshape(1, 4, 1)
    return np.repeat(values, 5, axis=2) if form == "blocks" else values


@pytest.mark.parametrize("form", ["tensor", "axis", "blocks"])
@pytest.mark.parametrize("dtype", BOUNDS)
def test_quantize_and_dequantize(dtype: str, form: str) -> None:
    x, (scale, zero, more) = drawn(), parameters(form, dtype)
    version: Any = {"opset": 25, "ir_version": 13} if dtype.endswith("T2") else {"opset": 21}
    constants = {"s": scale, "z": tensor("z", zero, dtype)}
    nodes = [node("QuantizeLinear", ["x", "s", "z"], ["q"], **more),
             node("DequantizeLinear", ["q", "s", "z"], ["y"], **more)]  # fmt: skip
    q, y = run(model(nodes, [port("x", shape=SHAPE)], [port("q", dtype), port("y")], constants, **version), x=x)
    stored = expected(x, spread(form, scale), spread(form, zero), BOUNDS[dtype])
    np.testing.assert_array_equal(q.astype(np.int64), stored)
    wide = (stored - spread(form, zero)).astype(np.float32) * spread(form, scale)
    np.testing.assert_array_equal(y, wide)
    if has_oracle():  # which gives no integers of 4 bits away
        content = model(nodes, [port("x", shape=SHAPE)], [port("y")], constants, **version)
        x = np.clip(x, -1e4, 1e4)  # beyond the range of int32 its blocks of 4 bits wrap around
        np.testing.assert_array_equal(run(content, x=x)[0], run_oracle(content, {"x": x})[0])


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("form", ["tensor", "axis"])
@pytest.mark.parametrize("dtype", ["INT8", "UINT8", "INT16", "UINT16"])
def test_scales_that_the_run_knows(dtype: str, form: str, given: bool) -> None:
    """The scale , but the zero point are inputs of the graph."""
    x, (scale, zero, more) = drawn(), parameters(form, dtype)
    zero = zero.astype(dtype.lower())
    names = ["s", "z"] if given else ["s"]
    nodes = [node("QuantizeLinear", ["x", *names], ["q"], **more),
             node("DequantizeLinear", ["q", *names], ["y"], **more)]  # fmt: skip
    inputs = [port("x", shape=SHAPE), port("s", shape=scale.shape)]
    values = {"x": x, "s": scale}
    if given:
        inputs.append(port("z", dtype, zero.shape))
        values["z"] = zero
    if not given:
        zero = np.zeros_like(zero)
        if dtype != "UINT8":
            return  # without a zero point the result is uint8
    q, y = run(model(nodes, inputs, [port("q", dtype), port("y")], opset=21), **values)
    stored = expected(x, spread(form, scale), spread(form, zero.astype(np.int64)), BOUNDS[dtype])
    np.testing.assert_array_equal(q.astype(np.int64), stored)
    wide = (stored - spread(form, zero.astype(np.int64))).astype(np.float32) * spread(form, scale)
    np.testing.assert_array_equal(y, wide)


KINDS = {"FLOAT8E4M3FN": "float8_e4m3fn", "FLOAT8E5M2": "float8_e5m2",
         "FLOAT8E4M3FNUZ": "float8_e4m3fnuz", "FLOAT8E5M2FNUZ": "float8_e5m2fnuz"}  # fmt: skip


@pytest.mark.parametrize("saturate", [0, 1])
@pytest.mark.parametrize("dtype", ["FLOAT8E4M3FN", "FLOAT8E5M2", "FLOAT8E4M3FNUZ", "FLOAT8E5M2FNUZ"])
def test_float8(dtype: str, saturate: int) -> None:
    kind = np.dtype(getattr(ml_dtypes, KINDS[dtype]))
    x = np.random.default_rng(1).normal(0, 100, (4, 50)).astype(np.float32)
    x[0, :2] = 1e6, -1e6
    scale = np.float32(0.25)
    nodes = [node("QuantizeLinear", ["x", "s", "z"], ["q"], saturate=saturate),
             node("DequantizeLinear", ["q", "s"], ["y"])]  # fmt: skip
    content = model(nodes, [port("x", shape=x.shape)], [port("q", dtype), port("y")],
                    {"s": scale, "z": tensor("z", np.float32(0), dtype)}, opset=19)  # fmt: skip
    q, y = run(content, x=x)
    quotient = x / scale
    if saturate:
        largest = np.float32(ml_dtypes.finfo(kind).max)
        quotient = np.clip(quotient, -largest, largest)
    stored = quotient.astype(kind)
    np.testing.assert_array_equal(q.astype(np.float32), stored.astype(np.float32))
    np.testing.assert_array_equal(y, stored.astype(np.float32) * scale)


@pytest.mark.parametrize("saturate", [0, 1])
@pytest.mark.parametrize("dtype", ["FLOAT8E4M3FN", "FLOAT8E5M2", "FLOAT8E4M3FNUZ", "FLOAT8E5M2FNUZ"])
@pytest.mark.parametrize("source", ["FLOAT", "FLOAT16"])
def test_casts_of_float8(source: str, dtype: str, saturate: int) -> None:
    """Numbers of every size, halves between two of the format, infinities, and zeros with a sign."""
    largest = float(ml_dtypes.finfo(getattr(ml_dtypes, KINDS[dtype])).max)
    x = np.random.default_rng(2).normal(0, 1, 400) * 2.0 ** np.random.default_rng(3).integers(-18, 17, 400)
    edges = [0.0, -0.0, np.inf, -np.inf, np.nan, largest, largest * 1.0625, largest * 2, 1.0625, 1.1875, 2.0**-17]
    with np.errstate(over="ignore"):
        x = np.concatenate([x, edges]).astype(np.float32 if source == "FLOAT" else np.float16)
    nodes = [node("Cast", ["x"], ["q"], to=DTYPES[dtype], saturate=saturate), node("Cast", ["q"], ["y"], to=1)]
    content = model(nodes, [port("x", source, x.shape)], [port("y")], {}, opset=19)
    (found,) = run(content, x=x)
    wide = x.astype(np.float32)
    wanted = (np.clip(wide, -largest, largest) if saturate else wide).astype(KINDS[dtype]).astype(np.float32)
    np.testing.assert_array_equal(found, wanted)
    if has_oracle():
        (theirs,) = run_oracle(content, {"x": x})
        # The runtime makes a NaN of what rounds to 2^16, and ONNX says that it is an infinity.
        is_odd = np.isnan(theirs) & np.isinf(found) & (np.abs(wide) < 2.0**16) & (dtype == "FLOAT8E5M2")
        np.testing.assert_array_equal(np.where(is_odd, theirs, found), theirs)


@pytest.mark.parametrize("to", ["INT8", "UINT8", "INT64", "DOUBLE", "BFLOAT16"])
def test_casts_of_float8_to_other_numbers(to: str) -> None:
    nodes = [node("Cast", ["x"], ["q"], to=DTYPES["FLOAT8E5M2"]), node("Cast", ["q"], ["y"], to=DTYPES[to])]
    content = model(nodes, [port("x", shape=(6,))], [port("y", to)], opset=19)
    x = np.float32([0.3, 1.6, 2.6, 100, 57, 0])
    rounded = x.astype(ml_dtypes.float8_e5m2).astype(np.float32)
    (y,) = run(content, x=x)
    wanted: Any = {"DOUBLE": np.float64, "BFLOAT16": ml_dtypes.bfloat16}.get(to, to.lower())
    assert np.asarray(y).astype(np.float64).tolist() == rounded.astype(wanted).astype(np.float64).tolist()


def test_a_bias_of_int32() -> None:
    w, scale = np.arange(-5, 7, dtype=np.int32).reshape(3, 4), np.float32([0.5, 0.25, 2, 1])
    content = model([node("DequantizeLinear", ["w", "s"], ["y"], axis=-1)], [], [port("y")], {"w": w, "s": scale})
    np.testing.assert_array_equal(run(content)[0], w * scale)


def test_the_output_type_of_opset_21() -> None:
    x = drawn()
    content = model([node("QuantizeLinear", ["x", "s"], ["q"], output_dtype=DTYPES["INT16"])],
                    [port("x", shape=SHAPE)], [port("q", "INT16")], {"s": np.float32(0.01)}, opset=21)  # fmt: skip
    np.testing.assert_array_equal(run(content, x=x)[0], expected(x, np.float32(0.01), 0, BOUNDS["INT16"]))


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("form", ["tensor", "axis", "blocks"])
@pytest.mark.parametrize("dtype", ["INT4", "UINT8", "INT16"])
def test_negative_scales(dtype: str, form: str, is_known: bool) -> None:
    """ONNX Runtime's quantizer of blocks writes them, and 0 for blocks of zeros."""
    x, (scale, zero, more) = np.clip(drawn(), -1e4, 1e4), parameters(form, dtype)
    scale = scale * np.where(np.arange(scale.size).reshape(scale.shape) % 3, 1, -1).astype(np.float32)
    stored = np.random.default_rng(0).integers(*BOUNDS[dtype], SHAPE, endpoint=True)
    for type, given in (("QuantizeLinear", x), ("DequantizeLinear", stored)):
        constants = {"s": scale, "z": tensor("z", zero, dtype)}
        if type == "DequantizeLinear":
            constants["s"] = scale * (np.arange(scale.size).reshape(scale.shape) % 5 != 1)
        kind = "FLOAT" if type == "QuantizeLinear" else dtype
        ports, name = [port("x", kind, SHAPE)], "x"
        inputs = {"x": given}
        if is_known:
            constants["x"], ports = tensor("x", given, kind), [port("n", shape=(1,))]
            inputs = {"n": np.zeros(1, np.float32)}
        elif kind == "INT4":
            ports, name, inputs = [port("w", "INT8", SHAPE)], "x", {"w": given.astype(np.int8)}
        else:
            inputs = {"x": given.astype(np.float32 if kind == "FLOAT" else kind.lower())}
        nodes = [node("Cast", ["w"], ["x"], to=DTYPES["INT4"])] if "w" in inputs else []
        nodes += [node(type, [name, "s", "z"], ["q"], **more), node("Cast", ["q"], ["f"], to=DTYPES["FLOAT"])]
        nodes += [node("Add", ["f", "n"], ["y"])] if is_known else [node("Identity", ["f"], ["y"])]
        content = model(nodes, ports, [port("y")], constants, opset=21)
        (y,) = run(content, **inputs)
        if has_oracle():
            np.testing.assert_array_equal(y, run_oracle(content, inputs)[0])


@pytest.mark.parametrize(
    ("scale", "zero", "more", "said"),
    [
        (np.float32(0), np.int8(0), {}, "the scale 's' must be a positive finite number, got 0.0"),
        (np.float32(np.nan), np.int8(0), {}, "the scale 's' must be a positive finite number, got nan"),
        (np.float32([1, -1, 0, 1]), np.int8([0] * 4), {}, r"the scale 's' must be a positive finite number, got"),
        (np.float32([1, 1]), np.int8([0, 0]), {}, r"the scales must have the shape \(4,\) for axis 1"),
        (
            np.float32([1] * 4),
            np.int8([0] * 3),
            {},
            r"the scale and the zero point must have the same shape, got \(4,\) and \(3,\)",
        ),
        (np.float32([1] * 4), np.int8([0] * 4), {"axis": 3}, "the axis must be from -3 to 2, got 3"),
        (np.float32([[[1]]]), np.int8([[[0]]]), {"axis": 2, "block_size": 4}, "for blocks of 4 along axis 2"),
        (np.float32(1), np.float32(0), {}, "to float"),
    ],
)
def test_parameters_that_are_wrong(scale: Any, zero: Any, more: dict[str, int], said: str) -> None:
    content = model([node("QuantizeLinear", ["x", "s", "z"], ["q"], name="n", **more)],
                    [port("x", shape=SHAPE)], [port("q", "INT8")], {"s": scale, "z": zero}, opset=21)  # fmt: skip
    with pytest.raises(ModelError, match=said):
        imported(content)


STRANGE = [np.nan, np.inf, -np.inf, 1.0, 1e30, -1e30]


@pytest.mark.parametrize("count", [1, 3, 7, 8, 16, 33])
@pytest.mark.parametrize(("dtype", "zero"), [("INT8", 7), ("INT8", -7), ("UINT8", 7), ("INT16", -300), ("UINT16", 9)])
def test_a_nan_is_stored_as_the_zero_point(dtype: str, zero: int, count: int) -> None:
    """And by the runtime as the least integer; what else is beyond the integers is stored as the end of them in both,
    wherever it stands.
    """
    x = np.float32(STRANGE).repeat(count).reshape(-1)
    constants = {"s": np.float32(0.5), "z": tensor("z", np.asarray(zero), dtype)}
    made = [node("QuantizeLinear", ["x", "s", "z"], ["q"])]
    content = model(made, [port("x", shape=x.shape)], [port("q", dtype)], constants, opset=21)
    (q,) = run(content, x=x)
    least, greatest = BOUNDS[dtype]
    stored = [zero, greatest, least, zero + 2, greatest, least]
    assert q.reshape(-1, count).T.tolist() == [stored] * count
    if has_oracle():
        theirs = run_oracle(content, {"x": x})[0]
        assert theirs.reshape(-1, count).T.tolist() == [[least, *stored[1:]]] * count


@pytest.mark.parametrize(("dtype", "zero"), [("INT8", 7), ("INT8", -7), ("UINT8", 7), ("INT16", -300)])
def test_of_float16_the_runtime_stores_one_end_for_all_that_is_no_number(dtype: str, zero: int) -> None:
    """The least integer, or the greatest where the zero point is below 0."""
    x = np.float16([np.nan, np.inf, -np.inf, 1.0])
    constants = {"s": np.float16(0.5), "z": tensor("z", np.asarray(zero), dtype)}
    made = [node("QuantizeLinear", ["x", "s", "z"], ["q"])]
    content = model(made, [port("x", "FLOAT16", x.shape)], [port("q", dtype)], constants, opset=21)
    least, greatest = BOUNDS[dtype]
    assert run(content, x=x)[0].tolist() == [zero, greatest, least, zero + 2]
    if has_oracle():
        end = greatest if zero < 0 else least
        assert run_oracle(content, {"x": x})[0].tolist() == [end, end, end, zero + 2]


@pytest.mark.parametrize("scale", [0.5, -0.5, 0.0, np.inf, np.nan])
@pytest.mark.parametrize("dtype", ["INT8", "UINT8", "INT16", "UINT16"])
def test_with_a_scale_of_the_run_every_float_is_stored_as_the_runtime_stores_it(dtype: str, scale: float) -> None:
    x = np.float32([*STRANGE, 0.0] * 5)
    made = [node("QuantizeLinear", ["x", "s", "z"], ["q"])]
    inputs = [port("x", shape=x.shape), port("s", shape=()), port("z", dtype, ())]
    content = model(made, inputs, [port("q", dtype)], opset=21)
    given = {"x": x, "s": np.asarray(scale, np.float32), "z": np.asarray(7, dtype.lower())}
    (q,) = run(content, **given)
    assert q[0] == BOUNDS[dtype][0]
    if has_oracle():
        np.testing.assert_array_equal(q, run_oracle(content, given)[0])


DYNAMIC = [
    ([np.nan, 1, 2, 3], [0, 85, 170, 255], 3 / 255, 0),
    ([1, 2, np.nan, 3], [85, 170, 0, 255], 3 / 255, 0),
    ([np.nan, -1, -2], [0, 128, 0], 2 / 255, 255),
    ([np.nan], [0], 1, 0),
    ([0, 0, np.nan], [0, 0, 0], 1, 0),
    ([np.inf, 1, 2], [0, 0, 0], np.inf, 0),
    ([-np.inf, 1, 2], [0, 255, 255], np.inf, 255),
    ([np.inf, -np.inf, 0], [0, 0, 255], np.inf, 255),
    ([np.nan, -np.inf, 1], [0, 0, 255], np.inf, 255),
    ([1e-45, 0, 0], [255, 0, 0], 0, 255),  # the scale is 0
    ([3e38, -3e38, 1], [0, 0, 0], np.inf, 0),
]


@pytest.mark.parametrize(("values", "stored", "scale", "zero"), DYNAMIC)
def test_what_is_no_number_in_a_range_of_the_run(values: Any, stored: Any, scale: float, zero: int) -> None:
    """A NaN is left out and stored as 0; a zero point that is a NaN is the largest."""
    x = np.float32(values)
    outputs = [port("q", "UINT8"), port("s"), port("z", "UINT8")]
    made = [node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"])]
    content = model(made, [port("x", shape=x.shape)], outputs)
    results = run(content, x=x)
    assert results[0].tolist() == stored
    assert (results[1], results[2]) == (np.float32(scale), zero)
    if has_oracle():
        for ours, theirs in zip(results, run_oracle(content, {"x": x}), strict=True):
            np.testing.assert_array_equal(ours, theirs)
