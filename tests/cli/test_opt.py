"""`qrt opt`'s options. Hazards: an expected error that passes unseen, an unexpected one that does not fail, lines that
lose their numbers where a file is split, an option that changes nothing."""

import re

import pytest

from qrt.cli import main
from qrt.cli.timing import Timing, report
from qrt.errors import Diagnostic
from qrt.types.diagnostics import Expectations

FINE = "func.func @f(%x: f32) -> f32 { return %x : f32 }\n"
BROKEN = "func.func @f(%x: f32) -> f32 { return %y : f32 }\n"
CAST = """
!q = !quant.uniform<i8:f32, 0.5:3>
func.func @f(%x: f32) -> !q {
  %0 = quant.qcast %x : f32 to !q
  return %0 : !q
}
"""
OUTSIDE = "func.func private @f(!quant.uniform<i8:f32, 0.5:1000>)\n"
TWICE = """// expected-note @below {{see existing symbol definition here}}
func.func private @f()
// expected-error @below {{redefinition of symbol named 'f'}}
func.func private @f()
"""
CALIBRATED = "func.func private @f(!quant.calibrated<f32<0.0:1.0>>)\n"
MISFIT = """
func.func @f(%x: tensor<?x8x!quant.uniform<i8:f32:1, {0.5, 1.0, 2.0}>>) -> index {
  %c1 = arith.constant 1 : index
  // expected-error @below {{quantized dimension size does not match number of scales}}
  %0 = tensor.dim %x, %c1 : tensor<?x8x!quant.uniform<i8:f32:1, {0.5, 1.0, 2.0}>>
  return %0 : index
}
"""
STRIP = ("--strip-func-quant-types",)
MANY = """
func.func @f(%x: f32) {
  // expected-error @below {{expressed type in quantized type}}
  %0 = quant.qcast %x : f32 to !quant.uniform<i8:f16, 1.0>
  %1 = quant.qcast %x : f32 to !quant.uniform<i8:f16, 1.0>
  return
}
module {
  func.func @g(%x: f32) {
    // expected-error @below {{expressed type in quantized type}}
    %0 = quant.qcast %x : f32 to !quant.uniform<i8:f16, 1.0>
    return
  }
}
func.func @h() {
  // expected-error @below {{'func.return' op}}
  return %0 : f32
^bb1:
  %0 = arith.constant 0.0 : f32
  return
}
func.func @i(%x: f32) {
  // expected-error @below {{operand #1 does not dominate this use}}
  %0 = arith.addf %x, %1 : f32
  // of dominance only the first
  %1 = arith.addf %x, %2 : f32
  %2 = arith.addf %x, %x : f32
  return
}
func.func @i(%x: f32) {
  // symbols are looked at where all else is right
  return
}
"""


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


def test_a_split_file_keeps_its_line_numbers_and_goes_on_after_an_error(opt):
    status, out, err = opt(f"{FINE}// -----\n{BROKEN}// -----\n{FINE}", "--split-input-file")
    assert status == 1
    assert out.count("func.func") == 2
    assert out.count("// -----\n") == 2  # the broken one leaves its place empty, as upstream does
    assert "/program.mlir:3:39: error: " in err


@pytest.mark.parametrize(
    "comment",
    [
        "// expected-error @below {{use of undeclared}}\n" + BROKEN,
        "// expected-error @+2 {{undeclared SSA value name '%y'}}\n\n" + BROKEN,
        BROKEN + "// expected-error @above {{undeclared}}\n",
        BROKEN + "// expected-error@-1 {{undeclared}}\n",
        BROKEN.rstrip() + " // expected-error {{undeclared}}\n",
        "// expected-error-re @below {{use of {{un[a-z]+}} SSA value name '%{{[xyz]}}'}}\n" + BROKEN,
    ],
)
def test_expected_errors(opt, comment):
    assert opt(comment, "--verify-diagnostics") == (0, "", "")
    assert opt(comment)[0] == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BROKEN, "use of undeclared"),
        ("// expected-error @below {{undeclared}}\n" + FINE, 'expected error "undeclared" was not produced'),
        ("// expected-error @below {{another}}\n" + BROKEN, 'expected error "another" was not produced'),
        ("// expected-error @+2 {{undeclared}}\n" + BROKEN, "was not produced"),
        ("// expected-warning @below {{undeclared}}\n" + BROKEN, 'expected warning "undeclared" was not produced'),
        ("// expected-error @unknown {{undeclared}}\n" + BROKEN, "was not produced"),
        ("// expected-error-re @below {{use of {{[0-9]+}}}}\n" + BROKEN, "was not produced"),
        ("// expected-error-re @below {{use {{(of}}}}\n" + BROKEN, "invalid regex: "),
        ("// expected-error-re @below {{use {{(of}}}}\n" + FINE, "invalid regex: "),
        (BROKEN, "program.mlir:1:39: error: unexpected error: use of undeclared"),
        ("// expected-error @below 1 {{undeclared}}\n" + BROKEN, "unexpected error"),  # upstream has no counts
        (f"// expected-error @+{'9' * 5000} {{{{undeclared}}}}\n" + BROKEN, "unexpected error"),
        (OUTSIDE, "unexpected warning: 'func.func' op has a value of type"),
        ("// expected-error @below {{zero point}}\n" + OUTSIDE, "unexpected warning"),
        ("// expected-remark @below {{zero point}}\n" + OUTSIDE, 'expected remark "zero point" was not produced'),
        (TWICE.replace("// expected-note", "// note"), "program.mlir:2:1: error: unexpected note: see existing"),
        (
            "// expected-error @below {{undeclared}}\n// expected-error @below {{use}}\n" + BROKEN,
            '"use" was not produced',
        ),
    ],
)
def test_diagnostics_that_are_not_as_expected_fail(opt, text, message):
    status, _, err = opt(text, "--verify-diagnostics")
    assert status == 1
    assert message in err


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (MANY, ()),
        (TWICE, ()),
        ("// expected-warning @below {{zero point 1000 is outside [-128, 127], the range of i8}}\n" + OUTSIDE, ()),
        ("// expected-error @below {{zero point 1000 is outside}}\n" + OUTSIDE, ("--strict",)),
        ("// expected-error @below {{has no storage type}}\n" + CALIBRATED, STRIP),
        (MISFIT, STRIP),
    ],
)
def test_every_diagnostic_of_a_program_is_checked(opt, text, options):
    status, _, err = opt(text, "--verify-diagnostics", *options)
    assert (status, err) == (0, "")


