"""tensor ops that do not fit together: refused with mlir-opt 22's words, as `VERDICTS` holds them."""

import pytest

from qrt import ir
from qrt.errors import ParseError, VerifyError
from tests import mlir_opt

SOURCES = "%t: tensor<4x5xf32>, %d: tensor<?x?xf32>, %v: tensor<4xf32>, %i: index, %x: f32"
BODY = "{ ^bb0(%a: index, %b: index): tensor.yield %x : f32 }"

VERDICTS = {
    "tensor.extract_slice %t[0, 0, 0][1, 1][1, 1] : tensor<4x5xf32> to tensor<1x1xf32>": (
        "expected mixed offsets rank to match mixed sizes rank (3 vs 2) so the rank of the result type is well-formed."
    ),
    "tensor.extract_slice %t[0, 0][2, 2][1, 1] : tensor<4x5xf32> to tensor<2x3xf32>": (
        "expected type to be 'tensor<2x2xf32>' or a rank-reduced version. (size mismatch) "
    ),
    "tensor.extract_slice %t[5, 0][1, 2][1, 1] : tensor<4x5xf32> to tensor<1x2xf32>": (
        "offset 0 is out-of-bounds: 5 >= 4"
    ),
    "tensor.extract_slice %t[3, 0][2, 2][1, 1] : tensor<4x5xf32> to tensor<2x2xf32>": (
        "slice along dimension 0 runs out-of-bounds: 4 >= 4"
    ),
    "tensor.extract_slice %t[0, 0][2, 2][1, 1] : tensor<4x5xf32> to tensor<2x2xf64>": (
        "expected element type to be 'f32'"
    ),
    "tensor.extract_slice %t[0, 0][2, 2][1, 1] : tensor<4x5xf32> to tensor<1x2x2xf32>": (
        "expected rank to be smaller or equal to the other rank. "
    ),
    "tensor.extract_slice %t[0, 0][1, 2][1, 1] : tensor<4x5xf32> to tensor<2xf32>": "",
    "tensor.extract_slice %t[0, 0][%i, 2][1, 1] : tensor<4x5xf32> to tensor<2x2xf32>": (
        "expected type to be 'tensor<?x2xf32>' or a rank-reduced version. (size mismatch) "
    ),
    "tensor.extract_slice %t[0, -1][1, 2][1, 1] : tensor<4x5xf32> to tensor<1x2xf32>": (
        "expected offsets to be non-negative, but got -1"
    ),
    "tensor.extract_slice %t[0, 0][1, 2][1, 0] : tensor<4x5xf32> to tensor<1x2xf32>": "",
    "tensor.insert_slice %v into %t[0, 0][1, 4][1, 1] : tensor<4xf32> into tensor<4x5xf32>": "",
    "tensor.insert_slice %v into %t[0, 0][1, 5][1, 1] : tensor<4xf32> into tensor<4x5xf32>": (
        "expected type to be 'tensor<1x5xf32>' or a rank-reduced version. (size mismatch) "
    ),
    "tensor.insert_slice %v into %t[0, 2][1, 4][1, 1] : tensor<4xf32> into tensor<4x5xf32>": (
        "slice along dimension 1 runs out-of-bounds: 5 >= 5"
    ),
    "tensor.insert %x into %t[%i] : tensor<4x5xf32>": "'tensor.insert' op incorrect number of indices",
    "tensor.extract %t[%i] : tensor<4x5xf32>": ("'tensor.extract' op incorrect number of indices for extract_element"),
    "tensor.collapse_shape %t [[0, 1]] : tensor<4x5xf32> into tensor<21xf32>": (
        "'tensor.collapse_shape' op expected dimension 0 of collapsed type to be static value of 20"
    ),
    "tensor.collapse_shape %t [[0], [1]] : tensor<4x5xf32> into tensor<4x5xf32>": "",
    "tensor.collapse_shape %t [[1, 0]] : tensor<4x5xf32> into tensor<20xf32>": (
        "'tensor.collapse_shape' op expected reassociation map #0 to be valid and contiguous."
    ),
    "tensor.collapse_shape %t [[0]] : tensor<4x5xf32> into tensor<4xf32>": (
        "'tensor.collapse_shape' op expected reassociation map #0 to have size equal to the "
        "expanded rank (2), but it is  1."
    ),
    "tensor.collapse_shape %t [[0, 1]] : tensor<4x5xf32> into tensor<20x1xf32>": (
        "'tensor.collapse_shape' op expected collapsed rank (2) to equal the number of reassociation maps (1)."
    ),
    "tensor.collapse_shape %d [[0, 1]] : tensor<?x?xf32> into tensor<20xf32>": (
        "'tensor.collapse_shape' op expected dimension 0 of collapsed type to be dynamic since one "
        "or more of the corresponding dimensions in the expanded type is dynamic"
    ),
    "tensor.collapse_shape %t [] : tensor<4x5xf32> into tensor<f32>": "",
    "tensor.expand_shape %v [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>": "",
    "tensor.expand_shape %v [[0, 1]] output_shape [2, 3] : tensor<4xf32> into tensor<2x3xf32>": (
        "'tensor.expand_shape' op expected dimension 0 of collapsed type to be static value of 6"
    ),
    "tensor.expand_shape %v [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x4xf32>": (
        "'tensor.expand_shape' op expected dimension 0 of collapsed type to be static value of 8"
    ),
    "tensor.expand_shape %d [[0, 1], [2]] output_shape [%i, 2, %i] : tensor<?x?xf32> into tensor<?x2x?xf32>": "",
    "tensor.expand_shape %d [[0, 1], [2]] output_shape [%i, %i] : tensor<?x?xf32> into tensor<?x2x?xf32>": (
        "'tensor.expand_shape' op expected number of static shape dims to be equal to the output "
        "rank (3) but found 2 inputs instead"
    ),
    "tensor.expand_shape %d [[0, 1], [2]] output_shape [3, 2, %i] : tensor<?x?xf32> into tensor<?x2x?xf32>": "",
    "tensor.expand_shape %d [[0, 1], [2]] output_shape [%i, %i, %i] : tensor<?x?xf32> into tensor<?x?x?xf32>": "",
    "tensor.concat dim(0) %t, %t : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<8x5xf32>": "",
    "tensor.concat dim(0) %t, %t : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<9x5xf32>": (
        "'tensor.concat' op result type 'tensor<9x5xf32>'does not match inferred shape 'tensor<8x5xf32>' static sizes"
    ),
    "tensor.concat dim(2) %t, %t : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<8x5xf32>": (
        "'tensor.concat' op concatenation dim must be less than the tensor rank"
    ),
    "tensor.concat dim(0) %t, %v : (tensor<4x5xf32>, tensor<4xf32>) -> tensor<8x5xf32>": (
        "'tensor.concat' op rank of concatenated inputs must match result rank"
    ),
    "tensor.concat dim(0) %t, %d : (tensor<4x5xf32>, tensor<?x?xf32>) -> tensor<?x5xf32>": "",
    "tensor.concat dim(0) %t, %d : (tensor<4x5xf32>, tensor<?x?xf32>) -> tensor<10x5xf32>": "",
    "tensor.concat dim(1) %t, %d : (tensor<4x5xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>": "",
    "tensor.concat dim(0) %t, %t : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<?x5xf32>": "",
    "tensor.generate %i { ^bb0(%a: index): tensor.yield %x : f32 } : tensor<?x4xf32>": (
        "must have one body argument per input dimension"
    ),
    f"tensor.generate %i {BODY} : tensor<?x4xf32>": "",
    "tensor.generate %i { ^bb0(%a: index, %b: index): tensor.yield %i : index } : tensor<?x4xf32>": (
        "'tensor.generate' op body must be terminated with a `yield` operation of the tensor element type"
    ),
    f"tensor.generate %i, %i {BODY} : tensor<?x4xf32>": (
        "'tensor.generate' op incorrect number of dynamic sizes, has 2, expected 1"
    ),
    "tensor.generate %i { ^bb0(%a: f32, %b: index): tensor.yield %x : f32 } : tensor<?x4xf32>": (
        "all body arguments must be index"
    ),
    f"tensor.pad %t low[1, 2] high[0, %i] {BODY} : tensor<4x5xf32> to tensor<5x?xf32>": "",
    f"tensor.pad %t nofold low[1, 2] high[0, 0] {BODY} {{foo}} : tensor<4x5xf32> to tensor<5x7xf32>": "",
    f"tensor.pad %t low[1, 2] high[0, 0] {BODY} : tensor<4x5xf32> to tensor<5x6xf32>": (
        "specified type 'tensor<5x6xf32>' does not match the inferred type 'tensor<5x7xf32>'"
    ),
    f"tensor.pad %t low[1, 2] high[0] {BODY} : tensor<4x5xf32> to tensor<5x7xf32>": (
        "failed to infer expectedType from sourceType 'tensor<4x5xf32>', specified resultType is 'tensor<5x7xf32>'"
    ),
    "tensor.pad %t low[1, 2] high[0, 0] { ^bb0(%a: index): tensor.yield %x : f32 } : "
    "tensor<4x5xf32> to tensor<5x7xf32>": ("expected the block to have 2 arguments"),
    "tensor.pad %t low[1, 2] high[0, 0] { ^bb0(%a: index, %b: f32): tensor.yield %x : f32 } : "
    "tensor<4x5xf32> to tensor<5x7xf32>": ("'tensor.pad' op expected block argument 2 to be an index"),
    "tensor.pad %t low[1, 2] high[0, 0] { ^bb0(%a: index, %b: index): tensor.yield %a : index "
    "} : tensor<4x5xf32> to tensor<5x7xf32>": ("'tensor.pad' op expected yield type to match shape element type"),
    f"tensor.pad %t low[1, -2] high[0, 0] {BODY} : tensor<4x5xf32> to tensor<5x3xf32>": "",
    f"tensor.pad %t low[1, 0] high[0, 0] {BODY} : tensor<4x5xf32> to tensor<?x5xf32>": (
        "specified type 'tensor<?x5xf32>' does not match the inferred type 'tensor<5x5xf32>'"
    ),
    "tensor.bitcast %t : tensor<4x5xf32> to tensor<4x5xi32>": "",
    "tensor.bitcast %t : tensor<4x5xf32> to tensor<4x5xi16>": (
        "'tensor.bitcast' op operand type 'tensor<4x5xf32>' and result type 'tensor<4x5xi16>' are cast incompatible"
    ),
    "tensor.bitcast %t : tensor<4x5xf32> to tensor<?x5xui32>": "",
    "tensor.bitcast %t : tensor<4x5xf32> to tensor<5x4xi32>": (
        "'tensor.bitcast' op operand type 'tensor<4x5xf32>' and result type 'tensor<5x4xi32>' are cast incompatible"
    ),
    "tensor.dim %t, %i : tensor<4x5xf32>": "",
}
"""An op of the values in `SOURCES` -> what is wrong, or "" where nothing is."""


def program(line):
    return f"func.func @f({SOURCES}) {{\n%0 = {line}\nreturn\n}}\n"


@pytest.mark.parametrize("line", VERDICTS)
def test_verdict(line):
    if not VERDICTS[line]:
        ir.parse(program(line)).verify()
        return
    with pytest.raises((ParseError, VerifyError)) as caught:
        ir.parse(program(line)).verify()
    assert caught.value.message == VERDICTS[line]


@mlir_opt.needed
def test_the_verdicts_are_those_of_mlir_opt():
    text = "// -----\n".join(map(program, VERDICTS))
    assert mlir_opt.errors(text, "--split-input-file") == [message for message in VERDICTS.values() if message]
