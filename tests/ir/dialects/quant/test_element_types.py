"""Element types that annotate floats. Hazards: a signature that disagrees with its body, a loop or a call that carries
such values, a cast that stays.
"""

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.ir.dialects.quant.element_types import express, expressed, has_annotating_types

CALIBRATED, ANY, NONE = "!quant.calibrated<f32<-1.0:1.0>>", "!quant.any<i8:f32>", "!quant.none<f32>"
X = np.float32([0, 0.5, -0.3, 0.9])
FORMS = {
    "argument": """func.func @main(%q: tensor<4x{s}>) -> tensor<4xf32> {{
      %x = quant.dcast %q : tensor<4x{s}> to tensor<4xf32>
      %a = math.tanh %x : tensor<4xf32>
      return %a : tensor<4xf32>
    }}""",
    "result": """func.func @main(%x: tensor<4xf32>) -> tensor<4x{s}> {{
      %a = math.tanh %x : tensor<4xf32>
      %q = quant.qcast %a : tensor<4xf32> to tensor<4x{s}>
      return %q : tensor<4x{s}>
    }}""",
    "between": """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
      %q = quant.qcast %x : tensor<4xf32> to tensor<4x{s}>
      %d = quant.dcast %q : tensor<4x{s}> to tensor<4xf32>
      %a = math.tanh %d : tensor<4xf32>
      return %a : tensor<4xf32>
    }}""",
    "call": """func.func private @f(%q: tensor<4x{s}>) -> tensor<4x{s}> {{
      %d = quant.dcast %q : tensor<4x{s}> to tensor<4xf32>
      %a = math.tanh %d : tensor<4xf32>
      %r = quant.qcast %a : tensor<4xf32> to tensor<4x{s}>
      return %r : tensor<4x{s}>
    }}
    func.func @main(%q: tensor<4x{s}>) -> tensor<4x{s}> {{
      %0 = func.call @f(%q) : (tensor<4x{s}>) -> tensor<4x{s}>
      return %0 : tensor<4x{s}>
    }}""",
    "loop": """func.func @main(%q: tensor<4x{s}>) -> tensor<4xf32> {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r = scf.for %k = %c0 to %c1 step %c1 iter_args(%h = %q) -> (tensor<4x{s}>) {{
        %d = quant.dcast %h : tensor<4x{s}> to tensor<4xf32>
        %a = math.tanh %d : tensor<4xf32>
        %n = quant.qcast %a : tensor<4xf32> to tensor<4x{s}>
        scf.yield %n : tensor<4x{s}>
      }}
      %y = quant.dcast %r : tensor<4x{s}> to tensor<4xf32>
      return %y : tensor<4xf32>
    }}""",
}
PLAIN = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = math.tanh %x : tensor<4xf32>
  return %a : tensor<4xf32>
}"""
every_form = pytest.mark.parametrize("form", FORMS)
every_type = pytest.mark.parametrize("spec", [CALIBRATED, ANY, NONE])


def text_of(form, spec):
    return FORMS[form].format(s=spec)


@every_form
@every_type
def test_an_annotated_program_computes_what_the_float_one_does(form, spec):
    program, plain = qrt.compile(text_of(form, spec)), qrt.compile(PLAIN)
    assert program(X).tobytes() == plain(X).tobytes()
    (result,) = program.run({program.inputs[0].name: X}, interpret=True).values()
    assert result.tobytes() == plain(X).tobytes()


@every_form
@every_type
def test_a_module_without_them_verifies(form, spec):
    module = ir.parse(text_of(form, spec))
    copy = expressed(module)
    copy.verify()
    assert has_annotating_types(module)
    assert not has_annotating_types(copy)
    assert "cast" not in str(copy)
    assert expressed(copy) is copy
    express(module)
    assert str(module) == str(copy)


@every_form
@every_type
@pytest.mark.parametrize("target", ["qrt-cpu", "tflite", "int16x8", "bf16"])
def test_export_resolves_them(form, spec, target):
    """To quantized types inside where a range is known, and to floats otherwise."""
    module = ir.parse(text_of(form, spec))
    for name in ("fuse-kernels", "propagate-quant", "check-quant", "export-quant"):
        ir.run_passes(module, f"{name}{{target={target}}}")
    module.verify()
    assert not any(word in str(module) for word in ("quant.calibrated", "quant.any", "quant.none", "quant.region"))
    result = np.asarray(qrt.compile(module)(X))
    np.testing.assert_allclose(result, np.tanh(X), atol=0.01)  # a code of 8 bits, or of bf16


def test_a_range_that_a_loop_carries_is_used():
    module = ir.parse(text_of("loop", CALIBRATED))
    ir.run_passes(module, "fuse-kernels,propagate-quant,export-quant")
    assert "qrt.lookup" in str(module)


def test_integers_of_such_a_type_stay():
    """A storage cast says that the values are integers."""
    text = f"""func.func @f(%x: tensor<4xi8>) -> tensor<4x{ANY}> {{
      %0 = quant.scast %x : tensor<4xi8> to tensor<4x{ANY}>
      return %0 : tensor<4x{ANY}>
    }}"""
    module = ir.parse(text)
    before = str(module)
    express(module)
    assert str(module) == before


@pytest.mark.parametrize(
    "text",
    [
        f'func.func @f() {{ %0 = arith.constant dense<"a"> : tensor<4x{ANY}> return }}',
        f"func.func @f() {{ %0 = arith.constant dense_resource<x> : tensor<4x{ANY}> return }}",
        f"""ml_program.global private mutable @g : tensor<4x{ANY}>
        func.func @f() -> tensor<4x{ANY}> {{
          %0 = ml_program.global_load @g : tensor<4x{ANY}>
          return %0 : tensor<4x{ANY}>
        }}""",
    ],
    ids=["text", "resource", "global"],
)
def test_the_types_of_attributes_stay(text):
    """A result whose type an attribute repeats would no longer verify."""
    module = ir.parse(text)
    before = str(module)
    express(module)
    assert str(module) == before
    ir.run_passes(module, "propagate-quant").verify()
