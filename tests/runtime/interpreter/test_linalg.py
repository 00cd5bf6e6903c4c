"""Loop nests at once against plain loops. Hazards: another order of float additions, integers that do not wrap, a
window off by one, a view of the wrong loop, buffers that overlap, an index that leaves its operand."""

import re
from itertools import product

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.errors import ModelError
from qrt.ir.core.affine import evaluate
from qrt.ir.dialects.linalg.named import TABLE
from qrt.ops.core import element_dtype
from qrt.types import FloatType, IntegerType
from tests.runtime.interpreter.programs import call, generic, program
from tests.runtime.interpreter.run import refused

RNG = np.random.default_rng(0)


def floats(*shape, dtype=np.float32):
    return RNG.normal(size=shape).astype(dtype)


def integers(*shape, dtype=np.int8):
    bounds = np.iinfo(dtype)
    return RNG.integers(bounds.min, bounds.max, shape, dtype, endpoint=True)


# -- named ops --------------------------------------------------------------------------------------------------------

EXTENTS = {"n": 2, "b": 2, "m": 3, "k": 5, "h": 3, "w": 4, "d": 2, "y": 2, "x": 3, "z": 2, "c": 3, "f": 2, "g": 2}
FOLDS = {
    "sum": lambda out, x, _: out + x,
    "max": lambda out, x, _: max(out, x),
    "min": lambda out, x, _: min(out, x),
    "max_unsigned": lambda out, x, _: max(out % (1 << 32), x % 256),
    "min_unsigned": lambda out, x, _: min(out % (1 << 32), x % 256),
}
PRODUCTS = {
    2: lambda out, x, w: out + x * w,
    4: lambda out, x, w, x_zero, w_zero: out + (x - x_zero) * (w - w_zero),
}


def plain_loops(maps, extents, arrays, body):
    """Iteration after iteration, in Python integers; the last array is the output, of i32."""
    made = arrays[-1].astype(object)
    for index in product(*map(range, extents)):
        *places, target = [tuple(evaluate(result, index) for result in each.results) for each in maps]
        made[target] = body(made[target], *(int(a[place]) for a, place in zip(arrays, places, strict=False)))
    return np.asarray((made + (1 << 31)) % (1 << 32) - (1 << 31)).astype(np.int32)


def named_program(name):
    """An op of i8 inputs, i32 zero points and an i32 output, with strides and dilations where it has any."""
    named = TABLE[name]
    operands = named.loops.partition(": ")[2].replace("->", " ").split(" ")
    ranks = [len(re.findall(r"\(\w\w\)|\w", operand)) for operand in operands if operand or named.loops.endswith("> ")]
    ranks = ranks[: named.arity] + ranks[-1:]
    elements = ["i8", "i8", *["i32"] * (named.arity - 1)]
    scalar = [False, False, *[True] * (named.arity - 2), False]
    types = [e if s else f"tensor<{'?x' * r}{e}>" for e, r, s in zip(elements, ranks, scalar, strict=True)]
    attributes = ""
    if named.windows:
        type, dilations = f"tensor<{named.windows}xi64>", ", ".join("213"[: named.windows])
        attributes = f"{{dilations = dense<[{dilations}]> : {type}, strides = dense<2> : {type}}}"
    names = ", ".join(f"%{chr(97 + i)}" for i in range(named.arity))
    line = (
        f"%r = {name} {attributes} ins({names} : {', '.join(types[:-1])}) "
        f"outs(%{chr(97 + named.arity)} : {types[-1]}) -> {types[-1]}"
    )
    return program(line, types, types[-1:])


@pytest.mark.parametrize("name", [name for name, named in TABLE.items() if named.loops])
def test_named_ops_are_their_loops(name):
    text = named_program(name)
    op = ir.parse(text).function("f").regions[0].blocks[0].first
    extents = [EXTENTS[letter] for letter in TABLE[name].loops.partition(":")[0]]
    last = [extent - 1 for extent in extents]
    arrays = [
        integers(*(evaluate(result, last) + 1 for result in each.results), dtype=np.int8).astype(dtype)
        for each, dtype in zip(op.indexing_maps, [np.int8, np.int8, *[np.int32] * 3], strict=False)
    ]
    arguments = [array if array.ndim or number == len(arrays) - 1 else array[()] for number, array in enumerate(arrays)]
    body = FOLDS[name.split("_", 2)[2]] if "pooling" in name else PRODUCTS[TABLE[name].arity]
    (found,) = call(text, *arguments)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, plain_loops(op.indexing_maps, extents, arrays, body))


