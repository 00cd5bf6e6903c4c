"""Weights whose bytes stand at the end of the text. Hazards: weights that nobody reads as constants, so that they have
no range; extents that are read from the middle of a function of one variable, which is then none."""

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.errors import VerifyError
from qrt.ir import run_passes
from tests.quantization.checks import kernel_of, regions

TEXT = """func.func @main(%x: tensor<?x4xf32> {qrt.name = "x"}) -> tensor<?x3xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %w = arith.constant WEIGHTS : tensor<4x3xf32>
  %b = arith.constant BIAS : tensor<3xf32>
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x3xf32>
  %bias = linalg.broadcast ins(%b : tensor<3xf32>) outs(%e : tensor<?x3xf32>) dimensions = [0]
  %0 = linalg.matmul ins(%x, %w : tensor<?x4xf32>, tensor<4x3xf32>) outs(%bias : tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}
"""
RNG = np.random.default_rng(2)
WEIGHTS = RNG.normal(size=(4, 3)).astype(np.float32)
BIAS = RNG.normal(size=3).astype(np.float32)
DATA = {"x": RNG.normal(size=(32, 4)).astype(np.float32)}


def blob(values: np.ndarray) -> str:
    return "0x04000000" + values.tobytes().hex()


def dense(values: np.ndarray) -> str:
    return f"dense<{values.astype(float).tolist()}>"


IN_PLACE = TEXT.replace("WEIGHTS", dense(WEIGHTS)).replace("BIAS", dense(BIAS))
AT_THE_END = TEXT.replace("WEIGHTS", "dense_resource<w>").replace("BIAS", "dense_resource<b>")
BLOBS = f'{{-# dialect_resources: {{ builtin: {{ w: "{blob(WEIGHTS)}", b: "{blob(BIAS)}" }} }} #-}}\n'


@pytest.mark.parametrize("target", ["qrt-cpu", "int4-weights", "bf16"])
def test_resources_are_quantized_as_constants_in_place_are(target):
    both = [ir.parse(text) for text in (IN_PLACE, AT_THE_END + BLOBS)]
    in_place, at_the_end = [str(qrt.quantize_program(module, DATA, target, passes=[]).module) for module in both]
    assert at_the_end == in_place
    assert "dense_resource" not in at_the_end


def test_a_resource_without_data_is_named():
    with pytest.raises(VerifyError, match=r"dense_resource<w> has no data"):
        run_passes(ir.parse(AT_THE_END), "fuse-kernels{target=qrt-cpu},propagate-quant{target=qrt-cpu}")


def test_a_function_of_one_variable_reads_its_extents_from_its_operand():
    """Ones of an open size, in a function that is not given to the op that has its own size from an argument."""
    text = """func.func @main(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %n = tensor.dim %y, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %ones = linalg.fill ins(%one : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %0 = math.EXP %x : tensor<?x4xf32>
  %1 = arith.addf %ones, %0 : tensor<?x4xf32>
  %2 = arith.divf %ones, %1 : tensor<?x4xf32>
  return %2 : tensor<?x4xf32>
}
"""
    structured = "linalg.exp ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>"
    for exp in ("math.exp %x : tensor<?x4xf32>", structured):
        module = ir.parse(text.replace("math.EXP %x : tensor<?x4xf32>", exp))
        run_passes(module, "fuse-kernels{target=qrt-cpu}")
        (region,) = regions(module)
        assert kernel_of(region) == "lookup"
        dims = [op for op in region.walk() if op.name == "tensor.dim"]
        assert dims
        assert all(op.operands[0].operation is None for op in dims)
        data = {"arg0": np.float32([[-1, 0, 1, 2]]), "arg1": np.zeros((1, 4), np.float32)}
        assert {step.engine for step in qrt.quantize_program(module, data, passes=[]).program.coverage()} == {"kernel"}
