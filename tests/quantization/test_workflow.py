"""From a float program and data to a quantized program. Hazards: a text that depends on the split of the data, a loss
in silence, the caller's module changed."""

import subprocess
import sys
from ast import literal_eval
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qrt
from qrt import ir, kernels
from qrt.cli import main
from qrt.errors import ModelError, QuantError, QuantTypeError, VerifyError
from qrt.quantization.targets import Target, TargetKernel, TargetPort
from tests.quantization.workflow.programs import NETWORK, rows, weights


@pytest.mark.parametrize("method", ["minmax", "mse", "percentile", "entropy"])
def test_a_network_is_quantized_whole(method: Any) -> None:
    module = ir.parse(NETWORK)
    before = str(module)
    made = qrt.quantize_program(module, {"images": rows(200)}, method=method)
    assert str(module) == before
    assert {step.engine for step in made.program.coverage()} == {"kernel"}
    x = rows(100, seed=9)
    assert qrt.metrics.snr(qrt.compile(module)(x), made.program(x)) > 28
    np.testing.assert_array_equal(qrt.compile(str(made.module))(x), made.program(x))


def test_any_split_of_the_data_gives_one_text() -> None:
    module, data = ir.parse(NETWORK), rows(90)
    texts = {
        str(qrt.quantize_program(module, given).module)
        for given in ({"images": data}, {"images": np.array_split(data[::-1], 7)}, [{"images": data}])
    }
    assert len(texts) == 1


@pytest.mark.parametrize("target", ["int4-weights", "int16x8", "tflite"])
def test_targets_by_name(target: str) -> None:
    made = qrt.quantize_program(ir.parse(NETWORK), {"images": rows(50)}, target)
    assert {step.engine for step in made.program.coverage()} == {"kernel"}


def test_a_target_of_the_callers_own() -> None:
    """What it has no kernel for stays float, and a remark names it."""
    kernel = TargetKernel(
        "matmul", (TargetPort("a", "i8"), TargetPort("b", "i8", -127, 127, symmetric=True)), (TargetPort("y", "i8"),)
    )
    made = qrt.quantize_program(ir.parse(NETWORK), {"images": rows(50)}, Target("only-products", (kernel,)))
    names = [operation.name for operation in made.module.operation.walk()]
    assert names.count("qrt.matmul") == 2
    assert "math.tanh" in names
    assert any("'math.tanh' op stays float" in remark.message for remark in made.remarks)


def test_weights_after_the_text_are_weights() -> None:
    """Front ends write large constants as `dense_resource`. Hazard: a port whose values nobody knows."""
    dense = weights(2, 8, 4)
    values = np.float32(literal_eval(dense.partition("<")[2].partition(">")[0]))
    text = NETWORK.replace(dense, "dense_resource<v> : tensor<8x4xf32>")
    text += f'{{-# dialect_resources: {{ builtin: {{ v: "0x04000000{values.tobytes().hex()}" }} }} #-}}'
    module, expected = (qrt.quantize_program(ir.parse(each), {"images": rows(9)}).module for each in (text, NETWORK))
    assert str(module) == str(expected)
    passes = "fuse-kernels{target=bf16},propagate-quant{target=bf16},export-quant{target=bf16}"  # which narrows them
    module, expected = (ir.run_passes(ir.parse(each), passes) for each in (text, NETWORK))
    assert str(module) == str(expected)


def test_wrong_arguments_are_named() -> None:
    module = ir.parse(NETWORK)
    with pytest.raises(QuantTypeError, match="method must be one of minmax, mse, percentile, entropy, got 'kl'"):
        qrt.quantize_program(module, {"images": rows(2)}, method="kl")  # type: ignore[arg-type]
    with pytest.raises(QuantError, match="there is no target 'npu'"):
        qrt.quantize_program(module, {"images": rows(2)}, "npu")
    with pytest.raises(ModelError, match="'data' must have at least one batch for main, got none"):
        qrt.quantize_program(module, {"images": []})