def test_a_diagnostic_without_a_place_is_at_unknown_alone():
    expected = Expectations("// expected-error @unknown {{lost}}\n// expected-error {{lost}}\n", "f.mlir")
    for _ in range(2):
        expected.check(Diagnostic("error", "all is lost"))
    unexpected, missing = expected.problems()
    assert str(unexpected) == "error: unexpected error: all is lost"
    assert missing.location.line == 2


def test_a_place_in_the_pipeline_is_none_in_the_program(opt):
    status, _, err = opt(
        FINE + "// expected-error @above {{rounding}}\n", "--verify-diagnostics", "--lower-quant-ops=rounding=up"
    )
    assert status == 1
    assert "<pipeline>:1:1: error: unexpected error: " in err


@pytest.mark.parametrize(
    "text",
    [
        "func.func private @g()\nfunc.func @f(%x: tensor<2x!quant.none<f32>>) { return }\n",
        "\nfunc.func @f(%x: f32) { %0 = quant.qcast %x : f32 to !quant.none<f32>  return }\n",
    ],
)
def test_a_type_that_upstream_lacks_is_refused_where_that_is_asked_for(opt, text):
    assert opt(text)[0] == 0
    status, _, err = opt(text, "--strict-upstream")
    assert status == 1
    assert "/program.mlir:2:" in err
    assert "does not exist upstream, which --strict-upstream requires" in err


def test_warnings_are_printed_and_do_not_fail(opt):
    status, out, err = opt(OUTSIDE * 1 + OUTSIDE.replace("@f", "@g"))
    assert status == 0
    assert out.count("func.func") == 2
    assert err.startswith("/program.mlir:1:1: warning: 'func.func' op has a value of type !quant.uniform<i8:f32, ")
    assert err.endswith("^~~~~~~~~\n")
    assert err.count("warning") == 1  # of each type once
    status, out, err = opt(OUTSIDE, "--strict")
    assert (status, out) == (1, "")
    assert ":1:1: error: 'func.func' op has a value of type" in err


def test_every_broken_function_is_reported(opt):
    status, _, err = opt(MANY.replace("//", "// not"))
    assert status == 1
    assert err.count(": error: ") == 4


def test_version_24_of_upstream(opt):
    text = "func.func private @f(!quant.uniform<f8E5M2:f32, 0.5>, !quant.any<si8>)\n"
    status, out, err = opt(text)
    assert (status, out) == (1, "")
    assert (
        "/program.mlir:1:37: error: storage type f8E5M2 is not part of MLIR 22, the "
        "version that is read: give --upstream=24" in err
    )
    status, out, err = opt(text, "--upstream=24")
    assert (status, err) == (0, "")
    assert "@f(!quant.uniform<f8E5M2:f32, 5.000000e-01>, !quant.any<si8>)" in out
    assert "(!quant.any<i8>)" in opt("func.func private @f(!quant.any<si8>)")[1]


def test_a_pass_does_not_take_the_file_for_its_options(tmp_path, capsys):
    path = tmp_path / "program.mlir"
    path.write_text(FINE)
    assert main(["opt", "--canonicalize", "--lower-quant-ops=rounding=half_away", "--cse", str(path)]) == 0
    assert capsys.readouterr().out.startswith("module {")


