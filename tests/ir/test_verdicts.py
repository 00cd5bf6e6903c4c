"""Programs on which qrt and mlir-opt 22 once disagreed, with upstream's verdict on each.

verdicts.mlir holds programs and what mlir-opt says of them: `accepted`, or `refused: ` and what its message contains.
tests/oracle asks mlir-opt whether it still says so.
"""

from pathlib import Path

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.errors import QuantError
from qrt.ir import run_passes

CASES = (Path(__file__).parent / "verdicts.mlir").read_text().split("// -----\n")


def expectation(text):
    """The message a program is refused with: empty if it is accepted."""
    verdict, _, message = text.partition("\n")[0].removeprefix("// ").partition(": ")
    assert (verdict, bool(message)) in (("accepted", False), ("refused", True))
    return message


def allows_unregistered(text):
    return "--allow-unregistered-dialect" in text


def title(text):
    return text.replace("\n", " ")[:72]


@pytest.mark.parametrize("text", CASES, ids=title)
def test_verdict(text):
    message = expectation(text)
    if message:
        with pytest.raises(QuantError) as caught:
            ir.parse(text, allow_unregistered=allows_unregistered(text)).verify()
        assert message in caught.value.message
        return
    module = ir.parse(text)
    module.verify()
    for generic in (False, True):
        printed = module.print(generic=generic)
        assert ir.parse(printed).print(generic=generic) == printed


# -- canonicalize ------------------------------------------------------------------------------------------------------

CANONICAL = {
    "an allocation that is stored keeps its type": (
        """func.func @f(%h: memref<memref<?xi8>>) {
          %c = arith.constant 5 : index
          %0 = memref.alloc(%c) : memref<?xi8>
          memref.store %0, %h[] : memref<memref<?xi8>>
          return
        }""",
        """func.func @f(%h: memref<memref<?xi8>>) {
          %0 = memref.alloc() : memref<5xi8>
          %1 = memref.cast %0 : memref<5xi8> to memref<?xi8>
          memref.store %1, %h[] : memref<memref<?xi8>>
          return
        }""",
    ),
    "a constant size that runs out of bounds stays an operand": (
        """func.func @f(%a: memref<10xf32>) -> memref<?xf32, strided<[1], offset: 2>> {
          %c = arith.constant 11 : index
          %0 = memref.subview %a[2] [%c] [1] : memref<10xf32> to memref<?xf32, strided<[1], offset: 2>>
          return %0 : memref<?xf32, strided<[1], offset: 2>>
        }""",
    )
    * 2,
}


@pytest.mark.parametrize("name", CANONICAL)
def test_canonical_form(name):
    before, after = CANONICAL[name]
    module = run_passes(ir.parse(before), "canonicalize")
    assert module == ir.parse(after)
    module.verify()


