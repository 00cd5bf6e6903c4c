"""What users of mlir-opt expect of `qrt opt`. Hazards: a flag that is taken and does nothing, a dump on the wrong
stream, an option that swallows the file's name. tests/oracle/test_command_line.py compares with mlir-opt itself."""

import io
import sys

import pytest

from qrt.cli import main
from qrt.cli.terminal import spelled
from qrt.errors import Diagnostic, ParseError
from qrt.ir import parse
from qrt.ir.pipeline import PASSES, module_steps
from qrt.ir.pipeline_text import parse_pipeline, spell_steps

TEXT = """func.func @f(%x: i32) -> i32 {
  %c = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  %0 = arith.addi %x, %x : i32
  return %x : i32
}
func.func private @g() {
  return
}
"""


@pytest.fixture
def opt(capsys, monkeypatch):
    def run(*options, text=TEXT):
        """(exit status, standard output, standard error) of the command, which reads standard input."""
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        status = main(["opt", *options])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "f.mlir"
    path.write_text(TEXT)
    return str(path)


def headings(err):
    return [line for line in err.splitlines() if line.startswith("// -----// IR Dump")]


def test_standard_input_is_read_where_no_file_is_named(opt):
    assert opt() == opt("-") == (0, str(parse(TEXT)), "")
    assert opt(text="func.func")[2].startswith("<stdin>:1:")


@pytest.mark.parametrize(
    "options",
    [
        ["--cse", "--mlir-print-op-generic"],
        ["-cse", "-mlir-print-op-generic"],
        ["-mlir-print-op-generic", "-cse"],
        ["--cse", "--mlir-print-op-generic=true"],
        ["-pass-pipeline=builtin.module(cse)", "--emit=generic"],
        ["--pass-pipeline", "cse", "-emit", "generic", "--mlir-print-local-scope", "--mlir-disable-threading"],
    ],
)
def test_two_spellings_of_an_option_are_one(opt, file, options):
    expected = parse(TEXT).print(generic=True).replace('    %0 = "arith.addi"', "")
    status, out, err = opt(*options, file, text="")
    assert (status, err) == (0, "")
    assert out == opt(file, *options)[1]
    assert '"func.return"' in out
    assert "arith.addi" not in out
    assert "arith.addi" in expected


def test_a_terminal_is_told_that_it_is_read(opt, monkeypatch, capsys):
    class Keyboard(io.TextIOWrapper):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdin", Keyboard(io.BytesIO(b"")))
    assert main(["opt"]) == 0
    assert capsys.readouterr().err == "(processing input from stdin now, hit ctrl-c/ctrl-d to interrupt)\n"


def test_a_broken_program_is_dumped_in_generic_form(opt, monkeypatch):
    def run(self, module):
        module.functions[0].regions[0].blocks[0].last.erase()

    monkeypatch.setattr(PASSES["cse"], "run", run)
    status, _, err = opt("--cse", "--mlir-print-ir-after-all")
    assert status == 1
    assert 'After CSE Failed (cse) //----- //\n"builtin.module"() ({' in err


def test_a_flag_may_be_false(opt):
    assert opt("--mlir-print-op-generic=false") == opt()
    status, _, err = opt("--mlir-timing=maybe")
    assert status == 2
    assert "for the --mlir-timing option: expected true, false, 1 or 0, got 'maybe'" in err


def test_dumps_before_and_after_passes(opt):
    _, out, err = opt("--cse", "--symbol-dce", "--mlir-print-ir-before-all", "--mlir-print-ir-after-all")
    assert headings(err) == [
        "// -----// IR Dump Before CSE (cse) //----- //",
        "// -----// IR Dump After CSE (cse) //----- //",
        "// -----// IR Dump Before SymbolDCE (symbol-dce) //----- //",
        "// -----// IR Dump After SymbolDCE (symbol-dce) //----- //",
    ]
    assert err.endswith(f" //----- //\n{out}\n\n")
    assert err.count("arith.addi") == 1  # before it is removed


def test_dumps_of_one_pass(opt):
    err = opt("--cse", "--canonicalize", "--mlir-print-ir-before=canonicalize", "-mlir-print-ir-after=cse")[2]
    assert [line.split()[3:6] for line in headings(err)] == [
        ["Dump", "After", "CSE"],
        ["Dump", "Before", "Canonicalizer"],
    ]


