"""Files and streams of the command line. Hazards: a full disk that leaves half a file, one of two outputs, an input
without an end, a result that is lost where nobody reads, a traceback."""

import io
import os
import resource
import shlex
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from qrt.cli import main
from qrt.errors import ModelError
from qrt.files import read_bytes, write_files
from qrt.models.programs import load

TWO = """func.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = arith.negf %x : tensor<?xf32>
  return %x, %0 : tensor<?xf32>, tensor<?xf32>
}
"""
FOREVER = """func.func @main() -> i32 {
  %t = arith.constant true
  %c = arith.constant 1 : i32
  %0 = scf.while (%x = %c) : (i32) -> i32 {
    scf.condition(%t) %x : i32
  } do {
  ^bb0(%y: i32):
    scf.yield %y : i32
  }
  return %0 : i32
}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """With a program of two results, and its input."""
    monkeypatch.chdir(tmp_path)
    Path("f.mlir").write_text(TWO)
    np.save("x.npy", np.arange(20000, dtype=np.float32))
    return tmp_path


@pytest.fixture
def small_files():
    """Files of at most 64 KiB, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


RUN = ("run", "f.mlir", "--input=arg0=x.npy")


BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
"""The environment of a Python that holds back what it writes, as it does unless told otherwise."""


def shell(command: str) -> subprocess.CompletedProcess[str]:
    """What a shell does with `qrt`."""
    qrt = f"{shlex.quote(sys.executable)} -m qrt"
    line = command.replace("qrt ", f"{qrt} ")
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, timeout=60, env=BUFFERED)
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 1, done.stderr
    return done


# -- outputs -----------------------------------------------------------------------------------------------------------


def test_a_disk_that_fills_leaves_every_file_as_it_was(folder, capsys, small_files):
    """The first output is small enough, the second is not."""
    Path("old.npy").write_bytes(b"old")
    types = "tensor<1xf32>, tensor<?xf32>"
    slice = "%x = tensor.extract_slice %a[0] [1] [1] : tensor<?xf32> to tensor<1xf32>"
    Path("f.mlir").write_text(f"func.func @main(%a: tensor<?xf32>) -> ({types}) {{ {slice} return %x, %a : {types} }}")
    assert main([*RUN, "--output=result0=new.npy", "--output=result1=old.npy"]) == 1
    assert capsys.readouterr().err == "error: old.npy: File too large\n"
    assert Path("old.npy").read_bytes() == b"old"
    assert sorted(os.listdir()) == ["f.mlir", "old.npy", "x.npy"]


def test_opt_leaves_the_old_file_too(folder, capsys, small_files):
    """Of more than 16 bytes."""
    Path("old.mlir").write_text("old")
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    assert main(["opt", "f.mlir", "-o", "old.mlir"]) == 1
    assert capsys.readouterr().err == "error: old.mlir: File too large\n"
    assert Path("old.mlir").read_text() == "old"
    assert sorted(os.listdir()) == ["f.mlir", "old.mlir", "x.npy"]


@pytest.mark.parametrize(
    "arguments", [[*RUN, "--output=result0=y.npy", "--output=result1=/dev/full"], ["opt", "f.mlir", "-o", "/dev/full"]]
)
def test_a_full_device_says_so_and_no_output_is_written(folder, capsys, arguments):
    assert main(arguments) == 1
    assert capsys.readouterr().err == "error: /dev/full: No space left on device\n"
    assert not Path("y.npy").exists()


def test_an_output_that_cannot_be_made_leaves_the_others(folder, capsys):
    Path("folder").mkdir()
    for wrong, told in (("absent/z.npy", "No such file or directory"), ("folder", "Is a directory")):
        assert main([*RUN, "--output=result0=y.npy", f"--output=result1={wrong}"]) == 1
        assert capsys.readouterr().err == f"error: {wrong}: {told}\n"
        assert sorted(os.listdir()) == ["f.mlir", "folder", "x.npy"]


def test_two_outputs_of_one_file_are_refused(folder, capsys):
    os.symlink("y.npy", "z.npy")
    assert main([*RUN, "--output=result0=y.npy", "--output=result1=z.npy"]) == 1
    assert capsys.readouterr().err == "error: z.npy: two outputs would be written to this file\n"
    assert not Path("y.npy").exists()


def test_both_outputs_are_written_and_may_be_the_input(folder):
    assert main([*RUN, "--output=result0=y.npy", "--output=result1=x.npy"]) == 0
    np.testing.assert_array_equal(np.load("y.npy"), -np.load("x.npy"))
    assert sorted(os.listdir()) == ["f.mlir", "x.npy", "y.npy"]


