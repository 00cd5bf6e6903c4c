"""`quant.region`. Hazards: a spelling of the RFC that does not read, or reads as something else; a region that keeps
what is dead; a body that runs with other values than the float program; a specification that does not fit the shape."""

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.errors import ParseError, VerifyError
from qrt.ir import run_passes
from qrt.ir.dialects.quant.region import RegionOp
from qrt.types import parse_type

RFC = """
func.func @f(%x: tensor<2x3xf32>, %w: tensor<3x2xf32>) -> tensor<2x2xf32> {
  %y = quant.region (%x, %w) {
    %z = arith.constant dense<1.0> : tensor<2x2xf32>
    %s = "quant.stats"(%x) {layerStats = dense<[-1.0, 1.0]> : tensor<2xf32>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %0 = linalg.matmul ins(%s, %w : tensor<2x3xf32>, tensor<3x2xf32>) outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
    quant.return %0 : tensor<2x2xf32>
  } {input_specs: [!quant.calibrated<f32<-1.0:3.0>>, !quant.any<i4:f32>], output_specs: [!quant.none<f32>],
     kernel = "matmul"} : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}"""
X, W = np.float32([[1, 2, 3], [4, 5, 6]]), np.float32([[1, 2], [3, 4], [5, 6]])


def region_of(text):
    return next(op for op in ir.parse(text).operation.walk() if op.name == "quant.region")


@pytest.mark.parametrize(
    "text",
    [
        RFC,
        RFC.replace("_specs:", "_specs ="),
        RFC.replace("kernel =", "logical_kernel ="),
        RFC.replace("kernel =", "logical_kernel :"),
        RFC.replace("(%x, %w) {", "(%x, %w) {^bb0(%x: tensor<2x3xf32>, %w: tensor<3x2xf32>):"),
        str(ir.parse(RFC)),
        ir.parse(RFC).print(generic=True),
        ir.parse(RFC).print(generic=True).replace("kernel =", "logical_kernel ="),
    ],
)
def test_all_spellings_are_printed_in_one_form(text):
    module = ir.parse(text)
    module.verify()
    assert str(module) == str(ir.parse(RFC))
    assert str(module).count("^bb0(%arg2: tensor<2x3xf32>, %arg3: tensor<3x2xf32>):") == 1


def test_a_port_is_an_operand_or_a_result():
    region = region_of(RFC)
    assert isinstance(region, RegionOp)
    assert region.kernel == "matmul"
    assert [*map(str, region.specs)] == [
        "!quant.calibrated<f32<-1.000000e+00:3.000000e+00>>",
        "!quant.any<i4:f32>",
        "!quant.none<f32>",
    ]
    region.set_spec(2, parse_type("!quant.any<i8:f32>"))
    assert [str(spec) for spec in region.output_specs] == ["!quant.any<i8:f32>"]
    assert [str(spec) for spec in region.input_specs][1] == "!quant.any<i4:f32>"
    assert [value.type for value in region.ports] == [
        *map(parse_type, ("tensor<2x3xf32>", "tensor<3x2xf32>", "tensor<2x2xf32>"))
    ]


@pytest.mark.parametrize(
    ("old", "new", "message", "part"),
    [
        (
            "(%x, %w) {",
            "(%x, %x) {",
            "operand '%x' is given twice, so the body's arguments cannot take the operands' names: begin the body with",
            "%x",
        ),
        ("%z = arith", "%w = arith", "redefinition of SSA value '%w'", "%w"),
        ("ins(%s", "ins(%other", "use of undeclared SSA value name '%other'", "%other"),
        ("(%x, %w) {", "(%x, %w)", "expected '{' to begin a region", None),
        ("tensor<2x2xf32>\n  } {input", "tensor<2x2xf32>\n  ) {input", "expected '}' to end a region", None),
        ("(%x, %w) {", "(%x) {", "has 1 operands but 2 operand types", "quant.region"),
        (
            'kernel = "matmul"',
            'kernel = "matmul", logical_kernel = "a"',
            "attributes 'kernel' and 'logical_kernel' must not both be given: 'logical_kernel' is the older name",
            None,
        ),
        (
            "ins(%s, %w : tensor<2x3xf32>, tensor<3x2xf32>",
            "ins(%s, %w : tensor<2x3xf32>, tensor<4x2xf32>",
            "expects different",
            "%w",
        ),
    ],
)
def test_a_name_that_means_nothing_or_two_things_is_refused(old, new, message, part):
    with pytest.raises(ParseError, match=message) as caught:
        ir.parse(RFC.replace(old, new))
    place = caught.value.location
    assert part is None or place.source.text[place.start : place.end] == part


def test_a_result_number_is_no_name_inside():
    text = """func.func @f(%x: tensor<2xf32>) {
      %p:2 = quant.region(%x) { quant.return %x, %x : tensor<2xf32>, tensor<2xf32> }
        {input_specs = [f32], output_specs = [f32, f32], kernel = "k"}
        : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
      %q = quant.region(%p#1) { quant.return %p#1 : tensor<2xf32> }
        {input_specs = [f32], output_specs = [f32], kernel = "k"} : (tensor<2xf32>) -> tensor<2xf32>
      return
    }"""
    with pytest.raises(ParseError, match=r"'%p#1' is one of several results"):
        ir.parse(text)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("!quant.calibrated<f16<-1.0:3.0>>", "incompatible specification"),
        ("!quant.none<bf16>", "incompatible specification"),
        ("f64", "incompatible specification f64"),
        ("i8", "incompatible specification i8"),
        ("!quant.uniform<i8:f32:1, {0.5, 0.5}>", "incompatible specification"),
        ("!quant.uniform<i8:f32:2, {0.5}>", "incompatible specification"),
        ("!quant.uniform<i8:f32:{0:2, 1:2}, {{0.5}}>", "incompatible specification"),
        ("f32, f32", "attribute 'input_specs' must have 2 entries"),
    ],
)
def test_a_specification_that_the_port_cannot_have_is_refused(spec, message):
    with pytest.raises(VerifyError, match=message):
        ir.parse(RFC.replace("!quant.calibrated<f32<-1.0:3.0>>", spec)).verify()


