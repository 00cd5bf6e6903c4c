"""``qrt compile``, and the commands that take what it saves."""

from pathlib import Path

import numpy as np
import pytest

from qrt.cli import main

X = "tensor<2x!quant.uniform<i8:f32, 0.5>>"
TEXT = f"func.func @double(%x: {X}) -> {X} {{ %0 = qrt.add %x, %x : ({X}, {X}) -> {X} return %0 : {X} }}"


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    (tmp_path / "m.mlir").write_text(TEXT)
    path = tmp_path / "m.qrt"
    assert main(["compile", str(tmp_path / "m.mlir"), "-o", str(path)]) == 0
    return path


def test_what_is_saved_runs(saved: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.int8([3, -4]))
    out = tmp_path / "y.npy"
    assert main(["run", str(saved), "--input", f"x={tmp_path / 'x.npy'}", "--output", f"result0={out}"]) == 0
    assert np.load(out).tolist() == [6, -8]


def test_explain_lists_its_steps(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(saved)]) == 0
    assert "qrt.add" in capsys.readouterr().out


def test_print_plan(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(saved), "--print-plan"]) == 0
    assert capsys.readouterr().out.startswith("@double for ")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--function", "other"], "no function is named 'other'; the saved function is 'double'"),
        (["--saturating"], "--profile, --input-shape and --saturating are for qrt compile"),
        (["--profile", "litert"], "--profile, --input-shape and --saturating are for qrt compile"),
    ],
)
def test_what_it_is_not(saved: Path, options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(saved), *options]) == 1
    assert said in capsys.readouterr().err


def test_a_damaged_file_is_one_line(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = bytearray(saved.read_bytes())
    content[-1] ^= 1
    saved.write_bytes(content)
    assert main(["run", str(saved)]) == 1
    assert capsys.readouterr().err.splitlines() == [
        f"error: {saved}: the file is damaged: the checksum of its content differs"
    ]


def test_where_it_cannot_go(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.mlir").write_text(TEXT)
    assert main(["compile", str(tmp_path / "m.mlir"), "-o", str(tmp_path / "absent" / "m.qrt")]) == 1
    assert ": the folder does not exist" in capsys.readouterr().err