@pytest.mark.parametrize("is_new", [False, True])
def test_a_file_that_cannot_take_its_place_brings_the_others_back(folder, capsys, monkeypatch, is_new):
    if not is_new:
        Path("a.npy").write_bytes(b"old")
    before, replace = sorted(os.listdir()), os.replace

    def busy(source, target):
        if target.endswith("b.npy"):
            raise OSError(16, "Device or resource busy")
        replace(source, target)

    monkeypatch.setattr("os.replace", busy)
    assert main([*RUN, "--output=result0=a.npy", "--output=result1=b.npy"]) == 1
    assert capsys.readouterr().err == "error: b.npy: Device or resource busy\n"
    assert sorted(os.listdir()) == before
    assert is_new or Path("a.npy").read_bytes() == b"old"


def test_permissions_and_links_stay(folder):
    Path("y.npy").write_bytes(b"")
    os.chmod("y.npy", 0o604)
    os.symlink("y.npy", "link.npy")
    mask = os.umask(0o027)
    try:
        assert main([*RUN, "--output=result0=link.npy", "--output=result1=new.npy"]) == 0
    finally:
        os.umask(mask)
    assert os.path.islink("link.npy")
    assert [stat.S_IMODE(os.stat(name).st_mode) for name in ("y.npy", "new.npy")] == [0o604, 0o640]


def test_a_file_that_may_not_be_written_is_not_replaced(folder, capsys, monkeypatch):
    """Its folder would allow that. Root may write anything, so the answer is said."""
    Path("y.npy").write_bytes(b"old")
    monkeypatch.setattr("os.access", lambda path, mode: not path.endswith("y.npy"))
    assert main([*RUN, "--output=result0=y.npy"]) == 1
    assert capsys.readouterr().err == "error: y.npy: Permission denied\n"
    assert Path("y.npy").read_bytes() == b"old"
    assert sorted(os.listdir()) == ["f.mlir", "x.npy", "y.npy"]


def test_a_failure_in_the_middle_leaves_nothing(tmp_path):
    def fail(file):
        file.write(b"half")
        raise KeyboardInterrupt

    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        write_files([(str(tmp_path / "b"), lambda file: file.write(b"new")), (str(tmp_path / "a"), fail)])
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


def test_a_pipe_is_written_to_as_it_is(folder):
    os.mkfifo("pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append(Path("pipe").read_bytes()))
    reader.start()
    assert main([*RUN, "--output=result0=pipe"]) == 0
    reader.join()
    np.testing.assert_array_equal(np.load(io.BytesIO(read[0])), np.load("x.npy"))
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_standard_output_is_an_output(folder, name):
    """Appended to a file, whose beginning stays."""
    assert (
        shell(f"echo -n head > log; qrt run f.mlir --input arg0=x.npy --output result0={name} >> log").returncode == 0
    )
    data = Path("log").read_bytes()
    assert data[:4] == b"head"
    np.testing.assert_array_equal(np.load(io.BytesIO(data[4:])), np.load("x.npy"))


# -- inputs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["opt", "f.mlir", "--max-input", str(len(TWO) - 1)], "f.mlir"),
        (["run", "f.mlir", "--max-input", str(len(TWO) - 1)], "f.mlir"),
        ([*RUN, "--max-input", "80000"], "x.npy"),
        (["opt", "/dev/zero", "--max-input", "3000000"], "/dev/zero"),
        (["run", "f.mlir", "--input=arg0=/dev/zero", "--max-input", "3000000"], "/dev/zero"),
    ],
)
def test_an_input_beyond_the_limit_is_refused(folder, capsys, arguments, name):
    assert main(arguments) == 1
    limit = arguments[-1]
    told = (
        f"error: {name}: the file has more than {limit} bytes, the limit for an input "
        "(set by max_bytes or --max-input)\n"
    )
    assert capsys.readouterr().err == told


def test_an_input_of_the_limit_is_read(folder, capsys):
    assert main(["opt", "f.mlir", "--max-input", str(len(TWO))]) == 0
    assert main([*RUN, "--max-input", str(Path("x.npy").stat().st_size)]) == 0
    with pytest.raises(ModelError, match="more than 10 bytes"):
        load("f.mlir", max_bytes=10)


def test_endless_standard_input_is_read_up_to_the_limit(folder):
    """Of 64 MiB under 2 GiB of memory; what comes later stays unread."""
    for command in ("opt", "run"):
        done = shell(f"ulimit -v 2000000; yes | qrt {command} - --max-input 67108864")
        assert done.returncode == 1
        assert done.stderr.startswith("error: <stdin>: the file has more than 67108864 bytes")


def test_no_more_than_the_limit_is_read(tmp_path):
    read, write = os.pipe()
    os.write(write, b"0123456789")
    with pytest.raises(ModelError, match="more than 4 bytes"):
        read_bytes(f"/dev/fd/{read}", 4)
    os.close(write)
    os.close(read)


