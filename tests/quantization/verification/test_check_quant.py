"""check-quant and the predicates. Hazards: a constraint that is off by one ulp, an edge that disagrees through a loop,
a branch or a call, a check that passes because it looked at nothing."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import qrt
from qrt import ir
from qrt.errors import VerifyError
from qrt.ops.accumulate import bias_is_direct
from qrt.quantization.checking.regions import regions_of
from qrt.quantization.targets.model import Target, TargetKernel, TargetPort
from qrt.quantization.targets.registry import find
from qrt.quantization.verification.check_quant import broken_annotations, is_fully_quantized, is_quantized, violations
from qrt.types import UniformType

TYPES = """
!x = !quant.uniform<i8:f32, 0.1:3>
!w = !quant.uniform<i8<-127:127>:f32:1, {0.2, 0.3, 0.7}>
!b = !quant.uniform<i32:f32:0, {0.020000000000000004, 0.03, 0.06999999999999999}>
!y = !quant.uniform<i8:f32, 0.5:-7>
!z = !quant.uniform<i8:f32, 0.25>
!s = !quant.uniform<i8:f32, 0.00390625:-128>
"""
MATMUL = """
  %y = quant.region (%x, %w, %b) {
  ^bb0(%p: tensor<2x4xf32>, %q: tensor<4x3xf32>, %r: tensor<3xf32>):
    %e = tensor.empty() : tensor<2x3xf32>
    %s = linalg.broadcast ins(%r : tensor<3xf32>) outs(%e : tensor<2x3xf32>) dimensions = [0]
    %m = linalg.matmul ins(%p, %q : tensor<2x4xf32>, tensor<4x3xf32>) outs(%s : tensor<2x3xf32>) -> tensor<2x3xf32>
    quant.return %m : tensor<2x3xf32>
  } {input_specs = [!x, !w, !b], output_specs = [!y], kernel = "matmul"}
    : (tensor<2x4xf32>, tensor<4x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
"""
ARGUMENTS = "%x: tensor<2x4xf32>, %w: tensor<4x3xf32>, %b: tensor<3xf32>"


def unary(result, value, specs, kernel, op="arith.negf %p : tensor<2x3xf32>"):
    taken, made = specs
    return f"""
  {result} = quant.region ({value}) {{
  ^bb0(%p: tensor<2x3xf32>):
    %n = {op}
    quant.return %n : tensor<2x3xf32>
  }} {{input_specs = [{taken}], output_specs = [{made}], kernel = "{kernel}"}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
"""


def rescale(result, value, taken, made):
    text = unary(result, value, (taken, made), "rescale")
    return re.sub(r" *%n = .*\n", "", text).replace("quant.return %n", "quant.return %p")


def program(body, arguments=ARGUMENTS, result="%z", types=TYPES, others=""):
    head = f"{types}\n{others}\nfunc.func @f({arguments}) -> tensor<2x3xf32> {{"
    return ir.parse(f"{head}{body}  return {result} : tensor<2x3xf32>\n}}")


LOGISTIC = unary("%z", "%y", ("!y", "!s"), "logistic").replace(
    "%n = arith.negf %p : tensor<2x3xf32>",
    """%one = arith.constant dense<1.0> : tensor<2x3xf32>
    %m = arith.negf %p : tensor<2x3xf32>
    %e = math.exp %m : tensor<2x3xf32>
    %d = arith.addf %e, %one : tensor<2x3xf32>
    %n = arith.divf %one, %d : tensor<2x3xf32>""",
)
WHOLE = MATMUL + LOGISTIC


def found(module, target="tflite"):
    module.verify()
    return [each.message for each in violations(module, find(target))]


def test_a_program_that_keeps_all_rules_has_no_violation():
    module = program(WHOLE)
    before = str(module)
    qrt.ir.run_passes(module, "check-quant{target=tflite}")
    assert str(module) == before
    assert is_quantized(module)
    assert is_fully_quantized(module, "tflite")
    assert found(program(MATMUL, result="%y"), "qrt-cpu") == ["'quant.region' op (matmul): "] * 0


WRONG = {
    "undecided": ("[!x, !w, !b]", "[!x, f32, !b]", r"\(matmul\): operand 1 must have .* got f32"),
    "a range": ("[!x, !w, !b]", "[!quant.calibrated<f32<-1.0:1.0>>, !w, !b]", "operand 0 must have .*calibrated"),
    "a width": ("[!s]", "[!quant.any<i8:f32>]", "result 0 must have .*any"),
    "storage": ("!x = !quant.uniform<i8:", "!x = !quant.uniform<u8:", r"operand 0 \(a\) is .*u8.*requires i8<-128"),
    "bounds": ("i8<-127:127>", "i8", r"operand 1 \(w\) is .*requires i8<-127:127> axis=-1 symmetric"),
    "a zero point": ("{0.2, 0.3, 0.7}", "{0.2, 0.3:1, 0.7}", r"operand 1 \(w\).*symmetric"),
    "an axis": ("f32:1, {0.2, 0.3, 0.7}", "f32:0, {0.2, 0.3, 0.7, 0.9}", r"operand 1 \(w\).*axis=-1"),
    "a zero point outside": ("0.1:3", "0.1:300", "operand 0 is .*zero point 300 is outside of -128 to 127"),
    "a bias by one ulp": ("0.020000000000000004", "0.02", "scale 0.02 in channel 0, expected .*0.020000000000000004"),
    "a bias in its last channel": ("0.06999999999999999}", "0.07}", "operand 2 has scale 0.07 in channel 2"),
    "a bias that is coarser": ("0.020000000000000004,", "0.04000000000000001,", "in channel 0"),
    "a bias around 1": ("0.06999999999999999}", "0.06999999999999999:1}", r"operand 2 \(bias\)|zero point"),
    "a given type": ("0.00390625:-128", "0.00390625:-127", r"result 0 \(y\)|result 0 is .*expected"),
    "an edge": ("[!y], output_specs = [!s]", "[!z], output_specs = [!s]", "operand 0 .*2.5.*but result 0 .*5.0"),
    "no kernel": ('kernel = "logistic"', 'kernel = "gate"', "target 'tflite' has no kernel 'gate'"),
    "another count": ('kernel = "logistic"', 'kernel = "add"', "has 1 operand and 1 result, which kernel 'add'"),
    "a float left": ("[!s], kernel", "[!quant.none<f32>], kernel", r"result 0 \(y\) is !quant.none"),
    "a float in between": ("[!s], kernel", "[bf16], kernel", r"result 0 \(y\) is bf16"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_each_rule_that_is_broken_is_one_violation(case):
    old, new, message = WRONG[case]
    module = program((WHOLE).replace(old, new), types=TYPES.replace(old, new))
    (said,) = found(module)
    assert re.search(message, said), said
    assert len(said) < 600
    with pytest.raises(VerifyError, match=r"<string>:\d+:\d+: error: 'quant.region' op"):
        qrt.ir.run_passes(module, "check-quant{target=tflite}")


def test_one_scale_of_any_port_that_is_another_by_one_ulp_is_found():
    """Each port of this program has an edge or a constraint."""
    module = program(WHOLE)
    for region in regions_of(module):
        before = region.specs
        for port, spec in enumerate(before):
            assert isinstance(spec, UniformType)
            scales = [*spec.scales[:-1], math.nextafter(spec.scales[-1], math.inf)]
            region.set_spec(port, spec.with_(scales=scales if spec.is_per_axis else scales[0]))
            assert found(module) != [], (region.kernel, port)
            region.set_specs(before)
    assert found(module) == []


def test_all_violations_are_told_in_order():
    module = program(
        WHOLE.replace("!w, !b", "f32, f32").replace("0.00390625", "0.5"), types=TYPES.replace("0.0039", "0.1")
    )
    with pytest.raises(VerifyError) as raised:
        qrt.ir.run_passes(module, "check-quant{target=tflite}")
    assert [" ".join(each.message.split(": ")[1].split()[:2]) for each in raised.value.diagnostics] == [
        "operand 1", "operand 2", "result 0",
    ]  # fmt: skip


def test_an_unknown_target_is_an_error_that_lists_those_there_are():
    with pytest.raises(qrt.QuantError, match=r"no target 'npu': there are .*qrt-cpu.*tflite"):
        qrt.ir.run_passes(program(WHOLE), "check-quant{target=npu}")


@given(st.floats(2**-40, 2**40), st.lists(st.floats(2**-40, 2**40), min_size=1, max_size=3), st.data())
def test_the_bias_is_compared_exactly(x, w, data):
    """One ulp more or less in any channel is a violation; a power of two is one where the target has none coarser."""
    exact = [x * scale for scale in w]
    channel = data.draw(st.integers(0, len(w) - 1))
    up = data.draw(st.integers(1, 3))
    changed = {
        "exact": exact[channel],
        "above": math.nextafter(exact[channel], math.inf),
        "below": math.nextafter(exact[channel], 0),
        "coarser": math.ldexp(exact[channel], up),
        "finer": math.ldexp(exact[channel], -1),
    }
    for case, scale in changed.items():
        scales = [*exact[:channel], scale, *exact[channel + 1 :]]
        types = TYPES.replace("0.1:3", f"{x:.17e}:3").replace("{0.2, 0.3, 0.7}", _braces((w * 3)[:3]))
        bias = _braces((scales * 3)[:3])
        types = types.replace("{0.020000000000000004, 0.03, 0.06999999999999999}", bias)
        module = program(MATMUL, types=types, result="%y")
        assert bool(found(module)) == (case != "exact"), case
        assert bool(found(module, "qrt-cpu")) == (case not in ("exact", "coarser")), case
        region = module.functions[0].regions[0].blocks[0].first
        a, b, c = (spec.type for spec in region.attributes["input_specs"].elements)
        assert bias_is_direct(c, a, b) == (case == "exact")


def _braces(scales):
    return "{" + ", ".join(f"{scale:.17e}" for scale in scales) + "}"


def test_a_multiplier_is_held_to_its_range_exactly():
    gate = TargetKernel(
        "gate",
        (TargetPort("a", "i8"), TargetPort("b", "i8")),
        (TargetPort("y", "i8"),),
        "multiplier_scale",
        (),
        (0.25, 1.0),
    )
    target = Target("mine", (gate,))
    text = """
    func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
      %y = quant.region (%a, %a) {
      ^bb0(%p: tensor<4xf32>, %q: tensor<4xf32>):
        %0 = arith.mulf %p, %q : tensor<4xf32>
        quant.return %0 : tensor<4xf32>
      } {input_specs = [A, A], output_specs = [Y], kernel = "gate"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }"""

    def held(a, y):
        module = ir.parse(
            text.replace("A", f"!quant.uniform<i8:f32, {a!r}>").replace("Y", f"!quant.uniform<i8:f32, {y!r}>")
        )
        return [each.message for each in violations(module, target)]

    assert held(0.5, 0.25) == []
    assert held(0.5, 1.0) == []
    (said,) = held(0.5, math.nextafter(0.25, 0))
    constraint = "the constraint of kernel 'gate' of target 'mine'"
    assert f"the multiplier 1.0000000000000002 is outside 0.25 to 1 at result 0: {constraint}" in said
    assert held(0.5, math.nextafter(1.0, 2)) != []


def test_a_function_of_ones_own_holds_if_it_changes_nothing():
    wanted = qrt.UniformType("i8", "f32", 0.25)

    def fixed(inputs, outputs):
        changed = [] if outputs[0] is wanted else [0]
        outputs[0] = wanted
        return [], changed

    def broken(inputs, outputs):
        raise KeyError("scale")

    def longer(inputs, outputs):
        inputs.append(wanted)

    for function, spec, message in (
        (longer, "!z", "the constraint changes the number of ports"),
        (fixed, "!z", None),
        (fixed, "!y", "result 0 is .*, expected .*2.500000e-01.*a function of the target"),
        (broken, "!z", "the constraint raises KeyError: 'scale'"),
    ):
        target = Target("mine", (TargetKernel("gate", (TargetPort("x"),), (TargetPort("y"),), function),))
        said = [
            each.message
            for each in violations(program(unary("%z", "%x", ("!x", spec), "gate"), "%x: tensor<2x3xf32>"), target)
        ]
        assert (said == []) if message is None else re.search(message, said[0])


# -- edges -------------------------------------------------------------------------------------------------------------

ONE = "%x: tensor<2x3xf32>"
MADE = unary("%a", "%x", ("!y", "!y"), "lookup")


def test_a_rescale_makes_both_ends_agree_and_does_nothing_else():
    apart = MADE + unary("%z", "%a", ("!z", "!z"), "lookup")
    (said,) = found(program(apart, ONE))
    assert "operand 0 is !quant.uniform<i8:f32, 2.500000e-01>, but result 0 of the region at <string>:" in said
    together = MADE + rescale("%r", "%a", "!y", "!z") + unary("%z", "%r", ("!z", "!z"), "lookup")
    assert found(program(together, ONE)) == []
    busy = MADE + unary("%r", "%a", ("!y", "!z"), "rescale") + unary("%z", "%r", ("!z", "!z"), "lookup")
    (said,) = found(program(busy, ONE))
    assert "is a rescale, which must return its operand" in said


STEP = unary("%d", "%c", ("IN", "OUT"), "lookup")
LAST = unary("%z", "%l", ("!y", "!y"), "lookup")
LOOPS = {
    "for": f"""
  %lo = arith.constant 0 : index
  %n = arith.constant 4 : index
  %one = arith.constant 1 : index
  %l = scf.for %i = %lo to %n step %one iter_args(%c = %a) -> (tensor<2x3xf32>) {{{STEP}
    scf.yield %d : tensor<2x3xf32>
  }}{LAST}""",
    "while": f"""
  %t = arith.constant false
  %l = scf.while (%b = %a) : (tensor<2x3xf32>) -> tensor<2x3xf32> {{
    scf.condition(%t) %b : tensor<2x3xf32>
  }} do {{
  ^bb0(%c: tensor<2x3xf32>):{STEP}
    scf.yield %d : tensor<2x3xf32>
  }}{LAST}""",
    "if": f"""
  %t = arith.constant false
  %l = scf.if %t -> (tensor<2x3xf32>) {{{STEP.replace("%c", "%a")}
    scf.yield %d : tensor<2x3xf32>
  }} else {{
    scf.yield %a : tensor<2x3xf32>
  }}{LAST}""",
    "branch": f"""
  %t = arith.constant false
  cf.cond_br %t, ^one(%a : tensor<2x3xf32>), ^two(%a : tensor<2x3xf32>)
^one(%c: tensor<2x3xf32>):{STEP}
  cf.br ^two(%d : tensor<2x3xf32>)
^two(%l: tensor<2x3xf32>):{LAST}""",
    "call": f"""
  %l = func.call @g(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>{LAST}""",
    "stats": f"""
  %c = "quant.stats"(%a) {{layerStats = dense<[-1.0, 1.0]> : tensor<2xf32>}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  {STEP.replace("%d", "%l")}{LAST}""",
}
CALLEE = f"func.func private @g(%c: tensor<2x3xf32>) -> tensor<2x3xf32> {{{STEP}  return %d : tensor<2x3xf32> }}"


@pytest.mark.parametrize("way", LOOPS)
def test_an_edge_is_followed_to_where_the_value_comes_from(way):
    for taken, made, count in (("!y", "!y", 0), ("!z", "!y", 1), ("!y", "!z", 1)):
        text = (MADE + LOOPS[way]).replace("IN", taken).replace("OUT", made)
        others = CALLEE.replace("IN", taken).replace("OUT", made) if way == "call" else ""
        module = program(text, ONE, others=others)
        said = found(module)
        assert bool(said) == bool(count), (taken, made, said)
        assert is_quantized(module) == (not count)
    others = CALLEE if way == "call" else ""
    ends = {LAST: LAST.replace("[!y], out", "[!z], out"), MADE: MADE.replace("= [!y], kernel", "= [!z], kernel")}
    for old, new in ends.items():
        text = (MADE + LOOPS[way]).replace(old, new)
        text, callee = (each.replace("IN", "!y").replace("OUT", "!y") for each in (text, others))
        assert found(program(text, ONE, others=callee)) != []


@pytest.mark.parametrize(
    ("taken", "is_right"), [("!y", True), ("!z", False), ("!quant.none<f32>", True), ("bf16", True)]
)
def test_a_dequantized_argument_is_taken_as_it_is_stored_or_as_a_float(taken, is_right):
    body = "  %a = quant.dcast %x : tensor<2x3x!y> to tensor<2x3xf32>\n" + unary("%z", "%a", (taken, "!y"), "gate")
    module = program(body, "%x: tensor<2x3x!y>")
    assert is_quantized(module) == is_right


def test_a_result_that_the_program_quantizes_has_that_type():
    for made, is_right in (("!y", True), ("!z", False), ("!quant.none<f32>", True)):
        body = unary("%a", "%x", ("!y", made), "lookup") + (
            "  %q = quant.qcast %a : tensor<2x3xf32> to tensor<2x3x!y>\n"
            "  %z = quant.dcast %q : tensor<2x3x!y> to tensor<2x3xf32>\n"
        )
        assert is_quantized(program(body, ONE)) == is_right


def test_nothing_inside_a_body_is_asked():
    """What stands there are settings: also a region, whose ports nobody decides, and casts to other types."""
    inner = (
        unary("%i", "%p", ("f32", "f32"), "gate").replace("%n", "%m").replace("(%p) {\n  ^bb0(%p", "(%p) {\n  ^bb0(%o")
    )
    inner = inner.replace("negf %p", "negf %o")
    casts = (
        "  %c = quant.qcast %i : tensor<2x3xf32> to tensor<2x3x!z>\n"
        "  %d = quant.dcast %c : tensor<2x3x!z> to tensor<2x3xf32>\n"
    )
    outer = unary("%a", "%x", ("!y", "!y"), "mine.lookup", "arith.negf %d : tensor<2x3xf32>")
    outer = outer.replace("    %n = ", f"{inner}{casts}    %n = ", 1)
    ports = TargetPort("q", "i8"), TargetPort("y", "i8")
    target = Target("mine", (TargetKernel("mine.lookup", ports[:1], ports[1:]),))
    module = program(outer, ONE, "%a")
    module.verify()
    assert violations(module, target) == []


# -- predicates --------------------------------------------------------------------------------------------------------


def test_fully_quantized_leaves_no_port_that_a_kernel_could_quantize():
    whole, partly = program(WHOLE), program(WHOLE.replace("[!s]", "[!quant.none<f32>]"))
    undecided = program(WHOLE.replace("[!s]", "[f32]"))
    assert [is_quantized(m) for m in (whole, partly, undecided)] == [True, True, False]
    assert [is_fully_quantized(m, "tflite") for m in (whole, partly, undecided)] == [True, False, False]
    kept = WHOLE.replace("[!x, !w, !b]", "[!quant.none<f32>, !quant.none<f32>, !quant.none<f32>]").replace(
        "[!y]", "[!quant.none<f32>]"
    )
    stays = program(re.sub(r"%z = quant.region[^$]*$", "", kept), result="%y")
    assert found(stays) == []
    assert is_quantized(stays)
    assert not is_fully_quantized(stays, "tflite")
    assert is_fully_quantized(stays, "weight-only")  # which has no such kernel


def test_what_a_target_keeps_in_floats_is_fully_quantized():
    none = "!quant.none<f32>"
    text = (
        MATMUL.replace('"matmul"', '"float_matmul"')
        .replace("[!x, !w, !b]", f"[{none}, !w, {none}]")
        .replace("[!y]", f"[{none}]")
    )
    module = program(text, types=TYPES.replace("i8<-127:127>", "i8"), result="%y")
    assert found(module, "weight-only") == []
    assert is_fully_quantized(module, "weight-only")
    stored = program(MATMUL.replace("[!x, !w, !b]", "[bf16, bf16, bf16]").replace("[!y]", "[bf16]"), result="%y")
    assert found(stored, "bf16") == []
    assert is_fully_quantized(stored, "bf16")
    assert found(program(MATMUL, result="%y"), "bf16") != []


@pytest.mark.parametrize(
    ("asked", "given", "is_kept"),
    [
        ("!quant.none<f32>", "!quant.none<f32>", True),
        ("!quant.none<f32>", "!y", False),
        ("!quant.any<i8:f32>", "!y", True),
        ("!quant.any<i4:f32>", "!y", True),
        ("!quant.any<u8:f32>", "!y", True),
        ("!quant.any<i16:f32>", "!y", False),
        ("!quant.any<i8:f32>", "!quant.uniform<i8<-127:127>:f32, 0.5>", True),
        ("!quant.any<i8<-127:127>:f32>", "!quant.uniform<i8<-126:127>:f32, 0.5>", False),
        ("!quant.any<i8:f32>", "!quant.none<f32>", True),
        ("!quant.calibrated<f32<-1.0:1.0>>", "!y", True),
    ],
)
def test_what_annotations_ask_for_is_given(asked, given, is_kept):
    """A least width is of bits, and of values where it has bounds. The region of the same place is asked."""
    before, after = (program(MADE.replace("[!y], kernel", f"[{spec}], kernel"), ONE, "%a") for spec in (asked, given))
    said = [each.message for each in broken_annotations(before, after)]
    assert said == [] if is_kept else re.search(r"\(lookup\): result 0 must satisfy its annotation !quant\.", said[0])
