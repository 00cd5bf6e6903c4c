"""The examples of the reference documents behave as the documents say."""

import re

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.cli import main
from qrt.errors import VerifyError
from qrt.types import TensorType, parse_type
from tests import mlir_opt
from tests.reference.examples import CASTS, EXTRAS, TYPES

CORRECT = {name: example.text for name, example in CASTS.items() if not example.wrong}
INCORRECT = {name: example for name, example in CASTS.items() if example.wrong}


def canonical(text):
    """As upstream prints it: scales with an exponent, no space between those of channels."""
    braces = re.sub(r"\{.*?\}", lambda scales: scales[0].replace(" ", ""), text)
    return re.sub(r"\d+\.\d+", lambda scale: f"{float(scale[0]):e}", braces)


def program(cast):
    """A function around one cast, with the names the printer gives."""
    operand, result = cast.partition(" : ")[2].split(" to ")
    cast = cast.replace("%result", "%0").replace("%input", "%arg0")
    return f"func.func @f(%arg0: {operand}) -> {result} {{\n    {cast}\n    return %0 : {result}\n  }}"


@pytest.mark.parametrize("example", TYPES.values(), ids=TYPES)
def test_types_say_what_the_text_beside_them_says(example):
    parsed = parse_type(example.text)
    assert str(parsed) == canonical(example.text)
    element = parsed.element if isinstance(parsed, TensorType) else parsed
    assert (element.storage, element.storage_min, element.storage_max) == example.storage
    assert (str(element.expressed_type), element.axis) == (example.expressed, example.axis)
    assert (element.scales, element.zero_points) == (example.scales, example.zero_points)


@pytest.mark.parametrize("text", CORRECT.values(), ids=CORRECT)
def test_correct_casts_are_accepted_and_print_as_they_are(text):
    module = ir.parse(program(text))
    module.verify(strict=True)
    assert str(module) == f"module {{\n  {canonical(program(text))}\n}}\n"
    assert ir.parse(module.print(generic=True)) == module


@pytest.mark.parametrize("example", INCORRECT.values(), ids=INCORRECT)
def test_incorrect_casts_are_refused_at_the_offending_type(example):
    module = ir.parse(program(example.text))
    with pytest.raises(VerifyError, match=example.message) as caught:
        module.verify()
    place = caught.value.location
    assert place.line == 2
    assert place.source.text[place.start : place.end] == example.wrong


@pytest.mark.parametrize("example", EXTRAS.values(), ids=EXTRAS)
def test_ops_that_upstream_lacks_are_accepted_unless_it_is_asked_for(example, tmp_path, capsys):
    module = ir.parse(example.text)
    module.verify(strict=True)
    for generic in (False, True):
        assert ir.parse(module.print(generic=generic)) == module
    path = tmp_path / "f.mlir"
    path.write_text(example.text)
    assert main(["opt", str(path)]) == 0
    assert capsys.readouterr().out == str(module)
    assert main(["opt", "--strict-upstream", str(path)]) == 1
    assert "does not exist upstream, which --strict-upstream requires" in capsys.readouterr().err


# -- the algorithms of qcast and dcast: the steps of the documents, in the expressed type ------------------------------


def quantize(expressed, t):
    scaled = expressed / np.float32(t.scale)
    stored = np.rint(scaled + np.float32(t.zero_point))  # the rounding is left open: half to even is qrt's
    return np.clip(stored, t.storage_min, t.storage_max)


def dequantize(stored, t):
    return (stored.astype(np.float32) - np.float32(t.zero_point)) * np.float32(t.scale)


@pytest.mark.parametrize("text", ["!quant.uniform<i8:f32, 3.0>", "!quant.uniform<u16<0:1023>:f32, 1.23:512>"])
def test_casts_compute_the_steps_of_the_documents(text):
    t = parse_type(text)
    x = np.linspace(-2000, 2000, 4001, dtype=np.float32)
    q = qrt.qcast(x, t)
    np.testing.assert_array_equal(q.storage, quantize(x, t))
    np.testing.assert_array_equal(qrt.dcast(q), dequantize(q.storage, t))


# -- mlir-opt ----------------------------------------------------------------------------------------------------------


@mlir_opt.needed
def test_mlir_opt_prints_the_same():
    types = {name: f"func.func private @f({example.text})" for name, example in TYPES.items()}
    programs = [*types.values(), *map(program, CORRECT.values())]
    accepted, output = mlir_opt.upstream("\n// -----\n".join(programs), "--split-input-file")
    assert accepted, output
    assert output == "\n// -----\n".join(str(ir.parse(text)) for text in programs) + "\n"


@mlir_opt.needed
@pytest.mark.parametrize("example", INCORRECT.values(), ids=INCORRECT)
def test_mlir_opt_refuses_the_same_with_the_same_message(example):
    accepted, output = mlir_opt.upstream(program(example.text))
    assert not accepted
    assert example.message in output