_INDEX_CASTS = """
func.func @main(%x: index) -> (index, index, i64, index) {
  %0 = arith.index_cast %x : index to i8
  %1 = arith.index_cast %0 : i8 to index
  %2 = arith.index_castui %x : index to i8
  %3 = arith.index_castui %2 : i8 to index
  %4 = arith.index_castui %x : index to i64
  %5 = arith.index_castui %4 : i64 to index
  %6 = arith.index_castui %5 : index to i64
  %7 = arith.index_castui %3 : index to i64
  %8 = arith.index_castui %7 : i64 to index
  return %1, %3, %6, %8 : index, index, i64, index
}
"""
_MAP_OF_NUMBERS = """func.func @main() -> (index, index, i32) {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : i32
  %m = memref.alloc() : memref<4x4xi32, affine_map<(d0, d1) -> (d0 * 8 + d1)>>
  memref.store %c7, %m[%c1, %c1] : memref<4x4xi32, affine_map<(d0, d1) -> (d0 * 8 + d1)>>
  %b, %o, %s:2, %t:2 = memref.extract_strided_metadata %m : memref<4x4xi32, affine_map<(d0, d1) -> (d0 * 8 + d1)>>
    -> memref<i32>, index, index, index, index, index
  %r = memref.reinterpret_cast %m to offset: [9], sizes: [1], strides: [1]
    : memref<4x4xi32, affine_map<(d0, d1) -> (d0 * 8 + d1)>> to memref<1xi32, strided<[1], offset: 9>>
  %v = memref.load %r[%c0] : memref<1xi32, strided<[1], offset: 9>>
  return %o, %t#0, %v : index, index, i32
}"""
_MAP_OF_SYMBOLS = """#map = affine_map<(d0, d1)[s0, s1] -> (d0 * s1 + d1 + s0)>
func.func @main(%start: index, %step: index) -> (index, index, i32) {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : i32
  %m = memref.alloc()[%start, %step] : memref<4x4xi32, #map>
  memref.store %c7, %m[%c1, %c1] : memref<4x4xi32, #map>
  %b, %o, %s:2, %t:2 = memref.extract_strided_metadata %m : memref<4x4xi32, #map>
    -> memref<i32>, index, index, index, index, index
  %r = memref.reinterpret_cast %m to offset: [13], sizes: [1], strides: [1]
    : memref<4x4xi32, #map> to memref<1xi32, strided<[1], offset: 13>>
  %v = memref.load %r[%c0] : memref<1xi32, strided<[1], offset: 13>>
  return %o, %t#0, %v : index, index, i32
}"""
_PRESERVED = {
    "a layout that is a map of numbers": (_MAP_OF_NUMBERS, [], (0, 8, 7)),
    "a layout that is a map of symbols": (_MAP_OF_SYMBOLS, [np.int64(3), np.int64(9)], (3, 9, 7)),
    "a narrow cast between wide ones": (_INDEX_CASTS, [np.int64(300)], (44, 44, 300, 44)),
    "a narrow cast of a negative index": (_INDEX_CASTS, [np.int64(-1)], (-1, 255, -1, 255)),
    "dropped dimensions beside a kept one of size 1": (
        """func.func @main(%t: tensor<1x1x8x1xf16>, %n: index) -> tensor<1x4xf16> {
          %c0 = arith.constant 0 : index
          %0 = tensor.extract_slice %t[%c0, 0, %n, 0] [1, 1, 4, 1] [1, 1, 1, 1]
            : tensor<1x1x8x1xf16> to tensor<1x4xf16>
          return %0 : tensor<1x4xf16>
        }""",
        [np.arange(8, dtype=np.float16).reshape(1, 1, 8, 1), np.int64(2)],
        (np.array([[2, 3, 4, 5]], np.float16),),
    ),
}


@pytest.mark.parametrize("name", _PRESERVED)
@pytest.mark.parametrize("pipeline", ["", "canonicalize", "inline", "linalg-generalize-named-ops"])
def test_a_pass_preserves_the_values(name, pipeline):
    text, inputs, expected = _PRESERVED[name]
    assert_results(run_passes(ir.parse(text), pipeline), inputs, expected)


def assert_results(module, inputs, expected):
    outputs = qrt.compile(module).run({f"arg{i}": value for i, value in enumerate(inputs)})
    assert len(outputs) == len(expected)
    for found, value in zip(outputs.values(), expected, strict=True):
        assert np.array_equal(found, value)


# -- runs --------------------------------------------------------------------------------------------------------------

