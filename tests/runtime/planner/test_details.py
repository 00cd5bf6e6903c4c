"""Plans as text. Hazard: a line that says another thing than what runs."""

import numpy as np
import pytest

import qrt
from qrt.cli import main
from qrt.errors import ModelError

TEXT = """
!x = !quant.uniform<i8:f32, 0.05:-3>
!u = !quant.uniform<u8:f32, 0.05:3>
!w = !quant.uniform<i8<-127:127>:f32:1, {0.02, 0.03, 0.04, 0.05}>
func.func private @twice(%a: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = math.atan %a : tensor<?x4xf32>
  %1 = math.tan %0 : tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
func.func @main(%a: tensor<?x8xf32> {qrt.name = "a"}, %k: f32) -> (tensor<?x4xf32>, tensor<?x4xi8>, f32) {
  %x = quant.qcast %a : tensor<?x8xf32> to tensor<?x8x!x>
  %c = arith.constant dense<3> : tensor<8x4xi8>
  %w = quant.scast %c : tensor<8x4xi8> to tensor<8x4x!w>
  %m = qrt.matmul %x, %w : (tensor<?x8x!x>, tensor<8x4x!w>) -> tensor<?x4x!u>
  %s = qrt.add %m, %m : (tensor<?x4x!u>, tensor<?x4x!u>) -> tensor<?x4x!u>
  %p = qrt.reshape %s : (tensor<?x4x!u>) -> tensor<?x4x!u>
  %d = quant.dcast %p : tensor<?x4x!u> to tensor<?x4xf32>
  %e = arith.constant 2.0 : f32
  %f = arith.divf %k, %e : f32
  %t = call @twice(%d) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %i = quant.scast %s : tensor<?x4x!u> to tensor<?x4xi8>
  return %t, %i, %f : tensor<?x4xf32>, tensor<?x4xi8>, f32
}
"""
PLAN = """\
@main for ref, arena of 36 bytes for 36 at once
takes (%1 input tensor<3x8xf32>, %2 input f32)
0: kernel qcast (ref): quant.qcast at f.mlir:11:8 (%1 input tensor<3x8xf32>) -> (%3 arena+0 tensor<3x8xi8>)
0: kernel gemm (ref): qrt.matmul at f.mlir:14:8 (%3 arena+0 tensor<3x8xi8>, %4 constant tensor<8x4xi8>) -> (%5 arena+24 tensor<3x4xui8>)
0: kernel add (ref): qrt.add at f.mlir:15:8 (%5 arena+24 tensor<3x4xui8>, %5 arena+24 tensor<3x4xui8>) -> (%6 owned tensor<3x4xui8>)
0: kernel dcast (ref): quant.dcast at f.mlir:17:8 (%6 owned tensor<3x4xui8>) -> (%7 owned tensor<3x4xf32>)
1: interpreter: arith.divf at f.mlir:19:8 (%2 input f32, %8 constant f32) -> (%11 value f32)
1: interpreter: math.atan at f.mlir:6:8 (%7 owned tensor<3x4xf32>) -> (%12 value tensor<3x4xf32>)
1: interpreter: math.tan at f.mlir:7:8 (%12 value tensor<3x4xf32>) -> (%13 value tensor<3x4xf32>)
returns (%13 value tensor<3x4xf32>, %14 owned tensor<3x4xi8>, %11 value f32)
"""  # noqa: E501 - lines as they are printed


def test_each_step_is_a_line(tmp_path, capsys):
    file = tmp_path / "f.mlir"
    file.write_text(TEXT)
    assert main(["run", str(file), "--print-plan", "--isa", "ref", "--input-value", "a=3x8xf32=1"]) == 0
    assert capsys.readouterr().out.replace(str(file), "f.mlir") == PLAN


def test_what_is_printed_runs():
    """The steps are those of the plan that runs on inputs of these shapes, under the ISA that is active."""
    program = qrt.compile(TEXT)
    a = np.ones((3, 8), np.float32)
    for isa in qrt.kernels.available():
        with qrt.kernels.use(isa):
            lines = program.plan_text({"a": a}).splitlines()
            covered = program.coverage(a.shape)
        assert lines[0].startswith(f"@main for {isa}, arena of ")
        assert len(lines) == 3 + len(covered)
        for line, step in zip(lines[2:], covered, strict=False):
            assert f": {step.engine}{' ' * bool(step.detail)}{step.detail}: {step.op} at {step.location} (" in line
    assert len(program._plans) == len(qrt.kernels.available())


def test_inputs_that_are_not_given_have_one_of_each_dynamic_dimension():
    assert "takes (%1 input tensor<1x8xf32>, %2 input f32)" in qrt.compile(TEXT).plan_text({})


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"b": np.ones((3, 8), np.float32)}, "no input is named 'b'"),
        ({"a": np.ones((3, 7), np.float32)}, r"must be tensor<\?x8xf32>, got shape \[3, 7\]"),
        ({"a": np.ones((3, 8))}, "got dtype float64"),
    ],
)
def test_inputs_that_do_not_fit_have_no_plan(inputs, message):
    with pytest.raises(ModelError, match=message):
        qrt.compile(TEXT).plan_text(inputs)