@pytest.mark.parametrize(
    "spec", ["f32", "bf16", "f16", "f8E4M3FN", "!quant.none<f32>", "!quant.uniform<i8:f32:1, {0.5, 0.5, 1.0}>"]
)
def test_what_a_port_may_be(spec):
    ir.parse(RFC.replace("!quant.calibrated<f32<-1.0:3.0>>", spec)).verify()


def test_a_narrower_float_is_one_of_fewer_bits():
    text = RFC.replace("xf32>", "xbf16>").replace(":f32>", ":bf16>").replace("f32<-1.0:3.0>", "bf16<-1.0:3.0>")
    text = text.replace("none<f32>", "none<bf16>")
    ir.parse(text).verify()
    with pytest.raises(VerifyError, match="incompatible specification f16"):
        ir.parse(text.replace("!quant.calibrated<bf16<-1.0:3.0>>", "f16")).verify()


def test_a_body_sees_nothing_from_outside():
    text = RFC.replace("^bb0", "^bb0").replace(
        "(%x, %w) {", "(%x, %w) {^bb0(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>):"
    )
    with pytest.raises(ParseError, match="use of undeclared SSA value name"):
        ir.parse(text)
    module = ir.parse(RFC)
    region = next(op for op in module.operation.walk() if op.name == "quant.region")
    region.body.first.next.set_operand(0, region.operands[0])  # as a pass might, by mistake
    with pytest.raises(VerifyError, match="does not dominate this use"):
        module.verify()


def test_a_region_runs_as_its_body():
    program = qrt.compile(RFC)
    expected = X @ W + 1
    np.testing.assert_array_equal(program(X, W), expected)
    np.testing.assert_array_equal(program.run({"arg0": X, "arg1": W}, interpret=True)["result0"], expected)
    assert [covered.op for covered in program.coverage()] == ["linalg.matmul"]


def test_regions_run_where_they_stand():
    """In a loop, in a function that is called, in another region, and with several results."""
    text = """
func.func private @twice(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0:2 = quant.region(%x) {
    %1 = quant.region(%x) {
      %2 = arith.addf %x, %x : tensor<2xf32>
      quant.return %2 : tensor<2xf32>
    } {input_specs = [f32], output_specs = [f32], kernel = "inner"} : (tensor<2xf32>) -> tensor<2xf32>
    quant.return %x, %1 : tensor<2xf32>, tensor<2xf32>
  } {input_specs = [f32], output_specs = [f32, f32], kernel = "outer"}
    : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#1 : tensor<2xf32>
}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<2xf32> {
    %1 = quant.region(%a) {
      %2 = func.call @twice(%a) : (tensor<2xf32>) -> tensor<2xf32>
      quant.return %2 : tensor<2xf32>
    } {input_specs = [f32], output_specs = [f32], kernel = "k"} : (tensor<2xf32>) -> tensor<2xf32>
    scf.yield %1 : tensor<2xf32>
  }
  %3 = call @twice(%0) : (tensor<2xf32>) -> tensor<2xf32>
  return %3 : tensor<2xf32>
}"""
    program = qrt.compile(text, "main")
    x = np.float32([1, -3])
    np.testing.assert_array_equal(program(x), 16 * x)
    np.testing.assert_array_equal(program.run({"arg0": x}, interpret=True)["result0"], 16 * x)


def test_a_region_is_pure_if_its_body_is():
    dead = RFC.replace(
        "return %y : tensor<2x2xf32>", "%d = arith.constant dense<0.0> : tensor<2x2xf32>\n  return %d : tensor<2x2xf32>"
    )
    assert "quant.region" not in str(run_passes(ir.parse(dead), "dce"))
    effect = """func.func private @effect()
func.func @f(%x: tensor<2xf32>) {
  %y = quant.region(%x) {
    func.call @effect() : () -> ()
    quant.return %x : tensor<2xf32>
  } {input_specs = [f32], output_specs = [f32], kernel = "k"} : (tensor<2xf32>) -> tensor<2xf32>
  return
}"""
    assert "quant.region" in str(run_passes(ir.parse(effect), "dce"))


def test_a_region_leaves_a_loop_that_changes_nothing_for_it():
    text = """func.func @f(%x: tensor<2xf32>, %n: index) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<2xf32> {
    %1 = quant.region(%x) {
      %2 = arith.addf %x, %x : tensor<2xf32>
      quant.return %2 : tensor<2xf32>
    } {input_specs = [f32], output_specs = [f32], kernel = "k"} : (tensor<2xf32>) -> tensor<2xf32>
    %3 = arith.addf %a, %1 : tensor<2xf32>
    scf.yield %3 : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}"""
    after = str(run_passes(ir.parse(text), "loop-invariant-code-motion"))
    assert after.index("quant.region") < after.index("scf.for")
