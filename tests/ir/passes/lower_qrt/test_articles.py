"""The ops of articles on lowering, which `lower-qrt` and `lower-quant-ops` lower without `canonicalize` before them.
Hazard: such an op is left as it is, or read as another direction or kernel than the one it names."""

import numpy as np
import pytest

import qrt
from qrt.ir import Module, parse, run_passes

TYPES = """!x = tensor<1x4x4x2x!quant.uniform<i8:f32, 0.05:3>>
!w = tensor<3x2x2x2x!quant.uniform<u8:f32, 0.02:128>>
!b = tensor<3x!quant.uniform<i32:f32, 0.001>>
!y = tensor<1x2x2x3x!quant.uniform<i8:f32, 0.1:-5>>
!m = tensor<4x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>
!z = tensor<2x2x!quant.uniform<i8:f32, 0.25:7>>
"""
CONV = (
    TYPES
    + """func.func @main(%x: tensor<1x4x4x2xf32>, %w: tensor<3x2x2x2xf32>, %b: tensor<3xf32>) -> tensor<1x2x2x3xf32> {
  %0 = "quant.cast"(%x) : (tensor<1x4x4x2xf32>) -> !x
  %1 = "quant.cast"(%w) : (tensor<3x2x2x2xf32>) -> !w
  %2 = "quant.cast"(%b) : (tensor<3xf32>) -> !b
  %3 = "quant.conv2d"(%0, %1, %2) {strides = [2, 2], output_scale = 0.1 : f64, output_zero_point = -5 : i64}
    : (!x, !w, !b) -> !y
  %4 = "quant.cast"(%3) : (!y) -> tensor<1x2x2x3xf32>
  return %4 : tensor<1x2x2x3xf32>
}
"""
)
MATMUL = (
    TYPES
    + """func.func @main(%a: tensor<2x4xf32>, %w: tensor<4x2xf32>) -> tensor<2x2xf32> {
  %0 = "quant.cast"(%a) : (tensor<2x4xf32>) -> tensor<2x4x!quant.uniform<i8:f32, 0.05:3>>
  %1 = "quant.cast"(%w) : (tensor<4x2xf32>) -> !m
  %2 = "quant.matmul"(%0, %1) {requant = "float32"} : (tensor<2x4x!quant.uniform<i8:f32, 0.05:3>>, !m) -> !z
  %3 = "quant.cast"(%2) : (!z) -> tensor<2x2xf32>
  return %3 : tensor<2x2xf32>
}
"""
)
SHAPES = {CONV: ((1, 4, 4, 2), (3, 2, 2, 2), (3,)), MATMUL: ((2, 4), (4, 2))}


def results(module: Module, seed: int, shapes: tuple[tuple[int, ...], ...], interpret: bool) -> list[object]:
    compiled = qrt.compile(module)
    rng = np.random.default_rng(seed)
    inputs = {
        port.name: rng.normal(0, 2, shape).astype(np.float32)
        for port, shape in zip(compiled.inputs, shapes, strict=True)
    }
    return [np.asarray(value).tolist() for value in compiled.run(inputs, interpret=interpret).values()]


@pytest.mark.parametrize("options", ["", "{zero-point=auto to=loops}", "{requant=float32}"])
@pytest.mark.parametrize("text", [CONV, MATMUL], ids=["conv2d", "matmul"])
@pytest.mark.parametrize("seed", [1, 2])
def test_articles_are_lowered_directly(text: str, options: str, seed: int) -> None:
    direct = run_passes(parse(text), f"lower-qrt{options},lower-quant-ops")
    names = {op.name for op in direct.operation.walk()}
    assert {name for name in names if name.startswith(("quant.", "qrt."))} == {"quant.scast"}
    canonical = run_passes(parse(text), f"canonicalize,lower-qrt{options},lower-quant-ops")
    rule = "float32" if "float32" in options else "fixed"
    eager = parse(text if 'requant = "' in text else text.replace("{strides", f'{{requant = "{rule}", strides'))
    expected = results(eager, seed, SHAPES[text], interpret=False)
    for module in (direct, canonical):
        for interpret in (False, True):
            assert results(module, seed, SHAPES[text], interpret) == expected


def test_an_error_names_the_op_of_the_article() -> None:
    text = MATMUL.replace("2x4x", "?x?x").replace("4x2x", "?x?x").replace(":1, {0.5, 0.25}", ":{0:2}, {{0.5}, {0.25}}")
    with pytest.raises(qrt.errors.VerifyError, match=r"'quant\.matmul' op cannot be lowered: the shape of sub-channel"):
        run_passes(parse(text), "lower-qrt")


def test_upstream_removes_pairs_of_casts_in_both_spellings() -> None:
    """With `strict-upstream`, a cast back to the type before it is removed; a second cast of one direction is not."""
    text = """!q = tensor<2x!quant.uniform<i8:f32, 0.5>>
func.func @main(%x: !q) -> !q {
  %0 = "quant.cast"(%x) : (!q) -> tensor<2xf32>
  %1 = quant.qcast %0 : tensor<2xf32> to !q
  return %1 : !q
}
"""
    module = run_passes(parse(text), "lower-quant-ops{strict-upstream=true}")
    assert not [op.name for op in module.operation.walk() if op.name.startswith("arith.sub")]
    (end,) = [op for op in module.operation.walk() if op.name == "func.return"]
    assert end.operands[0].operation is None
