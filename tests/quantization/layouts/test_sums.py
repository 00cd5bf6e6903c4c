"""Sums in several steps become one reduction. Hazards: an element that is added twice or not at all, windows that have
gaps, elements of two tensors, a partial sum that is used elsewhere, a size that is not known."""

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.runtime.interpreter import Interpreter
from tests.models.onnx.running import imported
from tests.models.onnx.writing import model, node, port

POOLS = {
    "global of lanes": ("GlobalAveragePool", (6, 6), {}),
    "global with elements left over": ("GlobalAveragePool", (7, 7), {}),
    "global of less than four": ("GlobalAveragePool", (1, 3), {}),
    "global of one axis": ("GlobalAveragePool", (9,), {}),
    "whole image": ("AveragePool", (7, 5), {"kernel_shape": [7, 5]}),
    "columns": ("AveragePool", (6, 7), {"kernel_shape": [2, 3], "strides": [2, 1]}),
    "rows, far apart": ("AveragePool", (8, 8), {"kernel_shape": [2, 2], "strides": [3, 3]}),
    "padding that counts": ("AveragePool", (6, 6), {"kernel_shape": [3, 3], "pads": [1] * 4, "count_include_pad": 1}),
}


def average(name: str, opset: int, batch: object = 2) -> ir.Module:
    op, sizes, attributes = POOLS[name]
    nodes = [node(op, ["x"], ["y"], **attributes)]
    shape = (batch, 3, *sizes)
    return imported(model(nodes, [port("x", "FLOAT", shape)], [port("y", "FLOAT")], opset=opset))


def called(module: ir.Module, x: np.ndarray) -> np.ndarray:
    return np.asarray(Interpreter(module).call(module.functions[0], [x])[0])


@pytest.mark.parametrize("opset", [13, 20])
@pytest.mark.parametrize("name", POOLS)
def test_an_average_in_the_order_of_a_runtime_is_one_kernel(name: str, opset: int) -> None:
    """The order is one of lanes, columns and rows."""
    module = average(name, opset)
    x = np.random.default_rng(1).normal(size=(2, 3, *POOLS[name][1])).astype(np.float32)
    expected = called(module, x)
    quantized = qrt.quantize_program(module, {"x": x}, passes=())
    names = [operation.name for operation in quantized.module.operation.walk()]
    assert sum(each in ("qrt.mean", "qrt.avg_pool2d") for each in names) == 1
    assert not any(each.startswith(("linalg.", "arith.addf", "arith.divf")) for each in names)
    ir.run_passes(module, "normalize-layouts")
    np.testing.assert_allclose(called(module, x), expected, rtol=1e-5, atol=1e-6)
    again = str(module)
    ir.run_passes(module, "normalize-layouts")
    assert str(module) == again


@pytest.mark.parametrize("name", ["global with elements left over", "columns"])
def test_the_number_of_images_need_not_be_known(name: str) -> None:
    module = average(name, 13, "n")
    x = np.random.default_rng(1).normal(size=(5, 3, *POOLS[name][1])).astype(np.float32)
    expected = called(module, x)
    ir.run_passes(module, "normalize-layouts")
    sums = [operation.name for operation in module.operation.walk()]
    assert sums.count("linalg.reduce") + sums.count("linalg.pooling_nhwc_sum") == 1
    np.testing.assert_allclose(called(module, x), expected, rtol=1e-5, atol=1e-6)


