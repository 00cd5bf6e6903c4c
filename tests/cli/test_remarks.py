"""Remarks of passes on the command line. Hazards: one that is lost, or that makes a run fail; one that no comment
expects and that passes unseen; one of another program of a split file."""

from dataclasses import dataclass

import pytest

from qrt.cli import main
from qrt.errors import Diagnostic
from qrt.ir import Module, register_pass
from qrt.ir.remarks import remark
from tests.registries import restored_registries

PROGRAM = "func.func @f() { return }\n"
EXPECTED = "// expected-remark @below {{is looked at}}\n" + PROGRAM
NOTED = "// expected-note @below {{is the function}}\n" + EXPECTED.replace("@below", "@+1")


@dataclass(frozen=True)
class Look:
    """Remarks on every function."""

    note: bool = False

    def run(self, module: Module) -> None:
        for function in module.functions:
            notes = [Diagnostic("note", "here is the function", function.location)] * self.note
            remark(function, "this function is looked at", *notes)


RUN = ("--pass-pipeline", "mine-look")


@pytest.fixture(autouse=True)
def registered():
    with restored_registries():
        register_pass("mine-look", Look)
        yield


@pytest.fixture
def opt(tmp_path, capsys):
    def run(text, *options):
        """(exit status, standard output, standard error)."""
        path = tmp_path / "program.mlir"
        path.write_text(text)
        status = main(["opt", str(path), *options])
        captured = capsys.readouterr()
        return status, captured.out, captured.err.replace(str(tmp_path), "")

    return run


def test_a_remark_is_printed_and_changes_nothing(opt):
    status, out, err = opt(PROGRAM, *RUN)
    assert (status, out) == opt(PROGRAM)[:2]
    assert err == f"/program.mlir:1:1: remark: this function is looked at\n{PROGRAM}^~~~~~~~~\n"
    status, _, err = opt(PROGRAM, "--pass-pipeline=mine-look{note=true}", "--strict")
    assert status == 0
    assert "/program.mlir:1:1: note: here is the function\n" in err


def test_remarks_come_in_the_order_of_passes_and_with_the_lines_of_their_program(opt):
    _, _, err = opt(
        f"{PROGRAM}// -----\n{PROGRAM}", "--split-input-file", "--pass-pipeline=mine-look,mine-look{note=true}"
    )
    places = [line.split(":")[1:4:2] for line in err.splitlines() if line.startswith("/")]
    assert places == [[line, f" {kind}"] for line in "13" for kind in ("remark", "remark", "note")]


@pytest.mark.parametrize(
    ("text", "pipeline"),
    [
        (EXPECTED, "mine-look"),
        (PROGRAM + "// expected-remark @above {{this function}}\n", "mine-look"),
        ("// expected-remark-re @below {{is {{looked|peeked}} at}}\n" + PROGRAM, "mine-look"),
        (NOTED.replace("@below", "@+2"), "mine-look{note=true}"),
        (PROGRAM, "cse"),
    ],
)
def test_expected_remarks(opt, text, pipeline):
    status, _, err = opt(text, "--verify-diagnostics", f"--pass-pipeline={pipeline}")
    assert (status, err) == (0, "")


@pytest.mark.parametrize(
    ("text", "pipeline", "message"),
    [
        (PROGRAM, "mine-look", "program.mlir:1:1: error: unexpected remark: this function is looked at"),
        (EXPECTED, "cse", 'expected remark "is looked at" was not produced'),
        (EXPECTED.replace("remark", "warning"), "mine-look", "unexpected remark"),
        (EXPECTED.replace("is looked at", "is left"), "mine-look", 'expected remark "is left" was not produced'),
        (EXPECTED, "mine-look,mine-look", "unexpected remark"),
        (EXPECTED, "mine-look{note=true}", "unexpected note"),
    ],
)
def test_remarks_that_are_not_as_expected_fail(opt, text, pipeline, message):
    status, _, err = opt(text, "--verify-diagnostics", f"--pass-pipeline={pipeline}")
    assert status == 1
    assert message in err


def test_nobody_listens_elsewhere(opt):
    """A pass that Python runs says nothing; and a listener hears nothing of what runs later."""
    assert opt(PROGRAM, *RUN)[2]
    from qrt.ir import parse, run_passes

    assert str(run_passes(parse(PROGRAM), "mine-look")) == str(parse(PROGRAM))
