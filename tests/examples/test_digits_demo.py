"""The whole demo, and the committed program on every kernel."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import qrt
from examples.digits import demo
from examples.digits.network import Array, Network
from examples.digits.train import load

ROOT = Path(__file__).parents[2]


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture(scope="module")
def held_out() -> Array:
    return load().test_images


def test_demo_succeeds_and_regenerates_the_committed_program(tmp_path: Path) -> None:
    written = tmp_path / "digits.mlir"
    done = run("examples.digits.demo", "--program", written)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "accuracy" in done.stdout
    assert written.read_text(encoding="utf-8") == demo.PROGRAM.read_text(encoding="utf-8"), (
        "digits.mlir is not what its generator writes: run the demo and commit the result"
    )


def test_demo_fails_on_a_network_that_knows_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
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
        done = run("qrt", "run", demo.PROGRAM, "--input", f"images={images}", "--output", f"logits={logits}", *choice)
        assert done.returncode == 0, done.stderr
        files[choice] = logits.read_bytes()
    assert len(files) > 1
    assert len(set(files.values())) == 1, list(files)


@pytest.mark.parametrize("batch", [0, 1, 3])
def test_any_batch_size_gives_the_same_rows(batch: int, held_out: Array) -> None:
    program = qrt.compile(qrt.load(demo.PROGRAM))
    assert np.array_equal(program(held_out[:batch]), program(held_out)[:batch])
