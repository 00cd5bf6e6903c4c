"""fuse-kernels. Hazards: a region that computes other bits, takes what others need, or leaves a constant outside for an
observer to see; a second run that changes something; a kernel that the target lacks."""

import re

import numpy as np
import pytest

from qrt import ir
from qrt.errors import QuantError, VerifyError
from qrt.ir.pipeline import PASSES, run_steps
from qrt.ir.pipeline_text import parse_steps
from qrt.quantization.forms import form_of
from qrt.quantization.targets import Target, TargetKernel, TargetPort, register_target
from qrt.runtime.interpreter import Interpreter
from qrt.types import TensorType
from tests.quantization.bodies import FORMS, NEAR, function

NAMES = {"lookup": "tanh"}
"""What the kernel of a program above is called in `tflite`, where that is not the name of its family."""


def fused(text, target="tflite", **options):
    """The module after the pass, and its remarks."""
    module, said = ir.parse(text), []
    given = "".join(f" {name}={value}" for name, value in options.items())
    run_steps(module, parse_steps(f"fuse-kernels{{target={target}{given}}}", PASSES), report=said.append)
    return module, [remark.message for remark in said]


def regions(module):
    return [operation for operation in module.operation.walk() if operation.name == "quant.region"]


def kernels(module):
    return [region.kernel for region in regions(module)]


def results(module, seed=3):
    """What the function `f` makes of drawn arguments; open sizes are 3."""
    generator = np.random.default_rng(seed)
    types = [value.type for value in module.function("f").regions[0].blocks[0].arguments]
    arrays = [np.float32(generator.uniform(-2, 2, [size or 3 for size in type.shape])) for type in types]
    return Interpreter(module).call(module.function("f"), arrays)


def same_bits(text, module):
    for before, after in zip(results(ir.parse(text)), results(module), strict=True):
        np.testing.assert_array_equal(before.view(np.int32), after.view(np.int32))


@pytest.mark.parametrize("name", FORMS)
def test_a_program_becomes_one_region_with_the_same_bits(name):
    *text, family = FORMS[name]
    module, said = fused(function(*text))
    assert said == []
    (region,) = regions(module)
    assert region.kernel == NAMES.get(name, family)
    form = form_of(region.body)
    assert form is not None
    assert form.family == family
    assert sorted({operand.number for operand in form.operands}) in ([0], [0, 1], [0, 1, 2])
    same_bits(function(*text), module)
    outside = {operation.name for operation in module.functions[0].regions[0].blocks[0]}
    assert outside <= {"quant.region", "func.return", "arith.constant", "tensor.empty"}


@pytest.mark.parametrize("name", [*FORMS, *NEAR])
def test_running_it_twice_changes_nothing(name):
    module, _ = fused(function(*({**FORMS, **NEAR}[name][:3])))
    again, _ = fused(str(module))
    assert str(again) == str(module)


@pytest.mark.parametrize("name", NEAR)
def test_what_is_near_to_a_kernel_keeps_its_bits_and_is_told(name):
    module, said = fused(function(*NEAR[name]))
    same_bits(function(*NEAR[name]), module)
    outside = [operation.name for operation in module.functions[0].regions[0].blocks[0]]
    left = [n for n in outside if n.startswith(("linalg.", "math.")) and n != "linalg.fill"]
    assert sum("stays float" in message for message in said) == len(left)
    assert all(re.search("nearest kernel|no kernel is similar|: as '", message) for message in said)


OPEN = """func.func @f(%x: tensor<?x8xf32>, %b: tensor<8xf32>, %v: tensor<8x8xf32>) -> tensor<?x1x8xf32> {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%d) : tensor<?x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %m = linalg.matmul ins(%x, %v : tensor<?x8xf32>, tensor<8x8xf32>) outs(%f : tensor<?x8xf32>) -> tensor<?x8xf32>
  %s = linalg.broadcast ins(%b : tensor<8xf32>) outs(%e : tensor<?x8xf32>) dimensions = [0]
  %a = arith.addf %m, %s : tensor<?x8xf32>
  %r = linalg.max ins(%a, %f : tensor<?x8xf32>, tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %g = linalg.matmul ins(%r, %v : tensor<?x8xf32>, tensor<8x8xf32>) outs(%s : tensor<?x8xf32>) -> tensor<?x8xf32>
  %y = tensor.expand_shape %g [[0, 1], [2]] output_shape [%d, 1, 8] : tensor<?x8xf32> into tensor<?x1x8xf32>
  return %y : tensor<?x1x8xf32>
}"""


