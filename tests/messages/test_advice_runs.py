"""The advice about runs, saved programs, other runtimes and packages, followed. Hazards: a layout that is declared and
still refused, a program that was saved again and is not read, an extra that does not install the package."""

import pickle
import re
import subprocess
import threading
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qrt
from qrt.extras import require_installed
from qrt.runtime.saved import container
from tests import mlir_opt
from tests.docs.documents import ROOT
from tests.messages.advice import advises
from tests.messages.conftest import status
from tests.runtime.saved.test_damage import changed_header

TEXT = """func.func @main(%x: tensor<4xf32> {qrt.name = "x"}, %y: tensor<4xf32> {qrt.name = "y"}) -> tensor<4xf32> {
  %0 = arith.addf %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}"""
X = np.float32([1, 2, 3, 4])


@advises("quantization/calibration/batches.py", ": give a list of batches for each input")
def test_batches_for_each_input(heard: Any) -> None:
    module = qrt.ir.parse(TEXT)
    heard(lambda: qrt.quantize_program(module, {"x": X, "y": [X, X]}))
    result = qrt.quantize_program(module, {"x": [X, X], "y": [X, X]})
    assert np.abs(result.program(X, X) - 2 * X).max() < 0.1


@advises(
    "quantization/calibration/observe.py",
    "must have quant.stats_ref ops, which mark the values to observe, but has none: run the pass attach-stats-ref "
    "first",
)
def test_values_to_be_observed(heard: Any) -> None:
    data = {"x": [X], "y": [X]}
    module = qrt.ir.parse(TEXT)
    heard(lambda: qrt.quantization.calibrate_program(module, data))
    calibration = qrt.quantization.calibrate_program(qrt.ir.run_passes(module, "fuse-kernels,attach-stats-ref"), data)
    assert max(record.high for record in calibration.records.values()) == 8


@advises(
    "quantization/calibration/observe.py",
    ": fix {}, or leave such values out by skip_nonfinite=True (--skip-nonfinite)",
)
def test_values_that_are_not_finite(heard: Any) -> None:
    module = qrt.ir.parse(TEXT)
    spoilt = np.float32([1, np.inf, 3, 4])
    (data,) = heard(lambda: qrt.quantize_program(module, {"x": [spoilt, X], "y": [X, X]}))
    assert data == "the data"
    result = qrt.quantize_program(module, {"x": [spoilt, X], "y": [X, X]}, skip_nonfinite=True)
    assert np.abs(result.program(X, X) - 2 * X).max() < 0.1
    constant = TEXT.replace(
        "%0 = arith.addf %x, %y", "%c = arith.constant dense<VALUE> : tensor<4xf32>\n%0 = arith.addf %x, %c"
    )
    wrong, right = (qrt.ir.parse(constant.replace("VALUE", value)) for value in ("[1.0, 0x7F800000, 1.0, 1.0]", "1.0"))
    (place,) = heard(lambda: qrt.quantize_program(wrong, {"x": [X], "y": [X]}))
    assert re.fullmatch(r"the data, or the constant at \S+, which is inf at \[1\]", place)
    assert np.abs(qrt.quantize_program(right, {"x": [X], "y": [X]}).program(X, X) - X - 1).max() < 0.1


@advises("runtime/functions.py", "the storage type must be an integer, got {}")
def test_storage_in_integers(heard: Any) -> None:
    text = "func.func @f(%x: tensor<2x!quant.uniform<TYPE:f32, 0.5>>) -> tensor<2xf32> {\n"
    text += "%0 = quant.dcast %x : tensor<2x!quant.uniform<TYPE:f32, 0.5>> to tensor<2xf32> return %0 : tensor<2xf32> }"
    heard(lambda: qrt.compile(qrt.ir.parse(text.replace("TYPE", "f8E4M3FN"), upstream=24)))
    assert qrt.compile(text.replace("TYPE", "i8"))(np.int8([3, 4])).tolist() == [1.5, 2]


LOAD = """func.func @main(%m: memref<4xi64, strided<[S], offset: O>>) -> i64 {
  %c = arith.constant 2 : index
  %0 = memref.load %m[%c] : memref<4xi64, strided<[S], offset: O>>
  return %0 : i64
}"""


def loaded(strides: Any, offset: Any, array: Any) -> int:
    text = LOAD.replace("[S]", f"[{strides}]").replace(": O", f": {offset}")
    (value,) = qrt.compile(text).run({"arg0": array}, interpret=True).values()
    return int(value)


