"""What the functions of the runner libraries print, and what `affine.parallel` computes, beside mlir-runner 22."""

import re
from pathlib import Path

from tests import mlir_opt, mlir_runner
from tests.runtime.interpreter.run import run

pytestmark = mlir_opt.needed
_FOLDER = Path(__file__).parents[2] / "runtime" / "interpreter"


def printed_alike(text, capsys):
    theirs, error = mlir_runner.output(text)
    assert not error
    run(text, name="main")
    assert capsys.readouterr().out == re.sub("base@ = 0x[0-9a-f]+", "base@ = 0x0", theirs)


def test_printing(capsys):
    printed_alike((_FOLDER / "printing.mlir").read_text(), capsys)


def test_parallel_reductions(capsys):
    """Also where no iteration runs: then a reduction is its identity."""
    kinds = {"f32": ("addf", "maximumf", "minimumf", "mulf"), "i64": ("addi", "andi", "muli", "ori")}
    calls = ""
    for number, (bound, kind, type) in enumerate((n, k, t) for n in (0, 3) for t, ks in kinds.items() for k in ks):
        cast = "arith.uitofp %s : i64 to f32" if type == "f32" else "arith.addi %s, %s : i64"
        calls += f"""
  %r{number} = affine.parallel (%i, %j) = (0, 1) to ({bound}, min(%c5, 4)) step (1, 2) reduce ("{kind}") -> ({type}) {{
    %a = affine.apply affine_map<(d0, d1) -> (d0 * 3 + d1)>(%i, %j)
    %s = arith.index_cast %a : index to i64
    %v = {cast}
    affine.yield %v : {type}
  }}
  call @print{type.upper()}(%r{number}) : ({type}) -> ()
  call @printNewline() : () -> ()"""
    declared = "\n".join(f"func.func private @print{name}" for name in ("F32(f32)", "I64(i64)", "Newline()"))
    printed_alike(f"{declared}\nfunc.func @main() {{\n  %c5 = arith.constant 5 : index{calls}\n  return\n}}\n", capsys)
