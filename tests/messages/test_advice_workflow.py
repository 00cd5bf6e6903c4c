"""The advice about data, targets, checkpoints, searches and reports, followed. Hazards: a file that is refused again, a
program whose results are others, a target that is not found afterwards."""

import fcntl
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.quantization.calibration.records import read_records
from qrt.quantization.targets import Target, TargetKernel, TargetPort, find, register_target, registry
from qrt.quantization.targets.model import read_target
from tests.messages.advice import advises
from tests.messages.conftest import status
from tests.quantization.workflow.programs import NETWORK, rows
from tests.registries import restored_registries

MODULE = ir.parse(NETWORK, "net.mlir")
EXPECTED = qrt.compile(MODULE)(rows(40))
X8 = qrt.UniformType("i8", "f32", 0.5)
F64 = qrt.UniformType("i8", "f64", 0.25)
BLOCKS = qrt.UniformType("i8", "f32", [[0.5], [0.25]], block_sizes={0: 2, 1: 2})


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    with restored_registries():
        yield


def quantized(data: Any = None, **options: Any) -> Any:
    """Return the result of a quantization, whose program computes nearly what the float one does."""
    images = rows(40) if data is None else data
    result = qrt.quantize_program(MODULE, {"images": images}, **{"method": "minmax", "passes": (), **options})
    assert qrt.metrics.snr(EXPECTED, result.program(rows(40))) > 15
    return result


def keyword(text: str) -> dict[str, Any]:
    """Return the argument that a hint writes."""
    name, _, value = text.strip().partition("=")
    return {name: json.loads(value)}


# -- calibrate: types that are chosen from values


@advises("tensor/choose.py", "{} must not be given for a scalar, which has one scale")
def test_neither_axis_nor_group_size(heard: Any) -> None:
    for options in ({"axis": 0}, {"group_size": 2}):
        heard(lambda options=options: qrt.quantize(2.0, bits=8, **options))
    assert abs(float(qrt.quantize(2.0, bits=8)) - 2) < 0.01


@advises("tensor/choose.py", ": give {}")
def test_an_axis_of_groups(heard: Any) -> None:
    values = rows(3).reshape(2, 3, 8)
    for size in (4, 3):
        (hint,) = heard(lambda size=size: qrt.quantize(values, bits=8, group_size=size))
        for way in hint.split(" or "):
            q = qrt.quantize(values, bits=8, group_size=size, **keyword(way))
            assert np.abs(np.asarray(q) - values).max() < 0.02


@advises("tensor/choose.py", ": give {}")
def test_an_axis_and_a_size_of_groups(heard: Any) -> None:
    for shape in ((2, 3, 8), (2, 7, 3), (6, 7, 1)):
        values = np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)
        (hint,) = heard(lambda values=values: qrt.quantize(values, bits=8, group_size=5))
        first, second = map(keyword, hint.split(" and "))
        q = qrt.quantize(values, bits=8, **first, **second)
        assert np.abs(np.asarray(q) - values).max() < 0.02


@advises("tensor/choose.py", "'group_size' must not be given for an array without elements, got shape {}")
def test_no_groups_of_no_values(heard: Any) -> None:
    for shape in ((0, 8), (2, 0), (2, 0, 3), (0,)):
        values = np.zeros(shape, np.float32)
        heard(lambda values=values: qrt.quantize(values, bits=8, group_size=2))
        assert qrt.quantize(values, bits=8).shape == shape


@advises("tensor/choose.py", ": give {}")
def test_another_axis_for_a_size(heard: Any) -> None:
    values = rows(2)
    (hint,) = heard(lambda: qrt.quantize(values, bits=8, axis=0, group_size=16))
    assert np.abs(np.asarray(qrt.quantize(values, bits=8, group_size=16, **keyword(hint))) - values).max() < 0.02


@advises("tensor/choose.py", "pad the axis to {} or give group_size={}")
def test_groups_that_divide(heard: Any) -> None:
    values = rows(2)
    padded, size = heard(lambda: qrt.quantize(values, bits=8, axis=1, group_size=6))
    wide = np.pad(values, ((0, 0), (0, int(padded) - 16)))
    q = qrt.quantize(wide, bits=8, axis=1, group_size=6)
    assert np.abs(np.asarray(q)[:, :16] - values).max() < 0.02
    q = qrt.quantize(values, bits=8, axis=1, group_size=int(size))
    assert np.abs(np.asarray(q) - values).max() < 0.02


@advises("tensor/choose.py", "'bits' must be at least 2 with narrow=True, got 1")
def test_more_bits(heard: Any) -> None:
    heard(lambda: qrt.quantize(rows(2), bits=1, narrow=True))
    q = qrt.quantize(np.float32([-1, 0, 1]), bits=2, narrow=True)
    assert np.asarray(q).tolist() == [-1, 0, 1]


