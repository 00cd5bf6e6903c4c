"""Groups of casts and operators: which are folded, why others are not, and that both compute the same."""

from typing import Any

import numpy as np
import onnx
import pytest

from qrt.ir import Module
from qrt.models.onnx.folding import Fold, fold_report
from qrt.models.onnx.importing import Importer
from qrt.models.onnx.read import read
from qrt.models.profiles import profile
from tests.models.onnx.running import has_oracle, multiplies_exactly, run, run_oracle
from tests.models.onnx.writing import model, node, port

SX, SW, SY = np.float32(0.0517), np.float32(0.0203), np.float32(0.0991)  # whose products are no ties


def folds(content: bytes) -> tuple[Module, list[Fold]]:
    importer = Importer(read(content), profile("ort"))
    return importer.run(), importer.folds


def names(module: Module) -> set[str]:
    return {op.name for op in module.operation.walk()}


def group(
    kind: str,
    x: tuple[int, ...],
    w: Any = None,
    bias: Any = None,
    *,
    activation: Any = None,
    more: dict[str, Any] | None = None,
    quantized: bool = True,
    dtype: str = "uint8",
    constants: dict[str, Any] | None = None,
    same: bool = False,
    extra: tuple[str, ...] = (),
    output: str = "FLOAT",
    opset: int = 17,
) -> bytes:
    """QuantizeLinear and a group around one operator, and DequantizeLinear."""
    zero = np.array(120 if dtype.startswith("u") else -3, dtype)
    scale = SX if same else SY
    given = {"sx": SX, "zx": zero, "sy": scale, "zy": zero, **(constants or {})}
    nodes = [node("QuantizeLinear", ["x", "sx", "zx"], ["xq"]), node("DequantizeLinear", ["xq", "sx", "zx"], ["xf"])]
    operands = ["xf"]
    if w is not None:
        given |= {"w": w, "sw": SW, "zw": np.array(0, w.dtype)}
        nodes.append(node("DequantizeLinear", ["w", "sw", "zw"], ["wf"]))
        operands.append("wf")
    if bias is not None:
        given |= {"b": bias, "sb": np.float32(SX * SW)}
        nodes.append(node("DequantizeLinear", ["b", "sb"], ["bf"]))
        operands.append("bf")
    nodes.append(node(kind, [*operands, *extra], ["f"], name="it", **(more or {})))
    last = "f"
    if activation is not None:
        nodes.append(activation)
        last = "g"
    if not quantized:
        return model(nodes, [port("x", shape=x)], [port(last, output)], given, opset=opset)
    nodes += [node("QuantizeLinear", [last, "sy", "zy"], ["q"]), node("DequantizeLinear", ["q", "sy", "zy"], ["y"])]
    return model(nodes, [port("x", shape=x)], [port("y")], given, opset=opset)


def weights(*shape: int) -> Any:
    return np.random.default_rng(5).integers(-90, 90, shape).astype(np.int8)


