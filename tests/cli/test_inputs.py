"""The inputs of `qrt run`: names of the text, what is missing. Hazards: a name that means two arguments, a hint that
does not work when it is followed."""

import re
import shlex

import numpy as np
import pytest

import qrt
from qrt.cli import main

TWO = """func.func @f(%a: tensor<2xi32>, %b: tensor<2xi32>) -> tensor<2xi32> {
  %0 = arith.subi %a, %b : tensor<2xi32>
  return %0 : tensor<2xi32>
}
"""
NAMED = TWO.replace("%a: tensor<2xi32>", '%a: tensor<2xi32> {qrt.name = "b"}').replace(
    "%b: tensor<2xi32>)", '%b: tensor<2xi32> {qrt.name = "a"})'
)
CROSSED = TWO.replace("%a", "%arg1").replace("%b", "%arg0")
GENERIC = str(qrt.ir.parse(TWO).print(generic=True)).replace("%arg0", "%a").replace("%arg1", "%b")
TYPES = [
    "tensor<2xi32>",
    "f64",
    "tensor<?x3xf32>",
    "tensor<2x!quant.uniform<u8:f32, 0.5:3>>",
    "tensor<1x!quant.uniform<i4:f32, 0.5>>",
    "memref<2x2xi8>",
    "index",
    "i1",
]


@pytest.fixture
def run(tmp_path, capsys):
    def call(text, *options):
        """(exit status, standard output, standard error)."""
        path = tmp_path / "f.mlir"
        path.write_text(text)
        status = main(["run", str(path), *options])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


def values(**given):
    return [f"--input-value={name.replace('_', '%')}=2xi32={value}" for name, value in given.items()]


@pytest.mark.parametrize(
    ("text", "given", "result"),
    [
        (TWO, {"a": 5, "b": 3}, 2),
        (TWO, {"_a": 5, "arg1": 3}, 2),
        (TWO, {"arg0": 5, "_b": 3}, 2),
        (GENERIC, {"a": 5, "b": 3}, 2),
        (NAMED, {"a": 5, "b": 3}, -2),  # the names that are given
        (NAMED, {"_a": 5, "_b": 3}, 2),  # those of the text
        (CROSSED, {"_arg1": 5, "_arg0": 3}, 2),
        (TWO.replace("%a", "%0").replace("%0 =", "%r =").replace("%0 :", "%r :"), {"0": 5, "b": 3}, 2),
    ],
)
def test_an_argument_has_the_name_of_the_text(run, text, given, result):
    assert run(text, *values(**given)) == (0, f"result0 = [{result}, {result}]\n", "")


def test_a_file_is_read_for_a_name_of_the_text(run, tmp_path):
    np.save(tmp_path / "x.npy", np.int32([7, 8]))
    status, out, _ = run(TWO, f"--input=%a={tmp_path / 'x.npy'}", *values(b=1))
    assert (status, out) == (0, "result0 = [6, 7]\n")


@pytest.mark.parametrize(
    ("text", "given", "message"),
    [
        (CROSSED, {"arg0": 5, "arg1": 3}, "input 'arg0' is ambiguous: it is the number of %arg1, and the name %arg0"),
        (TWO, {"a": 5, "arg0": 3}, "input 'arg0' is given twice"),
        (TWO, {"c": 5}, "no input is named 'c'; the inputs are arg0 (%a), arg1 (%b)"),
        (NAMED, {"c": 5}, "no input is named 'c'; the inputs are b (%a), a (%b)"),
        (TWO, {"_arg0": 5}, "no input is named '%arg0'"),
    ],
)
def test_a_name_that_means_no_one_argument_is_refused(run, text, given, message):
    status, out, err = run(text, *values(**given))
    assert (status, out) == (1, "")
    assert message in err


def test_a_missing_input_says_its_type_and_how_to_give_it(run):
    assert run(TWO, *values(a=1)) == (
        1,
        "",
        "error: input 'arg1' (%b) is missing: it takes tensor<2xi32>; give it as --input b=FILE.npy or "
        "--input-value b=2xi32=0\n",
    )
    assert "give it as --input %arg1=FILE.npy" in run(CROSSED, *values(_arg0=1))[2]
    assert "input 'a' (%b) is missing" in run(NAMED, *values(b=1))[2]


@pytest.mark.parametrize("t", TYPES)
def test_what_a_missing_input_asks_for_is_taken(run, t):
    text = f"func.func @f(%x: {t}) {{ return }}"
    status, _, err = run(text)
    assert status == 1
    (hint,) = re.findall(r" or (--input-value \S+)", err)
    assert run(text, *shlex.split(hint))[0] == 0, hint


def test_many_missing_inputs_are_three_lines(run):
    long = f"tensor<1000x!quant.uniform<i8:f32:0, {{{', '.join(['1.0'] * 1000)}}}>>"
    status, _, err = run(f"func.func @f({', '.join(f'%x{i}: {long}' for i in range(9))}) {{ return }}")
    assert status == 1
    assert len(err.splitlines()) == 3
    assert len(err) < 2000
    assert err.endswith("; 6 more inputs are missing\n")


def test_times_are_printed_beside_the_results(run):
    status, out, err = run(TWO, *values(a=5, b=3), "--timing")
    assert (status, out) == (0, "result0 = [2, 2]\n")
    table = err.partition("  ----Wall Time----  ----Name----\n")[2].splitlines()
    names = [re.fullmatch(r" +\d+\.\d{6} \( *\d+\.\d%\)  (.*)", line)[1] for line in table]
    assert re.fullmatch(r"arith\.subi \(.*\) \S+f\.mlir:2:8", names[0])
    assert names[1:] == ["Rest", "Total"]
    assert run(TWO, "--timing", "--interpret")[0] == 2