@advises(
    "tensor/choose.py",
    "bias_type: 'w' must have a type per layer or per axis, got {}: do not call bias_type, and give the bias a type of "
    "your own",
)
def test_a_type_for_a_bias(heard: Any) -> None:
    heard(lambda: qrt.bias_type(X8, BLOCKS))
    x, w = qrt.quantize(np.ones((1, 4)), X8), qrt.quantize(np.ones((4, 2)), BLOCKS)
    bias = qrt.quantize([1.0, -2.0], qrt.UniformType("i32", "f32", 0.125))
    y = qrt.matmul(x, w, bias=bias, out_type=X8)
    assert np.asarray(y).tolist() == [[5, 2]]


@advises("tensor/choose.py", "bias_type: 'x' and 'w' must have the same expressed type, got {} and {}")
def test_types_that_express_one(heard: Any) -> None:
    first, second = heard(lambda: qrt.bias_type(X8, F64))
    for expressed in (first, second):
        types = [qrt.UniformType(t.storage_type, expressed, t.scale) for t in (X8, F64)]
        assert qrt.bias_type(*types) == qrt.UniformType("i32", expressed, 0.125)


@advises(
    "quantization/calibration/records.py", "the counts of the histogram must be positive integers, got {} for key {}"
)
def test_a_count_of_a_histogram(heard: Any) -> None:
    def records(count: Any) -> str:
        table = {"count": 2, "min": 1.0, "max": 1.0, "histogram": {str(0x3F80): count}}
        return json.dumps({"version": 1, "records": {"a": table}})

    heard(lambda: read_records(records(0), "r.json"))
    assert read_records(records(2), "r.json")["a"].count == 2


# -- targets


@advises("quantization/targets/kernel.py", "bounds and symmetric are for integer storage, got storage {}")
def test_bounds_of_an_integer_type(heard: Any) -> None:
    heard(lambda: TargetPort("x", "f32", -127, 127))
    heard(lambda: TargetPort("x", symmetric=True))
    assert TargetPort("x", "i8", -127, 127, symmetric=True).low == -127


@advises("quantization/targets/kernel.py", "axis and blocks are for integer storage, got storage {}")
def test_a_float_without_scales(heard: Any) -> None:
    heard(lambda: TargetPort("x", "f32", axis=0))
    heard(lambda: TargetPort("x", "f32", blocks={0: 2}))
    assert TargetPort("x", "f32").is_float


@advises("quantization/targets/kernel.py", "fixed_scale needs a port that is written as a complete type, such as {}")
def test_a_port_with_a_whole_type(heard: Any) -> None:
    (type,) = heard(lambda: TargetKernel("k", (TargetPort("x", "i8"),), (TargetPort("y", "i8"),), "fixed_scale"))
    kernel = TargetKernel("k", (TargetPort("x", "i8"),), (TargetPort("y", given=qrt.parse_type(type)),), "fixed_scale")
    assert kernel.outputs[0].given.scale == 0.00390625
    table = f'[[kernel]]\nname = "k"\nconstraint = "fixed_scale"\nports = {{x = "i8", y = "{type}"}}'
    assert read_target(table, "f.toml", "f").kernels == (kernel,)


@advises("quantization/targets/kernel.py", " is for two factors{} and one result: list these ports in 'constrained'")
def test_the_factors_in_constrained(heard: Any) -> None:
    ports = tuple(TargetPort(name, "i8") for name in "abcd")
    heard(lambda: TargetKernel("k", ports, (TargetPort("y", "i8"),), "multiplier_scale"))
    kernel = TargetKernel("k", ports, (TargetPort("y", "i8"),), "multiplier_scale", ("a", "b", "y"))
    assert [port.name for port in ports if kernel.relates(port)] == ["a", "b"]


@advises("quantization/targets/model.py", ": add the kernel to {}")
def test_a_kernel_for_a_target_of_ones_own(heard: Any) -> None:
    ports = {"a": "i8", "y": "i8"}
    (code,) = heard(lambda: find("tflite").kernel("mine.gate", ports=ports))
    mine = eval(code, {"Target": Target, "find": find})
    mine.kernel("mine.gate", ports=ports)
    assert mine.signatures("mine.gate")
    assert mine.signatures("softmax") == find("tflite").signatures("softmax")
    assert not find("tflite").signatures("mine.gate")


