"""Drawn graphs of operators between casts: folded ones beside the same graphs in floats, and beside ONNX Runtime.

Hazards: a bias whose scale is not that of the sums; a result or an operand of another storage; a second activation that
is lost; casts of other floats than float32; scales near the ends of float32. `qdq_graphs` draws all of them.
"""

import os
from typing import Any

import numpy as np
import pytest

from qrt.models.engines.ort import OnnxRuntime
from qrt.models.onnx.importing import Importer
from qrt.models.onnx.read import read
from qrt.models.profiles import profile
from tests.models.onnx.floats_between_casts import FloatsBetweenCasts
from tests.models.onnx.qdq_graphs import RANGES, draw_graph, outside
from tests.models.onnx.running import has_oracle, multiplies_exactly, run, run_oracle
from tests.models.onnx.writing import model, node, port, tensor

GRAPHS, PARTS = 5000, 10


@pytest.mark.parametrize("part", range(8))
def test_folded_graphs_are_within_their_bounds_of_floats(part: int) -> None:
    engine, groups = FloatsBetweenCasts(), 0
    for number in range(part * 12, part * 12 + 12):
        rng = np.random.default_rng([0, number])
        content = draw_graph(rng)
        different, folded = outside(content, engine, rng)
        assert not different, f"graph {number}"
        groups += folded
    assert groups > 0


@pytest.mark.parametrize("operator", ["ReduceMean", "ReduceSum", "Sub"])
@pytest.mark.parametrize("opset", [13, 18])
def test_sums_are_within_their_bounds_of_floats(operator: str, opset: int) -> None:
    """Hazards: long sums, zero points at the ends, scales that make ties of half of the results."""
    for number in range(12):
        rng = np.random.default_rng([5, number])
        scales = rng.choice(np.float32([0.02, 0.01, 0.05, 0.5, 0.0371]), 3)
        zeros = rng.choice([0, 255, 128, 3], 3).astype(np.uint8)
        constants = {f"{name}{i}": value for i in range(3) for name, value in (("s", scales[i]), ("z", zeros[i]))}
        axes = [int(axis) for axis in rng.permutation(3)[: rng.integers(1, 4)]]
        shape = tuple(int(n) for n in rng.integers(1, 30, 3))
        inputs, more, given = ["af"], {}, [port("a", "UINT8", shape)]
        nodes = [node("DequantizeLinear", ["a", "s0", "z0"], ["af"])]
        if operator == "Sub":
            nodes.append(node("DequantizeLinear", ["b", "s1", "z1"], ["bf"]))
            given.append(port("b", "UINT8", (1, *shape[1:])))
            inputs.append("bf")
        elif operator == "ReduceSum" or opset >= 18:
            inputs.append("axes")
            constants["axes"] = np.int64(axes)
        else:
            more["axes"] = axes
        nodes += [node(operator, inputs, ["yf"], **more), node("QuantizeLinear", ["yf", "s2", "z2"], ["y"])]
        content = model(nodes, given, [port("y", "UINT8")], constants, opset=opset)
        assert folds(content) == [""]
        different, folded = outside(content, FloatsBetweenCasts(), rng)
        assert not different, number
        assert folded == 1
        if has_oracle() and number < 2:
            with OnnxRuntime(seconds=60) as engine:
                assert not outside(content, engine, rng)[0], number


@pytest.mark.skipif(not has_oracle(), reason="onnxruntime is not installed")
@pytest.mark.skipif(not os.environ.get("QRT_REQUIRE_ORACLE"), reason="it takes minutes: make test-oracle runs it")
@pytest.mark.parametrize("part", range(PARTS))
def test_graphs_are_within_their_bounds_of_onnx_runtime(part: int, runtime: OnnxRuntime) -> None:
    each, wrong = GRAPHS // PARTS, []
    for number in range(part * each, part * each + each):
        rng = np.random.default_rng([7, number])
        content = draw_graph(rng)
        different, _ = outside(content, runtime, rng)
        wrong += [(number, tensor) for tensor in different]
    assert not wrong