def test_programs_after_each_pass(opt):
    status, _, err = opt(CAST, "--lower-quant-ops", "--cse", "--mlir-print-ir-after-all")
    assert status == 0
    assert err.count("// -----// IR Dump After ") == 2
    lowered = err.partition("After LowerQuantOps (lower-quant-ops)")[2].partition("After CSE (cse)")[0]
    assert "math.roundeven" in lowered


@pytest.mark.parametrize("flag", ["--timing", "--mlir-timing", "-mlir-timing"])
def test_times_are_printed_with_their_shares(opt, flag):
    _, _, err = opt(CAST, "--lower-quant-ops", flag)
    head, _, table = err.partition("  ----Wall Time----  ----Name----\n")
    assert "... Execution time report ..." in head
    rows = [re.fullmatch(r"  +(\d+\.\d{4}) \( *(\d+\.\d)%\)  (\S+)", line).groups() for line in table.splitlines()]
    assert [name for *_, name in rows] == ["Parser", "Verifier", "LowerQuantOps", "Output", "Rest", "Total"]
    assert rows[-1][1] == "100.0"
    assert sum(float(share) for _, share, _ in rows[:-1]) == pytest.approx(100, abs=0.5)


def test_times_of_nested_passes_are_part_of_their_pipelines(opt):
    pipeline = "--pass-pipeline=builtin.module(func.func(cse,canonicalize),cse,func.func(cse,scf.for(cse)))"
    _, _, err = opt(f"{CAST}// -----\n{CAST}", "--split-input-file", "--mlir-timing", pipeline)
    first, second = (table.splitlines() for table in err.split("  ----Wall Time----  ----Name----\n")[1:])
    names = [line.partition("%)  ")[2] for line in second]
    assert names == [line.partition("%)  ")[2] for line in first[: len(names)]]
    assert names == [
        *["Parser", "Verifier", "'func.func' Pipeline", "  CSE", "  Canonicalizer", "CSE", "'func.func' Pipeline"],
        *["  CSE", "  'scf.for' Pipeline", "    CSE", "Output", "Rest", "Total"],
    ]


def test_seconds_and_shares_add_up():
    timing = Timing(wanted=False)
    timing.add("Parser", 1.0)
    timing.add("CSE", 2.0, ["func.func"])
    timing.add("CSE", 3.0, ["func.func", "scf.for"])
    timing.add("CSE", 4.0)
    assert report(timing.entries, 12.5, digits=1).partition("----Name----\n")[2].splitlines() == [
        "       1.0 (  8.0%)  Parser",
        "       5.0 ( 40.0%)  'func.func' Pipeline",
        "       2.0 ( 16.0%)    CSE",
        "       3.0 ( 24.0%)    'scf.for' Pipeline",
        "       3.0 ( 24.0%)      CSE",
        "       4.0 ( 32.0%)  CSE",
        "       2.5 ( 20.0%)  Rest",
        "      12.5 (100.0%)  Total",
    ]


def test_pipelines_as_flags_and_as_text_are_one(opt):
    flags = opt(CAST, "--lower-quant-ops=rounding=half_away", "--canonicalize")
    text = opt(CAST, "--pass-pipeline=builtin.module(lower-quant-ops{rounding=half_away},func.func(canonicalize))")
    assert flags == text
    assert "math.round " in text[1]


def test_a_value_an_option_does_not_take_is_named(opt):
    status, _, err = opt(CAST, "--lower-quant-ops=rounding=up")
    assert status == 1
    assert "rounding must be one of half_even, half_away, toward_zero, got 'up'" in err


def test_strict_upstream_lowers_as_upstream_does(opt):
    upstream = opt(CAST, "--strict-upstream", "--lower-quant-ops")
    assert "math." not in upstream[1]
    assert upstream == opt(CAST, "--lower-quant-ops=rounding=toward_zero saturating=false")
    assert "math.round " in opt(CAST, "--strict-upstream", "--lower-quant-ops=rounding=half_away")[1]


def test_strict_upstream_refuses_what_only_qrt_has(opt):
    t = "tensor<2x!quant.uniform<i8:f32, 0.5>>"
    text = f"func.func @f(%x: {t}) {{ %0 = qrt.add %x, %x : ({t}, {t}) -> {t}  return }}"
    assert opt(text)[0] == 0
    status, out, err = opt(text, "--strict-upstream")
    assert (status, out) == (1, "")
    assert "op 'qrt.add' does not exist upstream" in err


def test_strict_checks_parameters_on_every_value(opt):
    text = "func.func @g(%x: tensor<3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) { return }"
    assert opt(text)[0] == 0
    status, _, err = opt(text, "--strict")
    assert status == 1
    assert "does not match number of scales" in err


def test_nothing_is_written_where_something_failed(opt, tmp_path):
    out = tmp_path / "out.mlir"
    assert opt(BROKEN, "-o", str(out))[0] == 1
    assert not out.exists()
    assert opt(FINE, "-o", str(out)) == (0, "", "")
    assert out.read_text().startswith("module {")