@advises("quantization/targets/text.py", "give a function of one's own in Python, with {}")
def test_a_constraint_of_ones_own(heard: Any) -> None:
    table = '[[kernel]]\nname = "k"\nconstraint = "twice"\nports = {x = "i8", y = "i8"}'
    (code,) = heard(lambda: read_target(table, "f.toml", "f"))

    def twice(inputs: Any, outputs: Any) -> Any:
        outputs[0] = inputs[0].with_(scales=2 * inputs[0].scale)
        return [], [0]

    target = Target("mine", (TargetKernel("mine.twice", (TargetPort("x", "i8"),), (TargetPort("y", "i8"),), twice),))
    assert eval(code, {"qrt": qrt}) is register_target
    register_target(target)
    text = """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = quant.region (%x) { ^bb0(%a: tensor<4xf32>):
        %s = arith.addf %a, %a : tensor<4xf32>
        quant.return %s : tensor<4xf32>
      } {input_specs = [!quant.uniform<i8:f32, 0.5>], output_specs = [f32], kernel = "mine.twice"}
        : (tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }"""
    module = ir.run_passes(ir.parse(text), "propagate-quant{target=mine}")
    assert "output_specs = [!quant.uniform<i8:f32, 1.000000e+00>]" in str(module)


@advises("registry.py", "did you mean {}? ")
def test_the_name_of_a_target(heard: Any) -> None:
    (name,) = heard(lambda: find("tflit"))
    assert find(eval(name)) is find("tflite")


@advises("quantization/targets/text.py", "multiplier exceeds the range of float64: write {}")
def test_a_multiplier_without_end(heard: Any) -> None:
    table = '[[kernel]]\nname = "k"\nconstraint = "multiplier_scale"\nports = {{a = "i8", b = "i8", y = "i8"}}\n'
    table += "multiplier = [0.0, {}]"
    (end,) = heard(lambda: read_target(table.format(10**400), "f.toml", "f"))
    assert read_target(table.format(end), "f.toml", "f").kernels[0].multiplier == (0.0, float("inf"))


@advises(
    "quantization/targets/text.py",
    "must be text such as {} or {}, got {}",
    "expected a storage such as {}, {}, {} or {}",
)
def test_storages_that_messages_name(heard: Any) -> None:
    def kernels(storage: str) -> Any:
        return read_target(f'[[kernel]]\nname = "k"\nports = {{x = {storage}, y = "i8"}}', "f.toml", "f").kernels

    storages = heard(lambda: kernels("8"))[:2] + heard(lambda: kernels('"i8<"'))
    assert len(storages) == 6
    for storage in storages:
        assert kernels(f'"{eval(storage)}"')[0].inputs[0].storage == eval(storage).partition("<")[0]


# -- checkpoints and searches


@advises(
    "quantization/tuning/calibrate.py",
    "was written after {} runs on other data, or in another order: give the same data, or the name of another file",
)
def test_the_data_of_a_checkpoint(heard: Any) -> None:
    parts = [rows(20, 1), rows(20, 2)]
    whole = quantized(parts, checkpoint="c")
    heard(lambda: quantized(parts[::-1], checkpoint="c"))
    assert str(quantized(parts, checkpoint="c").module) == str(whole.module)
    quantized(parts[::-1], checkpoint="d")


@advises(
    "quantization/tuning/checkpoint.py",
    "this checkpoint was written for another program, target or option: give the same, or the name of another file",
)
def test_the_program_of_a_checkpoint(heard: Any) -> None:
    whole = quantized(checkpoint="c")
    heard(lambda: quantized(checkpoint="c", skip_nonfinite=True))
    assert str(quantized(checkpoint="c").module) == str(whole.module)
    quantized(checkpoint="d", skip_nonfinite=True)


@advises("quantization/tuning/checkpoint.py", "this is not a complete checkpoint: {}; remove it to start over")
def test_a_checkpoint_that_is_removed(heard: Any) -> None:
    Path("c").write_text("no checkpoint")
    heard(lambda: quantized(checkpoint="c"))
    Path("c").unlink()
    quantized(checkpoint="c")
    quantized(checkpoint="c")


LAYER = """func.func @main(%x: tensor<4x8xf32>) -> tensor<4xCOLUMNSxf32> {
  %w = arith.constant dense<0.5> : tensor<8xCOLUMNSxf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xCOLUMNSxf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4xCOLUMNSxf32>) -> tensor<4xCOLUMNSxf32>
  %y = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8xCOLUMNSxf32>) outs(%f : tensor<4xCOLUMNSxf32>)
    -> tensor<4xCOLUMNSxf32>
  return %y : tensor<4xCOLUMNSxf32>
}"""
IMAGES = rows(4, 3)[:, :8]