def folds(content: bytes) -> list[str]:
    """Return the reason of each operator beside casts that is not folded, and "" of one that is."""
    importer = Importer(read(content), profile("ort"))
    importer.run()
    return [fold.reason for fold in importer.folds]


OTHER_SCALE = "the scale of its bias is not the product of the scales of its operands"


def biased(operator: str, scale: Any, zero_point: Any = None, shared: bool = False) -> bytes:
    """Return a product of bytes with a bias, whose floats a second product may share."""
    image = (1, 1) if operator == "Conv" else ()
    constants = {
        "xs": np.float32(0.5), "z": np.int8(0), "ws": np.float32([0.25, 0.125]), "ys": np.float32(0.25),
        "w": np.int8([[4, -8], [8, 16]]).reshape(2, 2, *image), "b": np.int32([6, -9]), "bs": np.float32(scale),
    }  # fmt: skip
    bias = ["b", "bs"]
    if zero_point is not None:
        constants["bz"] = np.int32(zero_point)
        bias.append("bz")
    more = {"transB": 1} if operator == "Gemm" else {}
    nodes = [
        node("DequantizeLinear", ["x", "xs", "z"], ["xf"]),
        node("DequantizeLinear", ["w", "ws"], ["wf"], axis=0),
        node("DequantizeLinear", bias, ["bf"], axis=0),
        node(operator, ["xf", "wf", "bf"], ["yf"], **more),
        node("QuantizeLinear", ["yf", "ys", "z"], ["y"]),
    ]
    outputs = [port("y", "INT8")]
    if shared:
        constants["xs2"] = np.float32(0.75)
        nodes += [
            node("DequantizeLinear", ["x", "xs2", "z"], ["vf"]),
            node(operator, ["vf", "wf", "bf"], ["uf"], **more),
            node("QuantizeLinear", ["uf", "ys", "z"], ["u"]),
        ]
        outputs.append(port("u", "INT8"))
    return model(nodes, [port("x", "INT8", (3, 2, *image))], outputs, constants)


@pytest.mark.parametrize("operator", ["Conv", "Gemm"])
@pytest.mark.parametrize(
    ("scale", "zero_point", "shared", "reasons"),
    [
        ([0.125, 0.0625], None, False, [""]),
        ([np.nextafter(np.float32(0.125), np.float32(1)), 0.0625], None, False, [""]),
        ([0.125, 0.0625], [0, 0], False, [""]),
        ([0.125, 0.0625], [0, 1], False, ["its bias has a zero point other than 0"]),
        ([0.125, 0.125], None, False, [OTHER_SCALE]),
        ([0.125, 0.06251], None, False, [OTHER_SCALE]),
        (0.125, None, False, [OTHER_SCALE]),
        (2.0, None, False, [OTHER_SCALE]),
        ([0.125, 0.0625], None, True, ["", OTHER_SCALE]),
    ],
)
def test_a_bias_has_the_scale_of_its_own_cast(
    operator: str, scale: Any, zero_point: Any, shared: bool, reasons: list[str]
) -> None:
    content = biased(operator, scale, zero_point, shared)
    assert folds(content) == reasons
    x = np.int8([[10, -20], [127, -128], [0, 3]])
    x = x.reshape(3, 2, 1, 1) if operator == "Conv" else x
    w, ws = np.array([[4, -8], [8, 16]]), np.array([0.25, 0.125])
    bias = (np.array([6, -9]) - (0 if zero_point is None else np.array(zero_point))) * np.float64(np.float32(scale))
    results = run(content, x=x)
    for result, x_scale in zip(results, (0.5, 0.75), strict=False):
        exact = (x.reshape(3, 2) * x_scale @ (w * ws[:, None]).T + bias) / 0.25
        np.testing.assert_array_equal(result.reshape(3, 2), np.clip(np.rint(exact), -128, 127).astype(np.int8))
    if has_oracle():
        for result, theirs in zip(results, run_oracle(content, {"x": x}), strict=True):
            np.testing.assert_array_equal(result, theirs)


