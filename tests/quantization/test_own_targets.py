"""A layer for each target of qrt, from its float program to its results. Hazard: a target that loads, and that no pass
brings to an end."""

import numpy as np
import pytest

import qrt
from qrt import ir

WEIGHTS = {
    "qrt-cpu": "i8:f32:1,",
    "tflite": "i8<-127:127>:f32:1,",
    "int16x8": "i8<-127:127>:f32:1,",
    "int4-weights": "i4<-7:7>:f32:{0:32, 1:1},",
    "weight-only": "i8:f32:1,",
    "bf16": "bf16",
}
"""How the weights of 64 rows are stored."""


def dense(values):
    return f"dense<{np.float64(values).tolist()}>"


def layer(depth):
    draw = np.random.default_rng(depth)
    w, b = draw.normal(size=(depth, 6)).astype(np.float32), draw.normal(size=6).astype(np.float32)
    return f"""func.func @f(%x: tensor<2x{depth}xf32>) -> tensor<2x6xf32> {{
      %xs = "quant.stats"(%x) {{layerStats = dense<[-4.0, 4.0]> : tensor<2xf32>}}
        : (tensor<2x{depth}xf32>) -> tensor<2x{depth}xf32>
      %w = arith.constant {dense(w)} : tensor<{depth}x6xf32>
      %b = arith.constant {dense(b)} : tensor<6xf32>
      %e = tensor.empty() : tensor<2x6xf32>
      %s = linalg.broadcast ins(%b : tensor<6xf32>) outs(%e : tensor<2x6xf32>) dimensions = [0]
      %m = linalg.matmul ins(%xs, %w : tensor<2x{depth}xf32>, tensor<{depth}x6xf32>) outs(%s : tensor<2x6xf32>)
        -> tensor<2x6xf32>
      %ms = "quant.stats"(%m) {{layerStats = dense<[-40.0, 40.0]> : tensor<2xf32>}}
        : (tensor<2x6xf32>) -> tensor<2x6xf32>
      return %ms : tensor<2x6xf32>
    }}"""


def exported(text, target, to):
    return qrt.ir.run_passes(ir.parse(text), f"export-quant{{to={to} target={target}}}")


@pytest.mark.parametrize("target", WEIGHTS)
@pytest.mark.parametrize("depth", [64, 40])
def test_a_layer_is_fused_propagated_checked_exported_and_run(target, depth):
    text = layer(depth)
    passes = ",".join(f"{name}{{target={target}}}" for name in ("fuse-kernels", "propagate-quant", "check-quant"))
    module = qrt.ir.run_passes(ir.parse(text), passes)
    (region,) = [operation for operation in module.operation.walk() if operation.name == "quant.region"]
    wanted = WEIGHTS[target] if depth == 64 else WEIGHTS[target].replace("{0:32, 1:1}", "1")
    assert wanted in str(region.attributes["input_specs"].elements[1])
    assert qrt.quantization.is_fully_quantized(module, target)
    x = np.random.default_rng(1).normal(size=(2, depth)).astype(np.float32)
    results = [qrt.compile(exported(str(module), target, to))(x) for to in ("fixed", "codegen")]
    assert results[0].tobytes() == results[1].tobytes()
    exact = qrt.compile(ir.parse(text))(x)
    assert np.abs(results[0] - exact).max() < (4.0 if target == "int4-weights" else 0.5)
