"""Floats of 4 and 6 bits, and float8e8m0 as scales: beside the reference evaluator of the package `onnx`, because ONNX
Runtime has no kernels. Hazards: a tie, a NaN and an infinity, which float4 has not, a last block that is not whole."""

from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from qrt.errors import ModelError
from tests.models.onnx.running import imported, run
from tests.models.onnx.writing import DTYPES, model, node, port

X = np.float32(
    [0, -0.0, 0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, 5.5, 7, -0.25, -2.5, -9, 1e-40, 1e38, np.inf, -np.inf, np.nan, 0.2]
)
EVERY = np.arange(16, dtype=np.uint8).view(ml_dtypes.float4_e2m1fn)
SMALL = {
    "FLOAT4E2M1": EVERY,
    "FLOAT6E2M3": np.arange(64, dtype=np.uint8).view(ml_dtypes.float6_e2m3fn),
    "FLOAT6E3M2": np.arange(64, dtype=np.uint8).view(ml_dtypes.float6_e3m2fn),
}
"""Every number of the types without infinities and NaNs."""
NEAR_HALVES = np.float32([0.0625, 0.03125, 0.09375, 0.1875, 1.0625, 1.1875, 7.25, 7.75, 26, 27.9, 30, 1e-3, -3.4])


def _same(content: bytes, **given: Any) -> None:
    with np.errstate(all="ignore"):
        wanted = ReferenceEvaluator(onnx.load_from_string(content)).run(None, given)
    for ours, theirs in zip(run(content, **given), wanted, strict=True):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("target", SMALL)
@pytest.mark.parametrize("source", ["FLOAT", "FLOAT16", "DOUBLE", "BFLOAT16", "INT32", "INT8", "UINT8"])
def test_a_cast_to_small_floats(source: str, target: str) -> None:
    dtype = onnx.helper.tensor_dtype_to_np_dtype(DTYPES[source])
    with np.errstate(over="ignore"):
        x = (
            np.resize(np.append(X, NEAR_HALVES), 33).astype(dtype)
            if "FLOAT" in source or source == "DOUBLE"
            else np.arange(33).astype(dtype)
        )
    made = node("Cast", ["x"], ["y"], to=DTYPES[target])
    _same(model([made], [port("x", source, x.shape)], [port("y", target)], opset=28, ir_version=13), x=x)


@pytest.mark.parametrize("source", SMALL)
@pytest.mark.parametrize("target", ["FLOAT", "FLOAT16", "DOUBLE", "BFLOAT16", "INT32", "INT8", "FLOAT8E4M3FN"])
def test_a_cast_from_small_floats(source: str, target: str) -> None:
    made, x = node("Cast", ["x"], ["y"], to=DTYPES[target]), SMALL[source]
    content = model([made], [port("x", source, x.shape)], [port("y", target)], opset=28, ir_version=13)
    _same(content, x=x)


@pytest.mark.parametrize("is_raw", [False, True])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 64])
@pytest.mark.parametrize("dtype", ["FLOAT6E2M3", "FLOAT6E3M2"])
def test_constants_of_float6(dtype: str, count: int, is_raw: bool) -> None:
    """In a file's bytes an element may lie in two bytes; in its numbers it has one of its own."""
    values = np.resize(SMALL[dtype][::-1], count)
    if is_raw:
        constant = onnx.numpy_helper.from_array(values, "c")
    else:
        constant = onnx.helper.make_tensor("c", DTYPES[dtype], [count], values.astype(np.float32).tolist())
        assert len(constant.int32_data) == count
    nodes = [node("Cast", ["c"], ["f"], to=DTYPES["FLOAT"]), node("Add", ["f", "x"], ["y"])]
    content = model(nodes, [port("x", shape=(1,))], [port("y")], {"c": constant}, opset=28, ir_version=13)
    (result,) = run(content, x=np.zeros(1, np.float32))
    np.testing.assert_array_equal(result, values.astype(np.float32))


@pytest.mark.parametrize("dtype", SMALL)
@pytest.mark.parametrize(("shape", "more"), [((), {}), ((4,), {"axis": 0}), ((4, 2), {"axis": 1, "block_size": 3})])
def test_small_floats_with_scales(shape: tuple[int, ...], more: dict[str, int], dtype: str) -> None:
    scale = np.random.default_rng(0).uniform(0.1, 2, shape).astype(np.float32)
    x = np.nan_to_num(np.resize(X, (4, 6)), nan=3, posinf=9, neginf=-9)
    said = {"output_dtype": DTYPES[dtype], **more}
    made = node("QuantizeLinear", ["x", "s"], ["y"], **said)
    ports = [port("x", shape=(4, 6))], [port("y", dtype)]
    _same(model([made], *ports, {"s": scale}, opset=28, ir_version=13), x=x)
    stored = np.resize(SMALL[dtype][::-3], (4, 6))
    made = node("DequantizeLinear", ["x", "s"], ["y"], **more)
    ports = [port("x", dtype, (4, 6))], [port("y")]
    _same(model([made], *ports, {"s": scale}, opset=28, ir_version=13), x=stored)