TANH = """func.func @main(%x: tensor<?x16xf32> {qrt.name = "images"}) -> tensor<?x16xf32> {
  %0 = math.tanh %x : tensor<?x16xf32>
  return %0 : tensor<?x16xf32>
}
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str, str]:
    (tmp_path / "f.mlir").write_text(NETWORK)
    np.savez(tmp_path / "x.npz", images=rows(80))
    return str(tmp_path / "f.mlir"), str(tmp_path / "x.npz"), str(tmp_path / "q.mlir")


def test_the_command_writes_what_the_function_makes(files: tuple[str, str, str], capsys: Any) -> None:
    program, data, output = files
    expected = str(qrt.quantize_program(ir.parse(NETWORK), {"images": rows(80)}, method="minmax").module)
    assert main(["quantize", program, "--data", data, "--method", "minmax", "-o", output, "--isa", "ref"]) == 0
    assert Path(output).read_text() == expected
    assert main(["quantize", program, "--data", data, "--method=minmax", "--threads", "2"]) == 0
    assert capsys.readouterr().out == expected


def test_what_stays_float_is_an_error_where_it_must_not(files: tuple[str, str, str], capsys: Any) -> None:
    """A port that the target can quantize, and an operation that it cannot: each is named."""
    region = """%1 = quant.region (%0) {
  ^bb0(%v: tensor<?x8xf32>):
    %t = math.tanh %v : tensor<?x8xf32>
    quant.return %t : tensor<?x8xf32>
  } {input_specs = [f32], output_specs = [!quant.none<f32>], kernel = "lookup"} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %r = arith.remf %1, %0 : tensor<?x8xf32>"""
    text = NETWORK.replace("%1 = math.tanh %0 : tensor<?x8xf32>", region).replace("ins(%1, %v", "ins(%r, %v")
    module = ir.parse(text, "f.mlir")
    made = qrt.quantize_program(module, {"images": rows(50)})
    assert "math.tanh" in {op.name for op in made.module.operation.walk()}  # of floats, not a table
    with pytest.raises(VerifyError) as caught:
        qrt.quantize_program(module, {"images": rows(50)}, require_full=True)
    said = [each.message for each in caught.value.diagnostics]
    assert said[0].startswith("'arith.remf' op stays float: the nearest kernel is 'mul'")
    assert said[1:] == [
        "'quant.region' op (lookup): operand 0 is !quant.none<f32>, and stays float",
        "'quant.region' op (lookup): result 0 is !quant.none<f32>, and stays float",
    ]
    assert all(message in str(caught.value) for message in said)
    program, data, output = files
    Path(program).write_text(text)
    assert main(["quantize", program, "--data", data, "-o", output, "--require-full"]) == 1
    printed = capsys.readouterr().err
    assert all(message in printed for message in said)
    assert not Path(output).exists()
    Path(program).write_text(NETWORK)
    assert main(["quantize", program, "--data", data, "-o", output, "--require-full"]) == 0


def test_progress_is_told() -> None:
    told: list[tuple[str, int, int | None]] = []
    module, data = ir.parse(TANH), rows(130)
    tell = lambda *arguments: told.append(arguments)  # noqa: E731
    qrt.quantize_program(module, {"images": data}, progress=tell)
    assert told == [("calibrate", 1, 3), ("calibrate", 2, 3), ("calibrate", 3, 3)]
    for given, total in (([data, data], 2), (iter([data, data]), None)):
        told.clear()
        qrt.quantize_program(module, {"images": given}, progress=tell)
        assert told == [("calibrate", 1, total), ("calibrate", 2, total)]


def test_a_report_is_measured_when_it_is_asked_for(files: tuple[str, str, str], tmp_path: Path) -> None:
    made = qrt.quantize_program(ir.parse(NETWORK), {"images": rows(40)})
    assert set(made.report) == {"main/matmul.0", "main/lookup.0", "main/matmul.1"}
    assert made.report is made.report
    assert made.report["matmul.1"].snr == made.report.outputs[0].snr > 28
    program, data, output = files
    page = tmp_path / "r.html"
    assert main(["quantize", program, "--data", data, "-o", output, "--html", str(page)]) == 0
    assert "main/matmul.1" in page.read_text()


def test_a_budget_out_of_reach_gives_the_nearest_program(files: tuple[str, str, str], capsys: Any) -> None:
    program, data, output = files
    Path(program).write_text(TANH)
    arguments = ["quantize", program, "--data", data, "-o", output, "--checkpoint", f"{output}.c"]
    assert main([*arguments, "--budget", "snr=99"]) == 1
    assert "snr=99 cannot be reached, and this is the nearest" in capsys.readouterr().err
    assert {step.engine for step in qrt.compile(qrt.load(output)).coverage()} == {"kernel"}
    assert Path(f"{output}.c.snr=99.trials").exists()
    assert main([*arguments, "--budget", "snr=20"]) == 0
    assert "snr=20 is reached" in capsys.readouterr().err
    assert not qrt.quantize_program(ir.parse(TANH), {"images": rows(80)}, budget="snr=99").reached


def test_a_budget_is_of_the_program_that_is_written() -> None:
    """Hazard: figures, and what is reached, of the program before its biases are corrected."""
    made = qrt.quantize_program(ir.parse(NETWORK), {"images": rows(80)}, budget="snr=24.2")
    assert any("correct-bias is on" in remark.message for remark in made.remarks)
    assert made.reached
    measured = f"{made.report.outputs[0].snr:.2f} dB"
    assert (
        made.budget_summary
        == f"snr=24.2 is reached: 0.9 of the weight bytes at 8 bits, {measured}, 77 of 80 answers the same"
    )


TWO = TANH.replace("@main", "@a") + TANH.replace("@main", "@b") + TANH.replace("@main", "@c").replace("%0", "%1")


def test_functions_that_do_not_run_are_left_as_they_are() -> None:
    """The others have no records, and stand where they stood."""
    module = ir.parse(TWO)
    made = qrt.quantize_program(module, {"images": rows(20)}, function="b")
    assert [function.attributes["sym_name"].python for function in made.module.functions] == ["a", "b", "c"]
    a, b, c = (str(function) for function in made.module.functions)
    assert "math.tanh" in a
    assert "math.tanh" in c
    assert "qrt.lookup" in b
    assert [remark.message for remark in made.remarks][:2] == [
        "function 'a' is not quantized: 'b' does not call it",
        "function 'c' is not quantized: 'b' does not call it",
    ]
    x = rows(5)
    np.testing.assert_array_equal(qrt.compile(str(made.module), function="b")(x), made.program(x))
    assert (
        qrt.quantization.explain_program(made.module, module, {"images": x}, function="b")["b/lookup.0"].error_share
        == 1
    )
    called = TANH.replace("math.tanh %x :", "call @g(%x) : (tensor<?x16xf32>) ->")
    made = qrt.quantize_program(ir.parse(called + TANH.replace("@main", "@g")), {"images": rows(20)})
    assert "math.tanh" not in str(made.module)


def test_the_command_looks_at_its_arguments_before_the_data(files: tuple[str, str, str], capsys: Any) -> None:
    """Calibration may take hours: what is wrong with a name or a budget is said before it."""
    program, data, output = files
    Path(data).unlink()
    arguments = ["quantize", program, "--data", data]
    folder = str(Path(output).parent)
    for more, message in (
        (["-o", f"{folder}/absent/q.mlir"], "absent/q.mlir: the folder does not exist"),
        (["-o", output, "--html", f"{folder}/absent/r.html"], "absent/r.html: the folder does not exist"),
        (
            ["-o", output, "--html", f"{folder}/./q.mlir"],
            "q.mlir: the name of this output must end in .html, got .mlir",
        ),
        (["-o", folder], "Is a directory"),
    ):
        assert main([*arguments, *more]) == 1
        assert message in capsys.readouterr().err
    for budget in ("size", "snr=abc", "size=-1"):
        assert main([*arguments, "--budget", budget]) == 2
        assert "argument --budget: budget must be size=0.6" in capsys.readouterr().err


def test_the_command_takes_the_names_of_the_text(files: tuple[str, str, str], capsys: Any) -> None:
    """As `qrt run --input` does, where an input has no qrt.name."""
    program, data, output = files
    Path(program).write_text(TANH.replace(' {qrt.name = "images"}', ""))
    for names in (["x"], ["arg0"], ["x", "arg0"]):
        np.savez(data, **{name: rows(8) for name in names})  # type: ignore[arg-type]
        assert main(["quantize", program, "--data", data, "-o", output]) == len(names) - 1
        if len(names) == 1:
            assert main(["explain", output, "--against", program, "--data", data]) == 0
    assert "input arg0 (%x) is given twice: as 'arg0' and by another of its names" in capsys.readouterr().err


def test_wrong_budgets_are_named_before_anything_runs() -> None:
    def data() -> Any:
        pytest.fail("the data is read")
        yield

    for options, message in (
        ({"budget": "size"}, "budget must be size=0.6"),
        ({"metric": len}, "a metric goes with a budget"),
        ({"budget": "size=1", "metric": 3}, "metric must be a function of a program, got 3"),
        ({"passes": ["fold"]}, "passes must be among fold-scales, equalize-scales, correct-bias, got 'fold'"),
        ({"checkpoint": 3}, "checkpoint must be the name of a file, got 3"),
        ({"require_full": 1}, "require_full must be True or False, got 1"),
        ({"skip_nonfinite": 1}, "skip_nonfinite must be True or False, got 1"),
        ({"progress": 1}, "progress must be a function, got 1"),
    ):
        with pytest.raises(QuantTypeError, match=message):
            qrt.quantize_program(ir.parse(NETWORK), ({"images": x} for x in data()), **options)  # type: ignore[arg-type]


def test_shards_isa_threads_and_batches_give_one_text() -> None:
    module, data = ir.parse(NETWORK), rows(140)
    texts, digests = set(), set()
    threads = kernels.get_num_threads()
    try:
        for isa, shards, count in (("ref", 1, 1), ("ref", 7, 2), (kernels.available()[-1], 2, 1), (None, 7, 2)):
            kernels.set_num_threads(count)
            order = np.random.default_rng(shards).permutation(data)
            with kernels.use(isa or kernels.active()):
                made = qrt.quantize_program(module, {"images": np.array_split(order, 3 * shards)})
            texts.add(str(made.module))
            digests.add(made.calibration.digest())
    finally:
        kernels.set_num_threads(threads)
    assert len(texts) == len(digests) == 1


MEMORY = """
import resource, sys
import numpy as np
import qrt
from tests.quantization.workflow.programs import NETWORK
module = qrt.ir.parse(NETWORK)
rng = np.random.default_rng(0)
for count in (1, 100):
    batches = ({"images": rng.standard_normal((64, 16), np.float32)} for _ in range(count))
    qrt.quantize_program(module, batches, method="minmax")
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_100_times_the_data_take_little_more_memory() -> None:
    """The peak of a process grows from the first calibration to the second by at most 16 MiB."""
    command = [sys.executable, "-c", MEMORY]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    before, after = map(int, done.stdout.split())
    assert after - before <= 16 << 10
