"""Programs of every form that is saved, their inputs, and what compares a saved program with the one that was saved."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import qrt
from qrt.ops.core import Array, element_dtype
from qrt.runtime import Program
from qrt.runtime.saved.source import SavedSource
from qrt.tensor import QuantTensor
from qrt.types import IntegerType, TensorType, UniformType
from tests.runtime.programs import EVERYTHING

_X = "tensor<?x8x!quant.uniform<i8:f32, 0.05:-3>>"
_W = "tensor<8x5x!quant.uniform<i8:f32, 0.02>>"
OPEN = f"""
func.func @main(%x: {_X} {{qrt.name = "x"}}) -> tensor<?x5x!quant.uniform<i8:f32, 0.1>> {{
  %0 = arith.constant dense<"0x{bytes(range(40)).hex()}"> : tensor<8x5xi8>
  %w = quant.scast %0 : tensor<8x5xi8> to {_W}
  %1 = qrt.matmul %x, %w : ({_X}, {_W}) -> tensor<?x5x!quant.uniform<i8:f32, 0.1>>
  return %1 : tensor<?x5x!quant.uniform<i8:f32, 0.1>>
}}
"""
"""Rows of any number by constant weights."""
_S = "tensor<3x!quant.uniform<i8:f32, 0.5>>"
STATE = f"""
ml_program.global private mutable @sum(dense<[1, 2, 3]> : tensor<3xi8>) : tensor<3xi8>
func.func @main(%x: {_S}) -> ({_S}, {_S}) {{
  %s = ml_program.global_load @sum : tensor<3xi8>
  %0 = quant.scast %s : tensor<3xi8> to {_S}
  %1 = qrt.add %0, %x : ({_S}, {_S}) -> {_S}
  %2 = quant.scast %1 : {_S} to tensor<3xi8>
  ml_program.global_store @sum = %2 : tensor<3xi8>
  %3 = qrt.mul %1, %x : ({_S}, {_S}) -> {_S}
  return %1, %3 : {_S}, {_S}
}}
func.func @other(%x: {_S}) -> {_S} {{
  %0 = qrt.sub %x, %x : ({_S}, {_S}) -> {_S}
  return %0 : {_S}
}}
"""
"""A sum that goes on from call to call, two results, a second function."""
_SUM_IN_LOOP = """
func.func @main(%x: tensor<4xf32>, %n: i32) -> tensor<4xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0:2 = scf.while (%i = %c0, %a = %x) : (i32, tensor<4xf32>) -> (i32, tensor<4xf32>) {
    %m = arith.cmpi slt, %i, %n : i32
    scf.condition(%m) %i, %a : i32, tensor<4xf32>
  } do {
  ^bb0(%i: i32, %a: tensor<4xf32>):
    %j = arith.addi %i, %c1 : i32
    %b = arith.addf %a, %x : tensor<4xf32>
    scf.yield %j, %b : i32, tensor<4xf32>
  }
"""
CONTROL = f"""{_SUM_IN_LOOP}
  %p = arith.cmpi sgt, %n, %c1 : i32
  %r = scf.if %p -> (tensor<4xf32>) {{
    %s = arith.mulf %0#1, %x : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }} else {{
    scf.yield %0#1 : tensor<4xf32>
  }}
  return %r : tensor<4xf32>
}}
"""
"""A loop and a branch."""
LOOP = f"{_SUM_IN_LOOP} return %0#1 : tensor<4xf32> }}"
"""A loop whose every step is a kernel."""
TEXTS = {"everything": EVERYTHING, "open": OPEN, "state": STATE, "control": CONTROL, "loop": LOOP}


def source_of(program: Program) -> SavedSource:
    """Return the file from which a program was loaded."""
    assert isinstance(program._source, SavedSource)
    return program._source


def inputs_of(program: Program, seed: int = 0, size: int = 1) -> dict[str, Any]:
    """An array for each input; open dimensions are of that size."""
    draws = np.random.default_rng(seed)
    return {port.name: _array(port.type, draws, size) for port in program.inputs}


def _array(t: TensorType, draws: np.random.Generator, size: int) -> Array:
    shape = tuple(size if extent is None else extent for extent in t.shape or ())
    dtype = element_dtype(t.element)
    if isinstance(t.element, UniformType):
        low, high = t.element.storage_min, t.element.storage_max
        return draws.integers(low, high, shape, endpoint=True).astype(dtype)
    if isinstance(t.element, IntegerType):
        return draws.integers(0, 4, shape).astype(dtype)
    return draws.normal(size=shape).astype(dtype)


def same(left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    """Whether results have the same names, types and bits."""
    return list(left) == list(right) and all(_equal(left[name], right[name]) for name in left)


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, QuantTensor) != isinstance(right, QuantTensor):
        return False
    if isinstance(left, QuantTensor):
        return left.type == right.type and np.array_equal(left.storage, right.storage)
    return bool(left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes())


def check(program: Program, path: Path, isas: Iterator[str] | tuple[str, ...], sizes: tuple[int, ...] = (1,)) -> None:
    """Saves a program that is at the beginning of its state, loads it on each ISA, and runs both."""
    program.save(path)
    for isa in isas:
        with qrt.kernels.use(isa):
            program.reset()
            loaded = qrt.load_program(path)
            assert (loaded.name, loaded.inputs, loaded.outputs) == (program.name, program.inputs, program.outputs)
            assert repr(loaded) == repr(program)
            for seed, size in enumerate((*sizes, sizes[0])):
                inputs = inputs_of(program, seed, size)
                assert same(loaded.run(inputs), program.run(inputs)), (isa, size)
    program.reset()