def test_open_sizes_are_found_inside():
    """No region may need the size of the argument, which it does not take."""
    module, said = fused(OPEN)
    assert (kernels(module), said) == (["matmul", "matmul", "reshape"], [])
    assert all(isinstance(value.type, TensorType) for region in regions(module) for value in region.operands)
    same_bits(OPEN, module)


STATS = '"quant.stats"({}) {{layerStats = dense<[-1.0, 1.0]> : tensor<2xf32>}} : (tensor<4xf32>) -> tensor<4xf32>'


def test_fusion_stops_at_annotated_values():
    """A range would be lost inside of a function."""
    text = f"""func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {{
      %0 = arith.addf %a, %b : tensor<4xf32>
      %1 = {STATS.format("%0")}
      %z = arith.constant dense<0.0> : tensor<4xf32>
      %2 = arith.maximumf %1, %z : tensor<4xf32>
      %3 = {STATS.format("%2")}
      %4 = math.exp %3 : tensor<4xf32>
      %5 = {STATS.format("%4")}
      return %5 : tensor<4xf32>
    }}"""
    module, said = fused(text)
    assert (kernels(module), said) == (["add", "clamp", "lookup"], [])
    assert all("quant.stats" not in [operation.name for operation in region.body] for region in regions(module))
    same_bits(text, module)


def test_a_clamp_whose_result_has_a_range_of_its_own_is_a_table():
    """The ends of a clamp have one type, which would lose the range."""
    text = f"""func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {{
      %0 = {STATS.format("%a")}
      %z = arith.constant dense<0.0> : tensor<4xf32>
      %1 = arith.maximumf %0, %z : tensor<4xf32>
      %2 = {STATS.format("%1").replace("[-1.0", "[0.0")}
      return %2 : tensor<4xf32>
    }}"""
    assert kernels(fused(text)[0]) == ["clamp"]
    assert kernels(fused(text.replace("[0.0, 1.0]", "[-1.0, 1.0]"))[0]) == ["clamp"]
    assert kernels(fused(text.replace("[0.0, 1.0]", "[0.0, 0.5]"))[0]) == ["lookup"]


