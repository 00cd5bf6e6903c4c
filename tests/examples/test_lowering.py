"""The lowered convolution: its page is what the pass writes, and it computes what the program does."""

import re
from pathlib import Path

import numpy as np
import pytest

from examples.lowering import readme
from qrt import ir
from qrt.cli import main
from qrt.ir import run_passes
from qrt.runtime.compilation import compile
from tests import mlir_opt

ARTICLE = "extsi subi extui subi muli addi addi extsi muli addi shrsi addi maxsi minsi trunci"
"""The arithmetic of its stages: accumulate with the zero points, bias, requantize, output zero point, clamp."""
OPTIONS = ["to=loops zero-point=in-loop", "to=loops", "zero-point=in-loop", ""]


def test_the_page_is_what_the_pass_writes() -> None:
    assert readme.README.read_text() == readme.readme()


@pytest.mark.parametrize("options", OPTIONS)
def test_the_lowered_program_gives_the_same_bits(options: str) -> None:
    rng = np.random.default_rng(0)
    program = compile(ir.parse(readme.SOURCE.read_text()))
    lowered = compile(ir.parse(readme.lowered(options)))
    for spread in (0.1, 1, 10):
        inputs = [rng.normal(0, spread, port.type.shape).astype(np.float32) for port in program.inputs]
        np.testing.assert_array_equal(lowered(*inputs).storage, program(*inputs).storage)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """What the command line makes of the example, with locations."""
    path = tmp_path / "lowered.mlir"
    options = f"--lower-qrt={OPTIONS[0]}", "--mlir-print-debuginfo"
    assert main(["opt", str(readme.SOURCE), *options, "-o", str(path)]) == 0
    return path


def test_the_command_line_runs_both_to_the_same_bytes(written: Path, tmp_path: Path) -> None:
    rng, inputs = np.random.default_rng(1), list[str]()
    for i, port in enumerate(compile(ir.parse(readme.SOURCE.read_text())).inputs):
        file = tmp_path / f"{i}.npy"
        np.save(file, rng.normal(0, 3, port.type.shape).astype(np.float32))
        inputs.append(f"--input={port.name}={file}")
    results = []
    for program in (readme.SOURCE, written):
        file = tmp_path / f"{program.stem}.npy"
        assert main(["run", str(program), *inputs, f"--output=result0={file}"]) == 0
        results.append(file.read_bytes())
    assert results[0] == results[1]
    assert len(set(results[0])) > 20  # not only bounds


def test_the_stages_are_the_articles(written: Path) -> None:
    """Each is there, in order; the multiplier, the rounding constant and the shift are those of `fixed`."""
    text = written.read_text()
    ops = re.findall(r"arith\.(?!constant)(\w+)", text)
    assert " ".join(ops) == ARTICLE
    places = [text.index(f'loc("{name}")') for name in readme.STAGES if name != "bias"]
    assert places == sorted(places)
    assert places[2] < text.index('loc("bias")') < places[3]
    requantize = readme.stage(text, "requantize")
    assert "arith.constant 1374389535 : i64" in requantize  # 0.01 * 2^37
    assert f"arith.constant {1 << 36} : i64" in requantize
    assert "arith.constant 37 : i64" in requantize


@mlir_opt.needed
def test_mlir_opt_reads_what_the_command_line_writes(written: Path) -> None:
    accepted, output = mlir_opt.upstream(written.read_text())
    assert accepted, output[:1000]


@mlir_opt.needed
@pytest.mark.parametrize("options", OPTIONS)
def test_mlir_opt_reads_it(options: str) -> None:
    module = run_passes(ir.parse(readme.lowered(options)), "lower-quant-ops")
    accepted, output = mlir_opt.upstream(str(module))
    assert accepted, output[:1000]
