"""The command line: exit status, diagnostics, files."""

import io
import subprocess
import sys

import numpy as np
import pytest

import qrt
from qrt.cli import main
from tests.fuzz.outcome import LEAKS
from tests.runtime.programs import CAST, EVERYTHING


@pytest.fixture
def program(tmp_path):
    def write(text, name="f.mlir"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


def test_run_from_files_equals_the_python_call(program, tmp_path):
    x = np.random.default_rng(1).normal(0, 3, (2, 3, 3, 2)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    arguments = [f"--input=images={tmp_path / 'x.npy'}", f"--output=logits={tmp_path / 'y.npy'}"]
    assert main(["run", program(EVERYTHING), *arguments]) == 0
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), qrt.compile(EVERYTHING)(x)[0])


@pytest.mark.parametrize(
    "extra", [["--interpret"], ["--codegen"], ["--threads", "2"], *(["--isa", i] for i in qrt.kernels.available())]
)
def test_every_isa_thread_count_and_the_interpreter_write_the_same_bytes(program, tmp_path, extra):
    np.save(tmp_path / "x.npy", np.float32([-1, 0.25, 3, 1e9]))
    files = []
    for name, options in (("a", ["--isa", "ref"]), ("b", extra)):
        out = tmp_path / f"{name}.npy"
        call = ["run", program(CAST), "--input", f"arg0={tmp_path / 'x.npy'}", "--output", f"result0={out}", *options]
        assert main(call) == 0
        files.append(out.read_bytes())
    assert files[0] == files[1]


def test_values_on_the_command_line(program, capsys):
    assert main(["run", program(CAST), "--input-value", "arg0=4xf32=-1,0.25,3,1e9"]) == 0
    assert "storage = [  1,   4,   9, 127]" in capsys.readouterr().out


def test_a_scalar_argument_is_said_without_a_shape(program, capsys):
    text = "func.func @f(%x: i32) -> i32 { %0 = arith.addi %x, %x : i32  return %0 : i32 }"
    assert main(["run", program(text), "--input-value", "arg0=i32=3"]) == 0
    assert "result0 = 6" in capsys.readouterr().out


def test_opt_prints_an_equal_program(program, capsys, monkeypatch):
    assert main(["opt", program(CAST)]) == 0
    text = capsys.readouterr().out
    assert str(qrt.ir.parse(text)) == str(qrt.ir.parse(CAST))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert main(["opt", "-", "--emit=generic"]) == 0
    generic = capsys.readouterr().out
    assert '"quant.qcast"' in generic
    assert str(qrt.ir.parse(generic)) == str(qrt.ir.parse(CAST))


def test_every_cut_of_a_body_is_a_diagnostic_with_a_position(program, capsys):
    body = CAST.index("{") + 1
    end = CAST.rindex("}")
    for cut in range(body, end):
        assert main(["opt", program(CAST[:cut])]) == 1, CAST[:cut]
        error = capsys.readouterr().err
        assert "f.mlir:" in error
        assert ": error: " in error
        assert "Traceback" not in error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--input-value", "arg0=4xf32=1,2,3"], "cannot reshape|reshape"),
        (
            ["--input-value", "arg0=4xf64=1,2,3,4"],
            "must be of dtype float32, because its type is tensor<4xf32>, got dtype float64",
        ),
        (["--input-value", "arg0=nonsense"], "expected SHAPExTYPE=VALUES"),
        (["--input-value", "arg0=4xf32=a,b,c,d"], "could not convert"),
        (["--input-value", "y=4xf32=1"], "no input is named 'y'"),
        (["--input", "arg0=absent.npy"], "absent.npy: No such file"),
        (["--input", "arg0"], "expected NAME=VALUE"),
        ([], r"'arg0' \(%x\) is missing: it takes tensor<4xf32>"),
        (["--input-value", "arg0=4xf32=1", "--output", "y=y.npy"], "no output is named 'y'"),
        (["--input-value", "arg0=4xf32=1", "--isa", "sse9"], "sse9"),
        (["--function", "g"], "no function is named 'g'"),
    ],
)
def test_wrong_arguments_exit_1_and_say_what(program, capsys, arguments, message):
    import re

    assert main(["run", program(CAST), *arguments]) == 1
    assert re.search(message, capsys.readouterr().err)