def mixed(operator: str, dtypes: tuple[str, str, str], zero_points: tuple[int, int, int]) -> bytes:
    """Return an operator on two tensors, the first of which is an input, whose result has a storage of its own."""
    names = ("a", "b", "y")
    constants = {f"s{name}": np.float32(scale) for name, scale in zip(names, (0.07, 0.11, 0.13), strict=True)}
    for name, dtype, zero in zip(names, dtypes, zero_points, strict=True):
        constants[f"z{name}"] = tensor(f"z{name}", zero, dtype.upper())
    low, high = RANGES[dtypes[1]]
    constants["b"] = tensor("b", np.linspace(low, high, 6).astype(int).reshape(2, 3), dtypes[1].upper())
    more = {"axis": 0} if operator == "Concat" else {}
    nodes = [
        node("QuantizeLinear", ["x", "sa", "za"], ["a"]),
        node("DequantizeLinear", ["a", "sa", "za"], ["af"]), node("DequantizeLinear", ["b", "sb", "zb"], ["bf"]),
        node(operator, [*(["c"] if operator == "Where" else []), "af", "bf"], ["f"], **more),
        node("QuantizeLinear", ["f", "sy", "zy"], ["q"]), node("DequantizeLinear", ["q", "sy", "zy"], ["y"]),
    ]  # fmt: skip
    constants["c"] = np.array([[True, False, True], [False, True, True]])
    if operator == "MatMul":
        constants["b"] = tensor("b", np.linspace(low, high, 9).astype(int).reshape(3, 3), dtypes[1].upper())
    return model(nodes, [port("x", "FLOAT", (2, 3))], [port("y", "FLOAT")], constants, opset=21)


