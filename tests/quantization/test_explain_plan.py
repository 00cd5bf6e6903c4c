"""The steps of a program. Hazards: the time of one step beside the name of another, memory that is less than a run
takes, a step outside of C that looks like a kernel, a rule that is not the one that ran."""

import numpy as np
import pytest

from qrt import ir
from qrt.errors import ModelError
from qrt.quantization.explain_plan import explain_plan
from qrt.quantization.report.steps import steps_text
from qrt.runtime.compilation import compile

Q = "tensor<64x!quant.uniform<i8:f32, 0.5>>"
TEXT = f"""func.func @main(%a: {Q} {{qrt.name = "a"}}, %b: {Q}) -> (tensor<64xf32>, tensor<64xf32>) {{
  %0 = qrt.mul %a, %b {{requant = "float32", qrt.tensor = "product"}} : ({Q}, {Q}) -> {Q}
  %1 = qrt.add %0, %a {{qrt.fused = ["qrt.clamp"]}} : ({Q}, {Q}) -> {Q}
  %2 = quant.dcast %1 : {Q} to tensor<64xf32>
  %3 = math.tan %2 : tensor<64xf32>
  %4 = quant.qcast %3 : tensor<64xf32> to {Q}
  %5 = quant.dcast %4 : {Q} to tensor<64xf32>
  return %5, %3 : tensor<64xf32>, tensor<64xf32>
}}"""


@pytest.fixture(scope="module")
def report():
    return explain_plan(compile(ir.parse(TEXT)), repeats=2)


def test_each_step_has_what_is_its_own(report):
    ops = ["qrt.mul", "qrt.add", "quant.dcast", "math.tan", "quant.qcast", "quant.dcast"]
    assert [step.op for step in report.steps] == ops
    assert [step.rule for step in report.steps] == ["float32", "fixed", "", "", "half_even", ""]
    assert [step.segment for step in report.steps] == [0, 0, 0, 1, 2, 2]
    assert [step.tensor for step in report.steps][:2] == ["product", ""]
    assert [step.fused for step in report.steps][:2] == [(), ("qrt.clamp",)]
    assert [step.bytes for step in report.steps] == [192, 192, 320, 512, 320, 320]
    assert report.segments == 3
    assert [step.op for step in report.outside] == ["math.tan"]
    assert all(step.seconds > 0 for step in report.steps)
    assert sum(step.share for step in report.steps) == pytest.approx(1)


def test_memory_is_that_of_what_lives_at_once(report):
    """The sum is written over the product."""
    assert 64 <= report.live_bytes <= report.arena_bytes
    assert report.constant_bytes == 0


def test_given_inputs_are_run():
    q = "tensor<?xf32>"
    program = compile(ir.parse(f"func.func @f(%x: {q}) -> {q} {{ %0 = math.tan %x : {q}\n return %0 : {q} }}"))
    report = explain_plan(program, {"arg0": np.zeros(7, np.float32)}, repeats=1)
    assert [step.engine for step in report.steps] == ["interpreter"]
    with pytest.raises(ModelError, match=r"'arg0' \(.*\) is missing"):
        explain_plan(program, {})


def test_the_text(report):
    lines = steps_text(report).splitlines()
    assert lines[0].startswith("main for ")
    assert "6 steps in 3 segments" in lines[0]
    head = lines[3]
    rows = lines[4:10]
    assert [row[head.index("op ") :].split()[0] for row in rows][:2] == ["qrt.mul", "qrt.add+qrt.clamp"]
    assert rows[0].endswith("product")
    assert rows[3][head.index("kernel") :].startswith("interpreter")
    assert lines[-1] == "1 step outside of C: math.tan"