@pytest.mark.parametrize("data", [b"", b"not numpy", np.zeros(3).tobytes()])
def test_garbled_npy_files_exit_1(program, tmp_path, capsys, data):
    (tmp_path / "x.npy").write_bytes(data)
    assert main(["run", program(CAST), "--input", f"arg0={tmp_path / 'x.npy'}"]) == 1
    assert "x.npy" in capsys.readouterr().err


def test_object_arrays_are_not_unpickled(program, tmp_path, capsys):
    np.save(tmp_path / "x.npy", np.array([1, "a", None, 2], object), allow_pickle=True)
    assert main(["run", program(CAST), "--input", f"arg0={tmp_path / 'x.npy'}"]) == 1
    assert "not an .npy file of numbers" in capsys.readouterr().err


@pytest.mark.parametrize("shape", ["(1180591620717411303424,)", "(x,)", "(1,", "(1e9,)"])
def test_what_python_says_of_a_header_is_not_told(program, tmp_path, capsys, shape):
    """Hazard: "Python int too large to convert to C long", or an object of Python's parser with its address."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    assert main(["run", program(CAST), "--input", f"arg0={tmp_path / 'x.npy'}"]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert ": not an .npy file of numbers: " in said
    assert not LEAKS.search(said)
    assert "<ast." not in said


def test_a_plan_is_shown_instead_of_running_and_takes_no_inputs(program, capsys, tmp_path):
    out = tmp_path / "y.npy"
    assert main(["run", program(CAST), "--print-plan", "--output", f"result0={out}"]) == 0
    assert "quant.qcast" in capsys.readouterr().out
    assert not out.exists()
    assert main(["run", program(CAST), "--print-plan", "--input-value", "y=4xf32=1"]) == 1
    assert "no input is named 'y'" in capsys.readouterr().err


def test_the_pipeline_before_the_plan_is_shown_and_taken(program, capsys, tmp_path):
    """A saved program shows that of its text."""
    text = CAST.replace("@f", '@"a {b"')
    assert main(["run", program(text), "--print-pipeline", "--output", f"result0={tmp_path / 'y.npy'}"]) == 0
    pipeline = capsys.readouterr().out
    assert pipeline == (
        "builtin.module(\n  tabulate-casts,\n  make-tables,\n"
        '  fold-plan-constants{entry="a {b" observed=false saturating=false}\n)\n'
    )
    assert not (tmp_path / "y.npy").exists()
    assert main(["opt", program(text), f"--pass-pipeline={pipeline}"]) == 0
    assert "quant.qcast" in capsys.readouterr().out
    qrt.compile(text).save(tmp_path / "f.qrt")
    assert main(["run", str(tmp_path / "f.qrt"), "--print-pipeline"]) == 0
    assert capsys.readouterr().out == pipeline
    assert main(["run", program(text), "--print-pipeline", "--print-plan"]) == 2
    assert main(["run", program(text), "--print-pipeline", "--saturating"]) == 0
    assert "saturating=true" in capsys.readouterr().out


def test_usage_errors_exit_2(capsys):
    assert main(["run"]) == 2
    assert main(["run", "f.mlir", "--interpret", "--print-plan"]) == 2
    assert main(["fly"]) == 2
    assert main([]) == 2
    assert "usage" in capsys.readouterr().err


def test_a_missing_program_and_invalid_text_exit_1(program, tmp_path, capsys):
    assert main(["opt", str(tmp_path / "absent.mlir")]) == 1
    assert "No such file" in capsys.readouterr().err
    assert main(["run", program("func.func @f( {")]) == 1
    assert "f.mlir:1:" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["run", "opt"])
@pytest.mark.parametrize("name", ["f.mlir", "f.mlirbc"])
def test_bytecode_is_named_as_such(tmp_path, capsys, verb, name):
    path = tmp_path / name
    path.write_bytes(b"ML\xefR\x0dMLIR22.1.8\x00")
    assert main([verb, str(path)]) == 1
    assert "expected MLIR text, got MLIR bytecode: convert it by `mlir-opt " in capsys.readouterr().err


def test_the_module_runs_as_a_command(program):
    done = subprocess.run(
        [sys.executable, "-m", "qrt", "opt", program(CAST)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "quant.qcast" in done.stdout
