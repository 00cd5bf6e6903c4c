"""Vectors of one dimension, and drawn programs lowered with ``to=dot4``. Hazards: a lane that is undefined, lanes that
are narrower than memory, a vector at the end of a row, and the order of a sum of floats."""

import numpy as np
import pytest

from qrt.errors import ModelError, QuantError
from qrt.runtime.compilation import compile
from tests.ir.passes.lower_qrt.harness import lowered
from tests.ir.passes.lower_qrt.test_drawn import programs
from tests.runtime.codegen.harness import check

COUNT = 4


@pytest.mark.parametrize("name", ["matmul", "conv2d", "depthwise_conv2d"])
def test_drawn_dot_products(name: str) -> None:
    compared = 0
    for _, drawn in programs(name, "dot4 ", (8,)):
        strategy = drawn.options.partition(" ")[0]
        try:
            module = lowered(drawn.text(), f"{strategy} to=dot4")
        except QuantError:
            continue  # an op that is not defined for its types
        check(module, *(drawn.op.arrays[number] for number in drawn.given))
        compared += any(op.name.startswith("vector.") for op in module.operation.walk())
        if compared == COUNT:
            break


def on_vectors(lines: str, element: str, result: str = "") -> str:
    """Return a program that loads %a and %b, runs lines, and stores %r to a third memref."""
    result = result or element
    given, vector = f"memref<8x{element}>", f"vector<8x{element}>"
    return f"""func.func @main(%x: {given}, %y: {given}, %z: memref<8x{result}>) {{
      %c0 = arith.constant 0 : index
      %a = vector.load %x[%c0] : {given}, {vector}
      %b = vector.load %y[%c0] : {given}, {vector}
      {lines.replace("VECTOR", vector)}
      vector.store %r, %z[%c0] : memref<8x{result}>, vector<8x{result}>
      return
    }}"""


@pytest.mark.parametrize("element", ["i5", "i8", "i32", "i64"])
def test_integers(element: str) -> None:
    """Whole vectors and lanes: in the lanes, divisions and shifts, of which some are undefined."""
    width = int(element[1:])
    dtype = np.dtype(f"i{max(8, width) // 8}")
    rng = np.random.default_rng(width)
    a = rng.integers(-(2 ** (width - 1)), 2 ** (width - 1), 8).astype(dtype)
    b = np.array([1, 2, 3, -1, 4, 1, 2, 3], dtype)
    names = ("addi", "subi", "muli", "andi", "maxsi", "minui", "divsi", "remui", "floordivsi", "shli", "shrsi")
    for name in names:
        text = on_vectors(f"%r = arith.{name} %a, %b : VECTOR", element)
        check(text, a, b, np.zeros(8, dtype))
        b[5] = 0
        check(text, a, b, np.zeros(8, dtype))
        b[5] = 1
    check(on_vectors("%r = arith.addi %a, %b overflow<nsw> : VECTOR", element), a, b, np.zeros(8, dtype))
    choose = "%p = arith.cmpi ult, %a, %b : VECTOR %r = arith.select %p, %a, %b : vector<8xi1>, VECTOR"
    check(on_vectors(choose, element), a, b, np.zeros(8, dtype))


def test_conversions_and_constants() -> None:
    lines = """%k = arith.constant dense<[1, -2, 3, -4, 5, -6, 7, -8]> : vector<8xi8>
      %s = arith.addi %a, %k : VECTOR
      %e = arith.extsi %s : VECTOR to vector<8xi32>
      %u = arith.extui %b : VECTOR to vector<8xi32>
      %p = arith.muli %e, %u : vector<8xi32>
      %f = arith.sitofp %p : vector<8xi32> to vector<8xf32>
      %h = arith.constant dense<0.5> : vector<8xf32>
      %m = arith.mulf %f, %h : vector<8xf32>
      %r = arith.fptosi %m : vector<8xf32> to vector<8xi16>"""
    rng = np.random.default_rng(1)
    a, b = rng.integers(-128, 128, (2, 8)).astype(np.int8)
    check(on_vectors(lines, "i8", "i16"), a, b, np.zeros(8, np.int16))


@pytest.mark.parametrize("kind", ["add", "mul", "minsi", "maxui", "xor"])
def test_reductions_of_integers(kind: str) -> None:
    lines = f"""%s = vector.reduction <{kind}>, %a : VECTOR into i8
      %t = vector.reduction <{kind}>, %b, %s : VECTOR into i8
      %v = vector.broadcast %t : i8 to VECTOR
      %e = vector.extract %a[3] : i8 from VECTOR
      %r = vector.insert %e, %v[7] : i8 into VECTOR"""
    rng = np.random.default_rng(5)
    a, b = rng.integers(-128, 128, (2, 8)).astype(np.int8)
    check(on_vectors(lines, "i8"), a, b, np.zeros(8, np.int8))


@pytest.mark.parametrize("kind", ["add", "mul", "maximumf"])
def test_reductions_of_floats_keep_the_order(kind: str) -> None:
    lines = f"""%s = vector.reduction <{kind}>, %a : VECTOR into f32
      %t = vector.reduction <{kind}>, %b, %s : VECTOR into f32
      %r = vector.broadcast %t : f32 to VECTOR"""
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal((2, 8)) * 10.0 ** rng.integers(-4, 5, (2, 8))).astype(np.float32)
    check(on_vectors(lines, "f32"), a, b, np.zeros(8, np.float32))
    check(on_vectors(lines, "f32"), np.full(8, -0.0, np.float32), np.full(8, -0.0, np.float32), np.zeros(8, np.float32))


@pytest.mark.parametrize("index", [(0, 0), (2, 6), (1, 7), (-1, 0), (3, 0), (0, -1), (0, 2**62)])
def test_vectors_at_the_ends_of_rows(index: tuple[int, int]) -> None:
    text = """func.func @main(%x: memref<3x10xi8>, %i: index, %j: index) {
      %v = vector.load %x[%i, %j] : memref<3x10xi8>, vector<4xi8>
      %w = arith.addi %v, %v : vector<4xi8>
      vector.store %w, %x[%i, %j] : memref<3x10xi8>, vector<4xi8>
      return
    }"""
    check(text, np.arange(30, dtype=np.int8).reshape(3, 10), *map(np.array, index))


def test_loop_that_carries_a_vector() -> None:
    text = """func.func @main(%x: memref<3x4xi8>, %o: memref<4xi32>, %n: index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %z = arith.constant dense<0> : vector<4xi32>
      %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (vector<4xi32>) {
        %v = vector.load %x[%i, %c0] : memref<3x4xi8>, vector<4xi8>
        %e = arith.extsi %v : vector<4xi8> to vector<4xi32>
        %t = arith.addi %a, %e : vector<4xi32>
        scf.yield %t : vector<4xi32>
      }
      vector.store %s, %o[%c0] : memref<4xi32>, vector<4xi32>
      return
    }"""
    for count in (0, 1, 3, 4):
        check(text, np.arange(12, dtype=np.int8).reshape(3, 4), np.zeros(4, np.int32), np.array(count))


def test_vectors_of_more_dimensions_are_refused() -> None:
    text = """func.func @main(%x: memref<4x4xi8>) {
      %c0 = arith.constant 0 : index
      %v = vector.load %x[%c0, %c0] : memref<4x4xi8>, vector<2x2xi8>
      vector.store %v, %x[%c0, %c0] : memref<4x4xi8>, vector<2x2xi8>
      return
    }"""
    with pytest.raises(ModelError, match=r"'vector.load' op .*vector<2x2xi8>.*one dimension"):
        compile(text, codegen=True)
