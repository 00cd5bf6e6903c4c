"""Loop nests of floats, which come back by the text that stands beside their nodes. Hazards: a sum whose order is lost;
a product that is rounded on the way back; filters whose axes the text has in another order than the model; a fold that
begins with a number; a result that another one of the same nest needs; sums of integers that are rounded; an average
that leaves out or repeats an element; a hostile text: a crash, memory, or an error that does not name its entry."""

import json

import numpy as np
import onnx
import pytest

from qrt import ir
from qrt.errors import ModelError
from qrt.models.onnx.export import model_proto
from tests.models.onnx.export.float_programs import PROGRAMS, averages, nest, sums_of_bytes
from tests.models.onnx.export.test_export import drawn, outputs
from tests.models.onnx.running import has_oracle, imported, run_oracle


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_a_standard_operator_that_comes_back_with_the_same_bits(name):
    text, nodes = PROGRAMS[name]
    module = ir.parse(text)
    model = model_proto(module)
    onnx.checker.check_model(model, full_check=True)
    assert [node.op_type for node in model.graph.node] == nodes
    back = imported(model.SerializeToString())
    for seed in range(3):
        arguments = list(drawn(module, seed))
        for before, after in zip(outputs(module, arguments), outputs(back, arguments), strict=True):
            assert (before.dtype, before.tobytes()) == (after.dtype, after.tobytes())
        if has_oracle():
            found = run_oracle(model.SerializeToString(), {"input0": arguments[0]})
            for mine, other in zip(outputs(module, arguments), found, strict=True):
                assert (mine.dtype, mine.shape) == (other.dtype, other.shape)
                np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-5)


def broadcast(rows):
    """A computed vector as every row of a matrix."""
    matrix = f"tensor<{rows}x3xf32>"
    copies = nest(
        ["(a, b) -> (b)", "(a, b) -> (a, b)"],
        "pp",
        f"ins(%0 : tensor<3xf32>) outs(%e : {matrix})",
        "^bb0(%p: f32, %q: f32):\n linalg.yield %p : f32",
    )
    return f"""func.func @main(%x: tensor<3xf32>, %m: {matrix}) -> ({matrix}, tensor<3xf32>) {{
      %0 = math.exp %x : tensor<3xf32>
      %c0 = arith.constant 0 : index
      %n = tensor.dim %m, %c0 : {matrix}
      %e = tensor.empty({"%n" if rows == "?" else ""}) : {matrix}
      %1 = {copies} -> {matrix}
      return %1, %0 : {matrix}, tensor<3xf32>
    }}"""


def test_a_broadcast_has_the_shape_of_its_result():
    """The vector is a result itself."""
    module = ir.parse(broadcast(4))
    model = model_proto(module)
    onnx.checker.check_model(model, full_check=True)
    assert [node.op_type for node in model.graph.node] == ["Exp", "Reshape", "Tile"]
    arguments = list(drawn(module, 0))
    for before, after in zip(
        outputs(module, arguments), outputs(imported(model.SerializeToString()), arguments), strict=True
    ):
        np.testing.assert_array_equal(before, after)
    with pytest.raises(ModelError, match="a broadcast to a shape that no operand has"):
        model_proto(ir.parse(broadcast("?")))


def test_the_order_of_a_sum_is_that_of_the_text():
    """Large and small numbers, whose sum in another order is another one."""
    module = ir.parse(averages())
    x = np.zeros((1, 6, 6, 4), np.float32)
    x[:, 0::2, 0::3], x[:, 1::2, 0::3], x[:, 0::2, 1::3], x[:, 1::2, 1::3] = 1e9, 30.0, -1e9, 50.0
    (found,) = outputs(imported(model_proto(module).SerializeToString()), [x])
    (mine,) = outputs(module, [x])
    assert (mine == 16).all()  # rows first, and exactly, it is 20
    np.testing.assert_array_equal(found, mine)


@pytest.mark.parametrize(
    "text",
    [
        averages(taps=((0, 0), (1, 0), (1, 0), (1, 1))),
        averages(taps=((0, 0), (1, 0), (0, 1), (2, 1))),
        averages(count=5),
        averages(turns=2).replace("tensor<?x6x6x4xf32>", "tensor<?x7x6x4xf32>"),
    ],
    ids=["an element twice", "an element of another window", "another count", "two turns"],
)
def test_what_is_no_average_is_not_written_as_one(text):
    with pytest.raises(ModelError, match="ONNX does not support"):
        model_proto(ir.parse(text))


