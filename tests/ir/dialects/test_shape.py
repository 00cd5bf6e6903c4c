"""Shapes that canonicalize compute what they did. Hazards: a division rounded to zero, a constant of another length,
shapes that do not broadcast."""

from pathlib import Path

import numpy as np
import pytest

from qrt import ir
from qrt.errors import ModelError, VerifyError
from qrt.ir import run_passes
from qrt.runtime.interpreter import Interpreter

TEXT = (Path(__file__).parents[1] / "passes" / "files" / "canonicalize_shape.mlir").read_text()
GIVEN = {
    "index": np.int64(1),
    "tensor<?xf32>": np.zeros(6, np.float32),
    "tensor<4x?xf32>": np.zeros((4, 6), np.float32),
    "tensor<*xf32>": np.zeros((2, 3), np.float32),
    "tensor<4x6xf32>": np.zeros((4, 6), np.float32),
    "tensor<?x6xf32>": np.zeros((4, 6), np.float32),
    "tensor<f32>": np.zeros((), np.float32),
    "tensor<?xindex>": np.array([1, 2, 3]),
    "tensor<3xindex>": np.array([1, 2, 3]),
    "tensor<2xindex>": np.array([2, 3]),
    "tensor<2xi32>": np.array([2, 3], np.int32),
    "memref<4xf32>": np.zeros(4, np.float32),
    "memref<4x?xf32>": np.zeros((4, 6), np.float32),
    "memref<2x?xf32>": np.zeros((2, 3), np.float32),
    "memref<?x6xf32>": np.zeros((4, 6), np.float32),
    "memref<*xf32>": np.zeros((2, 3), np.float32),
}
UNDEFINED = ("consts", "extent", "constants", "splits", "broadcast_of_others")
NAMES = [function.attributes["sym_name"].python for function in ir.parse(TEXT).functions]


def outcome(module, name):
    function = module.function(name)
    arguments = [GIVEN[str(value.type)] for value in function.regions[0].blocks[0].arguments]
    return [np.asarray(value).tolist() for value in Interpreter(module).call(function, arguments, None)]


@pytest.mark.parametrize("name", [name for name in NAMES if name not in UNDEFINED])
def test_what_is_computed(name):
    assert outcome(run_passes(ir.parse(TEXT), "canonicalize"), name) == outcome(ir.parse(TEXT), name)


@pytest.mark.parametrize("name", UNDEFINED)
def test_what_is_undefined_stays(name):
    for module in (ir.parse(TEXT), run_passes(ir.parse(TEXT), "canonicalize")):
        with pytest.raises(ModelError):
            outcome(module, name)


def test_a_division_of_constants_goes_down():
    """mlir-opt 22 gives 0, though the op's rule is the same."""
    text = """
    func.func @f() -> index {
      %0 = arith.constant -2 : index
      %1 = arith.constant 7 : index
      %2 = shape.div %0, %1 : index, index -> index
      return %2 : index
    }"""
    for module in (ir.parse(text), run_passes(ir.parse(text), "canonicalize")):
        assert outcome(module, "f") == [-1]
    assert "shape.div" not in str(module)


@pytest.mark.parametrize(
    "body",
    [
        "%n = shape.add %a, %b : index, index -> index",
        "%n = shape.mul %a, %a : index, index -> index",
        "%s = shape.const_shape [4294967296, 4294967296] : tensor<2xindex>\n"
        "%n = shape.num_elements %s : tensor<2xindex> -> index",
    ],
)
def test_what_passes_64_bits_stays(body):
    """Upstream computes it modulo 2^64; it is an error when it runs."""
    head = "%a = arith.constant 9223372036854775807 : index\n%b = arith.constant 1 : index\n"
    text = f"func.func @f() -> index {{\n{head}{body}\nreturn %n : index\n}}"
    for module in (ir.parse(text), run_passes(ir.parse(text), "canonicalize")):
        with pytest.raises(ModelError, match="is out of the range of an index"):
            outcome(module, "f")


def test_constant_extents_of_unknown_number_stay():
    """mlir-opt 22 makes a constant of another type, and refuses it."""
    text = """
    func.func @f() -> tensor<?xindex> {
      %0 = shape.const_shape [1, 2] : tensor<2xindex>
      %1 = shape.concat %0, %0 : tensor<2xindex>, tensor<2xindex> -> tensor<?xindex>
      return %1 : tensor<?xindex>
    }"""
    assert "shape.concat" in str(run_passes(ir.parse(text), "canonicalize"))


def test_extents_of_another_rank_are_refused():
    """Upstream takes them; what it prints reads back as extents of another type."""
    text = '%0 = "shape.const_shape"() <{shape = dense<1> : tensor<2x2xindex>}> : () -> tensor<4xindex>'
    with pytest.raises(VerifyError, match="attribute 'shape' must be elements of rank 1, got 'tensor<2x2xindex>'"):
        ir.parse(text).verify()
