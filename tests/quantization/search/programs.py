"""Float programs whose widths are searched, and what a search needs of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from qrt import ir
from qrt.quantization.calibration.observe import calibrate_program
from qrt.quantization.calibration.records import Record
from qrt.quantization.comparison.measure import Reference
from qrt.quantization.search import Metric, SearchResult, searched
from qrt.quantization.steps import NamedProgram, named
from qrt.quantization.targets.registry import find
from qrt.runtime.compilation import compile
from tests.quantization import float_text as ops
from tests.quantization.float_text import Tensor, Text


@dataclass(frozen=True, eq=False)
class Subject:
    """A program in regions, its records, and its outputs over a sample."""

    named: NamedProgram
    records: Mapping[str, Record]
    reference: Reference

    def searched(
        self, budget: str, metric: Metric | None = None, journal: Any = None, target: str = "qrt-cpu"
    ) -> SearchResult:
        return searched(self.named, find(target), self.records, "mse", self.reference, budget, metric, journal)


def subject(text: str, batches: Sequence[dict[str, Any]], target: str = "qrt-cpu") -> Subject:
    program = named(ir.parse(text), find(target))
    records = calibrate_program(program.module, batches).records
    return Subject(program, records, Reference(program, None, batches))


def layers(*sizes: int, seed: int = 0) -> str:
    """Products with tanh between them."""
    rng, text = np.random.default_rng(seed), Text()
    first = x = Tensor("%x", (16, sizes[0]))
    for number, (inputs, outputs) in enumerate(pairwise(sizes)):
        w = rng.normal(size=(inputs, outputs)) * inputs**-0.5
        x = ops.matmul(
            text, x, text.constant(w.astype(np.float32)), text.constant(np.float32(rng.normal(size=outputs) * 0.1))
        )
        x = ops.tanh(text, x) if number < len(sizes) - 2 else x
    return text.function("main", [first], [x])


def drawn(text: str, count: int, seed: int = 5) -> list[dict[str, Any]]:
    """Inputs of a program of static shapes."""
    rng = np.random.default_rng(seed)
    ports = compile(ir.parse(text)).inputs
    return [{p.name: rng.normal(size=p.type.shape).astype(np.float32) for p in ports} for _ in range(count)]


@cache
def small() -> Subject:
    """Three weights, of 96, 48 and 24 numbers."""
    text = layers(12, 8, 6, 4)
    return subject(text, drawn(text, 2))


@cache
def tiny() -> Subject:
    """Two weights, of 32 and 24 numbers."""
    text = layers(8, 4, 6)
    return subject(text, drawn(text, 1))


CELL = """
func.func private @cell(%x: tensor<2x4xf32>, %h: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %u = arith.constant
    dense<[[0.5, -0.2, 0.7, 0.1], [0.3, 0.6, -0.9, 0.2], [1.0, 0.4, 0.3, 0.7], [0.2, 0.1, 0.5, 0.8]]> : tensor<4x4xf32>
  %e = tensor.empty() : tensor<2x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x4xf32>) outs(%f : tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = linalg.matmul ins(%h, %u : tensor<2x4xf32>, tensor<4x4xf32>) outs(%f : tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = arith.addf %0, %1 : tensor<2x4xf32>
  %3 = math.tanh %2 : tensor<2x4xf32>
  return %3 : tensor<2x4xf32>
}
func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %w = arith.constant dense<0.3> : tensor<4x4xf32>
  %v = arith.constant dense<0.4> : tensor<4x4xf32>
  %1 = func.call @cell(%x, %x, %w) : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %2 = func.call @cell(%x, %1, %w) : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %3 = func.call @cell(%x, %2, %v) : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  return %3 : tensor<2x4xf32>
}
"""