def test_a_sum_over_turns_in_which_nothing_differs_is_refused():
    """ReduceSum of a row would add each of its elements once."""
    sums = nest(
        ["(n, k) -> (n)", "(n, k) -> (n, k)", "(n, k) -> (n)", "(n, k) -> (n)"],
        "pr",
        "ins(%l, %x : tensor<?xf32>, tensor<?x7xf32>) outs(%s, %s : tensor<?xf32>, tensor<?xf32>)",
        """^bb0(%p: f32, %q: f32, %r: f32, %t: f32):
      %m = arith.addf %r, %p : f32
      %o = arith.maximumf %t, %q : f32
      linalg.yield %m, %o : f32, f32""",
    )
    text = f"""func.func @main(%l: tensor<?xf32>, %x: tensor<?x7xf32>) -> (tensor<?xf32>, tensor<?xf32>) {{
      %c0 = arith.constant 0 : index
      %n = tensor.dim %x, %c0 : tensor<?x7xf32>
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty(%n) : tensor<?xf32>
      %s = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
      %v:2 = {sums} -> (tensor<?xf32>, tensor<?xf32>)
      return %v#0, %v#1 : tensor<?xf32>, tensor<?xf32>
    }}"""
    with pytest.raises(ModelError, match="a reduction over another order of axes"):
        model_proto(ir.parse(text))


@pytest.mark.parametrize(
    ("old", "new"),
    [("%bytes, %w : (", '%bytes, %w {requant = "float32"} : ('), ("i32:f32:1", "i32<-9:9>:f32:1")],
    ids=["rounded in floats", "bounds"],
)
def test_sums_of_bytes_that_are_changed_are_refused(old, new):
    """MatMulInteger rounds and clips nothing."""
    text = sums_of_bytes().replace(old, new)
    with pytest.raises(ModelError, match="a result with 32-bit storage"):
        model_proto(ir.parse(text))


@pytest.mark.parametrize(("op", "element"), [("arith.extsi", "i32"), ("arith.sitofp", "f32")])
def test_a_bool_as_a_number_is_refused(op, element):
    """It is -1 where it holds, of which Cast makes 1."""
    body = f"""^bb0(%p: f32, %q: {element}):
      %zero = arith.constant 0.0 : f32
      %c = arith.cmpf ogt, %p, %zero : f32
      %m = {op} %c : i1 to {element}
      linalg.yield %m : {element}"""
    ports = f"ins(%x : tensor<5xf32>) outs(%e : tensor<5x{element}>)"
    text = f"""func.func @main(%x: tensor<5xf32>) -> tensor<5x{element}> {{
      %e = tensor.empty() : tensor<5x{element}>
      %y = {nest(["(n) -> (n)"] * 2, "p", ports, body)} -> tensor<5x{element}>
      return %y : tensor<5x{element}>
    }}"""
    with pytest.raises(ModelError, match=f"{op} of i1"):
        model_proto(ir.parse(text))


def test_an_average_whose_sum_something_else_needs_is_not_written_as_one():
    text = (
        averages()
        .replace("(%x: tensor<?x6x6x4xf32>) -> tensor<?x3x2x4xf32>", "@")
        .replace("return %y : tensor<?x3x2x4xf32>", "return %y, %0 : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>")
    )
    text = text.replace("@main@", "@main(%x: tensor<?x6x6x4xf32>) -> (tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>)")
    with pytest.raises(ModelError, match="ONNX does not support"):
        model_proto(ir.parse(text))


def said(model, key):
    (entry,) = [each for each in model.metadata_props if each.key == key]
    return entry, json.loads(entry.value)


def test_a_node_that_was_changed_is_imported_as_any_other():
    model = model_proto(ir.parse(averages()))
    (node,) = [each for each in model.graph.node if each.op_type == "AveragePool"]
    node.op_type = "MaxPool"
    (found,) = outputs(imported(model.SerializeToString()), [np.ones((1, 6, 6, 4), np.float32)])
    np.testing.assert_array_equal(found, np.ones((1, 3, 2, 4)))
    x = np.random.default_rng(0).normal(size=(1, 6, 6, 4)).astype(np.float32)
    (found,) = outputs(imported(model.SerializeToString()), [x])
    np.testing.assert_array_equal(found, x.reshape(1, 3, 2, 2, 3, 4)[:, :, :, :, :2].max((2, 4)))