AVERAGES = {
    "mean": """%s = linalg.reduce { arith.addf } ins(%x : tensor<2x8xf32>) outs(%f : tensor<2xf32>)
        dimensions = [1]
      %a = arith.divf %s, %n : tensor<2xf32>""",
    "reciprocal": """%s = linalg.reduce { arith.addf } ins(%x : tensor<2x8xf32>) outs(%f : tensor<2xf32>)
        dimensions = [1]
      %a = arith.mulf %s, %r : tensor<2xf32>""",
    "annotated sum": """%t = linalg.reduce { arith.addf } ins(%x : tensor<2x8xf32>) outs(%f : tensor<2xf32>)
        dimensions = [1]
      %s = "quant.stats"(%t) {layerStats = dense<[-8.0, 8.0]> : tensor<2xf32>} : (tensor<2xf32>) -> tensor<2xf32>
      %a = arith.divf %s, %n : tensor<2xf32>""",
}
TAILS = {
    "relu": (["arith.maximumf {}, %o : tensor<2xf32>"], ["mean"], ["mean", "clamp"]),
    "tanh": (["math.tanh {} : tensor<2xf32>"], ["mean", "tanh"], ["mean", "tanh"]),
    "rsqrt": (
        ["arith.addf {}, %r : tensor<2xf32>", "math.rsqrt {} : tensor<2xf32>"],
        ["mean", "lookup"],
        ["mean", "lookup"],
    ),
    "sigmoid": (
        ["arith.negf {} : tensor<2xf32>", "math.exp {} : tensor<2xf32>", "arith.addf {}, %u : tensor<2xf32>",
         "arith.divf %u, {} : tensor<2xf32>"],
        ["mean", "logistic"],
        ["mean", "logistic"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("annotated", [False, True])
@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("average", AVERAGES)
def test_no_table_takes_the_division_of_an_average(average, tail, annotated):
    """The sum alone has no kernel."""
    steps, plain, apart = TAILS[tail]
    stats = (
        '%m = "quant.stats"(%a) {layerStats = dense<[-1.0, 1.0]> : tensor<2xf32>} : (tensor<2xf32>) -> tensor<2xf32>'
    )
    value, lines = ("%m", [stats]) if annotated else ("%a", [])
    for number, step in enumerate(steps):
        lines.append(f"%v{number} = {step.format(value)}")
        value = f"%v{number}"
    text = f"""func.func @f(%x: tensor<2x8xf32>) -> tensor<2xf32> {{
      %z = arith.constant 0.0 : f32
      %o = arith.constant dense<0.0> : tensor<2xf32>
      %u = arith.constant dense<1.0> : tensor<2xf32>
      %n = arith.constant dense<8.0> : tensor<2xf32>
      %r = arith.constant dense<0.125> : tensor<2xf32>
      %e = tensor.empty() : tensor<2xf32>
      %f = linalg.fill ins(%z : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
      {AVERAGES[average]}
      {chr(10).join(lines)}
      return {value} : tensor<2xf32>
    }}"""
    for target, names in (("tflite", None), ("qrt-cpu", {"tanh": "lookup", "logistic": "lookup"})):
        module, remarks = fused(text, target)
        wanted = [(names or {}).get(name, name) for name in (apart if annotated else plain)]
        assert (kernels(module), remarks) == (wanted, [])
        same_bits(text, module)


BIASES = {
    "start": ("[[0.5, -0.5], [0.5, -0.5]]", "%0 = linalg.matmul ins(%x, %w : {a}, {w}) outs(%b : {y}) -> {y}"),
    "term": (
        "[[0.5, -0.5], [0.5, -0.5]]",
        "%m = linalg.matmul ins(%x, %w : {a}, {w}) outs(%f : {y}) -> {y}\n%0 = arith.addf %m, %b : {y}",
    ),
    "first term": (
        "[[0.5, -0.5], [0.5, -0.5]]",
        "%m = linalg.matmul ins(%x, %w : {a}, {w}) outs(%f : {y}) -> {y}\n%0 = arith.addf %b, %m : {y}",
    ),
    "rows that differ": (
        "[[0.5, -0.5], [0.5, 0.5]]",
        "%m = linalg.matmul ins(%x, %w : {a}, {w}) outs(%f : {y}) -> {y}\n%0 = arith.addf %m, %b : {y}",
    ),
}


@pytest.mark.parametrize("form", BIASES)
def test_a_constant_that_repeats_a_row_is_a_bias(form):
    values, lines = BIASES[form]
    a, w, y = "tensor<2x3xf32>", "tensor<3x2xf32>", "tensor<2x2xf32>"
    text = f"""func.func @f(%x: {a}) -> {y} {{
      %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : {w}
      %b = arith.constant dense<{values}> : {y}
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : {y}
      %f = linalg.fill ins(%z : f32) outs(%e : {y}) -> {y}
      {lines.format(a=a, w=w, y=y)}
      return %0 : {y}
    }}"""
    module, remarks = fused(text)
    assert (kernels(module), remarks) == (["matmul", "add"] if "differ" in form else ["matmul"], [])
    same_bits(text, module)


def test_a_row_of_one_matrix_axis_is_a_bias():
    """A generic operation may broadcast a matrix of one row."""
    text = """func.func @f(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
      %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
      %r = arith.constant dense<[[0.5, -0.5]]> : tensor<1x2xf32>
      %e = tensor.empty() : tensor<2x2xf32>
      %b = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (0, j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]
      } ins(%r : tensor<1x2xf32>) outs(%e : tensor<2x2xf32>) {
      ^bb0(%l: f32, %m: f32):
        linalg.yield %l : f32
      } -> tensor<2x2xf32>
      %0 = linalg.matmul ins(%x, %w : tensor<2x3xf32>, tensor<3x2xf32>) outs(%b : tensor<2x2xf32>) -> tensor<2x2xf32>
      return %0 : tensor<2x2xf32>
    }"""
    module, remarks = fused(text)
    assert (kernels(module), remarks) == (["matmul"], [])
    same_bits(text, module)


@pytest.mark.parametrize("annotation", [STATS.format("%r"), "arith.addf %r, %zero : tensor<4xf32>"])
def test_an_annotated_relu_stays_with_its_product(annotation):
    """A table that takes it would lose the annotation, and nobody would decide the result of the product."""
    text = f"""func.func @f(%x: tensor<3xf32>, %w: tensor<3x4xf32>) -> tensor<4xf32> {{
      %zero = arith.constant dense<0.0> : tensor<4xf32>
      %m = linalg.vecmat ins(%x, %w : tensor<3xf32>, tensor<3x4xf32>) outs(%zero : tensor<4xf32>) -> tensor<4xf32>
      %r = arith.maximumf %m, %zero : tensor<4xf32>
      %a = {annotation}
      %t = math.tanh %a : tensor<4xf32>
      return %t : tensor<4xf32>
    }}"""
    module, said = fused(text)
    inside = [operation.name for operation in regions(module)[0].body]
    assert ("arith.maximumf" in inside) is ("quant.stats" in annotation)
    assert len(regions(module)) == 2
    assert said == []
    same_bits(text, module)


@pytest.mark.parametrize("user", ["return %a, %y", "return %y, %m"])
def test_what_others_need_is_no_interior(user):
    """Here relu's operand, and the product, are returned too."""
    names = user.removeprefix("return ")
    text = f"""func.func @f(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>, %b: tensor<4xf32>)
        -> (tensor<2x4xf32>, tensor<2x4xf32>) {{
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<2x4xf32>
      %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
      %m = linalg.matmul ins(%x, %w : tensor<2x3xf32>, tensor<3x4xf32>) outs(%f : tensor<2x4xf32>) -> tensor<2x4xf32>
      %s = linalg.broadcast ins(%b : tensor<4xf32>) outs(%e : tensor<2x4xf32>) dimensions = [0]
      %a = arith.addf %m, %s : tensor<2x4xf32>
      %y = arith.maximumf %a, %f : tensor<2x4xf32>
      return {names} : tensor<2x4xf32>, tensor<2x4xf32>
    }}"""
    module, _ = fused(text)
    assert kernels(module) == (["matmul", "clamp"] if "%a" in names else ["matmul", "add"])
    same_bits(text, module)


def unary(*operations):
    """A function of a chain of operations on `%0`."""
    lines = [f"%{n + 1} = {operation.format(f'%{n}')} : tensor<4xf32>" for n, operation in enumerate(operations)]
    return function("%0: tensor<4xf32>", "\n".join(lines), f"%{len(operations)}: tensor<4xf32>")


ONE = "%one = arith.constant dense<1.0> : tensor<4xf32>\n"


@pytest.mark.parametrize(
    ("body", "target", "kernel"),
    [
        ("%n = arith.negf %x", "tflite", "logistic"),
        ("%n = arith.negf %x", "qrt-cpu", "lookup"),
        ("%n = arith.mulf %x, %one", "tflite", "lookup"),
    ],
)
def test_a_function_has_its_own_kernel_where_the_target_has_one(body, target, kernel):
    text = function(
        "%x: tensor<4xf32>",
        f"""{ONE}{body} : tensor<4xf32>
%e = math.exp %n : tensor<4xf32>
%s = arith.addf %e, %one : tensor<4xf32>
%y = arith.divf %one, %s : tensor<4xf32>""",
        "%y: tensor<4xf32>",
    )
    module, _ = fused(text, target)
    assert kernels(module) == [kernel]


def test_of_equal_patterns_the_first_of_the_target_is_taken():
    ports = (TargetPort("a", "i8"),), (TargetPort("y", "i8"),)
    both = (
        TargetKernel("mul", (TargetPort("a", "i8"), TargetPort("b", "i8")), ports[1]),
        TargetKernel("lookup", *ports),
    )
    text = unary("arith.mulf {0}, {0}")
    for name, order in (("mine-first", both), ("mine-last", both[::-1])):
        register_target(Target(name, order))
        assert kernels(fused(text, name)[0]) == ["mul"]  # a table is any function, and comes last
    register_target(Target("mine-table", both[1:]))
    assert kernels(fused(text, "mine-table")[0]) == ["lookup"]
    ranked = (TargetKernel("pad", *ports), TargetKernel("reshape", *ports), TargetKernel("clamp", *ports))
    register_target(Target("mine-clamp", ranked))
    assert kernels(fused(unary("arith.maximumf {0}, {0}"), "mine-clamp")[0]) == []


def test_weights_alone_are_quantized_by_float_matmul():
    *text, _ = FORMS["bias by a generic op, and relu6"]
    module, said = fused(function(*text), "weight-only")
    assert kernels(module) == ["float_matmul"]
    assert len(said) == 2
    assert all("target 'weight-only' has no kernel" in message for message in said)
    same_bits(function(*text), module)


REGION = """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = quant.region (%x) {
    %1 = math.tanh %x : tensor<4xf32>
    quant.return %1 : tensor<4xf32>
  } {input_specs = [SPEC], output_specs = [SPEC], kernel = "NAME"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}"""


@pytest.mark.parametrize(
    ("name", "spec", "target", "now", "said"),
    [
        ("tanh", "f32", "qrt-cpu", "lookup", ""),
        ("lookup", "f32", "tflite", "lookup", ""),
        ("tanh", "f32", "weight-only", "tanh", "target 'weight-only' has no kernel 'lookup'"),
        ("gate", "!quant.uniform<u4:f32, 0.5>", "tflite", "tanh", "operand 0 .*u4"),
        ("tanh", "!quant.uniform<u8:f32, 0.5>", "qrt-cpu", "lookup", ""),
    ],
)
def test_regions_are_taken_to_another_target(name, spec, target, now, said):
    text = REGION.replace("SPEC", spec).replace("NAME", name)
    module, remarks = fused(text, target)
    assert kernels(module) == [now]
    assert len(remarks) == bool(said)
    if said:
        assert re.search(said, remarks[0])


MARKED = """func.func private @gate(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>)
    attributes {quant.kernel = "NAME"} {
  BODY
  %0 = arith.mulf %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @gate(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @gate(%0, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}"""


def marked(name, body=""):
    return MARKED.replace("NAME", name).replace("BODY", body)


def test_each_call_of_a_marked_function_is_a_region():
    inputs = TargetPort("a", "i8"), TargetPort("b", "i8")
    register_target(Target("mine-gates", (TargetKernel("mine.gate", inputs, (TargetPort("y", "i8"),)),)))
    module, said = fused(marked("mine.gate"), "mine-gates")
    assert (kernels(module), said) == (["mine.gate", "mine.gate"], [])
    same_bits(marked("mine.gate"), module)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (marked("mine.other"), "target 'tflite' has no kernel 'mine.other'"),
        (marked("tanh"), r"target 'tflite' has other ports \(q, y\) for kernel 'tanh'"),
    ],
)
def test_a_call_of_a_kernel_that_the_target_lacks_stays(text, said):
    module, remarks = fused(text)
    assert kernels(module) == []
    assert len(remarks) == 2
    assert all(re.search(said, message) for message in remarks)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            marked("mul", "%r = func.call @gate(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>"),
            "'func.call' op is in @gate, which is marked as a kernel: run inline{entry=gate} first",
        ),
        (
            marked("mul", "cf.br ^next\n^next:"),
            "'func.func' op @gate is marked as a kernel: its body must be one block",
        ),
        (
            marked("mul").replace('"mul"', "3"),
            "'func.func' op quant.kernel must be the name of a kernel, a string, got 3",
        ),
    ],
)
def test_a_marked_function_that_is_no_kernel_is_an_error(text, message):
    with pytest.raises(VerifyError) as found:
        fused(text)
    assert message in str(found.value)
    assert found.value.location.source.filename == "<string>"


