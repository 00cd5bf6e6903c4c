"""Tensor ops that canonicalize compute what they did. Hazards: a padding dropped that is seen, a size taken elsewhere,
elements of another place."""

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.errors import ModelError
from qrt.ir import run_passes
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


def test_what_is_written_to_a_buffer_is_read():
    """Upstream reads the tensor, whatever is written to its buffer."""
    text = """
    func.func @f(%t: tensor<4xf32>, %i: index, %f: f32) -> (f32, f32) {
      %0 = bufferization.to_buffer %t : tensor<4xf32> to memref<4xf32>
      memref.store %f, %0[%i] : memref<4xf32>
      %1 = memref.load %0[%i] : memref<4xf32>
      %2 = bufferization.to_buffer %t read_only : tensor<4xf32> to memref<4xf32>
      %3 = memref.load %2[%i] : memref<4xf32>
      return %1, %3 : f32, f32
    }"""
    after = str(run_passes(ir.parse(text), "canonicalize"))
    assert after.count("memref.load") == after.count("tensor.extract") == 1


def test_a_clone_is_not_freed_in_a_branch():
    """Upstream takes the source for the clone, which a branch may have freed before."""
    text = """
    func.func @f(%yes: i1, %f: f32, %n: index) -> f32 {
      %c0 = arith.constant 0 : index
      %0 = memref.alloc() : memref<4xf32>
      memref.store %f, %0[%c0] : memref<4xf32>
      %1 = bufferization.clone %0 : memref<4xf32> to memref<4xf32>
      scf.if %yes {
        memref.dealloc %0 : memref<4xf32>
      }
      %2 = memref.load %1[%c0] : memref<4xf32>
      memref.dealloc %1 : memref<4xf32>
      return %2 : f32
    }"""
    inputs = {"arg0": True, "arg1": np.float32(3), "arg2": np.int64(0)}
    for module in (ir.parse(text), run_passes(ir.parse(text), "canonicalize")):
        (value,) = qrt.compile(module).run(inputs, interpret=True).values()
        assert value == 3


def test_buffers_and_tensors_hold_what_they_did():
    text = """
    func.func @f(%m: memref<4xf32>, %i: index, %f: f32) -> (f32, tensor<?xf32>, f32) {
      %0 = bufferization.to_tensor %m restrict : memref<4xf32> to tensor<4xf32>
      %1 = bufferization.to_buffer %0 read_only : tensor<4xf32> to memref<4xf32, strided<[?], offset: ?>>
      %2 = memref.load %1[%i] : memref<4xf32, strided<[?], offset: ?>>
      %3 = tensor.cast %0 : tensor<4xf32> to tensor<?xf32>
      %c4 = arith.constant 4 : index
      %4 = bufferization.alloc_tensor(%c4) : tensor<?xf32>
      %5 = bufferization.materialize_in_destination %3 in %4 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      %6 = bufferization.clone %m : memref<4xf32> to memref<4xf32>
      %7 = memref.load %6[%i] : memref<4xf32>
      memref.dealloc %6 : memref<4xf32>
      return %2, %5, %7 : f32, tensor<?xf32>, f32
    }"""
    inputs = {"arg0": np.arange(4, dtype=np.float32), "arg1": np.int64(2), "arg2": np.float32(0)}
    modules = ir.parse(text), run_passes(ir.parse(text), "canonicalize")
    before, after = (list(qrt.compile(module).run(inputs, interpret=True).values()) for module in modules)
    assert "clone" not in str(modules[1])
    assert [np.asarray(value).tolist() for value in after] == [np.asarray(value).tolist() for value in before]