_EXPANDED = """
func.func @main(%n: index) -> tensor<?xi32> {
  %c = arith.constant dense<1> : tensor<i32>
  %r = tensor.expand_shape %c [] output_shape [%n] : tensor<i32> into tensor<?xi32>
  return %r : tensor<?xi32>
}
"""
_POWER = """
func.func @main(%a: tensor<?xf32>, %b: tensor<?xi32>) -> tensor<?xf32> {
  %0 = math.fpowi %a, %b : tensor<?xf32>, tensor<?xi32>
  return %0 : tensor<?xf32>
}
"""
_MAPPED = """
func.func @main(%a: memref<4x4xi32>, %i: index) -> (i32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = memref.subview %a[%i, 1] [2, 2] [1, 1]
    : memref<4x4xi32> to memref<2x2xi32, affine_map<(d0, d1)[s0] -> (d0 * 4 + s0 + d1)>>
  %0 = memref.load %s[%c1, %c0] : memref<2x2xi32, affine_map<(d0, d1)[s0] -> (d0 * 4 + s0 + d1)>>
  %t = memref.transpose %a (d0, d1) -> (d1, d0)
    : memref<4x4xi32> to memref<4x4xi32, affine_map<(d0, d1) -> (d0 + d1 * 4)>>
  %1 = memref.load %t[%c1, %c0] : memref<4x4xi32, affine_map<(d0, d1) -> (d0 + d1 * 4)>>
  return %0, %1 : i32, i32
}
"""
_ONE_BY_ONE = """
func.func @main(%a: memref<8xf32>, %i: index) -> (vector<1xf32>, f32) {
  %c0 = arith.constant 0 : index
  %s = memref.subview %a[1] [3] [2] : memref<8xf32> to memref<3xf32, strided<[2], offset: 1>>
  %v = vector.load %s[%i] : memref<3xf32, strided<[2], offset: 1>>, vector<1xf32>
  vector.store %v, %s[%c0] : memref<3xf32, strided<[2], offset: 1>>, vector<1xf32>
  %r = memref.load %s[%c0] : memref<3xf32, strided<[2], offset: 1>>
  return %v, %r : vector<1xf32>, f32
}
"""
_SPARSE = """
memref.global "private" constant @g : memref<2x2xf32> = sparse<[[1, 0], [0, 1]], [2.5, 7.0]>
func.func @main() -> (tensor<4xi8>, f32, tensor<2xf16>) {
  %0 = arith.constant sparse<[[2], [0], [2]], [5, -1, 9]> : tensor<4xi8>
  %1 = arith.constant sparse<> : tensor<2xf16>
  %g = memref.get_global @g : memref<2x2xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = memref.load %g[%c1, %c0] : memref<2x2xf32>
  return %0, %x, %1 : tensor<4xi8>, f32, tensor<2xf16>
}
"""
_GRID = np.arange(16, dtype="i4").reshape(4, 4)
_RUNS = {
    "views whose layout is a map": (_MAPPED, [_GRID, np.int64(1)], (np.int32(9), np.int32(1))),
    "vectors of one element, far apart": (_ONE_BY_ONE, [np.arange(8, dtype="f4"), np.int64(2)], (np.float32([5]), 5.0)),
    "sparse constants, of equal places the first": (
        _SPARSE,
        [],
        (np.int8([-1, 0, 5, 0]), np.float32(2.5), np.float16([0, 0])),
    ),
    "one element expanded to one": (_EXPANDED, [np.int64(1)], (np.array([1], np.int32),)),
    "one element expanded to three": (_EXPANDED, [np.int64(3)], None),
    "powers of equal sizes": (_POWER, [np.array([2, 3], "f4"), np.array([3, 2], "i4")], (np.array([8, 9], "f4"),)),
    "powers of unequal sizes": (_POWER, [np.ones(3, "f4"), np.ones(2, "i4")], None),
    "a vector of rank 0 written": (
        """func.func @main(%t: tensor<f32>, %x: f32) -> tensor<f32> {
          %m = memref.alloc() : memref<f32>
          %v = vector.broadcast %x : f32 to vector<f32>
          vector.transfer_write %v, %m[] : vector<f32>, memref<f32>
          %r = bufferization.to_tensor %m restrict : memref<f32> to tensor<f32>
          return %r : tensor<f32>
        }""",
        [np.float32(1), np.float32(7)],
        (np.float32(7),),
    ),
}


@pytest.mark.parametrize("name", _RUNS)
def test_a_run_gives_its_results_or_says_why_there_are_none(name):
    text, inputs, expected = _RUNS[name]
    if expected is None:
        with pytest.raises(QuantError):
            assert_results(ir.parse(text), inputs, expected)
    else:
        assert_results(ir.parse(text), inputs, expected)