def test_passes_to_dump_are_listed_with_commas(opt):
    err = opt("--cse", "--canonicalize", "--mlir-print-ir-after=cse,canonicalize", "--mlir-print-ir-before=cse")[2]
    assert [line.split()[4:6] for line in headings(err)] == [
        ["Before", "CSE"],
        ["After", "CSE"],
        ["After", "Canonicalizer"],
    ]


def test_dumps_after_a_change_are_of_passes_that_changed_something(opt):
    pipeline = "--pass-pipeline=func.func(cse,canonicalize),symbol-dce"
    err = opt(pipeline, "--mlir-print-ir-after-all", "--mlir-print-ir-after-change")[2]
    assert [line.split()[5] for line in headings(err)] == ["CSE", "SymbolDCE"]
    assert opt(pipeline, "--mlir-print-ir-after-change")[2] == ""  # says when, not whether


def test_nested_passes_are_shown_function_by_function(opt):
    err = opt("--pass-pipeline=builtin.module(func.func(cse,canonicalize),cse)", "--mlir-print-ir-after-all")[2]
    assert [line.split()[5] for line in headings(err)] == ["CSE", "Canonicalizer", "CSE", "Canonicalizer", "CSE"]
    texts = err.split("// -----// IR Dump ")[1:]
    assert [text.splitlines()[1].split("(")[0] for text in texts[:4]] == [
        *["func.func @f"] * 2,
        *["func.func private @g"] * 2,
    ]
    whole = opt("--pass-pipeline=func.func(cse)", "--mlir-print-ir-after-all", "--mlir-print-ir-module-scope")[2]
    assert headings(whole) == [
        f"// -----// IR Dump After CSE (cse) ('func.func' operation: @{f}) //----- //" for f in "fg"
    ]


def test_what_was_dumped_before_an_error_is_printed_before_it(opt):
    text = "func.func private @g(!quant.calibrated<f32<0.0:1.0>>)"
    pipeline = "--pass-pipeline=func.func(cse,strip-func-quant-types)"
    status, _, err = opt(pipeline, "--mlir-print-ir-after-all", text=text)
    assert status == 1
    first, last = headings(err)
    assert "After CSE (cse)" in first
    assert "After StripFuncQuantTypes Failed (strip-func-quant-types)" in last
    assert err.index(first) < err.index(": error: ") < err.index(last)
    err = opt(pipeline, "--mlir-print-ir-after-all", "--mlir-print-ir-after-failure", text=text)[2]
    assert headings(err) == [last]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--cse", "--symbol-dce"], "  cse,\n  symbol-dce"),
        (["--pass-pipeline=builtin.module(func.func(cse),cse)"], "  func.func(\n    cse\n  ),\n  cse"),
        ([], ""),
        (["--constant-fold=max-elements=7"], "  constant-fold{max-elements=7}"),
    ],
)
def test_the_pipeline_is_dumped(opt, options, names):
    status, out, err = opt(*options, "--dump-pass-pipeline")
    assert status == 0
    count = len([line for line in names.splitlines() if line.startswith("  ") and line[2] not in " )"])
    assert err == f"Pass Manager with {count} passes:\nbuiltin.module(\n{names}\n)\n\n"
    assert out == opt(*options)[1]


def test_a_dumped_pipeline_reads_back():
    for strict in (False, True):
        steps = module_steps(f"func.func({','.join(PASSES)}),cse", strict)
        text = spell_steps(steps)
        assert module_steps(text) == steps
        assert len(parse_pipeline(text, PASSES)) == len(PASSES) + 1


def test_constants_are_elided(opt):
    assert "dense_resource<__elided__> : tensor<3xi32>" in opt("--mlir-elide-elementsattrs-if-larger=2")[1]
    assert opt("--mlir-elide-elementsattrs-if-larger=3") == opt()
    splat = (
        'func.func private @s() attributes {a = [dense<1> : tensor<3xi8>, {b = dense<["x", "y"]> : tensor<2x!t.s>}]}'
    )
    out = opt("--mlir-elide-elementsattrs-if-larger", "1", "--allow-unregistered-dialect", text=splat)[1]
    assert "[dense<1> : tensor<3xi8>, {b = dense_resource<__elided__> : tensor<2x!t.s>}]" in out
    assert "dense<[1, 2, 3]>" in str(parse(TEXT))  # elsewhere nothing is


