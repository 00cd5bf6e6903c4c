"""Regions whose bodies are calls of one op family."""

import numpy as np
import pytest

from qrt import ir
from qrt.errors import ParseError, VerifyError
from qrt.ir.dialects.linalg.lowering import constant_storage
from qrt.types import UniformType
from tests.quantization.export.programs import (
    BODIES,
    KEEPING,
    drawn_arrays,
    drawn_specs,
    exported,
    function,
    program,
    ran,
    t,
)


def ops(module, dialect="qrt"):
    return [op.name.removeprefix(f"{dialect}.") for op in module.operation.walk() if op.name.startswith(f"{dialect}.")]


@pytest.mark.parametrize("kernel", BODIES)
@pytest.mark.parametrize("seed", range(3))
def test_every_form_has_one_result(kernel, seed):
    """Swapped operands, another axis order, a lost clamp or bias: the float body, cast at its ports, tells them."""
    rng = np.random.default_rng(seed)
    specs, out = drawn_specs(kernel, rng)
    text = program(kernel, specs, out)
    fixed, codegen, simulated = (exported(text, to) for to in ("fixed", "codegen", "simulate"))
    assert set(ops(fixed)) - {kernel} <= {"transpose", "clamp"}
    assert kernel in ops(fixed)
    assert not ops(codegen)
    assert not ops(simulated)
    arrays = drawn_arrays(fixed, rng)
    (bits,), (same,), (near,) = (ran(module, arrays) for module in (fixed, codegen, simulated))
    assert np.array_equal(bits, same)
    assert np.abs(bits - near).max() <= (0 if kernel in KEEPING else out.scale * 1.001)
    assert len(np.unique(bits)) > 1


@pytest.mark.parametrize("kernel", ["matmul", "conv2d", "depthwise_conv2d"])
def test_weights_are_stored_constants(kernel):
    """Permuted and quantized when the program is made: nothing is left to do to them when it runs."""
    rng = np.random.default_rng(5)
    specs, out = drawn_specs(kernel, rng)
    given = exported(program(kernel, specs, out), "fixed")
    first, *others = drawn_arrays(given, rng)
    constant = exported(program(kernel, specs, out, dict(enumerate(others, 1))), "fixed")
    assert "transpose" not in ops(constant)
    assert ops(constant, "quant").count("qcast") == 1  # the images
    assert np.array_equal(ran(given, [first, *others])[0], ran(constant, [first])[0])