@pytest.mark.parametrize("width", [8, 16, 32, 64, 4, 33])
def test_a_matmul_wraps(width):
    """In every way it is computed: the bound of the sum decides which."""
    low, high = -(1 << (width - 1)), (1 << (width - 1)) - 1
    dtype = element_dtype(IntegerType(width))
    shapes = (5, 70), (70, 3), (5, 3)
    x, w, out = (RNG.integers(low, high, shape, np.int64, endpoint=True).astype(dtype) for shape in shapes)
    type = f"tensor<?x?xi{width}>"
    line = f"%r = linalg.matmul ins(%a, %b : {type}, {type}) outs(%c : {type}) -> {type}"
    (found,) = call(program(line, [type] * 3, [type]), x, w, out)
    exact = out.astype(object) + x.astype(object) @ w.astype(object)
    np.testing.assert_array_equal(found, ((exact - low) % (1 << width) + low).astype(dtype))


def test_unsigned_casts():
    x, w = integers(4, 6), integers(6, 3)
    types = ["tensor<?x?xi8>", "tensor<?x?xi8>", "tensor<?x?xi32>"]
    line = (
        "%r = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} "
        f"ins(%a, %b : {types[0]}, {types[1]}) outs(%c : {types[2]}) -> {types[2]}"
    )
    (found,) = call(program(line, types, types[2:]), x, w, np.zeros((4, 3), np.int32))
    np.testing.assert_array_equal(found, x.astype(np.uint8).astype(int) @ w.astype(np.uint8).astype(int))


def test_maps_of_a_matmul_transpose_and_broadcast():
    x, w = integers(6), integers(3, 6)
    types = ["tensor<?xi8>", "tensor<?x?xi8>", "tensor<?x?xi32>"]
    maps = ", ".join(f"affine_map<(m, n, k) -> ({each})>" for each in ("k", "n, k", "m, n"))
    operands = f"ins(%a, %b : {types[0]}, {types[1]}) outs(%c : {types[2]}) -> {types[2]}"
    line = f"%r = linalg.matmul indexing_maps = [{maps}] {operands}"
    (found,) = call(program(line, types, types[2:]), x, w, np.zeros((4, 3), np.int32))
    np.testing.assert_array_equal(found, np.broadcast_to(w.astype(int) @ x.astype(int), (4, 3)))


@pytest.mark.parametrize(
    "line", ["linalg.map { arith.addi }", "linalg.add", "linalg.elementwise kind=#linalg.elementwise_kind<add>"]
)
def test_element_by_element(line):
    type = "tensor<?x?xi8>"
    result = "" if "map" in line else f"-> {type}"
    text = program(f"%r = {line} ins(%a, %b : {type}, {type}) outs(%c : {type}) {result}", [type] * 3, [type])
    x, y = integers(3, 5), integers(3, 5)
    np.testing.assert_array_equal(call(text, x, y, np.zeros((3, 5), np.int8))[0], x + y)


def test_transpose_broadcast_fill_and_copy():
    x = floats(2, 3, 4)
    cases = {
        "linalg.transpose ins(%a : tensor<2x3x4xf32>) outs(%b : tensor<4x2x3xf32>) permutation = [2, 0, 1]": (
            x.transpose(2, 0, 1)
        ),
        "linalg.broadcast ins(%a : tensor<2x3x4xf32>) outs(%b : tensor<2x5x3x4xf32>) dimensions = [1]": (
            np.broadcast_to(x[:, None], (2, 5, 3, 4))
        ),
        "linalg.copy ins(%a : tensor<2x3x4xf32>) outs(%b : tensor<2x3x4xf64>) -> tensor<2x3x4xf64>": x.astype(float),
        "linalg.fill ins(%c : f32) outs(%b : tensor<2x5xf32>) -> tensor<2x5xf32>": np.full((2, 5), 1.5, np.float32),
    }
    for line, expected in cases.items():
        made = re.search(r"outs\(%b : ([^)]*)\)", line)[1]
        text = program(f"%r = {line}", ["tensor<2x3x4xf32>", made, "f32"], [made])
        (found,) = call(text, x, np.zeros(expected.shape, expected.dtype), np.float32(1.5))
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