@advises(
    "runtime/interpreter/buffers.py",
    "has strides {}: declare these strides or '{}', or take a subview of a larger memref in",
    "begins at offset 0 of its memory: declare '{}', or take a subview at {} of a larger memref in",
)
def test_layouts_that_are_declared(heard: Any) -> None:
    array = np.arange(12)
    strides, any_stride = heard(lambda: loaded(3, 0, array[:4]))
    assert loaded(strides.strip("[]"), 0, array[:4]) == loaded(any_stride, 0, array[:4]) == 2
    declaration, offset = heard(lambda: loaded(1, 5, array[:4]))
    assert loaded(1, declaration.removeprefix("offset: "), array[:4]) == 2
    text = """func.func @main(%m: memref<12xi64>) -> i64 {
      %s = memref.subview %m[O] [4] [S] : memref<12xi64> to memref<4xi64, strided<[S], offset: O>>
      %0 = func.call @load(%s) : (memref<4xi64, strided<[S], offset: O>>) -> i64
      return %0 : i64
    }\n""" + LOAD.replace("@main", "@load")
    for at, step in ((offset, "1"), ("0", "3")):
        program = qrt.compile(
            text.replace("[S]", f"[{step}]").replace("[O]", f"[{at}]").replace(": O", f": {at}"), "main"
        )
        (value,) = program.run({"arg0": array}).values()
        assert int(value) == int(at) + 2 * int(step)