BIAS = np.arange(-300, 300, 100).astype(np.int32)
RELU = node("Relu", ["f"], ["g"])
FOLDED = {
    "Conv": group("Conv", (2, 3, 7, 7), weights(6, 3, 3, 3), BIAS),
    "Conv without bias, int8": group("Conv", (2, 3, 7, 7), weights(6, 3, 3, 3), dtype="int8", more={"strides": [2, 2]}),
    "Conv, depthwise": group("Conv", (2, 6, 7, 7), weights(6, 1, 3, 3), BIAS, more={"group": 6, "pads": [1] * 4}),
    "Conv, Relu": group("Conv", (2, 3, 7, 7), weights(6, 3, 3, 3), BIAS, activation=RELU),
    "Conv, Clip": group(
        "Conv", (2, 3, 7, 7), weights(6, 3, 3, 3), BIAS, activation=node("Clip", ["f", "low", "high"], ["g"]),
        constants={"low": np.float32(-0.5), "high": np.float32(2)},
    ),
    "MatMul": group("MatMul", (4, 9), weights(9, 6)),
    "Gemm": group("Gemm", (4, 9), weights(6, 9), BIAS, more={"transB": 1}),
    "Relu": group("Relu", (4, 9), same=True),
    "Reshape": group("Reshape", (4, 9), same=True, constants={"s": np.array([6, 6])}, extra=("s",)),
    "Transpose": group("Transpose", (4, 9), same=True),
    "MaxPool": group("MaxPool", (2, 3, 8, 8), same=True, more={"kernel_shape": [2, 2]}),
    "Max": group("Max", (4, 9), same=True, extra=("xf",)),
    "Min, Relu": group("Min", (4, 9), same=True, extra=("xf", "xf"), activation=RELU),
    "Max of int16": group("Max", (4, 9), same=True, extra=("xf",), dtype="int16", opset=21),
    "Sub": group("Sub", (4, 9), weights(9), dtype="int8"),
    "Sub, Relu": group("Sub", (3, 4, 9), weights(4, 1), dtype="int8", activation=RELU),
    "ReduceMean": group("ReduceMean", (4, 9, 5), more={"axes": [-1, 0]}),
    "ReduceMean of all": group("ReduceMean", (4, 9), dtype="int8", more={"keepdims": 0}),
    "ReduceMean with axes as an input": group("ReduceMean", (4, 90, 5), extra=("a",), opset=18,
                                              constants={"a": np.array([1])}),
    "ReduceSum": group("ReduceSum", (4, 3, 5), same=True, extra=("a",), constants={"a": np.array([1])}),
    "ReduceSum, Clip": group("ReduceSum", (4, 3), dtype="int8", more={"keepdims": 0},
                             activation=node("Clip", ["f", "low"], ["g"]), constants={"low": np.float32(-0.5)}),
    "ReduceMax": group("ReduceMax", (4, 9, 5), same=True, extra=("a",), constants={"a": np.array([-1, 0])}, opset=18),
    "ReduceMin, int8": group("ReduceMin", (4, 9), same=True, dtype="int8", more={"keepdims": 0}),
    "ReduceMin of int16": group("ReduceMin", (4, 9), same=True, dtype="int16", opset=21),
    "Pad": group("Pad", (4, 9), same=True, extra=("p",), constants={"p": np.array([0, 2, 1, -3])}),
    "Pad with a number": group("Pad", (4, 9), same=True, dtype="int8", extra=("p", "c", "a"),
                               constants={"p": np.array([2, 1]), "c": np.float32(-0.31), "a": np.array([1])}, opset=18),
    "Pad with infinity": group("Pad", (4, 9), same=True, extra=("p", "c"),
                               constants={"p": np.array([1, 2, 1, 0]), "c": np.float32(np.inf)}),
    "Pad, reflect": group("Pad", (4, 9), same=True, extra=("p",), constants={"p": np.array([1, 2, 1, 3])},
                          more={"mode": "reflect"}),
}  # fmt: skip