# -- order ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("element", "dtype"), [("f32", np.float32), ("f64", np.float64), ("f16", np.float16)])
@pytest.mark.parametrize(("kept", "reduced"), [(1, 3000), (100, 30), (5000, 7)])
def test_float_sums_are_in_order(element, dtype, kept, reduced):
    """Each addition rounded, the last loop the fastest: as the loops would."""
    x, start = floats(kept, reduced, 3, dtype=dtype), floats(kept, dtype=dtype)
    maps = ["(d0, d1, d2) -> (d0, d1, d2)", "(d0, d1, d2) -> (d0)"]
    body = f"%s = arith.addf %y0, %x0 : {element}\nlinalg.yield %s : {element}"
    (found,) = call(generic(maps, "prr", body, [(3, element)], [(1, element)]), x, start)
    expected = start.copy()
    for column in x.reshape(kept, -1).T:
        expected += column
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("element", "bits"), [("f32", 0x7FC00000), ("f64", 0x7FF8000000000000)])
def test_a_nan_that_a_sum_makes_of_numbers_is_positive(element, bits):
    """x86 makes a negative one of an infinity less an infinity, where NumPy accumulates."""
    dtype = np.dtype(f"f{int(element[1:]) // 8}")
    x = np.array([[np.inf, -np.inf, 1.0], [1.0, 2.0, 3.0]], dtype)
    body = f"%s = arith.addf %y0, %x0 : {element}\nlinalg.yield %s : {element}"
    maps = ["(d0, d1) -> (d0, d1)", "(d0, d1) -> (d0)"]
    (found,) = call(generic(maps, "pr", body, [(2, element)], [(1, element)]), x, np.zeros(2, dtype))
    assert found.view(f"u{dtype.itemsize}")[0] == bits
    assert found[1] == 6


def test_float_matmuls_are_in_order():
    x, w = floats(9, 40), floats(40, 5)
    type = "tensor<?x?xf32>"
    line = f"%r = linalg.matmul ins(%a, %b : {type}, {type}) outs(%c : {type}) -> {type}"
    expected = np.zeros((9, 5), np.float32)
    for k in range(40):
        expected += x[:, k : k + 1] * w[k]
    (found,) = call(program(line, [type] * 3, [type]), x, w, np.zeros((9, 5), np.float32))
    np.testing.assert_array_equal(found, expected)


def test_floats_of_eight_bits():
    """NumPy makes no strided views of their dtypes."""
    body = "%s = arith.sitofp %x0 : i8 to f8E5M2\nlinalg.yield %s : f8E5M2"
    maps = ["(d0, d1) -> (d0, d1)", "(d0, d1) -> (d1, d0)"]
    text = generic(maps, "pp", body, [(2, "i8")], [(2, "f8E5M2")])
    x = np.arange(6, dtype=np.int8).reshape(2, 3)
    found = call(text, x, np.zeros((3, 2), element_dtype(FloatType("f8E5M2"))))[0]
    np.testing.assert_array_equal(found.astype(np.int8), x.T)


def test_what_is_no_fold_goes_in_order():
    """A subtraction; and the greatest element with its place, two outputs that are reduced together."""
    x = floats(4, 50)
    maps = ["(d0, d1) -> (d0, d1)", "(d0, d1) -> (d0)"]
    body = "%s = arith.subf %x0, %y0 : f32\nlinalg.yield %s : f32"
    expected = np.zeros(4, np.float32)
    for column in x.T:
        expected = column - expected
    found = call(generic(maps, "pr", body, [(2, "f32")], [(1, "f32")]), x, np.zeros(4, np.float32))[0]
    np.testing.assert_array_equal(found, expected)
    body = """%i = linalg.index 1 : index
%place = arith.index_cast %i : index to i64
%more = arith.cmpf ogt, %x0, %y0 : f32
%value = arith.select %more, %x0, %y0 : f32
%at = arith.select %more, %place, %y1 : i64
linalg.yield %value, %at : f32, i64"""
    text = generic([maps[0], maps[1], maps[1]], "pr", body, [(2, "f32")], [(1, "f32"), (1, "i64")])
    value, at = call(text, x, np.full(4, -np.inf, np.float32), np.zeros(4, np.int64))
    np.testing.assert_array_equal(value, x.max(1))
    np.testing.assert_array_equal(at, x.argmax(1))


