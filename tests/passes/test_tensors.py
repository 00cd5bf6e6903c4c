"""Tensor ops that canonicalize compute what they did. Hazards: a padding dropped that is seen, sizes of another operand,
elements of another place."""

import numpy as np

import qrt
from qrt import ir
from qrt.passes import run_passes
from tests.oracle.draw_numbers import NUMBERS
from tests.oracle.draw_tensors import tensors
from tests.oracle.draw_types import Draw

GIVEN = [np.arange(24, dtype=np.float32).reshape(shape) + 100 * n for n, shape in enumerate([(4, 6), (4, 6), (24,)])]
VALUES = [*GIVEN, np.float32(-5), *map(np.int64, NUMBERS)]


def outcome(module):
    inputs = {f"arg{number}": value for number, value in enumerate(VALUES)}
    results = qrt.compile(module).run(inputs, interpret=True)
    return [np.asarray(value).tolist() for value in results.values()]


def test_drawn_programs_compute_what_they_did():
    draw = Draw("values of tensors")
    for _ in range(150):
        text = tensors(draw)
        after = run_passes(ir.parse(text), "canonicalize")
        after.verify()
        assert outcome(after) == outcome(ir.parse(text)), text


def test_a_padding_with_strides_stays():
    """Its elements are not next to each other, so that what follows them moves by two; upstream moves it by one."""
    text = """
    func.func @f(%t: tensor<2x3xf32>, %e: tensor<9x9xf32>, %f: f32) -> tensor<9x9xf32> {
      %0 = linalg.fill ins(%f : f32) outs(%e : tensor<9x9xf32>) -> tensor<9x9xf32>
      %1 = tensor.pad %t low[1, 0] high[0, 0] { ^bb0(%i: index, %j: index): tensor.yield %f : f32 }
        : tensor<2x3xf32> to tensor<3x3xf32>
      %2 = tensor.insert_slice %1 into %0[0, 0] [3, 3] [2, 2] : tensor<3x3xf32> into tensor<9x9xf32>
      return %2 : tensor<9x9xf32>
    }"""
    assert "tensor.pad" in str(run_passes(ir.parse(text), "canonicalize"))