@pytest.mark.parametrize("name", FOLDED)
def test_what_is_folded(name: str) -> None:
    """The result is the runtime's but for one step in few elements."""
    content = FOLDED[name]
    module, found = folds(content)
    assert [(fold.name, fold.reason) for fold in found] == [("it", "")]
    of_floats = {"arith.addf", "arith.maximumf", "arith.minimumf", "math.fma"}
    assert not names(module) & (of_floats if "int16" in name else of_floats | {"linalg.generic"})
    rng = np.random.default_rng(2)
    shape = module.functions[0].regions[0].blocks[0].arguments[0].type.shape  # type: ignore[attr-defined]
    x = rng.normal(0, 2, shape).astype(np.float32)
    (y,) = run(content, x=x)
    if has_oracle():
        (theirs,) = run_oracle(content, {"x": x})
        steps = np.rint(np.abs(y - theirs) / (SX if "SX" in name else SY))
        assert steps.max() <= 1
        assert (steps > 0).sum() <= 1


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (group("Conv", (2, 3, 7, 7), weights(6, 3, 3, 3), quantized=False), "its result is not quantized"),
        (group("Sqrt", (2, 3)), "it has no quantized form"),
        (group("Transpose", (4, 9)), "its result has other parameters than its input"),
        (group("Conv", (1, 3, 5, 5), extra=("k",), constants={"k": np.ones((2, 3, 1, 1), np.float32)}),
         "input 1 is not dequantized"),
        (group("Conv", (1, 3, 5, 5), weights(6, 3, 1, 1), extra=("k",), constants={"k": np.ones(6, np.float32)}),
         "its bias is not an int32 constant"),
        (group("Gemm", (4, 9), weights(9, 6), more={"beta": 0.5}), "its beta is not 1"),
        (group("Gemm", (4, 9), weights(9, 6), more={"alpha": 0.5}), "with an alpha other than 1"),
        (group("Sub", (4, 9), weights(9)), "its tensors are of u8, i8 and u8"),
        (group("ReduceSum", (4, 9), dtype="int16", opset=21), "of i16 and i16"),
        (group("ReduceMean", (4, 9), opset=18, more={"noop_with_empty_axes": 1}), "without axes"),
        (group("Max", (4, 9), extra=("xf",)), "its result has other parameters than its input"),
        (group("Max", (4, 9), same=True, extra=("x",)), "input 1 is not dequantized"),
        (group("Pad", (4, 9), same=True, extra=("p", "c"),
               constants={"p": np.array([1, 2, 1, 3]), "c": np.float32(np.nan)}),
         "its constant is not a known number"),
        (group("Relu", (4, 9), activation=node("Sqrt", ["f"], ["g"])),
         "its result is read by Sqrt without being quantized"),
    ],
)  # fmt: skip
def test_what_is_not_folded_and_why(content: bytes, reason: str) -> None:
    """It runs on floats between casts."""
    module, found = folds(content)
    assert ("it", reason) in [(fold.name, fold.reason) for fold in found]
    assert "quant.dcast" in names(module)


@pytest.mark.parametrize("kind", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("is_last", [0, 1])
@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16"])
def test_positions_are_those_of_integers(kind: str, is_last: int, dtype: str) -> None:
    """No QuantizeLinear follows. Hazard: equal elements."""
    content = group(kind, (7, 40), dtype=dtype, quantized=False, output="INT64", opset=21,
                    more={"axis": 1, "select_last_index": is_last})  # fmt: skip
    module, folded = folds(content)
    assert [(fold.name, fold.reason) for fold in folded] == [("it", "")]
    assert not any(str(op.operands[0].type).endswith("xf32>") for op in module.operation.walk() if "arg" in op.name)
    x = (np.random.default_rng(1).integers(-4, 4, (7, 40)) * SX).astype(np.float32)
    (y,) = run(content, x=x)
    extreme = (x.max if kind == "ArgMax" else x.min)(1, keepdims=True)
    assert y.reshape(-1).tolist() == [np.flatnonzero(row)[-is_last].item() for row in x == extreme]
    if has_oracle():
        assert run_oracle(content, {"x": x})[0].tolist() == y.tolist()


def test_positions_of_integers_that_floats_do_not_distinguish() -> None:
    """Integers of 32 bits, of which neighbours become one float."""
    nodes = [node("DequantizeLinear", ["q", "s"], ["f"]), node("ArgMax", ["f"], ["y"], name="it", axis=1)]
    content = model(nodes, [port("q", "INT32", (1, 3))], [port("y", "INT64")], {"s": np.float32(1)})
    _, (fold,) = folds(content)
    assert fold.reason == "of int32"
    (y,) = run(content, q=np.int32([[2**24, 2**24 + 1, 5]]))
    assert y.tolist() == [[0]]


def test_a_result_that_is_read_twice() -> None:
    content = group("Conv", (1, 3, 5, 5), weights(6, 3, 1, 1))

    def twice(message: Any) -> None:
        message.graph.output.append(port("f"))

    import onnx

    message = onnx.load_from_string(content)
    twice(message)
    _, found = folds(message.SerializeToString())
    assert [fold.reason for fold in found] == ["its result is read as floats too"]


def test_scales_along_an_axis() -> None:
    """Those of weights must lie along the axis that the operator has; others say so."""
    for axis, reason in ((0, ""), (1, "the scales of input 1 lie along axis 1")):
        nodes = [
            node("QuantizeLinear", ["x", "s"], ["xq"]), node("DequantizeLinear", ["xq", "s"], ["xf"]),
            node("DequantizeLinear", ["w", "sw"], ["wf"], axis=axis), node("Conv", ["xf", "wf"], ["f"]),
            node("QuantizeLinear", ["f", "s"], ["q"]), node("DequantizeLinear", ["q", "s"], ["y"]),
        ]  # fmt: skip
        given = {"s": SX, "w": weights(3, 3, 1, 1), "sw": np.float32([0.01, 0.02, 0.03])}
        _, found = folds(model(nodes, [port("x", shape=(1, 3, 4, 4))], [port("y")], given))
        assert [fold.reason for fold in found] == [reason]


def test_the_report() -> None:
    found = [Fold("a", "Conv", ""), *(Fold(f"b{i}", "Add", "why") for i in range(6))]
    assert fold_report(found) == "1 of 7 operators other than casts are folded\n  Add: why: b0, b1, b2, b3 and 2 more\n"
    assert fold_report([]) == ""


def dynamic(zero: bool = True, per_column: bool = False, extra: str = "") -> bytes:
    """A product of what is quantized at run time. ``extra`` is a tensor between that is a result too."""
    rng = np.random.default_rng(3)
    scale = rng.uniform(0.01, 0.02, 5 if per_column else ()).astype(np.float32)
    constants = {"w": rng.integers(-90, 90, (9, 5)).astype(np.int8), "sw": scale, "zw": np.int8(4)}
    nodes = [
        node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]), node("Mul", ["s", "sw"], ["scale"]),
        node("MatMulInteger", ["q", "w", "z", "zw"] if zero else ["q", "w", "z"], ["sums"]),
        node("Cast", ["sums"], ["wide"], to=1), node("Mul", ["wide", "scale"], ["y"]),
    ]  # fmt: skip
    results = [port("y"), *([port(extra, "INT32" if extra == "sums" else "FLOAT")] if extra else [])]
    return model(nodes, [port("x", shape=("n", 9))], results, constants)