def test_an_unknown_target_is_an_error():
    with pytest.raises(QuantError, match=r"no target 'tflit'.*tflite"):
        fused(function(*NEAR["a bias of each row"]), "tflit")


def test_operations_in_loops_are_wrapped_where_they_stand():
    text = """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %z = arith.constant dense<0.0> : tensor<4xf32>
      %t = math.exp %x : tensor<4xf32>
      %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%c = %x) -> tensor<4xf32> {
        %1 = arith.addf %c, %t : tensor<4xf32>
        %2 = arith.maximumf %1, %z : tensor<4xf32>
        scf.yield %2 : tensor<4xf32>
      }
      return %0 : tensor<4xf32>
    }"""
    module, said = fused(text)
    assert (kernels(module), said) == (["lookup", "add"], [])
    assert regions(module)[1].parent_operation.name == "scf.for"
    same_bits(text, module)


LINEAR = """func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) -> (tensor<8xf32>, tensor<2x4xf32>) {
  %w = arith.constant dense<[[1., 2., 0.5, 0.25], [0.5, -1., 2., 3.], [1., 1.5, 2.5, -2.]]> : tensor<3x4xf32>
  %half = arith.constant dense<0.5> : tensor<2x4xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %t = math.tanh %x : tensor<2x3xf32>
  %m = linalg.matmul ins(%t, %w : tensor<2x3xf32>, tensor<3x4xf32>) outs(%f : tensor<2x4xf32>) -> tensor<2x4xf32>
  %h = arith.mulf %m, %half : tensor<2x4xf32>
  %a = arith.addf %h, %y : tensor<2x4xf32>
  %p = arith.mulf %a, %a : tensor<2x4xf32>
  %n = arith.negf %a : tensor<2x4xf32>
  %q = arith.subf %n, %y : tensor<2x4xf32>
  %r = tensor.collapse_shape %q [[0, 1]] : tensor<2x4xf32> into tensor<8xf32>
  return %r, %p : tensor<8xf32>, tensor<2x4xf32>
}"""