@pytest.mark.parametrize("operator", ["Add", "Mul", "Concat", "Where", "MatMul"])
@pytest.mark.parametrize("source", RANGES)
def test_a_result_has_the_storage_of_its_own_cast(operator: str, source: str) -> None:
    """Every pair of storage types: the result is within its bounds of floats."""
    engine = FloatsBetweenCasts()
    for number, target in enumerate(RANGES):
        middle = [sum(RANGES[dtype]) // 2 + 1 for dtype in (source, target)]
        other = list(RANGES)[number]
        content = mixed(operator, (source, other, target), (middle[0], sum(RANGES[other]) // 2 + 1, middle[1]))
        different, _ = outside(content, engine, np.random.default_rng(number))
        assert not different
        if has_oracle():
            x = np.random.default_rng(5).normal(0, 3, (2, 3)).astype(np.float32)
            steps = (run(content, x=x)[0] - run_oracle(content, {"x": x})[0]) / np.float32(0.13)
            assert np.abs(steps).max() < 0.01


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        (np.int8(0), None, "its result would have the type int8, not uint8"),
        (None, np.int16(0), "its result would have the type int8, not int16"),
        (np.int8(0), np.int8(0), ""),
        (None, np.int8(0), ""),
    ],
)
def test_moved_elements_keep_their_storage(before: Any, after: Any, reason: str) -> None:
    """A missing zero point is a 0 of the operand's type before an operator, and of uint8 behind it."""
    zeros = {name: value for name, value in (("zx", before), ("zy", after)) if value is not None}
    nodes = [
        node("DequantizeLinear", ["x", "s", *(["zx"] if before is not None else [])], ["f"]),
        node("Transpose", ["f"], ["g"], name="it"),
        node("QuantizeLinear", ["g", "s", *(["zy"] if after is not None else [])], ["q"]),
        node("DequantizeLinear", ["q", "s", *(["zy"] if after is not None else [])], ["y"]),
    ]
    content = model(nodes, [port("x", "INT8", (2, 3))], [port("y")], {"s": np.float32(0.1), **zeros}, opset=21)
    assert folds(content) == [reason]
    x = np.int8([[-128, -1, 0], [1, 2, 127]])
    low = 0 if after is None else -128
    np.testing.assert_array_equal(run(content, x=x)[0], (np.maximum(x.T, low) * np.float32(0.1)).astype(np.float32))


def activated(*activations: Any, bounds: tuple[float, float] = (-1.0, 2.0)) -> bytes:
    """Return activations one after the other, between casts of one type."""
    constants = {"s": np.float32(0.1), "z": np.int8(3), "low": np.float32(bounds[0]), "high": np.float32(bounds[1])}
    nodes, last = [node("DequantizeLinear", ["x", "s", "z"], ["f0"])], "f0"
    for i, (operator, *more) in enumerate(activations, 1):
        nodes.append(node(operator, [last, *more], [f"f{i}"]))
        last = f"f{i}"
    nodes.append(node("QuantizeLinear", [last, "s", "z"], ["y"]))
    return model(nodes, [port("x", "INT8", (256,))], [port("y", "INT8")], constants)


@pytest.mark.parametrize(
    ("content", "low", "high"),
    [
        (activated(("Relu",)), 0, None),
        (activated(("Clip", "low", "high")), -1, 2),
        (activated(("Relu",), ("Clip", "low", "high")), 0, 2),
        (activated(("Clip", "low", "high"), ("Relu",)), 0, 2),
        (activated(("Clip", "", "high"), ("Clip", "low", "")), -1, 2),
        (activated(("Clip", "low", "high"), bounds=(2, -1)), -1, -1),  # the upper bound decides
        (activated(("Clip", "low", "high"), bounds=(np.nan, np.inf)), None, None),
    ],
)
def test_every_activation_counts(content: bytes, low: float | None, high: float | None) -> None:
    x = np.arange(-128, 128).astype(np.int8)
    (y,) = run(content, x=x)
    if has_oracle():
        np.testing.assert_array_equal(y, run_oracle(content, {"x": x})[0])
    if low is not None:
        values = np.clip((x - 3.0) * 0.1, low, high)
        np.testing.assert_array_equal(y, np.clip(np.rint(values / 0.1) + 3, -128, 127).astype(np.int8))


@pytest.mark.parametrize(
    ("dtype", "reason"), [(np.float32, ""), (np.float16, "its casts are of floats other than float32")]
)
def test_casts_of_other_floats_are_not_folded(dtype: Any, reason: str) -> None:
    """Floats of 16 bits round each value between the casts."""
    constants = {"sx": dtype(0.0517), "sw": dtype(0.0203), "sy": dtype(0.0991), "z": np.int8(0),
                 "w": np.random.default_rng(1).integers(-90, 90, (9, 6)).astype(np.int8)}  # fmt: skip
    nodes = [
        node("DequantizeLinear", ["x", "sx", "z"], ["xf"]), node("DequantizeLinear", ["w", "sw", "z"], ["wf"]),
        node("Concat", ["xf", "wf"], ["f"], axis=0), node("QuantizeLinear", ["f", "sy", "z"], ["y"]),
    ]  # fmt: skip
    content = model(nodes, [port("x", "INT8", (4, 6))], [port("y", "INT8")], constants, opset=21)
    assert folds(content) == [reason]
    x = np.random.default_rng(2).integers(-128, 128, (4, 6)).astype(np.int8)
    if has_oracle() and multiplies_exactly():
        np.testing.assert_array_equal(run(content, x=x)[0], run_oracle(content, {"x": x})[0])


@pytest.mark.parametrize("scale", [2.0**-130, 2.0**-60, 2.0**60, 2.0**120])
def test_scales_near_the_ends_of_float32_are_not_folded(scale: float) -> None:
    """A product of values overflows there, or loses bits below the normal range."""
    constants = {"s": np.float32(scale), "z": np.int8(0)}
    nodes = [
        node("DequantizeLinear", ["x", "s", "z"], ["f"]), node("Mul", ["f", "f"], ["g"]),
        node("QuantizeLinear", ["g", "s", "z"], ["y"]),
    ]  # fmt: skip
    content = model(nodes, [port("x", "INT8", (256,))], [port("y", "INT8")], constants)
    assert "a scale is outside of" in folds(content)[0]
    x = np.arange(-128, 128).astype(np.int8)
    if has_oracle():
        np.testing.assert_array_equal(run(content, x=x)[0], run_oracle(content, {"x": x})[0])
