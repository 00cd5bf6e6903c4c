"""Values that control flow passes on are quantized without any change of a bit, whatever reads them.

Hazards: a float that is rounded before another operation reads it, a loop without iterations, a value that several
targets share, targets of two types, values that depend on each other.
"""

from collections import Counter

import numpy as np
import pytest

from qrt import ir
from qrt.quantization.export.call_signatures import quantize_signatures
from qrt.quantization.export.loop_values import carry
from qrt.runtime.interpreter import Interpreter
from qrt.types import UniformType
from tests.quantization.export.draw_passed_values import FLOATS, PassedValuesProgram

PROGRAMS = 200


def carried(text):
    module = ir.parse(text)
    carry(module)
    while quantize_signatures(module):
        carry(module)
    module.verify()
    return module


def quantized_targets(module):
    """The operations whose results or block arguments are quantized, by name."""
    names = Counter()
    for op in module.operation.walk():
        arguments = [value for region in op.regions for block in region.blocks for value in block.arguments]
        passed = op.results if op.name.startswith(("scf.", "affine.", "arith.select")) else []
        elements = [getattr(value.type, "element", None) for value in (*passed, *arguments)]
        names[op.name] += any(isinstance(element, UniformType) for element in elements)
    return +names


@pytest.mark.parametrize("first", range(0, PROGRAMS, 50))
def test_drawn_programs_keep_their_bits(first):
    names = Counter()
    for seed in range(first, first + 50):
        text = PassedValuesProgram(f"passed {seed}").text
        before, after = ir.parse(text), carried(text)
        before.verify()
        names += quantized_targets(after)
        rng = np.random.default_rng(seed)
        for _ in range(3):
            masks = [rng.integers(0, 2, shape).astype(bool) for shape in (6, (2, 3))]
            arguments = [np.int64(rng.integers(0, 3)), np.bool_(rng.integers(2)), *masks]
            arguments.append((rng.normal(size=4) * 3).astype(np.float32))
            wanted, result = (
                Interpreter(module).call(module.function("f"), arguments)[0] for module in (before, after)
            )
            assert np.asarray(result).tobytes() == np.asarray(wanted).tobytes(), f"{text}\n{after}"
    every = {"scf.for", "scf.while", "scf.if", "scf.index_switch", "scf.execute_region", "affine.for", "arith.select"}
    assert names.keys() >= every | {"func.func"}


Q = "tensor<4x!quant.uniform<i8:f32, 0.5:3>>"
HEAD = f"""func.func @f(%x: F, %p: i1, %n: index) -> F {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %qx = quant.qcast %x : F to {Q}
  %q0 = qrt.add %qx, %qx : ({Q}, {Q}) -> {Q}
  %k = quant.dcast %q0 : {Q} to F
"""


def kernel(name, operand):
    return f"""%q{name} = quant.qcast %{operand} : F to {Q}
    %r{name} = qrt.add %q{name}, %qx : ({Q}, {Q}) -> {Q}
    %{name} = quant.dcast %r{name} : {Q} to F
    """


def same_bits(body):
    """Assert that a program computes the same after its values are carried. Return the program."""
    text = f"{HEAD}{body}\n}}".replace("F", FLOATS)
    module = carried(text)
    x = np.float32([0.3, -1.6, 2.7, 100])
    for p in (False, True):
        for n in (0, 1, 2):
            wanted, result = (
                np.asarray(Interpreter(one).call(one.function("f"), [x, np.bool_(p), np.int64(n)])[0]).tobytes()
                for one in (ir.parse(text), module)
            )
            assert result == wanted, f"{p} {n}\n{module}"
    return module


def test_a_group_that_stays_float_reads_floats():
    """A loop stays float because it yields a float; its initial value is then no longer absorbed by a cast."""
    module = same_bits(f"""%u = scf.if %p -> (F) {{
      scf.yield %k : F
    }} else {{
      scf.yield %x : F
    }}
    %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%c = %u) -> (F) {{
      {kernel("a", "c")}
      %s = math.sin %a : F
      scf.yield %s : F
    }}
    %y = arith.addf %r, %r : F
    return %y : F""")
    assert "scf.if" not in quantized_targets(module)


