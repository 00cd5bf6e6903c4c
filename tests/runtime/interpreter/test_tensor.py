"""`tensor` ops against NumPy. Hazards: an operand written in place, a slice past the end, which dimensions a
rank-reduced slice leaves out, sizes known only at run time."""

import re

import numpy as np
import pytest

from qrt import compile
from qrt.errors import ModelError
from tests.runtime.interpreter.programs import call, program

X = np.arange(24, dtype=np.float32).reshape(4, 6)
OPEN = "tensor<?x?xf32>"
INDEX = np.int64

CASES = {
    "cast": ("tensor.cast %a : tensor<?x?xf32> to tensor<4x?xf32>", [OPEN], [X], X),
    "bitcast": ("tensor.bitcast %a : tensor<?x?xf32> to tensor<?x?xi32>", [OPEN], [X], X.view(np.int32)),
    "empty": ("tensor.empty(%a) : tensor<?x0xf32>", ["index"], [INDEX(3)], np.zeros((3, 0), np.float32)),
    "splat": (
        "tensor.splat %a[%b] : tensor<?x2xf32>", ["f32", "index"], [X[1, 1], INDEX(3)], np.full((3, 2), X[1, 1]),
    ),
    "from_elements": (
        "tensor.from_elements %a, %b, %b, %a : tensor<2x2xindex>", ["index"] * 2, [INDEX(5), INDEX(6)],
        np.array([[5, 6], [6, 5]]),
    ),
    "dim": ("tensor.dim %a, %b : tensor<?x?xf32>", [OPEN, "index"], [X, INDEX(1)], INDEX(6)),
    "rank": ("tensor.rank %a : tensor<*xf32>", ["tensor<*xf32>"], [X], INDEX(2)),
    "extract": ("tensor.extract %a[%b, %b] : tensor<?x?xf32>", [OPEN, "index"], [X, INDEX(2)], X[2, 2]),
    "insert": (
        "tensor.insert %c into %a[%b, %b] : tensor<?x?xf32>", [OPEN, "index", "f32"], [X, INDEX(1), np.float32(-1)],
        np.where((np.indices(X.shape) == 1).all(0), np.float32(-1), X),
    ),
    "extract_slice": (
        "tensor.extract_slice %a[1, %b][2, 2][1, 3] : tensor<?x?xf32> to tensor<2x2xf32>", [OPEN, "index"],
        [X, INDEX(2)], X[1:3, 2:6:3],
    ),
    "extract_slice backwards": (
        "tensor.extract_slice %a[3, 5][4, 1][-1, 1] : tensor<?x?xf32> to tensor<4xf32>", [OPEN], [X], X[::-1, 5],
    ),
    "extract_slice of rank 0": (
        "tensor.extract_slice %a[%b, 0][1, 1][1, 1] : tensor<?x?xf32> to tensor<f32>", [OPEN, "index"], [X, INDEX(3)],
        np.array(X[3, 0]),
    ),
    "extract_slice of nothing": (
        "tensor.extract_slice %a[4, 0][%b, 6][1, 1] : tensor<?x?xf32> to tensor<?x6xf32>", [OPEN, "index"],
        [X, INDEX(0)], X[4:],
    ),
    "insert_slice": (
        "tensor.insert_slice %b into %a[%c, 1][1, 2][1, 2] : tensor<2xf32> into tensor<?x?xf32>",
        [OPEN, "tensor<2xf32>", "index"], [X, -X[0, 1:3], INDEX(2)],
        np.where(np.isin(X, [13, 15]), np.array([-1.0, -1, -1, -2, -1, -1], np.float32), X),
    ),
    "collapse_shape": (
        "tensor.collapse_shape %a [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>", [OPEN], [X], X.ravel(),
    ),
    "expand_shape": (
        "tensor.expand_shape %a [[0, 1], [2]] output_shape [%b, 2, 6] : tensor<?x?xf32> into tensor<?x2x?xf32>",
        [OPEN, "index"], [X, INDEX(2)], X.reshape(2, 2, 6),
    ),
    "reshape": (
        "tensor.reshape %a(%b) : (tensor<?x?xf32>, tensor<3xi32>) -> tensor<?x?x?xf32>", [OPEN, "tensor<3xi32>"],
        [X, np.array([2, 3, 4], np.int32)], X.reshape(2, 3, 4),
    ),
    "concat": (
        "tensor.concat dim(1) %a, %b : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<4x?xf32>", [OPEN] * 2,
        [X, X[:, :1]], np.concatenate([X, X[:, :1]], 1),
    ),
    "generate": (
        """tensor.generate %a {
^bb0(%i: index, %j: index):
  %s = arith.addi %i, %j : index
  tensor.yield %s : index
} : tensor<?x3xindex>""", ["index"], [INDEX(2)], np.array([[0, 1, 2], [1, 2, 3]]),
    ),
    "generate by a call": (
        """tensor.generate %a {
^bb0(%i: index):
  %s = func.call @double(%i) : (index) -> index
  tensor.yield %s : index
} : tensor<?xindex>""", ["index"], [INDEX(4)], np.array([0, 2, 4, 6]),
    ),
    "pad": (
        """tensor.pad %a low[1, %b] high[0, 2] {
^bb0(%i: index, %j: index):
  tensor.yield %c : f32
} : tensor<?x?xf32> to tensor<?x?xf32>""", [OPEN, "index", "f32"], [X, INDEX(1), np.float32(9)],
        np.pad(X, [(1, 0), (1, 2)], constant_values=9),
    ),
}  # fmt: skip
DOUBLE = "\nfunc.func private @double(%x: index) -> index {\n%0 = arith.addi %x, %x : index\nreturn %0 : index\n}"


