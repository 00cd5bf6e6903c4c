"""The operations of each pass under --strict-upstream are those of mlir-opt 22, one for one. Hazards: another order of
operations, a constant of another type, a cast too many or too few, a function too many removed."""

from pathlib import Path

import pytest

from qrt import ir
from qrt.errors import QuantError
from qrt.ir import run_passes
from tests import mlir_opt
from tests.ir.passes import arith_folds, arith_patterns
from tests.ir.passes.programs import CASTS, FUNCTIONS
from tests.oracle.draw_affine import affine_nests
from tests.oracle.draw_buffers import buffers
from tests.oracle.draw_carried import carrying
from tests.oracle.draw_regions import branching, structured
from tests.oracle.draw_tensors import tensors
from tests.oracle.draw_types import Draw
from tests.oracle.draw_vectors import vectors
from tests.oracle.verdicts import PASSES, SEPARATOR

pytestmark = mlir_opt.needed


def reread(module):
    """What its text says: some sums of affine maps that mlir-opt 22 makes are read as others."""
    return ir.parse(str(module), allow_unregistered=True)


def disagreements(programs, name):
    """Programs that end up different, or that one of the two refuses."""
    output = mlir_opt.output(
        SEPARATOR.join(text + "\n" for text in programs.values()),
        f"--{name}",
        "--split-input-file",
        "--allow-unregistered-dialect",
    )
    outputs = output.split(SEPARATOR)
    assert len(outputs) == len(programs)
    for (program, text), theirs in zip(programs.items(), outputs, strict=True):
        module = ir.parse(text, allow_unregistered=True)
        try:
            run_passes(module, name, strict_upstream=True)
            refused = ""
        except QuantError as error:
            refused = str(error)
        if bool(refused) == bool(theirs.strip()) or (theirs.strip() and ir.parse(theirs, "", True) != reread(module)):
            yield f"{program}: {refused}\n{module}{theirs}"


@pytest.mark.parametrize("name", PASSES)
def test_functions_after_a_pass(name):
    crash = {"region of an unknown op"} if name == "inline" else set()  # an assertion of mlir-opt 22's
    assert not list(disagreements({key: FUNCTIONS[key] for key in FUNCTIONS if key not in crash}, name))


@pytest.mark.parametrize("name", ["lower-quant-ops", "strip-func-quant-types", "normalize-quant-types", "cse"])
def test_casts_after_a_pass(name):
    assert not list(disagreements(CASTS, name))


def test_loops_after_invariant_code_motion():
    text = (Path(__file__).parents[1] / "ir" / "passes" / "files" / "loops.mlir").read_text()
    assert not list(disagreements({"loops": text}, "loop-invariant-code-motion"))


@pytest.mark.parametrize("options", ["", "{rounding=half_away}", "{zero-point=after}", "{scale=reciprocal}"])
def test_mlir_opt_reads_what_is_lowered(options):
    """Our own lowering is made of upstream's ops: mlir-opt accepts it, and reads the same program."""
    refused = []
    programs = {}
    for name, text in CASTS.items():
        try:
            programs[name] = run_passes(ir.parse(text), f"lower-quant-ops{options}")
        except QuantError as error:
            refused.append(f"{name}: {error}")
    assert not refused
    text = SEPARATOR.join(str(module) for module in programs.values())
    accepted, output = mlir_opt.upstream(text, "--split-input-file")
    assert accepted, output
    for module, theirs in zip(programs.values(), output.split(SEPARATOR), strict=True):
        assert ir.parse(theirs) == module


@pytest.mark.parametrize("programs", [arith_folds.PROGRAMS, arith_patterns.PROGRAMS], ids=["folds", "patterns"])
def test_arith_and_math_canonicalized(programs):
    """Hazards: a wrong reading of a constant at odd widths or of i1, a fold of what is undefined, the sign of a NaN."""
    assert not list(disagreements(programs, "canonicalize"))


@pytest.mark.parametrize(
    "name",
    [
        "affine",
        "affine_bounds",
        "branches",
        "bufferization",
        "carried",
        "forall",
        "linalg",
        "memrefs",
        "padding",
        "regions",
        "reshapes",
        "slices",
        "tensors",
        "vector_elements",
        "vector_masks",
        "vector_reductions",
        "vector_slices",
        "vector_transfers",
        "vectors",
        "views",
        "while",
    ],
)
def test_files_canonicalized(name):
    text = (Path(__file__).parents[1] / "ir" / "passes" / "files" / f"canonicalize_{name}.mlir").read_text()
    assert not list(disagreements({name: text}, "canonicalize"))


@pytest.mark.parametrize("kind", [affine_nests, branching, buffers, carrying, structured, tensors, vectors])
def test_drawn_functions_canonicalized(kind):
    """Hazards: a block merged that another way leads to, a value that no longer dominates its use, an order of folds
    that leaves another program, a size taken from the wrong operand."""
    draw = Draw(f"{kind.__name__} 1")
    programs = {f"{kind.__name__} {number}": kind(draw) for number in range(400)}
    assert not list(disagreements(programs, "canonicalize"))
