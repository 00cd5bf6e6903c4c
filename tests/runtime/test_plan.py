"""Plans: one frame for kernels and the interpreter, segments."""

import numpy as np
import pytest

import qrt
from tests.runtime.programs import assert_same

FRAMES = {
    "a scalar from a kernel to the interpreter and back": """
        !q = !quant.uniform<i8:f32, 0.5:3>
        func.func @main(%x: f32) -> (f32, !q, !q) {
          %0 = quant.qcast %x : f32 to !q
          %1 = quant.scast %0 : !q to i8
          %2 = arith.addi %1, %1 : i8
          %3 = quant.scast %2 : i8 to !q
          %4 = quant.dcast %3 : !q to f32
          %5 = arith.addf %4, %x : f32
          %6 = quant.qcast %5 : f32 to !q
          return %5, %6, %3 : f32, !q, !q
        }""",
    "constants, as arrays and as scalars": """
        !q = !quant.uniform<i8:f32, 0.5:3>
        func.func @main(%x: f32) -> (f32, tensor<2xf32>) {
          %c = arith.constant 1.5 : f32
          %0 = arith.addf %x, %c : f32
          %v = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
          %q = quant.qcast %c : f32 to !q
          %d = quant.dcast %q : !q to f32
          %1 = arith.mulf %0, %d : f32
          %t = tensor.splat %1 : tensor<2xf32>
          %2 = arith.addf %t, %v : tensor<2xf32>
          return %1, %2 : f32, tensor<2xf32>
        }""",
    "two shapes of one array": """
        !q = !quant.uniform<i8:f32, 0.5:3>
        func.func @main(%x: tensor<2x3xf32>) -> (tensor<3x2xi8>, tensor<2x3xi8>, tensor<6xi8>, tensor<6x!q>) {
          %0 = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!q>
          %1 = qrt.reshape %0 : (tensor<2x3x!q>) -> tensor<3x2x!q>
          %2 = quant.scast %1 : tensor<3x2x!q> to tensor<3x2xi8>
          %3 = arith.addi %2, %2 : tensor<3x2xi8>
          %4 = quant.scast %0 : tensor<2x3x!q> to tensor<2x3xi8>
          %5 = arith.addi %4, %4 : tensor<2x3xi8>
          %6 = quant.scast %5 : tensor<2x3xi8> to tensor<2x3x!q>
          %7 = qrt.reshape %6 : (tensor<2x3x!q>) -> tensor<6x!q>
          %8 = quant.scast %7 : tensor<6x!q> to tensor<6xi8>
          %9 = arith.xori %8, %8 : tensor<6xi8>
          return %3, %5, %9, %7 : tensor<3x2xi8>, tensor<2x3xi8>, tensor<6xi8>, tensor<6x!q>
        }""",
    "a view that is not contiguous, for a kernel": """
        !q = !quant.uniform<i8:f32, 0.5:3>
        func.func @main(%x: tensor<4x3xf32>) -> (tensor<2x3x!q>, tensor<2x3xf32>) {
          %0 = tensor.extract_slice %x[0, 0] [2, 3] [2, 1] : tensor<4x3xf32> to tensor<2x3xf32>
          %1 = quant.qcast %0 : tensor<2x3xf32> to tensor<2x3x!q>
          return %1, %0 : tensor<2x3x!q>, tensor<2x3xf32>
        }""",
    "a function inlined twice": """
        !q = !quant.uniform<i8:f32, 0.5:3>
        func.func private @f(%x: tensor<4xf32>, %s: f32) -> (tensor<4xf32>, f32) {
          %t = tensor.splat %s : tensor<4xf32>
          %0 = arith.addf %x, %t : tensor<4xf32>
          %q = quant.qcast %0 : tensor<4xf32> to tensor<4x!q>
          %d = quant.dcast %q : tensor<4x!q> to tensor<4xf32>
          %c = arith.constant 0 : index
          %e = tensor.extract %d[%c] : tensor<4xf32>
          return %d, %e : tensor<4xf32>, f32
        }
        func.func @main(%x: tensor<4xf32>, %s: f32) -> (tensor<4xf32>, f32, tensor<4xf32>) {
          %0:2 = call @f(%x, %s) : (tensor<4xf32>, f32) -> (tensor<4xf32>, f32)
          %1:2 = call @f(%0#0, %0#1) : (tensor<4xf32>, f32) -> (tensor<4xf32>, f32)
          return %1#0, %1#1, %0#0 : tensor<4xf32>, f32, tensor<4xf32>
        }""",
    "what a region reads": """
        !q = !quant.uniform<i8:f32, 0.5:3>
        func.func @main(%x: tensor<4xf32>, %s: f32) -> tensor<2x2xi8> {
          %q = quant.qcast %x : tensor<4xf32> to tensor<4x!q>
          %r = qrt.reshape %q : (tensor<4x!q>) -> tensor<2x2x!q>
          %i = quant.scast %r : tensor<2x2x!q> to tensor<2x2xi8>
          %t = quant.qcast %s : f32 to !q
          %k = quant.scast %t : !q to i8
          %zero = arith.constant 0 : i8
          %is = arith.cmpi sgt, %k, %zero : i8
          %0 = scf.if %is -> tensor<2x2xi8> {
            %n = tensor.splat %k : tensor<2x2xi8>
            %1 = arith.addi %n, %i : tensor<2x2xi8>
            scf.yield %1 : tensor<2x2xi8>
          } else {
            scf.yield %i : tensor<2x2xi8>
          }
          return %0 : tensor<2x2xi8>
        }""",
}


@pytest.mark.parametrize("name", FRAMES)
def test_kernels_and_the_interpreter_share_a_frame(name):
    """Each takes a value in its own form: scalars, arrays of the shape under this name, contiguous ones."""
    program = qrt.compile(FRAMES[name])
    draw = np.random.default_rng(1)
    for _ in range(3):
        inputs = {
            port.name: np.asarray(draw.normal(0, 3, port.type.shape), np.float32).reshape(port.type.shape)
            for port in program.inputs
        }
        assert_same(program.run(inputs), program.run(inputs, interpret=True))


def test_kernels_between_a_value_and_its_use_stay_one_segment():
    """What the interpreter made is an array for a kernel where it was made, not where the kernel wants it."""
    q = "tensor<4x!quant.uniform<i8:f32, 0.5:3>>"
    program = qrt.compile(
        f"""func.func @main(%x: tensor<4xf32>) -> {q} {{
          %0 = math.atan %x : tensor<4xf32>
          %1 = math.tan %0 : tensor<4xf32>
          %2 = quant.qcast %x : tensor<4xf32> to {q}
          %3 = quant.qcast %1 : tensor<4xf32> to {q}
          %4 = qrt.add %2, %3 : ({q}, {q}) -> {q}
          return %4 : {q}
        }}"""
    )
    (planned,) = program._plans.values()
    segments = [[step.coverage.op for step in segment] for segment in planned.details.segments]
    assert segments == [["math.atan", "math.tan"], ["quant.qcast", "quant.qcast", "qrt.add"]]