def _result_type(line):
    """As the op's text says it: the last type, but of `dim`, `rank` and `extract`, which say their operand's, and
    `fpowi`, which says its exponent's."""
    made = {"tensor.dim": "index", "tensor.rank": "index", "tensor.extract": "f32", "math.fpowi": "tensor<?xf32>"}
    return made.get(line.split("%")[0].split("(")[0].strip()) or re.findall(r"tensor<[^>]*>", line)[-1]


@pytest.mark.parametrize("name", CASES)
def test_ops_are_numpys(name):
    line, types, arguments, expected = CASES[name]
    given = [argument.copy() for argument in arguments]
    (found,) = call(program(f"%r = {line}", types, [_result_type(line)]) + DOUBLE, *arguments)
    assert found.dtype == expected.dtype
    assert np.shape(found) == np.shape(expected)
    if name != "empty":
        np.testing.assert_array_equal(found, expected)
    for argument, before in zip(arguments, given, strict=True):
        np.testing.assert_array_equal(argument, before)


REFUSED = {
    "tensor.dim %a, %b : tensor<?x?xf32>": "dimension 9 is out of range for rank 2",
    "tensor.extract %a[%b, %b] : tensor<?x?xf32>": "index 9 is out of bounds: dimension 0 is 4",
    "tensor.insert %c into %a[%b, %b] : tensor<?x?xf32>": "index 9 is out of bounds",
    "tensor.extract_slice %a[0, %b][1, 1][1, 1] : tensor<?x?xf32> to tensor<1x1xf32>": (
        "a slice of size 1 from 9 with stride 1 exceeds dimension 1 of size 6"
    ),
    "tensor.extract_slice %a[0, 0][1, %b][1, 1] : tensor<?x?xf32> to tensor<1x?xf32>": "exceeds dimension 1",
    "tensor.insert_slice %e into %a[0, 0][%h, %h][1, 1] : tensor<?x?xf32> into tensor<?x?xf32>": (
        "the inserted tensor must have the shape [2, 2] of the slice, got [4, 2]"
    ),
    "tensor.expand_shape %a [[0, 1], [2]] output_shape [%b, 2, 6] : tensor<?x?xf32> into tensor<?x2x?xf32>": (
        "dimension 0 of size 4 cannot be expanded to [9, 2]"
    ),
    "tensor.expand_shape %i [] output_shape [%b] : tensor<f32> into tensor<?xf32>": (
        "a tensor of rank 0 can only be expanded to sizes of 1, got [9]"
    ),
    "tensor.expand_shape %i [] output_shape [%g] : tensor<f32> into tensor<?xf32>": (
        "a tensor of rank 0 can only be expanded to sizes of 1, got [-1]"
    ),
    "math.fpowi %d, %j : tensor<?xf32>, tensor<?xi32>": "the operands must have the same shape, got [6], [1]",
    "arith.addf %a, %e : tensor<?x?xf32>": "the operands must have the same shape, got [4, 6], [4, 2]",
    "arith.select %k, %a, %a : tensor<?x?xi1>, tensor<?x?xf32>": (
        "the operands must have the same shape, got [4, 1], [4, 6], [4, 6]"
    ),
    "tensor.collapse_shape %d [] : tensor<?xf32> into tensor<f32>": (
        "an operand that is collapsed to rank 0 must have one element, got 6"
    ),
    "tensor.concat dim(0) %a, %e : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>": (
        "the shapes must be equal except for dimension 0, got [4, 6], [4, 2]"
    ),
    "tensor.cast %a : tensor<?x?xf32> to tensor<5x?xf32>": "must be tensor<5x?xf32>, got shape [4, 6]",
    "tensor.reshape %a(%f) : (tensor<?x?xf32>, tensor<2xindex>) -> tensor<?x?xf32>": (
        "24 elements cannot be reshaped to [5, 5]"
    ),
    "tensor.pad %a low[%g, 1] high[2, 0] { ^bb0(%p: index, %q: index): tensor.yield %c : f32 } : tensor<?x?xf32> to "
    "tensor<?x?xf32>": "padding must be at least 0, got low [-1, 1] and high [2, 0]",
    "tensor.pad %a low[%b, 1] high[2, 0] { ^bb0(%p: index, %q: index): tensor.yield %c : f32 } : tensor<?x?xf32> to "
    "tensor<5x?xf32>": "'tensor.pad' op the result of tensor.pad must be tensor<5x?xf32>, got shape [15, 7]",
    "tensor.empty(%g) : tensor<?xf32>": "every dimension must be at least 0, got shape [-1]",
}