T = "tensor<?x6x6x4xf32>"
R = "tensor<?x3x2x4xf32>"
HOSTILE = {
    "no text": (3, "'program' must be text, got 3"),
    "nothing": ("", "'program' must be one function with one block"),
    "no MLIR": ("func.func @f(", "'program' is not valid MLIR: expected a type, found the end of the text"),
    "a deep text": ("(" * 5000, "'program' is not valid MLIR: expected an operation"),
    "a rule that is broken": (f"func.func @f(%x: {T}) -> {R} {{ return }}", "'program' is not valid MLIR"),
    "two functions": (
        f"func.func @f(%x: {R}) -> {R} {{ return %x : {R} }} func.func @g() {{ return }}",
        "'program' must be one function with one block",
    ),
    "a declaration": (f"func.func private @f({T}) -> {R}", "'program' must be one function with one block"),
    "another argument": (
        f"func.func @f(%x: {R}) -> {R} {{ return %x : {R} }}",
        r"'program' must have arguments of the types of the operands, tensor<\?x6x6x4xf32>, got",
    ),
    "no result": (f"func.func @f(%x: {T}) {{ return }}", "'program' must return 1 result, got 0"),
    "a variable": (
        f"func.func @f(%x: {T}) -> {T} {{ ml_program.global_store @v = %x : {T} return %x : {T} }}",
        r"'program' is not valid MLIR: 'ml_program\.global_store' op undefined global: @v",
    ),
    "a loop": (
        f"""func.func @f(%x: {T}) -> {T} {{ %t = arith.constant true
        %y = scf.while (%a = %x) : ({T}) -> {T} {{ scf.condition(%t) %a : {T} }} do {{
        ^bb0(%b: {T}): scf.yield %b : {T} }}
        return %y : {T} }}""",
        r"'program' must have ops of arith, linalg, math, qrt and tensor alone, got scf\.while",
    ),
    "a large tensor": (
        f"""func.func @f(%x: {T}) -> tensor<1000000x1000000xf32> {{
        %y = arith.constant dense<1.0> : tensor<1000000x1000000xf32>
        return %y : tensor<1000000x1000000xf32> }}""",
        r"tensor<1000000x1000000xf32> takes more than the limit of 2147483648 bytes: if you trust the file, raise",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_program_is_an_error_that_names_its_entry(name):
    program, message = HOSTILE[name]
    model = model_proto(ir.parse(averages()))
    entry, members = said(model, "qrt.op.avg_pool2d")
    entry.value = json.dumps({**members, "program": program})
    with pytest.raises(ModelError, match=message) as caught:
        imported(model.SerializeToString())
    assert "qrt.op.avg_pool2d" in str(caught.value)


def rounding(op, flags):
    """Rounded numbers, of which constant flags in rows and in columns leave some."""
    return f"""func.func @main(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {{
      %r = arith.constant dense<{flags}> : tensor<3xi1>
      %c = arith.constant dense<[true, true, false, true]> : tensor<4xi1>
      %e = tensor.empty() : tensor<3x4xf32>
      %0 = {
        nest(
            ["(a, b) -> (a, b)", "(a, b) -> (a)", "(a, b) -> (b)", "(a, b) -> (a, b)"],
            "pp",
            "ins(%x, %r, %c : tensor<3x4xf32>, tensor<3xi1>, tensor<4xi1>) outs(%e : tensor<3x4xf32>)",
            f'''^bb0(%p: f32, %q: i1, %s: i1, %o: f32):
            %b = arith.andi %q, %s : i1
            %m = {op} %p : f32
            %v = arith.select %b, %m, %p : f32
            linalg.yield %v : f32''',
        )
    } -> tensor<3x4xf32>
      return %0 : tensor<3x4xf32>
    }}"""


@pytest.mark.parametrize("op", ["math.round", "math.trunc"])
def test_rounding_is_exact_beside_halves(op):
    """Hazards: the float before 0.5, to which 0.5 added is 1; integers that lose their last bit; infinities, NaNs."""
    module = ir.parse(rounding(op, "[true, true, true]"))
    below = np.nextafter(np.float32(0.5), np.float32(0))
    x = np.float32([below, -below, 7.7, 0.5, -0.5, 1.5, 8.8, -2.5, 2**23 + 1, np.inf, 9.9, np.nan]).reshape(3, 4)
    model = model_proto(module).SerializeToString()
    for before, after in zip(outputs(module, [x]), outputs(imported(model), [x]), strict=True):
        np.testing.assert_array_equal(before, after)
    with np.errstate(invalid="ignore"):
        whole = np.trunc(x) if op == "math.trunc" else np.where(np.isinf(x), x, np.trunc(x + np.copysign(below, x)))
    expected = np.where([True, True, False, True], whole, x)
    np.testing.assert_array_equal(outputs(module, [x])[0], expected)
    if has_oracle():
        np.testing.assert_array_equal(run_oracle(model, {"input0": x})[0], expected)
