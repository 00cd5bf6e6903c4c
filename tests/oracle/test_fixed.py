"""The same verdicts and the same text as mlir-opt 22, asked anew."""

import re
from pathlib import Path

import pytest

from qrt import ir
from qrt.errors import ParseError, VerifyError
from qrt.types import parse_type
from tests import mlir_opt
from tests.ir.programs import PROGRAMS, UNREGISTERED
from tests.mlir_opt import upstream
from tests.types.tables import ACCEPTED, REJECTED, SIGNED

pytestmark = mlir_opt.needed


def test_accepted_types_print_alike():
    lines = [f'"t"() {{t = {text}}} : () -> ()' for text, _ in ACCEPTED]
    accepted, output = upstream("\n".join(lines), "--allow-unregistered-dialect")
    assert accepted, output
    theirs = [
        line.strip()[len('"t"() {t = ') : -len("} : () -> ()")] for line in output.splitlines()[1:] if "t = " in line
    ]
    assert theirs == [str(parse_type(text)) for text, _ in ACCEPTED]


def test_signed_storage_is_printed_alike_and_kept_apart():
    declared = "\n".join(f"func.func private @f{i}({text})" for i, (text, _) in enumerate(SIGNED))
    assert upstream(declared) == (True, f"{ir.parse(declared)}\n")
    for t, integer in (("si8", "i8"), ("si8", "si8"), ("ui8", "i8"), ("u8", "i8"), ("i8", "i8")):
        quantized = f"!quant.uniform<{t}:f32, 1.0>"
        text = f"func.func @f(%x: {quantized}) {{ %0 = quant.scast %x : {quantized} to {integer}  return }}"
        assert upstream(text)[0] == _verifies(text)


def _verifies(text):
    try:
        ir.parse(text).verify()
    except VerifyError:
        return False
    return True


def test_rejected_types_are_rejected():
    rejected = "// -----\n".join(f"func.func private @f({text})\n" for text, _, _ in REJECTED)
    accepted, output = upstream(rejected, "--split-input-file")
    assert not accepted
    assert "func.func private" not in "".join(line for line in output.splitlines() if line.startswith("  func"))


@pytest.mark.parametrize("name", [n for n in (*PROGRAMS, *UNREGISTERED) if n != "aliases used first"])
def test_programs_print_alike(name):
    """Aliases used before their definition are ours alone."""
    text = (PROGRAMS | UNREGISTERED)[name]
    module = ir.parse(text, allow_unregistered=True)
    accepted, output = upstream(module.print(generic=True), "--allow-unregistered-dialect", "--mlir-print-op-generic")
    assert accepted, output
    again = ir.parse(output, allow_unregistered=True)
    assert again == module
    if not any(alias in output for alias in ("#map", "#loc", "#set")):
        assert output.rstrip("\n") == module.print(generic=True).rstrip("\n")


_IR = Path(__file__).parents[1] / "ir"
INVALID = (_IR / "invalid.mlir").read_text().split("// -----\n")


@pytest.mark.parametrize("text", [t for t in INVALID if "qrt." not in t and "rounding" not in t])
def test_invalid_programs_are_refused_by_both(text):
    with pytest.raises((ParseError, VerifyError)):
        ir.parse(text).verify()
    assert not upstream(text)[0]


BROKEN = (Path(__file__).parent.parent / "ir" / "broken.mlir").read_text().split("// -----\n")


@pytest.mark.parametrize("text", BROKEN)
def test_the_verifier_goes_on_where_upstreams_does(text):
    with pytest.raises(VerifyError) as caught:
        ir.parse(text, allow_unregistered=True).verify()
    ours = [diagnostic.location.line for diagnostic in caught.value.diagnostics]
    accepted, output = upstream(text, "--allow-unregistered-dialect")
    assert not accepted
    assert ours == [int(line.split(":")[1]) for line in output.splitlines() if ": error: " in line]


DIALECTS = ("affine", "bufferization", "cf", "memref", "ml_program", "scf", "shape", "vector")
REFUSED = (*DIALECTS, "discardable", "memref_views", "spellings", "vector_contract", "vector_operands", "vector_slices")
READ = ("lowered", "elementwise", "linalg", "linalg_named", "complex", "ub", "spellings", *DIALECTS)


@pytest.mark.parametrize("name", REFUSED)
def test_invalid_programs_of_a_dialect_are_refused_by_both(name):
    text = (_IR / f"invalid_{name}.mlir").read_text()
    output = mlir_opt.output(text, "--split-input-file")
    assert "func.func" not in output
    assert not re.search(r"^ +(memref|ml_program)\.global ", output, re.MULTILINE)


@pytest.mark.parametrize("name", READ)
def test_ops_read_alike(name):
    """Custom and generic forms of every op, ours and theirs, each read by the other."""
    text = (_IR / f"{name}.mlir").read_text()
    module = ir.parse(text)
    accepted, output = upstream(text)
    assert accepted, output
    assert ir.parse(output) == module
    for generic in (False, True):
        assert upstream(module.print(generic=generic)) == (True, output)
    accepted, output = upstream(text, "--mlir-print-op-generic")
    assert accepted, output
    assert ir.parse(output) == module