@pytest.mark.parametrize("line", REFUSED)
def test_what_is_undefined_is_refused(line):
    types = [OPEN, "index", "f32", "tensor<?xf32>", OPEN, "tensor<2xindex>", "index", "index"]
    types += ["tensor<f32>", "tensor<?xi32>", "tensor<?x?xi1>"]
    arguments = [X, INDEX(9), np.float32(1), X[0], X[:, :2], np.array([5, 5]), INDEX(-1), INDEX(2)]
    arguments += [np.array(1, np.float32), np.array([2], np.int32), X[:, :1] > 0]
    with pytest.raises(ModelError, match=re.escape(REFUSED[line])) as caught:
        call(program(f"%r = {line}", types, [_result_type(line)]), *arguments)
    assert line.split(" ")[0].split("(")[0] in str(caught.value)


LARGE = INDEX(4_000_000_000)
HUGE = {
    "empty": ("tensor.empty(%a, %a) : tensor<?x?xf32>", "[4000000000, 4000000000]"),
    "empty of a wider element": ("tensor.empty(%a, %a) : tensor<?x?xi64>", "[4000000000, 4000000000]"),
    "empty beside static sizes": ("tensor.empty(%a) : tensor<?x4000000000xf32>", "[4000000000, 4000000000]"),
    "empty beside a size of 0": ("tensor.empty(%a, %a) : tensor<?x?x0xf32>", "[4000000000, 4000000000, 0]"),
    "splat": ("tensor.splat %f[%a, %a] : tensor<?x?xf32>", "[4000000000, 4000000000]"),
    "generate": (
        "tensor.generate %a, %a {\n^bb0(%i: index, %j: index):\n tensor.yield %f : f32\n} : tensor<?x?xf32>",
        "[4000000000, 4000000000]",
    ),
    "pad": (
        "tensor.pad %t low[%a, %a] high[0, 0] {\n^bb0(%i: index, %j: index):\n tensor.yield %f : f32\n} "
        ": tensor<1x1xf32> to tensor<?x?xf32>",
        "[4000000001, 4000000001]",
    ),
}


@pytest.mark.parametrize("name", HUGE)
@pytest.mark.parametrize("interpret", [False, True])
def test_more_bytes_than_an_address_says_are_an_error_at_the_op(name, interpret):
    line, shape = HUGE[name]
    result = line.rpartition(" to " if " to " in line else " : ")[2]
    constants = "%f = arith.constant 1.0 : f32\n%t = arith.constant dense<1.0> : tensor<1x1xf32>"
    program = compile(f"func.func @f(%a: index) -> {result} {{\n{constants}\n%0 = {line}\nreturn %0 : {result}\n}}")
    message = rf"^<string>:4:6: error: '{line.split('(')[0].split()[0]}' op not enough memory for a tensor of shape "
    with pytest.raises(ModelError, match=message + re.escape(shape)):
        program.run({"arg0": LARGE}, interpret=interpret)