@pytest.mark.parametrize("zero", [True, False])
@pytest.mark.parametrize("per_column", [True, False])
def test_a_product_that_is_quantized_at_run_time(zero: bool, per_column: bool) -> None:
    """One op has the bits of all of them, and of ONNX Runtime."""
    module, report = folds(dynamic(zero, per_column))
    assert "qrt.dynamic_matmul" in names(module)
    assert "qrt.matmul" not in names(module)
    assert [fold.reason for fold in report] == [""]
    apart = dynamic(zero, per_column, "scale")
    assert "qrt.dynamic_matmul" not in names(folds(apart)[0])
    x = np.random.default_rng(1).normal(0.3, 2, (4, 9)).astype(np.float32)
    (y,) = run(dynamic(zero, per_column), x=x)
    np.testing.assert_array_equal(y, run(apart, x=x)[0])
    if has_oracle() and multiplies_exactly():
        np.testing.assert_array_equal(y, run_oracle(apart, {"x": x})[0])


@pytest.mark.parametrize("extra", ["s", "sums", "wide", "scale"])
def test_what_is_read_twice_is_no_part_of_a_product(extra: str) -> None:
    assert "qrt.dynamic_matmul" not in names(folds(dynamic(extra=extra))[0])


@pytest.mark.parametrize("name", ["q#zero_point", "q#unclamped"])
def test_tensors_with_names_that_groups_give(name: str) -> None:
    """The result of a group that is clamped, and a zero point that the file leaves out, are given names."""
    activation = node("Clip", ["f", "low", "high"], ["g"])
    bounds = {"low": np.float32(0.5), "high": np.float32(2)}
    content = group("Conv", (2, 3, 7, 7), weights(6, 3, 3, 3), BIAS, activation=activation, constants=bounds)
    message = onnx.load_from_string(content)
    for cast in message.graph.node[-2:]:
        del cast.input[2:]  # the zero point
    x = np.random.default_rng(2).normal(0, 3, (2, 3, 7, 7)).astype(np.float32)
    (expected,) = run(message.SerializeToString(), x=x)
    message.graph.node.insert(0, node("Neg", ["x"], [name]))
    message.graph.node.append(node("Abs", [name], ["z"]))
    message.graph.output.append(port("z"))
    found, z = run(message.SerializeToString(), x=x)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(z, np.abs(x))