def searched(columns: int = 2, **options: Any) -> Any:
    """Return the result of a search of the widths of one layer."""
    module = ir.parse(LAYER.replace("COLUMNS", str(columns)))
    result = qrt.quantize_program(module, {"arg0": IMAGES}, **{"budget": "size=0.9", "passes": (), **options})
    assert result.reached
    assert np.abs(result.program(IMAGES) - qrt.compile(module)(IMAGES)).max() < 0.5
    return result


@advises(
    "quantization/search/journal.py",
    "the journal is of another search, with {} {} and not {}: remove it, or give another file",
)
def test_a_journal_of_another_search(heard: Any) -> None:
    searched(method="minmax", checkpoint="c")
    heard(lambda: searched(method="mse", checkpoint="c"))
    searched(method="mse", checkpoint="d")
    (journal,) = Path().glob("c.*.trials")
    journal.unlink()
    searched(method="mse", checkpoint="c")


@advises(
    "quantization/search/journal.py",
    "line {} is damaged, or this is not a journal: give another file",
    "another search is writing this journal: give each search its own",
)
def test_a_journal_of_ones_own(heard: Any) -> None:
    searched(checkpoint="c")
    (journal,) = Path().glob("c.*.trials")
    with opened_elsewhere(journal):
        heard(lambda: searched(checkpoint="c"))
        searched(checkpoint="d")
    journal.write_text("no journal\nat all\n")
    heard(lambda: searched(checkpoint="c"))
    searched(checkpoint="e")


@contextmanager
def opened_elsewhere(journal: Path) -> Iterator[None]:
    """Hold the journal as another search does."""
    with journal.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@advises(
    "quantization/search/goals.py",
    "without a metric, drop= compares the index of the greatest value in each row of an output, but no output has "
    "several values in a row: give a metric",
)
def test_a_metric_for_a_drop(heard: Any) -> None:
    heard(lambda: searched(1, budget="drop=0.005"))
    expected = qrt.compile(ir.parse(LAYER.replace("COLUMNS", "1")))(IMAGES)
    searched(1, budget="drop=0.005", metric=lambda program: -float(np.abs(program(IMAGES) - expected).max()))


@advises(
    "quantization/search/search.py",
    "'budget' must be size= or drop= if a metric is given: the kind snr is measured at the outputs",
)
def test_a_budget_for_a_metric(heard: Any) -> None:
    def metric(program: Any) -> float:
        return float(program(IMAGES).size)

    heard(lambda: searched(budget="snr=20", metric=metric))
    for kind in ("size=0.9", "drop=0.005"):
        searched(budget=kind, metric=metric)


# -- reports


@advises("quantization/report/report.py", ": did you mean {}?")
def test_the_key_of_a_region(heard: Any) -> None:
    report = quantized().report
    (name,) = heard(lambda: report["matmul.00"])
    assert report[name.strip("'")].kernel == "matmul"


@pytest.fixture
def files() -> None:
    """Write a float program, what `qrt quantize` makes of it, and data."""
    Path("f.mlir").write_text(NETWORK)
    np.savez("x.npz", images=rows(40))
    assert status("quantize f.mlir --data x.npz -o q.mlir") == 0


EXPLAIN = "explain {} --against f.mlir --data x.npz"


@advises("quantization/comparison/values.py", "no operation has quant.key: {} was not written by `qrt quantize`")
@advises(
    "quantization/explain.py",
    "the target is unknown, because the file has no quant.target (only programs that `qrt quantize -o Q.mlir` "
    "writes have it):",
    "give Q.mlir, or the target (--target)",
)
def test_a_program_that_was_not_quantized_here(heard: Any, files: None) -> None:
    text = Path("q.mlir").read_text()
    Path("plain.mlir").write_text(re.sub(r"quant\.(key|kernel)", r"my.\1", text))
    heard.command(EXPLAIN.format("plain.mlir"))
    Path("nowhere.mlir").write_text(text.replace("quant.target", "my.target"))
    heard.command(EXPLAIN.format("nowhere.mlir"))
    assert status(EXPLAIN.format("nowhere.mlir") + " --target qrt-cpu") == 0
    assert status(EXPLAIN.format("q.mlir")) == 0


@advises(
    "quantization/explain.py", "the program was made for {}, which is not a registered target: give its file (--target)"
)
def test_the_file_of_a_target(heard: Any, files: None) -> None:
    own = Path(registry.__file__).parent / "qrt-cpu.toml"
    Path("unknown-npu.toml").write_text(own.read_text().replace("qrt-cpu", "unknown-npu"))
    Path("mine.mlir").write_text(Path("q.mlir").read_text().replace("qrt-cpu", "unknown-npu"))
    (name,) = heard.command(EXPLAIN.format("mine.mlir"))
    assert status(EXPLAIN.format("mine.mlir") + f" --target {eval(name)}.toml") == 0