@pytest.mark.parametrize("dtype", [*SMALL, "FLOAT8E4M3FN", "FLOAT8E5M2"])
def test_a_zero_point_other_than_0_is_not_ignored(dtype: str) -> None:
    """It is refused if it is known; elements are NaN if only the run knows it.

    float4 and float6 have no NaN to quantize to.
    """
    own = onnx.helper.tensor_dtype_to_np_dtype(DTYPES[dtype])
    x = np.array([1, -2, 3], own)
    made, ports = node("DequantizeLinear", ["x", "s", "z"], ["y"]), [port("x", dtype, (3,))]
    known: dict[str, Any] = {"s": np.float32(0.5), "z": onnx.helper.make_tensor("z", DTYPES[dtype], (), [1.0])}
    with pytest.raises(ModelError, match="with a zero point other than 0"):
        imported(model([made], ports, [port("y")], known, opset=25, ir_version=13))
    ports.append(port("z", dtype, ()))
    content = model([made], ports, [port("y")], {"s": np.float32(0.5)}, opset=25, ir_version=13)
    np.testing.assert_array_equal(run(content, x=x, z=np.array(0, own))[0], np.float32([0.5, -1, 1.5]))
    assert np.isnan(run(content, x=x, z=np.array(1, own))[0]).all()
    made, ports = node("QuantizeLinear", ["x", "s", "z"], ["y"]), [port("x", shape=(3,)), port("z", dtype, ())]
    content = model([made], ports, [port("y", dtype)], {"s": np.float32(0.5)}, opset=25, ir_version=13)
    if dtype in SMALL:
        with pytest.raises(ModelError, match=f"a zero point of {dtype.lower()} known only at run time"):
            imported(content)
        return
    (result,) = run(content, x=np.float32([1, 2, 3]), z=np.array(1, own))
    assert np.isnan(result.astype(np.float32)).all()


def test_scales_that_are_powers_of_two() -> None:
    """As the microscaling formats have them: a scale of 8 bits for each block of float4."""
    powers = np.random.default_rng(0).integers(120, 130, (2, 2)).astype(np.uint8)
    scale = onnx.helper.make_tensor("s", DTYPES["FLOAT8E8M0"], (2, 2), powers.tobytes(), raw=True)
    stored = np.resize(EVERY, (2, 16))
    made = node("DequantizeLinear", ["x", "s"], ["y"], axis=1, block_size=8, output_dtype=DTYPES["FLOAT"])
    ports = [port("x", "FLOAT4E2M1", (2, 16))], [port("y")]
    (result,) = run(model([made], *ports, {"s": scale}, opset=25, ir_version=13), x=stored)
    wanted = stored.astype(np.float32) * np.repeat(2.0 ** (powers.astype(np.float32) - 127), 8, axis=1)
    np.testing.assert_array_equal(result, wanted)
    made = node("QuantizeLinear", ["x", "s"], ["y"], axis=1, block_size=8, output_dtype=DTYPES["FLOAT4E2M1"])
    ports = [port("x", shape=(2, 16))], [port("y", "FLOAT4E2M1")]
    (again,) = run(model([made], *ports, {"s": scale}, opset=25, ir_version=13), x=wanted)
    assert again.tobytes() == stored.tobytes()


def test_every_power_of_two_as_float() -> None:
    every = np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e8m0fnu)
    made = node("Cast", ["x"], ["y"], to=DTYPES["FLOAT"])
    content = model([made], [port("x", "FLOAT8E8M0", (256,))], [port("y")], opset=25, ir_version=13)
    (result,) = run(content, x=every)
    np.testing.assert_array_equal(result, every.astype(np.float32))


def test_another_mode_than_three_is_refused() -> None:
    made = node("Cast", ["x"], ["y"], to=DTYPES["FLOAT8E8M0"], round_mode="even")
    with pytest.raises(ModelError, match="attribute 'round_mode' must be up, down or nearest, got 'even'"):
        imported(model([made], [port("x", shape=(3,))], [port("y", "FLOAT8E8M0")], opset=25, ir_version=13))