def test_a_fold_leaves_the_values_around_it_alone():
    """What is folded may be defined outside the body, and used again."""
    line = """%one = arith.constant 1 : i32
%n = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
    ins(%a : tensor<?xi32>) outs(%b : tensor<i32>) {
^bb0(%x: i32, %y: i32):
  %s = arith.addi %y, %one : i32
  linalg.yield %s : i32
} -> tensor<i32>
%r:2 = func.call @g(%n, %one) : (tensor<i32>, i32) -> (tensor<i32>, i32)"""
    text = program(line, ["tensor<?xi32>", "tensor<i32>"], ["tensor<i32>", "i32"])
    text += "func.func private @g(%a: tensor<i32>, %b: i32) -> (tensor<i32>, i32) { return %a, %b : tensor<i32>, i32 }"
    assert call(text, np.zeros(9, np.int32), np.array(0, np.int32)) == [9, 1]


# -- maps -------------------------------------------------------------------------------------------------------------

READS = {
    "(d0, d1) -> (d1, d0)": ((5, 4), lambda i, j: (j, i)),
    "(d0, d1) -> (d0 * 2 + d1, 1)": ((12, 3), lambda i, j: (i * 2 + j, 1)),
    "(d0, d1) -> (3 - d0, d1 + 2)": ((4, 7), lambda i, j: (3 - i, j + 2)),
    "(d0, d1) -> (d0 floordiv 2, d1 mod 3)": ((2, 3), lambda i, j: (i // 2, j % 3)),
    "(d0, d1) -> (d1, d1)": ((5, 5), lambda i, j: (j, j)),
}


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("write", ["(d0, d1) -> (d0, d1)", "(d0, d1) -> (d1, d0)"])
def test_maps_read_and_write_where_they_say(read, write):
    shape, at = READS[read]
    x = integers(*shape)
    expected = np.array([[np.add(*2 * [x[at(i, j)]]) for j in range(5)] for i in range(4)])
    expected = expected.T if "(d1" in write else expected
    body = "%s = arith.addi %x0, %x0 : i8\nlinalg.yield %s : i8"
    (found,) = call(generic([read, write], "pp", body, [(2, "i8")], [(2, "i8")]), x, np.zeros_like(expected))
    np.testing.assert_array_equal(found, expected)


def test_an_output_that_several_iterations_write_keeps_the_last():
    maps = ["(d0, d1) -> (d0, d1)", "(d0, d1) -> (d0)"]
    x = integers(3, 4)
    text = generic(maps, "pp", "linalg.yield %x0 : i8", [(2, "i8")], [(1, "i8")])
    np.testing.assert_array_equal(call(text, x, np.zeros(3, np.int8))[0], x[:, -1])


def test_a_body_that_reads_around_and_calls_runs_by_iteration():
    text = generic(
        ["(d0) -> (d0)", "(d0) -> (d0)"], "p", "%s = func.call @g(%x0) : (i8) -> i8\nlinalg.yield %s : i8",
        [(1, "i8")], [(1, "i8")],
    )  # fmt: skip
    text += "func.func private @g(%a: i8) -> i8 {\n%0 = arith.addi %a, %a : i8\nreturn %0 : i8\n}"
    x = integers(7)
    np.testing.assert_array_equal(call(text, x, np.zeros(7, np.int8))[0], x + x)


def test_blocks_of_a_large_nest_meet():
    """More iterations than are computed at once, in more than one block, with indices and operands of fewer loops."""
    x, scale = floats(300, 400), floats(400)
    maps = ["(d0, d1) -> (d0, d1)", "(d0, d1) -> (d1)", "(d0, d1) -> (d0, d1)"]
    body = """%i = linalg.index 0 : index
%k = arith.index_cast %i : index to i32
%f = arith.sitofp %k : i32 to f32
%0 = arith.mulf %x0, %x1 : f32
%1 = arith.addf %0, %f : f32
linalg.yield %1 : f32"""
    text = generic(maps, "pp", body, [(2, "f32"), (1, "f32")], [(2, "f32")])
    expected = x * scale + np.arange(300, dtype=np.float32)[:, None]
    np.testing.assert_array_equal(call(text, x, scale, np.zeros_like(x))[0], expected)


def test_nothing_runs_over_an_empty_space():
    type = "tensor<?x?xf32>"
    line = f"%r = linalg.matmul ins(%a, %b : {type}, {type}) outs(%c : {type}) -> {type}"
    start = floats(2, 3)
    (found,) = call(program(line, [type] * 3, [type]), floats(2, 0), floats(0, 3), start)
    np.testing.assert_array_equal(found, start)


# -- buffers ----------------------------------------------------------------------------------------------------------

IDENTITY = "(d0) -> (d0)"


def test_buffers_are_written_in_place():
    x = floats(6)
    body = "%0 = arith.addf %x0, %y0 : f32\nlinalg.yield %0 : f32"
    text = generic([IDENTITY, IDENTITY], "p", body, [(1, "f32")], [(1, "f32")], "memref")
    out = np.ones(6, np.float32)
    assert call(text, x, out) == []
    np.testing.assert_array_equal(out, x + 1)
    call(text, out, out)
    np.testing.assert_array_equal(out, (x + 1) * 2)


def test_buffers_that_overlap_go_in_order():
    """Each iteration reads what the one before has written."""
    buffer = np.arange(8, dtype=np.float32)
    text = generic([IDENTITY, IDENTITY], "p", "linalg.yield %x0 : f32", [(1, "f32")], [(1, "f32")], "memref")
    call(text, buffer[:-1], buffer[1:])
    np.testing.assert_array_equal(buffer, np.zeros(8))


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("read", "shape", "message"),
    [
        (
            "(d0) -> (d0)",
            (5,),
            "shapes disagree: dimension 0 of operand #1 has size 4, but an earlier operand has size 5",
        ),
        ("(d0) -> (d0 + 1)", (4,), "read indices 1 to 4 of dimension 0 of operand #0, which has size 4"),
        ("(d0) -> (2 - d0)", (4,), "read indices -1 to 2 of dimension 0"),
        ("(d0) -> (d0 ceildiv 2)", (2,), "read indices 0 to 2 of dimension 0"),
    ],
)
def test_operands_that_do_not_fit_are_refused(read, shape, message):
    text = generic([read, IDENTITY], "p", "linalg.yield %x0 : i8", [(1, "i8")], [(1, "i8")])
    with pytest.raises(ModelError, match=re.escape(message)) as caught:
        call(text, integers(*shape), integers(4))
    assert "'linalg.generic' op" in str(caught.value)


def test_what_is_undefined_in_a_body_names_its_op():
    body = "%0 = arith.fptosi %x0 : f32 to i8\nlinalg.yield %0 : i8"
    text = generic([IDENTITY, IDENTITY], "p", body, [(1, "f32")], [(1, "i8")])
    with pytest.raises(ModelError, match=r"'arith.fptosi' op"):
        call(text, np.array([1.0, 1000.0], np.float32), integers(2))


def test_complex_elements_do_not_run():
    text = """
    func.func @f() {
      %a = memref.alloc() : memref<2xcomplex<f32>>
      linalg.add ins(%a, %a : memref<2xcomplex<f32>>, memref<2xcomplex<f32>>) outs(%a : memref<2xcomplex<f32>>)
      return
    }"""
    refused(text, message="complex<f32>")


def test_a_loop_of_one_turn_may_have_any_weight() -> None:
    """The stride of such a loop is beyond 64 bits, and no element is reached by it."""
    text = """#far = affine_map<(i, j) -> (i * 4611686018427387904 + j)>
#here = affine_map<(i, j) -> (i, j)>
func.func @f(%x: tensor<3xf32>, %y: tensor<1x3xf32>) -> tensor<1x3xf32> {
  %r = linalg.generic {indexing_maps = [#far, #here], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<3xf32>) outs(%y : tensor<1x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<1x3xf32>
  return %r : tensor<1x3xf32>
}"""
    (found,) = qrt.compile(text).run({"arg0": np.float32([1, 2, 3]), "arg1": np.zeros((1, 3), np.float32)}).values()
    assert found.tolist() == [[1, 2, 3]]