@pytest.mark.parametrize("kernel", sorted(KEEPING))
def test_a_kept_type_is_requantized_to_another(kernel):
    """A wrong program, but no wrong values: the kernel keeps its operand's type, and the port says another."""
    rng = np.random.default_rng(1)
    specs, out = drawn_specs(kernel, rng)
    other = out.with_(scales=out.scale * 3, zero_points=(out.storage_min + out.storage_max) // 2)
    module, simulated = (exported(program(kernel, specs, other), to) for to in ("fixed", "simulate"))
    assert "requantize" in ops(module)
    arrays = drawn_arrays(module, rng)
    assert np.abs(ran(module, arrays)[0] - ran(simulated, arrays)[0]).max() <= other.scale * 1.001


def test_a_clamp_that_the_type_says_is_no_op():
    """The relu of a result whose zero point is its least value changes nothing."""
    specs, _ = drawn_specs("matmul", np.random.default_rng(0))
    assert ops(exported(program("matmul", specs, UniformType("u8", "f32", 0.1)), "fixed")) == ["matmul"]
    assert ops(exported(program("matmul", specs, UniformType("u8", "f32", 0.1, 1)), "fixed")) == ["matmul", "clamp"]


def test_a_table_is_that_of_the_body():
    """Entry by entry, for the bounds of the storage too."""
    x, out = UniformType("i8", "f32", 0.05, 3, storage_min=-100, storage_max=90), UniformType("u8", "f32", 0.004, 7)
    module = exported(program("lookup", [x], out), "fixed")
    (lookup,) = [op for op in module.operation.walk() if op.name == "qrt.lookup"]
    table = constant_storage(lookup.operands[1])
    simulated = exported(program("lookup", [x], out), "simulate")
    codes = np.clip(np.arange(-128, 128), -100, 90)
    for start in range(0, 252, 6):
        values = ((codes[start : start + 6] - 3) * np.float32(0.05)).reshape(2, 3).astype(np.float32)
        floats = ran(simulated, [values])[0].ravel()
        assert np.array_equal(np.rint(floats / np.float32(0.004)) + 7, table[start : start + 6])


@pytest.mark.parametrize("kernel", ["clamp", "pad"])
def test_a_bound_is_held_by_the_type_of_the_result(kernel):
    """A coarse operand would round the bounds of a clamp, and cut what a tensor is padded with."""
    out = UniformType("i8", "f32", 0.01)
    text = program(kernel, ["!quant.uniform<i8<-1:1>:f32, 1.0>"], out).replace(
        "arith.constant 0.0", "arith.constant 1.23"
    )
    arrays = [np.float32(np.resize([-1, 0, 1], t)) for t in ((4, 3) if kernel == "clamp" else (2, 3),)]
    fixed, simulated = (ran(exported(text, to), arrays)[0] for to in ("fixed", "simulate"))
    assert np.array_equal(fixed, simulated)
    assert max(fixed.flat) == np.float32(0.75 if kernel == "clamp" else 1.23)


def test_constants_without_axes():
    """A stored number has the shape of the float one, which NumPy makes a vector of where it can."""
    q = UniformType("i8", "f32", 0.5)
    text = function([t(2), "tensor<f32>"], t(2), _REPEATED, [q, q], q, {1: 1.5}, "add")
    assert ran(exported(text, "fixed"), [np.float32([1, -1])])[0].tolist() == [2.5, 0.5]


def test_a_body_is_read_as_its_kernel():
    """A square between bounds is a function of one variable too, but a table has no room for 16 bits."""
    q = UniformType("i16", "f32", 0.01)
    body = f"""%1 = arith.mulf %a, %a : {t(3)}
%c = arith.constant dense<2.0> : {t(3)}
%2 = arith.cmpf ogt, %1, %c : {t(3)}
%y = arith.select %2, %c, %1 : tensor<3xi1>, {t(3)}"""
    module = exported(function([t(3)], t(3), body, [q], q, kernel="mul"), "fixed")
    assert ops(module) == ["mul", "clamp"]
    assert np.allclose(ran(module, [np.float32([1, -1.2, 3])])[0], [1, 1.44, 2])


@pytest.mark.parametrize("size", ["3", "?"])
def test_a_table_of_one_operand_of_several(size):
    """A body may have an operand that it does not read, or of which it asks for the size alone."""
    q, out = UniformType("i8", "f32", 0.3), UniformType("i8", "f32", 0.01)
    shape = f"tensor<{size}xf32>"
    extent = "%c = arith.constant 0 : index\n%n = tensor.dim %a, %c : tensor<?xf32>" if size == "?" else ""
    body = f"""{extent}
%e = tensor.empty({"%n" if extent else ""}) : {shape}
%one = arith.constant 1.0 : f32
%f = linalg.fill ins(%one : f32) outs(%e : {shape}) -> {shape}
%1 = arith.addf %b, %f : {shape}
%y = math.tanh %1 : {shape}"""
    module = exported(function([shape] * 2, shape, body, [q.with_(scales=0.2), q], out, kernel="lookup"), "fixed")
    x = np.float32([0, 0.6, -3])
    assert "lookup" in ops(module)
    assert np.abs(ran(module, [x * 0, x])[0] - np.tanh(x + 1)).max() < 0.006


_REPEATED = """%e = tensor.empty() : tensor<2xf32>
%s = linalg.broadcast ins(%b : tensor<f32>) outs(%e : tensor<2xf32>) dimensions = [0]
%y = arith.addf %a, %s : tensor<2xf32>"""
_HALF = """%k = arith.constant dense<1.0> : tensor<2x3xf32>
%c = arith.constant dense<0.5> : tensor<3xf32>
%e = tensor.empty() : tensor<2x3xf32>
"""
_MAPS = "affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>"


@pytest.mark.parametrize(
    "sum_",
    [
        """%s = linalg.broadcast ins(%c : tensor<3xf32>) outs(%e : tensor<2x3xf32>) dimensions = [0]
%1 = arith.addf %a, %s : tensor<2x3xf32>""",
        f"""%1 = linalg.generic {{indexing_maps = [{_MAPS}], iterator_types = ["parallel", "parallel"]}}
  ins(%a, %c : tensor<2x3xf32>, tensor<3xf32>) outs(%e : tensor<2x3xf32>) {{
^bb0(%p: f32, %q: f32, %o: f32):
  %s = arith.addf %p, %q : f32
  linalg.yield %s : f32
}} -> tensor<2x3xf32>""",
        f"""%u = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
%2 = linalg.generic {{indexing_maps = [{_MAPS}], iterator_types = ["parallel", "parallel"]}}
  ins(%a, %u : tensor<2x3xf32>, tensor<3xf32>) outs(%e : tensor<2x3xf32>) {{
^bb0(%p: f32, %q: f32, %o: f32):
  %h = arith.constant 0.5 : f32
  %s = arith.addf %p, %h : f32
  linalg.yield %s : f32
}} -> tensor<2x3xf32>
%1 = arith.mulf %2, %k : tensor<2x3xf32>""",
    ],
    ids=["broadcast", "generic", "unread"],
)
def test_a_table_of_a_body_that_repeats_a_constant(sum_):
    """The body runs on rows of 256 codes: a vector of equal numbers has to grow with them."""
    x, out = UniformType("i8", "f32", 0.02, 3), UniformType("i8", "f32", 0.01)
    body = f"{_HALF}{sum_}\n%y = math.tanh %1 : tensor<2x3xf32>"
    module = exported(function([t(2, 3)], t(2, 3), body, [x], out, kernel="lookup"), "fixed")
    (lookup,) = [op for op in module.operation.walk() if op.name == "qrt.lookup"]
    values = (np.arange(-128, 128) - 3) * np.float32(0.02) + np.float32(0.5)
    assert np.array_equal(constant_storage(lookup.operands[1]), np.rint(np.tanh(values.astype(np.float32)) / 0.01))


@pytest.mark.parametrize(
    ("kernel", "specs", "out", "said"),
    [
        ("lookup", ["!quant.uniform<i16:f32, 0.1>"], "!quant.uniform<i8:f32, 0.1>", "at most 8 bits"),
        ("lookup", ["!quant.uniform<i8:f32:1, {0.1, 0.2, 0.3}>"], "!quant.uniform<i8:f32, 0.1>", "per-layer input"),
        (
            "matmul",
            [
                "!quant.uniform<i8:f32:1, {0.1, 0.2, 0.3, 0.4, 0.5}>",
                "!quant.uniform<i8:f32, 0.1>",
                "!quant.uniform<i32:f32, 0.01>",
            ],
            "!quant.uniform<i8:f32, 0.1>",
            "which is contracted",
        ),
    ],
)
def test_types_that_a_kernel_lacks(kernel, specs, out, said):
    """The error names the kernel, stands at the region, and is short."""
    with pytest.raises(VerifyError, match=said) as caught:
        exported(program(kernel, specs, out), "fixed")
    assert f"of kernel '{kernel}' cannot be exported" in str(caught.value)
    assert len(str(caught.value)) < 2048


def test_float_activations():
    """A product of floats and quantized weights keeps its floats, with a clamp in floats."""
    weights = UniformType("i8", "f32", [0.01, 0.02, 0.03, 0.04], axis=1)
    specs = ["f32", weights, "!quant.none<f32>"]
    module = exported(program("matmul", specs, "f32", name="float_matmul"), "fixed")
    assert ops(module) == ["float_matmul"]
    rng = np.random.default_rng(3)
    arrays = drawn_arrays(module, rng)
    (near,) = ran(exported(program("matmul", specs, "f32", name="float_matmul"), "simulate"), arrays)
    np.testing.assert_allclose(ran(module, arrays)[0], near, rtol=1e-5, atol=1e-6)
    assert (near == 0).any()


def test_to_is_checked():
    with pytest.raises(ParseError, match="to must be one of fixed, codegen, simulate, got 'flatbuffer'"):
        ir.run_passes(ir.parse(f"func.func @f(%x: {t(2)}) {{ return }}"), "export-quant{to=flatbuffer}")


def test_an_image_that_the_windows_do_not_reach():
    """`linalg` takes as many windows as its result says, the op as many as fit: an error, not another shape."""
    types, result, body = BODIES["depthwise_conv2d"]
    specs, out = drawn_specs("depthwise_conv2d", np.random.default_rng(0))
    larger = [each.replace("1x5x5x3", "1x7x7x3") for each in (*types, body)]
    text = function(larger[:2], result, larger[2], specs, out, kernel="depthwise_conv2d")
    with pytest.raises(VerifyError, match=r"the body yields shape \(1, 3, 3, 3\), but the op \(1, 5, 5, 3\)"):
        exported(text, "fixed")