def test_a_slice_keeps_the_dimensions_that_its_type_keeps():
    """Not the last ones of size 1: a tensor<4x1xf16> is cast to no tensor<1x4xf16>."""
    text = """
    func.func @f(%t: tensor<1x1x8x1xf16>, %u: tensor<1x?xf16>, %i: index) -> (tensor<1x4xf16>, tensor<1x1x8x1xf16>) {
      %0 = arith.constant 0 : index
      %4 = arith.constant 4 : index
      %1 = tensor.extract_slice %t[%0, 0, %i, 0] [1, 1, 4, 1] [1, 1, 1, 1] : tensor<1x1x8x1xf16> to tensor<1x4xf16>
      %2 = tensor.insert_slice %u into %t[%0, 0, %i, 0] [1, 1, %4, 1] [1, 1, 1, 1]
        : tensor<1x?xf16> into tensor<1x1x8x1xf16>
      return %1, %2 : tensor<1x4xf16>, tensor<1x1x8x1xf16>
    }"""
    inputs = {
        "arg0": np.arange(8, dtype=np.float16).reshape(1, 1, 8, 1),
        "arg1": -np.ones((1, 4), np.float16),
        "arg2": np.int64(3),
    }
    modules = ir.parse(text), run_passes(ir.parse(text), "canonicalize")
    assert "arith.constant" not in str(modules[1])
    before, after = (list(qrt.compile(module).run(inputs, interpret=True).values()) for module in modules)
    assert [value.tolist() for value in after] == [value.tolist() for value in before]
    assert before[0].tolist() == [[3, 4, 5, 6]]


@pytest.mark.parametrize("place", [2, -1])
def test_an_element_of_a_splat_out_of_bounds_stays(place):
    """Upstream takes it for an element as any other; it is an error when it runs."""
    text = f"""
    func.func @f(%x: f32) -> (f32, f32) {{
      %c = arith.constant {place} : index
      %0 = arith.constant dense<2.0> : tensor<2xf32>
      %1 = tensor.splat %x : tensor<2xf32>
      %2 = tensor.extract %0[%c] : tensor<2xf32>
      %3 = tensor.extract %1[%c] : tensor<2xf32>
      return %2, %3 : f32, f32
    }}"""
    assert str(run_passes(ir.parse(text), "canonicalize")).count("tensor.extract") == 2


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


@pytest.mark.parametrize("amounts", ["low[%c0, 0] high[9223372036854775807, 0]", "low[%c0, 0] high[-5, 0]"])
@pytest.mark.parametrize("cast", [False, True])
def test_a_padding_to_a_size_of_no_tensor_stays_an_error_of_the_run(amounts, cast):
    """mlir-opt ends with an assertion. What is undefined when it runs is no reason for a pass to fail."""
    amounts = amounts.replace("%c0", "0") if cast else amounts
    text = f"""func.func @f(%t: tensor<4x?xf32>, %f: f32) -> tensor<?x?xf32> {{
      %c0 = arith.constant 0 : index
      %0 = tensor.cast %t : tensor<4x?xf32> to tensor<?x?xf32>
      %p = tensor.pad {"%0" if cast else "%t"} {amounts} {{ ^bb0(%a: index, %b: index): tensor.yield %f : f32 }}
        : tensor<{"?x?" if cast else "4x?"}xf32> to tensor<?x?xf32>
      return %p : tensor<?x?xf32>
    }}"""
    module = run_passes(ir.parse(text), "canonicalize")
    assert "tensor.pad" in str(module)
    with pytest.raises(ModelError):
        qrt.compile(module).run({"arg0": np.zeros((4, 2), np.float32), "arg1": np.float32(1)})


@pytest.mark.parametrize(
    "text",
    [
        """%0 = tensor.cast %a : tensor<8x4611686018427387904xf32> to tensor<?x?xf32>
  %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>""",
        """%0 = tensor.cast %b : tensor<4xf32> to tensor<?xf32>
  %c = arith.constant 4611686018427387904 : index
  %d = arith.constant 8 : index
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [%c, %d] : tensor<?xf32> into tensor<?x?xf32>""",
        """%0 = memref.cast %m : memref<8x4611686018427387904xf32> to memref<?x?xf32>
  %1 = memref.collapse_shape %0 [[0, 1]] : memref<?x?xf32> into memref<?xf32>""",
    ],
)
def test_no_dimension_holds_the_product_of_a_group(text):
    """The source of a cast is not regrouped where the size passes 2^63."""
    made = text.rpartition("into ")[2]
    arguments = "%a: tensor<8x4611686018427387904xf32>, %b: tensor<4xf32>, %m: memref<8x4611686018427387904xf32>"
    module = ir.parse(f"func.func @f({arguments}) -> {made} {{\n  {text}\n  return %1 : {made}\n}}")
    assert made in str(run_passes(module, "canonicalize"))
    assert "cast" in str(module)