def test_linear_operations_between_others_are_one_region():
    """What two need ends a region: the square is none of linear operations."""
    module, said = fused(LINEAR, linear="true")
    assert (kernels(module), said) == (["tanh", "linear", "mul", "linear"], [])
    first, last = (region for region in regions(module) if region.kernel == "linear")
    assert [len(first.operands), len(last.operands)] == [3, 2]  # the weights are an operand, the factor 0.5 is none
    assert [operation.name for operation in last.body] == [
        "arith.negf", "arith.subf", "tensor.collapse_shape", "quant.return",
    ]  # fmt: skip
    same_bits(LINEAR, module)
    assert str(fused(str(module), linear="true")[0]) == str(module)


@pytest.mark.parametrize("name", FORMS)
def test_what_one_kernel_computes_stays_its_region(name):
    """Its sums are linear, and would be lost to it."""
    *text, family = FORMS[name]
    module, _ = fused(function(*text), linear="true")
    assert kernels(module) == [NAMES.get(name, family)]
    same_bits(function(*text), module)


@pytest.mark.parametrize("name", NEAR)
def test_linear_regions_keep_the_bits_of_what_has_no_kernel(name):
    module, _ = fused(function(*NEAR[name]), linear="true")
    same_bits(function(*NEAR[name]), module)