@advises("runtime/bound.py", "must not run in two threads at once: call Program.bind once for each thread")
def test_a_bound_program_for_each_thread(heard: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """func.func @main(%n: index) -> tensor<?xindex> {
      %0 = tensor.generate %n { ^bb0(%i: index): tensor.yield %i : index } : tensor<?xindex>
      return %0 : tensor<?xindex>
    }"""
    program = qrt.compile(text)
    runs = [program.bind({"arg0": np.array(count)}) for count in (2, 3)]
    runs[0]()
    started, going = threading.Event(), threading.Event()
    plan = type(runs[0]._plan)
    run = plan.run

    def waiting(*arguments: Any, **options: Any) -> Any:
        started.set()
        assert going.wait(10)
        return run(*arguments, **options)

    monkeypatch.setattr(plan, "run", waiting)
    thread = threading.Thread(target=runs[0])
    thread.start()
    assert started.wait(10)
    heard(runs[0])
    going.set()
    runs[1]()
    thread.join()
    assert [run.outputs["result0"].tolist() for run in runs] == [[0, 1], [0, 1, 2]]


@advises("runtime/saved/container.py", "save it again from the text of its program")
def test_a_program_that_is_saved_again(heard: Any, tmp_path: Path) -> None:
    (tmp_path / "p.mlir").write_text(TEXT)
    path = tmp_path / "p.qrt"
    assert status(f"compile {tmp_path / 'p.mlir'} -o {path}") == 0
    path.write_bytes(changed_header(path.read_bytes(), 12, "=I", container.FORMAT + 1))
    heard.command(f"run {path} --input-value x=4xf32=1 --input-value y=4xf32=1")
    assert status(f"compile {tmp_path / 'p.mlir'} -o {path}") == 0
    assert qrt.load_program(path)(X, X).tolist() == (2 * X).tolist()


@mlir_opt.needed
@advises("files.py", ": expected MLIR text, got MLIR bytecode: convert it by `{} {}`")
def test_bytecode_that_mlir_opt_writes_as_text(heard: Any, tmp_path: Path) -> None:
    path = tmp_path / "p.mlirbc"
    path.write_bytes(mlir_opt.run("func.func @f() { return }", "--emit-bytecode").stdout)
    program, name = heard(lambda: qrt.load(path))
    assert program == "mlir-opt"
    command, environment = mlir_opt.FOUND
    text = subprocess.run([*command, name], capture_output=True, env=environment, check=True, text=True).stdout
    assert qrt.ir.parse(text).functions[0].sym_name == "f"


@pytest.mark.parametrize("runtime", ["litert", "ort"])
@advises(
    "models/engines/engine.py",
    "has no profile {}; did you mean {}?",
    "that had loaded {} has ended: load the model again",
)
def test_models_of_other_runtimes(heard: Any, runtime: str) -> None:
    if runtime == "ort":
        pytest.importorskip("onnxruntime")
        from qrt.models.engines.ort import OnnxRuntime as Engine
        from tests.models.engines.test_ort import squared as content

        values, expected = np.float32([1, 2, -3]), [4, 16, 36]
    else:
        pytest.importorskip("ai_edge_litert")
        from qrt.models.engines.litert import LiteRT as Engine
        from tests.models.engines.test_litert import added as content

        values, expected = np.int8([[0, 1, 2, 3]]), [[1, 4, 9, 16]]
    with Engine(seconds=30) as engine:
        _, meant = heard(lambda: engine.load(content(), profile=f"{runtime}s"))
        assert runtime in meant.split(" or ")
        before = engine.load(content(), profile=meant.split(" or ")[0])
        engine._child.close()
        heard(lambda: before.run([values]))
        assert engine.load(content()).run([values])[0].tolist() == expected


@advises("extras.py", 'is needed and {}: install it by pip install "qrt[{}]"')
def test_the_extra_has_the_package(heard: Any) -> None:
    _, name = heard(lambda: require_installed("no_such_package", "onnx"))
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert any(text.startswith("onnx") for text in extras[name])
    source = "".join(path.read_text() for path in (ROOT / "qrt").rglob("*.py"))
    named = set(re.findall(r"\b(?:extra|require_installed)\(\s*\"([\w.]+)\",\s*\"(\w+)\"", source))
    assert len(named) > 5
    for module, extra in named:
        package = module.partition(".")[0]
        requirements = [re.match(r"[\w-]+", text)[0] for text in extras[extra]]  # type: ignore[index]
        assert package.replace("_", "-") in requirements, (module, extra)


@advises("runtime/program.py", ": compile its model again")
def test_a_pickle_of_an_earlier_version(heard: Any) -> None:
    heard(lambda: pickle.loads(b"cqrt.runtime.program\n_rebuild\n(I1\nVtext\nVmain\nI00\ntR."))
    again = pickle.loads(pickle.dumps(qrt.compile(TEXT)))
    assert again(X, X).tolist() == (2 * X).tolist()


@advises("runtime/program.py", "a PlanSource (for a module, write qrt.compile(module))")
def test_a_program_of_a_module(heard: Any) -> None:
    module = qrt.ir.parse(TEXT)
    heard(lambda: qrt.Program(module))  # type: ignore[arg-type]
    assert qrt.compile(module)(X, X).tolist() == (2 * X).tolist()


TANH = """func.func @main(%x: tensor<4xf32> {qrt.name = "x"}) -> tensor<4xf32> {
  %0 = math.tanh %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}"""


@advises(
    "runtime/codegen/emitter.py",
    'write codegen="best-effort" (--best-effort) to run functions with such ops without machine code',
)
def test_op_without_machine_code(heard: Any) -> None:
    heard(lambda: qrt.compile(TANH, codegen=True))
    np.testing.assert_array_equal(qrt.compile(TANH, codegen="best-effort")(X), qrt.compile(TANH)(X))


@advises("cli/run.py", "--best-effort is for --codegen, which is not given")
def test_best_effort_without_machine_code(heard: Any, tmp_path: Path) -> None:
    command = f"run {_program(tmp_path)} --best-effort --input-value x=4xf32=1"
    heard.command(command)
    assert status(f"{command} --codegen") == 0


@advises("cli/run.py", "--codegen runs machine code and --interpret the interpreter: give one of them")
def test_machine_code_or_the_interpreter(heard: Any, tmp_path: Path) -> None:
    command = f"run {_program(tmp_path)} --input-value x=4xf32=1"
    heard.command(f"{command} --codegen --best-effort --interpret")
    assert status(f"{command} --interpret") == 0


@advises("cli/inputs.py", ": --codegen needs the program or model from which this saved program was made")
def test_machine_code_of_a_saved_program(heard: Any, tmp_path: Path) -> None:
    qrt.compile(TANH).save(tmp_path / "tanh.qrt")
    options = "--codegen --best-effort --input-value x=4xf32=1"
    heard.command(f"run {tmp_path / 'tanh.qrt'} {options}")
    assert status(f"run {_program(tmp_path)} {options}") == 0


def _program(folder: Path) -> Path:
    (folder / "tanh.mlir").write_text(TANH)
    return folder / "tanh.mlir"