def test_loops_in_a_loop_whose_result_is_read_as_a_float():
    """The inner loop carries integers, and chooses its initial value where it has no iterations."""
    module = same_bits(f"""%r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %x) -> (F) {{
      %q = scf.for %j = %c0 to %n step %c1 iter_args(%d = %c) -> (F) {{
        {kernel("a", "d")}
        scf.yield %a : F
      }}
      scf.yield %q : F
    }}
    return %r : F""")
    loops = [str(op.results[0].type) for op in module.operation.walk() if op.name == "scf.for"]
    assert set(loops) == {FLOATS, Q.replace("0.5", "5.000000e-01")}


def test_a_result_that_is_quantized_to_another_type():
    """Without iterations that cast reads the initial value, not the rounded one."""
    other = Q.replace("0.5:3", "0.0625")
    module = same_bits(f"""%r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %x) -> (F) {{
      {kernel("a", "c")}
      scf.yield %a : F
    }}
    %q1 = quant.qcast %r : F to {other}
    %q2 = quant.qcast %r : F to {Q}
    %b = quant.dcast %q1 : {other} to F
    %d = quant.dcast %q2 : {Q} to F
    %y = arith.addf %b, %d : F
    return %y : F""")
    assert quantized_targets(module)["scf.for"]


def test_loops_in_a_loop_that_run():
    """Both carry integers: the initial value reaches the result of neither."""
    module = same_bits(f"""%r = scf.for %i = %c0 to %c3 step %c1 iter_args(%c = %x) -> (F) {{
      %q = scf.for %j = %c0 to %c3 step %c1 iter_args(%d = %c) -> (F) {{
        {kernel("a", "d")}
        scf.yield %a : F
      }}
      scf.yield %q : F
    }}
    return %r : F""")
    assert quantized_targets(module)["scf.for"] == 2
    assert "arith.select" not in str(module)


@pytest.mark.parametrize(
    "body",
    [
        f"""%r:2 = scf.while (%i = %c0, %h = %k) : (index, F) -> (index, F) {{
          %b = arith.cmpi ult, %i, %n : index
          scf.condition(%b) %i, %h : index, F
        }} do {{
        ^bb0(%j: index, %g: F):
          {kernel("a", "g")}
          %l = arith.addi %j, %c1 : index
          scf.yield %l, %a : index, F
        }}
        return %r#1 : F""",
        f"""cf.br ^bb1(%c0, %k : index, F)
        ^bb1(%i: index, %h: F):
        {kernel("a", "h")}
        %j = arith.addi %i, %c1 : index
        %b = arith.cmpi ult, %j, %n : index
        cf.cond_br %b, ^bb1(%j, %a : index, F), ^bb2(%a : F)
        ^bb2(%v: F):
        return %v : F""",
        f"""%r = affine.for %i = 0 to 2 iter_args(%c = %x) -> (F) {{
          {kernel("a", "c")}
          affine.yield %a : F
        }}
        return %r : F""",
    ],
)
def test_no_cast_is_left_where_values_are_passed_on(body):
    module = ir.run_passes(same_bits(body), "dce")
    casts = [op.name for op in module.operation.walk() if op.name in ("quant.qcast", "quant.dcast")]
    assert casts == ["quant.qcast", "quant.dcast"]


def test_a_select_chooses_between_integers():
    body = f"""{kernel("a", "x")}{kernel("b", "a")}%r = arith.select %p, %a, %b : F
    return %r : F"""
    assert "arith.select" in quantized_targets(same_bits(body))


def test_targets_of_two_types_stay_floats():
    other = Q.replace("0.5:3", "0.25")
    module = same_bits(f"""%q1 = quant.qcast %x : F to {other}
    %b = quant.dcast %q1 : {other} to F
    %r = arith.select %p, %b, %k : F
    return %r : F""")
    assert "arith.select" not in quantized_targets(module)