BROADCAST = """func.func @f(%x: tensor<3x4xf32>) -> tensor<3x3xf32> {
  %w = arith.constant dense<[[0.5, -1., 0.25], [1., 0.5, -0.5], [-0.25, 2., 1.], [0.75, -0.5, 0.25]]> : tensor<4x3xf32>
  %b = arith.constant dense<[0.1, -0.2, 0.3]> : tensor<3xf32>
  %e = tensor.empty() : tensor<3x3xf32>
  %s = linalg.broadcast ins(%b : tensor<3xf32>) outs(%e : tensor<3x3xf32>) dimensions = [0]
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<3x3xf32>) -> tensor<3x3xf32>
  %m = linalg.matmul ins(%x, %w : tensor<3x4xf32>, tensor<4x3xf32>) outs(START : tensor<3x3xf32>) -> tensor<3x3xf32>
  STEP : tensor<3x3xf32>
  %y = arith.negf %a : tensor<3x3xf32>
  return %y : tensor<3x3xf32>
}"""


@pytest.mark.parametrize(
    ("start", "step"),
    [("%s", "%a = arith.negf %m"), ("%f", "%a = arith.addf %m, %s"), ("%f", "%a = arith.mulf %s, %m"),
     ("%s", "%a = arith.subf %m, %s")],
)  # fmt: skip
def test_constant_broadcasts_belong_inside_linear_regions(start, step):
    """Outside, nobody would decide what is added; the constant itself is exact in the body."""
    text = BROADCAST.replace("START", start).replace("STEP", step)
    module, remarks = fused(text, linear="true")
    assert (kernels(module), remarks) == (["linear"], [])
    (region,) = regions(module)
    assert len(region.operands) == 2
    assert "linalg.broadcast" in [operation.name for operation in region.body]
    same_bits(text, module)
    wide = text.replace("[0.1, -0.2, 0.3]", "[1.0e-30, -0.2, 1.0e30]")
    (region,) = regions(fused(wide, linear="true")[0])
    assert len(region.operands) == 3, "a constant that 64 bits do not hold is an operand"
