"""A network of two products, and data for it."""

from typing import Any

import numpy as np


def weights(seed: int, *shape: int) -> str:
    values = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    return f"dense<{[[round(float(x), 4) for x in row] for row in values]}> : tensor<{shape[0]}x{shape[1]}xf32>"


NETWORK = f"""
func.func @main(%x: tensor<?x16xf32> {{qrt.name = "images"}}) -> (tensor<?x4xf32> {{qrt.name = "logits"}}) {{
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x16xf32>
  %w = arith.constant {weights(1, 16, 8)}
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<?x16xf32>, tensor<16x8xf32>) outs(%f : tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = math.tanh %0 : tensor<?x8xf32>
  %v = arith.constant {weights(2, 8, 4)}
  %e2 = tensor.empty(%n) : tensor<?x4xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x4xf32>) -> tensor<?x4xf32>
  %2 = linalg.matmul ins(%1, %v : tensor<?x8xf32>, tensor<8x4xf32>) outs(%f2 : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %2 : tensor<?x4xf32>
}}
"""


def rows(count: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal((count, 16)).astype(np.float32)
