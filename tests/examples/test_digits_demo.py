"""The whole demo, and the committed program on every kernel."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

import qrt
from examples.digits import demo
from examples.digits.network import Array, Network
from examples.digits.train import load
from qrt.cli import main

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def held_out() -> Array:
    return load().test_images


def test_demo_succeeds_and_regenerates_the_committed_programs(tmp_path: Path) -> None:
    """With the code that NumPy and OpenBLAS have for the least CPU. The committed programs were made with AVX-512."""
    beyond = " ".join(name for name in __cpu_dispatch__ if __cpu_features__.get(name))
    least = {"NPY_DISABLE_CPU_FEATURES": beyond, "OPENBLAS_CORETYPE": "Prescott"}
    command = [sys.executable, "-m", "examples.digits.demo", "--program", str(tmp_path / "digits.mlir")]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **least}, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "accuracy" in done.stdout
    for name in ("digits_float.mlir", "digits.mlir"):
        written, committed = tmp_path / name, demo.PROGRAM.with_name(name)
        assert written.read_text(encoding="utf-8") == committed.read_text(encoding="utf-8"), (
            f"{name} is not what the demo writes: run it and commit the result"
        )


def test_demo_fails_on_a_network_that_knows_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    digits = load()
    monkeypatch.setattr(demo, "load", lambda: replace(digits, train_images=digits.train_images[:8]))
    monkeypatch.setattr(demo, "train", lambda *_: Network.initial(np.random.default_rng(5)))
    assert demo.main(["--program", str(tmp_path / "digits.mlir")]) == 1
    assert "not as good" in capsys.readouterr().err


def test_committed_program_verifies_and_prints_back() -> None:
    module = qrt.ir.parse(demo.PROGRAM.read_text(encoding="utf-8"), filename="digits.mlir")
    module.verify()
    text = str(module)
    assert str(qrt.ir.parse(text)) == text


def test_every_isa_and_the_interpreter_write_the_same_bytes(tmp_path: Path, held_out: Array) -> None:
    images = tmp_path / "images.npy"
    np.save(images, held_out)
    choices = [*(("--isa", isa) for isa in qrt.kernels.available()), ("--interpret",)]
    files = {}
    for choice in choices:
        logits = tmp_path / f"logits{''.join(choice)}.npy"
        command = ["run", str(demo.PROGRAM), "--input", f"images={images}", "--output", f"logits={logits}", *choice]
        assert main(command) == 0
        files[choice] = logits.read_bytes()
    assert len(files) > 1
    assert len(set(files.values())) == 1, list(files)


@pytest.mark.parametrize("batch", [0, 1, 3])
def test_any_batch_size_gives_the_same_rows(batch: int, held_out: Array) -> None:
    program = qrt.compile(qrt.load(demo.PROGRAM))
    assert np.array_equal(program(held_out[:batch]), program(held_out)[:batch])
