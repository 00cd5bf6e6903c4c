"""The lowered convolution: its page is what the pass writes, and it computes what the program does."""

import numpy as np
import pytest

from examples.lowering import readme
from qrt import ir
from qrt.execute import Program
from qrt.passes import run_passes
from tests import mlir_opt

OPTIONS = ["to=loops zero-point=in-loop", "to=loops", "zero-point=in-loop", ""]


def test_the_page_is_what_the_pass_writes() -> None:
    assert readme.README.read_text() == readme.readme()


@pytest.mark.parametrize("options", OPTIONS)
def test_the_lowered_program_gives_the_same_bits(options: str) -> None:
    rng = np.random.default_rng(0)
    program = Program(ir.parse(readme.SOURCE.read_text()))
    lowered = Program(ir.parse(readme.lowered(options)))
    for spread in (0.1, 1, 10):
        inputs = [rng.normal(0, spread, port.type.shape).astype(np.float32) for port in program.inputs]
        np.testing.assert_array_equal(lowered(*inputs).storage, program(*inputs).storage)


def test_the_stages_are_the_articles() -> None:
    """Each is there, in order; the multiplier, the rounding constant and the shift are those of `fixed`."""
    text = readme.lowered(OPTIONS[0])
    places = [text.index(f'loc("{name}")') for name in readme.STAGES if name != "bias"]
    assert places == sorted(places)
    assert places[2] < text.index('loc("bias")') < places[3]
    requantize = readme.stage(text, "requantize")
    assert "arith.constant 1374389535 : i64" in requantize  # 0.01 * 2^37
    assert f"arith.constant {1 << 36} : i64" in requantize
    assert "arith.constant 37 : i64" in requantize


@mlir_opt.needed
@pytest.mark.parametrize("options", OPTIONS)
def test_mlir_opt_reads_it(options: str) -> None:
    module = run_passes(ir.parse(readme.lowered(options)), "lower-quant-ops")
    accepted, output = mlir_opt.upstream(str(module))
    assert accepted, output[:1000]
