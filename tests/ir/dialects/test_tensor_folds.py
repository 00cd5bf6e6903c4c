"""What ops of tensor fold to. Hazards: an extent of another dimension, an element of another place, a cast that says
more than its operand."""

import pytest

from qrt import ir
from qrt.ir.core.folding import Folds, fold

SOURCES = "%t: tensor<4x?xf32>, %i: index, %j: index, %x: f32, %y: f32, %u: tensor<*xf32>, %p: tensor<?x?xf32>"

FOLDS = {
    "tensor.cast %t : tensor<4x?xf32> to tensor<4x?xf32>": "%t",
    "tensor.cast %t : tensor<4x?xf32> to tensor<?x?xf32>": None,
    "tensor.bitcast %t : tensor<4x?xf32> to tensor<4x?xf32>": "%t",
    "tensor.rank %t : tensor<4x?xf32>": "2 : index",
    "tensor.rank %u : tensor<*xf32>": None,
    "tensor.dim %t, %c0 : tensor<4x?xf32>": "4 : index",
    "tensor.dim %t, %c1 : tensor<4x?xf32>": None,
    "tensor.dim %t, %c2 : tensor<4x?xf32>": None,
    "tensor.dim %t, %i : tensor<4x?xf32>": None,
    "tensor.dim %empty, %c0 : tensor<?x3x?xf32>": "%i",
    "tensor.dim %empty, %c2 : tensor<?x3x?xf32>": "%j",
    "tensor.dim %splat, %c1 : tensor<2x?xf32>": None,
    "tensor.dim %slice, %c1 : tensor<2x?xf32>": "%j",
    "tensor.dim %reduced, %c0 : tensor<?xf32>": None,
    "tensor.extract %splat[%i, %j] : tensor<2x?xf32>": "%x",
    "tensor.extract %made[%c1, %c0] : tensor<2x2xf32>": "%y",
    "tensor.extract %made[%c0, %c1] : tensor<2x2xf32>": "%x",
    "tensor.extract %made[%c2, %c0] : tensor<2x2xf32>": None,
    "tensor.extract %made[%i, %c0] : tensor<2x2xf32>": None,
    "tensor.extract %floats[%c1] : tensor<2xf16>": "-2.500000e+00 : f16",
    "tensor.extract %floats[%c2] : tensor<2xf16>": None,
    "tensor.extract %same[%i] : tensor<2xi8>": "-3 : i8",
    "tensor.extract %bits[%c1] : tensor<2xi1>": "true",
    "tensor.extract %t[%c0, %c0] : tensor<4x?xf32>": None,
}
"""An op -> the value or constant it is."""

MADE = """
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c2 = arith.constant 2 : index
%empty = tensor.empty(%i, %j) : tensor<?x3x?xf32>
%splat = tensor.splat %x[%j] : tensor<2x?xf32>
%slice = tensor.extract_slice %p[0, 0][2, %j][1, 1] : tensor<?x?xf32> to tensor<2x?xf32>
%reduced = tensor.extract_slice %p[0, 0][1, %j][1, 1] : tensor<?x?xf32> to tensor<?xf32>
%made = tensor.from_elements %y, %x, %y, %x : tensor<2x2xf32>
%floats = arith.constant dense<[1.5, -2.5]> : tensor<2xf16>
%same = arith.constant dense<-3> : tensor<2xi8>
%bits = arith.constant dense<[false, true]> : tensor<2xi1>
"""


@pytest.mark.parametrize("line", FOLDS)
def test_fold(line):
    module = ir.parse(f"func.func @f({SOURCES}) {{{MADE}%r = {line}\nreturn\n}}")
    module.verify()
    block = module.function("f").regions[0].blocks[0]
    *_, operation, _ = block.operations
    found = fold(operation, Folds())
    names = {value: name.split(":")[0] for value, name in zip(block.arguments, SOURCES.split(", "), strict=True)}
    expected = FOLDS[line]
    assert (None if found is None else names.get(found[0], str(found[0]))) == expected
