"""Programs of `lower-qrt`, in every form, and of other compilers, raised. Hazards: each form of a sum has other
operations for the same kernel; a chain of kernels reads buffers between loops."""

from typing import Any

import numpy as np
import pytest

from qrt.ir import parse, run_passes
from qrt.types import UniformType
from tests import mlir_opt
from tests.ir.passes.lower_qrt.harness import program
from tests.ir.passes.raise_to_qrt.harness import check_raised
from tests.ir.passes.raise_to_qrt.test_drawn import FORMS
from tests.ops.harness import infer, tensor
from tests.ops.strategies import storage_of

I8 = UniformType("i8", "f32", 0.5, 3)
U8 = UniformType("u8", "f32", 0.25, 128)
OUT = UniformType("i8", "f32", 30.0, -5)
SHAPES: dict[str, tuple[str, tuple[tuple[int, ...], ...], dict[str, Any]]] = {
    "matmul": ("matmul", ((2, 19), (19, 3)), {}),
    "batches": ("matmul", ((2, 2, 9), (2, 9, 3)), {}),
    "vector": ("matmul", ((9,), (9, 3)), {}),
    "conv2d": (
        "conv2d",
        ((1, 5, 6, 3), (4, 3, 2, 3)),
        {"padding": ((1, 0), (1, 1)), "strides": (2, 1), "dilations": (1, 2)},
    ),
    "1x1": ("conv2d", ((1, 3, 2, 9), (4, 1, 1, 9)), {}),
    "groups": ("conv2d", ((1, 5, 6, 6), (4, 3, 2, 3)), {"padding": ((1, 0), (1, 1)), "groups": 2}),
    "depthwise": ("depthwise_conv2d", ((1, 5, 6, 3), (3, 3, 6)), {"padding": ((1, 0), (1, 1)), "strides": (2, 1)}),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", SHAPES)
@pytest.mark.parametrize("fixed", [(), (1,)], ids=["run-time weights", "constant weights"])
def test_every_form(case: str, form: str, fixed: tuple[int, ...]) -> None:
    name, shapes, attributes = SHAPES[case]
    rng = np.random.default_rng(len(case))
    types = [tensor(shape, t) for shape, t in zip(shapes, (I8, U8), strict=True)]
    arrays = [storage_of(t, shape, rng) for shape, t in zip(shapes, (I8, U8), strict=True)]
    text = program(name, arrays, types, infer(name, types, OUT, **attributes), fixed, **attributes)
    lowered = run_passes(parse(text), f"lower-qrt{{{form}}},quant-to-integer-types,canonicalize,cse")
    check_raised(str(lowered), [f"qrt.{name}"], [1])


CHAIN = """!i = !quant.uniform<i8:f32, 0.05:3>
!w = !quant.uniform<i8:f32, 0.05>
!b = !quant.uniform<i32:f32, 0.003:7>
!o = !quant.uniform<i8<-100:90>:f32, 0.5:-5>
!p = !quant.uniform<u8:f32, 1.5:7>
func.func @main(%x: tensor<4x19x!i>, %w: tensor<19x12x!w>, %b: tensor<12x!b>, %v: tensor<12x5x!w>) -> tensor<4x5x!p> {
  %r = qrt.matmul %x, %w, %b : (tensor<4x19x!i>, tensor<19x12x!w>, tensor<12x!b>) -> tensor<4x12x!o>
  %s = qrt.matmul %r, %v : (tensor<4x12x!o>, tensor<12x5x!w>) -> tensor<4x5x!p>
  return %s : tensor<4x5x!p>
}
"""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("later", ["", ",canonicalize,cse"])
def test_chains(form: str, later: str) -> None:
    """The second matmul reads the first one's buffer, and the bias is rescaled."""
    lowered = run_passes(parse(CHAIN), f"lower-qrt{{{form}}},quant-to-integer-types{later}")
    check_raised(str(lowered), ["qrt.matmul", "qrt.matmul"])


# The forms of linalg into which other compilers lower products of quantized operands and their rescaling.
BATCH_MATMUL = """func.func @main(%a: tensor<1x4x19xi8>, %w: tensor<1x19x3xi8>) -> tensor<1x4x3xi8> {
  %half = arith.constant 137438953472 : i64
  %shift = arith.constant 38 : i64
  %multiplier = arith.constant 1717986918 : i64
  %high = arith.constant 127 : i32
  %low = arith.constant -128 : i32
  %zo = arith.constant -5 : i32
  %zw = arith.constant -7 : i32
  %za = arith.constant 3 : i32
  %zero = arith.constant 0 : i32
  %0 = tensor.empty() : tensor<1x4x3xi32>
  %1 = linalg.fill ins(%zero : i32) outs(%0 : tensor<1x4x3xi32>) -> tensor<1x4x3xi32>
  %2 = linalg.quantized_batch_matmul ins(%a, %w, %za, %zw : tensor<1x4x19xi8>, tensor<1x19x3xi8>, i32, i32)
      outs(%1 : tensor<1x4x3xi32>) -> tensor<1x4x3xi32>
  %3 = tensor.empty() : tensor<1x4x3xi8>
  %4 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%2 : tensor<1x4x3xi32>) outs(%3 : tensor<1x4x3xi8>) {
  ^bb0(%in: i32, %out: i8):
    %5 = arith.extsi %in : i32 to i64
    %6 = arith.muli %5, %multiplier : i64
    %7 = arith.addi %6, %half : i64
    %8 = arith.shrsi %7, %shift : i64
    %9 = arith.trunci %8 : i64 to i32
    %10 = arith.addi %9, %zo : i32
    %11 = arith.maxsi %10, %low : i32
    %12 = arith.minsi %11, %high : i32
    %13 = arith.trunci %12 : i32 to i8
    linalg.yield %13 : i8
  } -> tensor<1x4x3xi8>
  return %4 : tensor<1x4x3xi8>
}
"""
CONVOLUTION = """#channel = affine_map<(n, h, w, c) -> (c)>
#all = affine_map<(n, h, w, c) -> (n, h, w, c)>
func.func @main(%a: tensor<1x6x6x2xi8>, %w: tensor<3x3x3x2xi8>) -> tensor<1x6x6x3xi8> {
  %high = arith.constant 127 : i32
  %low = arith.constant -128 : i32
  %one = arith.constant 1 : i64
  %zo = arith.constant -5 : i32
  %shifts = arith.constant dense<[38, 37, 39]> : tensor<3xi8>
  %multipliers = arith.constant dense<[1717986918, 1517986918, 1917986918]> : tensor<3xi32>
  %bias = arith.constant dense<[1000, -70000, 5]> : tensor<3xi32>
  %zw = arith.constant 0 : i32
  %za = arith.constant 3 : i32
  %za8 = arith.constant 3 : i8
  %padded = tensor.pad %a low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %za8 : i8
  } : tensor<1x6x6x2xi8> to tensor<1x8x8x2xi8>
  %0 = tensor.empty() : tensor<1x6x6x3xi32>
  %1 = linalg.generic {indexing_maps = [#channel, #all],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%bias : tensor<3xi32>)
      outs(%0 : tensor<1x6x6x3xi32>) {
  ^bb0(%in: i32, %out: i32):
    linalg.yield %in : i32
  } -> tensor<1x6x6x3xi32>
  %2 = linalg.conv_2d_nhwc_fhwc_q {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%padded, %w, %za, %zw : tensor<1x8x8x2xi8>, tensor<3x3x3x2xi8>, i32, i32)
      outs(%1 : tensor<1x6x6x3xi32>) -> tensor<1x6x6x3xi32>
  %3 = tensor.empty() : tensor<1x6x6x3xi8>
  %4 = linalg.generic {indexing_maps = [#all, #channel, #channel, #all],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%2, %multipliers, %shifts : tensor<1x6x6x3xi32>, tensor<3xi32>, tensor<3xi8>)
      outs(%3 : tensor<1x6x6x3xi8>) {
  ^bb0(%in: i32, %m: i32, %s: i8, %out: i8):
    %5 = arith.extsi %in : i32 to i64
    %6 = arith.extsi %m : i32 to i64
    %7 = arith.muli %5, %6 : i64
    %8 = arith.extui %s : i8 to i64
    %9 = arith.shli %one, %8 : i64
    %10 = arith.shrui %9, %one : i64
    %11 = arith.addi %7, %10 : i64
    %12 = arith.shrsi %11, %8 : i64
    %13 = arith.trunci %12 : i64 to i32
    %14 = arith.addi %13, %zo : i32
    %15 = arith.maxsi %14, %low : i32
    %16 = arith.minsi %15, %high : i32
    %17 = arith.trunci %16 : i32 to i8
    linalg.yield %17 : i8
  } -> tensor<1x6x6x3xi8>
  return %4 : tensor<1x6x6x3xi8>
}
"""


@pytest.mark.parametrize(("text", "name"), [(BATCH_MATMUL, "qrt.matmul"), (CONVOLUTION, "qrt.conv2d")])
def test_products_of_linalg_with_apply_scale(text: str, name: str) -> None:
    check_raised(text, [name], range(4))


RESCALE = """  %z = "tosa.const"() {{values = dense<0> : tensor<1xi32>}} : () -> tensor<1xi32>
  %zo = "tosa.const"() {{values = dense<-5> : tensor<1xi8>}} : () -> tensor<1xi8>
  %m = "tosa.const"() {{values = dense<{multipliers}> : tensor<{count}xi32>}} : () -> tensor<{count}xi32>
  %s = "tosa.const"() {{values = dense<{shifts}> : tensor<{count}xi8>}} : () -> tensor<{count}xi8>
  %r = tosa.rescale %acc, %m, %s, %z, %zo {{input_unsigned = false, output_unsigned = false, per_channel = {channels},
      rounding_mode = SINGLE_ROUND, scale32 = true}} : (tensor<{shape}xi32>, tensor<{count}xi32>, tensor<{count}xi8>,
      tensor<1xi32>, tensor<1xi8>) -> tensor<{shape}xi8>
  return %r : tensor<{shape}xi8>
}}
"""
TOSA_MATMUL = """func.func @main(%a: tensor<1x4x19xi8>, %w: tensor<1x19x3xi8>) -> tensor<1x4x3xi8> {
  %za = "tosa.const"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>
  %zw = "tosa.const"() {values = dense<-7> : tensor<1xi8>} : () -> tensor<1xi8>
  %acc = tosa.matmul %a, %w, %za, %zw
      : (tensor<1x4x19xi8>, tensor<1x19x3xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x3xi32>
""" + RESCALE.format(shape="1x4x3", count=1, multipliers=1717986918, shifts=38, channels="false")
TOSA_CONVOLUTION = """func.func @main(%a: tensor<1x6x6x2xi8>, %w: tensor<3x3x3x2xi8>) -> tensor<1x6x6x3xi8> {
  %za = "tosa.const"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>
  %zw = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %b = "tosa.const"() {values = dense<[1000, -70000, 5]> : tensor<3xi32>} : () -> tensor<3xi32>
  %acc = tosa.conv2d %a, %w, %b, %za, %zw {acc_type = i32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>,
      dilation = array<i64: 1, 1>} : (tensor<1x6x6x2xi8>, tensor<3x3x3x2xi8>, tensor<3xi32>, tensor<1xi8>,
      tensor<1xi8>) -> tensor<1x6x6x3xi32>
""" + RESCALE.format(
    shape="1x6x6x3",
    count=3,
    multipliers=[1717986918, 1517986918, 1917986918],
    shifts=[38, 37, 39],
    channels="true",
)
TO_LINALG = (
    "--pass-pipeline=builtin.module(func.func(tosa-to-linalg-named,tosa-to-linalg,"
    "tosa-to-arith{include-apply-rescale=true},tosa-to-tensor,canonicalize))"
)


@mlir_opt.needed
@pytest.mark.parametrize(("text", "name"), [(TOSA_MATMUL, "qrt.matmul"), (TOSA_CONVOLUTION, "qrt.conv2d")])
def test_what_mlir_opt_makes_of_tosa(text: str, name: str) -> None:
    done = mlir_opt.run(text, TO_LINALG)
    assert done.returncode == 0, done.stderr.decode()
    check_raised(done.stdout.decode(), [name], range(3))