def test_verification_after_passes_can_be_left_out(opt, monkeypatch):
    """A pass of its own that breaks the program: with --verify-each=false nobody sees that."""

    def run(self, module):
        module.functions[0].regions[0].blocks[0].last.erase()

    monkeypatch.setattr(PASSES["cse"], "run", run)
    assert opt("--cse")[0] == opt("--cse", "--verify-each")[0] == 1
    assert opt("--cse", "--verify-each=false")[0] == 0


def test_lists(opt):
    status, out, err = opt("--show-dialects")
    assert (status, err) == (0, "")
    assert out.startswith("Available Dialects: affine,arith,bufferization,builtin,")
    out = opt("--list-passes")[1]
    assert out.startswith("Passes:\n")
    assert all(f"\n  --{name} " in out or f"\n  --{name}\n" in out for name in PASSES)


def test_help_of_a_pass_has_every_option(opt):
    status, out, _ = opt("--lower-quant-ops", "--help")
    assert status == 0
    assert out.startswith("usage: qrt opt --lower-quant-ops[=")
    assert "    rounding " in out
    assert "half_even|half_away|toward_zero (default half_even)" in " ".join(out.split())
    assert "--cse" not in out
    assert "    max-elements " in opt("--help")[1]
    assert opt("--cse", "help")[0] == 1  # a file of that name


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["opt", "--canonicalise"], "qrt opt: error: unknown option '--canonicalise'; did you mean '--canonicalize'?"),
        (["opt", "-mlir-print-ir-afterall"], "did you mean '--mlir-print-ir-after-all'?"),
        (["opt", "a", "b"], "qrt opt: error: unexpected argument 'b'"),
        (["opt", "--xyzzy"], "qrt opt: error: unknown option '--xyzzy'\n"),
        (["run", "--thread", "1", "f"], "qrt run: error: unknown option '--thread'; did you mean '--threads'?"),
        (["bench", "x"], "qrt bench: error: unexpected argument 'x'"),
        (["ops"], "qrt: error: unknown command 'ops'; did you mean 'opt'?"),
        (["opt", "--mlir-print-ir-after=cse,inlin"], "no pass is named 'inlin'; did you mean 'inline'?"),
        (["opt", "--emit=x"], "qrt opt: error: argument --emit: invalid choice"),
    ],
)
def test_wrong_usage_shows_the_usage_of_the_command(capsys, arguments, message):
    assert main(arguments) == 2
    err = capsys.readouterr().err
    command = " ".join(["qrt", *arguments[:1]]) if arguments[0] != "ops" else "qrt"
    assert err.startswith(f"usage: {command} ")
    assert message in err


# -- colours ---------------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("environment", "options", "coloured"),
    [
        ({}, [], True),
        ({"NO_COLOR": "1"}, [], False),
        ({"NO_COLOR": ""}, [], True),
        ({"TERM": "dumb"}, [], False),
        ({}, ["--color=false"], False),
        ({"NO_COLOR": "1"}, ["--color"], True),
    ],
)
def test_a_terminal_gets_colours(opt, monkeypatch, environment, options, coloured):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stderr", Terminal())
    opt("-", *options, text="func.func")
    assert ("\033[" in sys.stderr.getvalue()) == coloured


def test_a_pipe_gets_none(opt):
    assert "\033[" not in opt(text="func.func")[2]


def test_the_colours_are_those_of_llvm():
    with pytest.raises(ParseError) as caught:
        parse("func.func @f(%x: i32) {\n  %x = arith.constant 1 : i32\n}", filename="p.mlir")
    (found,) = caught.value.diagnostics
    assert spelled(found, True) == (
        "\033[1mp.mlir:2:3: \033[0m\033[0;1;31merror: \033[0m\033[1mredefinition of SSA value '%x'\n"
        "\033[0m  %x = arith.constant 1 : i32\n\033[0;1;32m  ^~\033[0m\n"
        "\033[1mp.mlir:1:14: \033[0m\033[0;1;30mnote: \033[0m\033[1mpreviously defined here\n"
        "\033[0mfunc.func @f(%x: i32) {\n\033[0;1;32m             ^~\033[0m"
    )
    assert spelled(Diagnostic("error", "all is lost"), True) == "\033[0;1;31merror: \033[0m\033[1mall is lost\033[0m"


@pytest.mark.parametrize("arguments", [["a" * 5000], ["run", "a" * 5000, "b" * 5000], ["opt", "--" + "a" * 5000]])
def test_an_argument_without_end_makes_no_long_error(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert "error: un" in said
    assert len(said) <= 2048