HALVES = """#lanes = affine_map<(d0, d1, d2) -> (d0, d2 * 2 + d1)>
#outer = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @f(%x: tensor<3x6xf32>, %z: tensor<3x6xf32>) -> tensor<3xf32> {
  %zero = arith.constant 0.0 : f32
  %steps = tensor.empty() : tensor<3xi1>
  %e = tensor.empty() : tensor<3x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x2xf32>) -> tensor<3x2xf32>
  %lanes = linalg.generic {indexing_maps = [#lanes, affine_map<(d0, d1, d2) -> (d2)>, #outer],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %steps : tensor<3x6xf32>, tensor<3xi1>) outs(%f : tensor<3x2xf32>) {
  ^bb0(%a: f32, %s: i1, %t: f32):
    %0 = arith.addf %t, %a : f32
    linalg.yield %0 : f32
  } -> tensor<3x2xf32>
  %r = tensor.empty() : tensor<3xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0, 0)>, affine_map<(d0) -> (d0, 1)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]} ins(%lanes, %lanes : tensor<3x2xf32>, tensor<3x2xf32>) outs(%r : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32, %t: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<3xf32>
  return %y : tensor<3xf32>
}"""
_LANES = "affine_map<(d0, d1, d2) -> (d0, d2 * 2 + d1)>"
OTHERS = {
    "one lane twice": ("affine_map<(d0) -> (d0, 1)>", "affine_map<(d0) -> (d0, 0)>", 0),
    "a lane alone": ("%0 = arith.addf %a, %b", "%0 = arith.addf %a, %a", 0),
    "elements twice": (_LANES, "affine_map<(d0, d1, d2) -> (d0, d2 + d1)>", 0),
    "lanes of neighbours": (_LANES, "affine_map<(d0, d1, d2) -> (d0, d2 + d1 * 3)>", 1),
    "elements left out": (_LANES, "affine_map<(d0, d1, d2) -> (d0, d2 * 2)>", 0),
    "a product": ("%0 = arith.addf %a, %b", "%0 = arith.mulf %a, %b", 0),
    "lanes that begin with 1": ("constant 0.0", "constant 1.0", 1),
    "elements of two tensors": (
        "ins(%lanes, %lanes : tensor<3x2xf32>, tensor<3x2xf32>)",
        "ins(%lanes, %z : tensor<3x2xf32>, tensor<3x6xf32>)",
        0,
    ),
}
"""Another text in the program, and how many reductions along an axis there are then."""


def reductions(text: str) -> tuple[ir.Module, int]:
    module = ir.run_passes(ir.parse(text), "normalize-layouts")
    return module, [operation.name for operation in module.operation.walk()].count("linalg.reduce")


def test_lanes_of_any_number_are_summed_along_the_axis() -> None:
    module, count = reductions(HALVES)
    assert count == 1
    x = np.arange(18, dtype=np.float32).reshape(3, 6)
    np.testing.assert_array_equal(np.asarray(Interpreter(module).call(module.functions[0], [x, x])[0]), x.sum(1))


@pytest.mark.parametrize("name", OTHERS)
def test_only_sums_of_each_element_once_are_rewritten(name: str) -> None:
    old, new, expected = OTHERS[name]
    text = HALVES.replace(old, new, 1)
    assert text != HALVES
    module, count = reductions(text)
    assert count == expected
    x, z = np.random.default_rng(1).normal(size=(2, 3, 6)).astype(np.float32)
    results = [np.asarray(Interpreter(each).call(each.functions[0], [x, z])[0]) for each in (ir.parse(text), module)]
    np.testing.assert_allclose(*results, rtol=1e-5, atol=1e-6)


def test_a_partial_sum_that_is_used_elsewhere_stays() -> None:
    text = HALVES.replace("-> tensor<3xf32> {", "-> (tensor<3xf32>, tensor<3x2xf32>) {", 1)
    text = text.replace("return %y : tensor<3xf32>", "return %y, %lanes : tensor<3xf32>, tensor<3x2xf32>")
    module, count = reductions(text)
    assert count == 1
    x = np.random.default_rng(1).normal(size=(3, 6)).astype(np.float32)
    total, lanes = (np.asarray(each) for each in Interpreter(module).call(module.functions[0], [x, x]))
    np.testing.assert_allclose(total, x.sum(1), rtol=1e-5)
    np.testing.assert_allclose(lanes, np.stack([x[:, ::2].sum(1), x[:, 1::2].sum(1)], 1), rtol=1e-5)
