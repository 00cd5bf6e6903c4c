"""`qrt opt`'s options. Hazards: an expected error that passes unseen, an unexpected one that does not fail, lines that
lose their numbers where a file is split, an option that changes nothing."""

import pytest

from qrt.cli import main

FINE = "func.func @f(%x: f32) -> f32 { return %x : f32 }\n"
BROKEN = "func.func @f(%x: f32) -> f32 { return %y : f32 }\n"
CAST = """
!q = !quant.uniform<i8:f32, 0.5:3>
func.func @f(%x: f32) -> !q {
  %0 = quant.qcast %x : f32 to !q
  return %0 : !q
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
    assert out.count("// -----\n") == 1
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
        ("// expected-error @below {{undeclared}}\n" + FINE, "expected error 'undeclared' was not produced"),
        ("// expected-error @below {{another}}\n" + BROKEN, "expected error 'another' was not produced"),
        ("// expected-error @+2 {{undeclared}}\n" + BROKEN, "was not produced"),
        ("// expected-warning @below {{undeclared}}\n" + BROKEN, "expected warning 'undeclared' was not produced"),
        ("// expected-error @unknown {{undeclared}}\n" + BROKEN, "was not produced"),
        ("// expected-error-re @below {{use of {{[0-9]+}}}}\n" + BROKEN, "was not produced"),
        (
            "// expected-error @below {{undeclared}}\n// expected-error @below {{use}}\n" + BROKEN,
            "'use' was not produced",
        ),
    ],
)
def test_diagnostics_that_are_not_as_expected_fail(opt, text, message):
    status, _, err = opt(text, "--verify-diagnostics")
    assert status == 1
    assert message in err


def test_programs_after_each_pass(opt):
    status, _, err = opt(CAST, "--lower-quant-ops", "--cse", "--mlir-print-ir-after-all")
    assert status == 0
    assert err.count("// -----// IR Dump After ") == 3
    lowered = err.partition("IR Dump After lower-quant-ops")[2].partition("IR Dump After cse")[0]
    assert "math.roundeven" in lowered


def test_times_are_printed(opt):
    _, _, err = opt(CAST, "--lower-quant-ops", "--timing")
    assert [line.split()[2] for line in err.splitlines()] == ["parse", "verify", "lower-quant-ops", "print", "total"]


def test_pipelines_as_flags_and_as_text_are_one(opt):
    flags = opt(CAST, "--lower-quant-ops=rounding=half_away", "--canonicalize")
    text = opt(CAST, "--pass-pipeline=builtin.module(lower-quant-ops{rounding=half_away},func.func(canonicalize))")
    assert flags == text
    assert "math.round " in text[1]


def test_a_value_an_option_does_not_take_is_named(opt):
    status, _, err = opt(CAST, "--lower-quant-ops=rounding=up")
    assert status == 1
    assert "rounding is one of half_even, half_away, toward_zero, not 'up'" in err


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
    assert "op 'qrt.add' is not upstream's" in err


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