def header(text: str, version: int = 1) -> bytes:
    data = text.encode("latin1")
    return b"\x93NUMPY" + bytes([version, 0]) + len(data).to_bytes(2 if version == 1 else 4, "little") + data


GOOD = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\x93NUM", b"\x93NUMPY", b"\x93NUMPY\x01", header(GOOD)[:30], header(GOOD), header(GOOD) + b"1234",
        header(GOOD, 9), header("{" * 5000), header("x" * 20000), header("[" * 300 + "]" * 300), header("\0"),
        header("{'descr': '<f4', 'fortran_order': False, 'shape': (2"), header("'" + GOOD), header("(1, 2"), header(""),
        *(header(GOOD.replace("(2,)", shape)) for shape in
          ("(1180591620717411303424,)", "(True,)", "(-1,)", "(1.5,)", "('a',)", "2", "[2]", "None", "(2**70,)",
           "(1099511627776,)", "(4611686018427387904, 4)", "()" * 60)),
        *(header(GOOD.replace("'<f4'", descr)) for descr in
          ("'<f3'", "'O'", "[('a', 'O')]", "3", "None", "'M8[xx]'", "'<U2147483647'", "__import__('os')")),
        b"PK\x03\x04", b"PK\x05\x06" + bytes(18), b"\x80\x04.", b"\x1f\x8b", b"\xff" * 100,
    ],
)  # fmt: skip
def test_a_broken_npy_file_is_one_line(folder, capsys, data):
    Path("x.npy").write_bytes(data)
    assert main([*RUN, "--output=result0=y.npy"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: x.npy: ")
    assert error.count("\n") == 1
    assert not Path("y.npy").exists()


# -- streams -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["run -", "opt -"])
def test_closed_standard_input_is_an_error(folder, command):
    done = shell(f"qrt {command} <&-")
    assert (done.returncode, done.stderr) == (1, "error: <stdin>: standard input is closed\n")


@pytest.mark.parametrize(
    "command", ["run f.mlir --input arg0=x.npy", "opt f.mlir", "bench --case gemm_4x4x4 --seconds 1e-3"]
)
def test_closed_standard_output_loses_no_result_in_silence(folder, command):
    done = shell(f"qrt {command} >&-")
    assert (done.returncode, done.stderr) == (1, "error: standard output is closed\n")


def test_closed_standard_output_is_not_needed_for_files(folder):
    assert shell("qrt run f.mlir --input arg0=x.npy --output result0=y.npy >&-").returncode == 0
    assert Path("y.npy").exists()


@pytest.mark.parametrize("end", ["2>&-", "2>/dev/full"])
def test_an_error_that_nobody_reads_is_a_status(folder, end):
    for arguments, status in (("opt absent.mlir", 1), ("opt --absent", 2)):
        done = shell(f"PYTHONUNBUFFERED= qrt {arguments} {end}")
        assert (done.returncode, done.stdout, done.stderr) == (status, "", "")


def test_full_standard_output_is_an_error(folder):
    done = shell("qrt opt f.mlir > /dev/full")
    assert (done.returncode, done.stderr) == (1, "error: standard output: No space left on device\n")


@pytest.mark.parametrize("arguments", ["--version", "opt --help"])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_help_that_cannot_be_written_is_an_error(folder, arguments, unbuffered):
    for end, message in (
        ("> /dev/full", "standard output: No space left on device"),
        (">&-", "standard output is closed"),
    ):
        done = shell(f"PYTHONUNBUFFERED={unbuffered} qrt {arguments} {end}")
        assert (done.returncode, done.stderr) == (1, f"error: {message}\n")


def test_a_broken_pipe_ends_in_silence_as_cat_does(folder):
    done = shell("set -o pipefail; (sleep 1; qrt opt f.mlir) | true")
    assert (done.returncode, done.stderr) == (141, "")


def test_an_interrupted_program_dies_of_the_signal(folder):
    Path("f.mlir").write_text(FOREVER)
    command = [sys.executable, "-c", "import qrt.cli, sys; print('ready', flush=True); sys.exit(qrt.cli.main())"]
    with subprocess.Popen(
        [*command, "run", "f.mlir", "--max-steps", "1000000000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # jobs of a shell may ignore it
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT  # a shell says 130
    assert error == b"interrupted\n"


def test_an_interrupted_call_gives_the_status_of_a_shell(folder, capsys, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("qrt.cli.inputs.load", interrupt)
    assert main([*RUN]) == 130
    assert capsys.readouterr().err == "interrupted\n"


# -- names of outputs --------------------------------------------------------------------------------------------------

Q = "tensor<2x!quant.uniform<i8:f32, 0.5>>"
REPLACED = "this output would replace an input file: give the output another name"
QUANTIZED = f"func.func @main(%x: {Q}) -> {Q} {{ return %x : {Q} }}"


@pytest.fixture
def programs(folder):
    """With a quantized program, data, and links to what is read."""
    Path("q.mlir").write_text(QUANTIZED)
    np.savez("x.npz", arg0=np.zeros((4,), np.float32))
    Path("link.qrt").symlink_to("q.mlir")
    Path("link.onnx").symlink_to("q.mlir")
    Path("link.html").symlink_to("x.npz")
    Path("link.npy").symlink_to("f.mlir")
    return folder


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("compile q.mlir -o q.mlir", "q.mlir: the name of this output must end in .qrt, got .mlir"),
        ("compile q.mlir -o out", "out: the name of this output must end in .qrt, got no suffix"),
        ("compile q.mlir -o link.qrt", f"link.qrt: {REPLACED}"),
        ("export q.mlir -o q.mlir", "q.mlir: the name of this output must end in .onnx, got .mlir"),
        ("export q.mlir -o link.onnx", f"link.onnx: {REPLACED}"),
        ("quantize f.mlir --data x.npz -o z.tflite", (
            "z.tflite: the name of this output must end in .mlir or .onnx, got .tflite"
        )),
        ("quantize f.mlir --data x.npz -o f.mlir", f"f.mlir: {REPLACED}"),
        ("quantize f.mlir --data x.npz -o ./f.mlir", f"./f.mlir: {REPLACED}"),
        (
            "quantize f.mlir --data x.npz -o x.npz",
            "x.npz: the name of this output must end in .mlir or .onnx, got .npz"),
        ("quantize f.mlir --data x.npz -o a.ONNX", (
            "a.ONNX: the name of this output must end in .mlir or .onnx, got .ONNX"
        )),
        ("quantize f.mlir --data x.npz --html r.mlir", "r.mlir: the name of this output must end in .html, got .mlir"),
        ("quantize f.mlir --data x.npz --html link.html", f"link.html: {REPLACED}"),
        (
            "explain q.mlir --against f.mlir "
            "--data x.npz --html x.npz", "x.npz: the name of this output must end in .html, got .npz"),
        ("import m.tflite -o m.tflite", "m.tflite: the name of this output must end in .mlir, got .tflite"),
        ("import q.mlir -o q.mlir", f"q.mlir: {REPLACED}"),
        ("opt f.mlir -o x.npy", "x.npy: the name of this output must end in .mlir, got .npy"),
        ("run f.mlir --input=arg0=x.npy --output=result0=f.mlir", (
            "f.mlir: the name of this output must end in .npy, got .mlir"
        )),
        ("run f.mlir --input=arg0=x.npy --output=result0=link.npy", f"link.npy: {REPLACED}"),
    ],
)  # fmt: skip
def test_an_output_of_another_kind_or_over_what_is_read_is_refused(programs, capsys, line, message):
    before = {name: Path(name).read_bytes() for name in os.listdir()}
    assert main(line.split()) == 1
    assert capsys.readouterr().err == f"error: {message}\n"
    assert {name: Path(name).read_bytes() for name in os.listdir()} == before


@pytest.mark.parametrize(
    "line", ["compile q.mlir -o q.qrt", "opt f.mlir -o f.mlir", "opt f.mlir -o -", "opt f.mlir -o /dev/null"]
)
def test_outputs_of_their_kind_and_streams_are_written(programs, line):
    assert main(line.split()) == 0


# -- usage -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*RUN, "--input=arg0=x.npy"], "input 'arg0' is given twice"),
        ([*RUN, "--input-value=arg0=1xf32=1"], "input 'arg0' is given twice"),
        ([*RUN, "--output=result0=a", "--output=result0=b"], "output 'result0' is given twice"),
        ([*RUN, "--max-steps", "-5"], "--max-steps: expected a non-negative integer, got '-5'"),
        ([*RUN, "--max-steps", "1.5"], "--max-steps: expected a non-negative integer"),
        ([*RUN, "--max-input", "-1"], "--max-input: expected a non-negative integer"),
        (["opt", "f.mlir", "--max-input", "1K"], "--max-input: expected a non-negative integer"),
        *((["bench", "--seconds", text], "--seconds: expected a finite number of seconds above 0")
          for text in ("nan", "inf", "0", "-1", "x")),
    ],
)  # fmt: skip
def test_usage_errors(folder, capsys, arguments, message):
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


def test_names_of_one_command_line_are_not_those_of_the_next(folder):
    for _ in range(2):
        assert main([*RUN, "--output=result0=y.npy"]) == 0


def test_an_output_whose_name_has_a_null_character_is_an_error():
    """No shell passes one, but `main` may be given it."""
    with pytest.raises(ModelError, match="null character"):
        write_files([("a\0b", lambda file: file.write(b"x"))])
    for line in ("run a\0.mlir --output result0=y.npy", "run a.mlir --output y=\0.npy", "compile a.mlir -o \0.qrt"):
        assert main(line.split(" ")) == 1
