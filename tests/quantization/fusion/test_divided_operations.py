"""Products that begin with a matrix, and broadcasts along new axes, which take two kernels each. Hazards: a form that
stays float without a reason; an export with other bits; a float result that changes by more than its last bits."""

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.ir.remarks import remarks_to
from qrt.quantization.fusion.fuse_kernels import FuseKernels
from qrt.quantization.propagation.propagate_quant import PropagateQuant
from qrt.quantization.targets import Target, find, register_target
from qrt.quantization.verification.check_quant import CheckQuant
from tests.quantization import checks
from tests.quantization import float_text as ops
from tests.quantization.float_text import Tensor, Text
from tests.quantization.forms.test_forms_on_targets import check_half_a_code
from tests.registries import restored_registries

ERRORS = {"qrt-cpu": 0.12, "tflite": 0.12, "int16x8": 0.04, "int4-weights": 0.8, "bf16": 0.05, "weight-only": 0.04}
"""The targets of qrt, each with the greatest error of the programs below. Results are up to 6."""
NO_KERNELS = ("bf16", "weight-only")
"""The targets whose regions have float ports."""
draw = np.random.default_rng(5)
MATRIX, WEIGHTS = draw.normal(size=(3, 4)).astype(np.float32), draw.normal(0, 0.4, size=(8, 4)).astype(np.float32)


def product(*, is_constant=True):
    """A product that is added to a matrix whose rows are unequal."""
    text, x, m = Text(), Tensor("%x", (3, 8)), Tensor("%m", (3, 4))
    start = text.constant(MATRIX) if is_constant else text.stats(m, -3, 3)
    y = text.structured("linalg.matmul", [text.stats(x, -3, 3), text.constant(WEIGHTS)], start)
    return text.function("main", [x] if is_constant else [x, m], [text.stats(y, -7, 7)])


def convolution():
    """A convolution that is added to an image."""
    text, x = Text(), Tensor("%x", (1, 5, 5, 2))
    filters = text.constant(draw.normal(0, 0.3, size=(3, 3, 2, 4)).astype(np.float32))
    start = text.constant(draw.normal(size=(1, 3, 3, 4)).astype(np.float32))
    y = text.structured("linalg.conv_2d_nhwc_hwcf", [text.stats(x, -3, 3), filters], start)
    return text.function("main", [x], [text.stats(y, -9, 9)])


def broadcast(combine=ops.mul):
    """Each row of a matrix with a number of its own."""
    text, x, v = Text(), Tensor("%x", (3, 8)), Tensor("%v", (3,))
    rows = text.broadcast(text.stats(v, -2, 2), (3, 8), [1])
    y = combine(text, text.stats(x, -3, 3), rows)
    return text.function("main", [x, v], [text.stats(y, -6, 6)])


def layer_norm():
    text, given = Text(), Tensor("%x", (4, 16))
    x = text.stats(given, -3, 3)
    mean = text.stats(ops.mean(text, x, axes=[1]), -1, 1)
    centred = text.stats(ops.sub(text, x, text.broadcast(mean, x.shape, [1])), -3.5, 3.5)
    variance = text.stats(ops.mean(text, text.stats(ops.mul(text, centred, centred), 0, 9), axes=[1]), 0, 2.5)
    root = text.unary("math.rsqrt", text.binary("arith.addf", variance, text.splat(0.25, variance.shape)))
    y = text.stats(ops.mul(text, centred, text.broadcast(text.stats(root, 0, 2), x.shape, [1])), -3, 3)
    scale, offset = (text.constant(draw.uniform(-1, 1, size=16).astype(np.float32)) for _ in range(2))
    y = text.stats(ops.mul(text, y, text.broadcast(scale, x.shape, [0])), -3, 3)
    y = text.stats(ops.add(text, y, text.broadcast(offset, x.shape, [0])), -4, 4)
    return text.function("main", [given], [y])


PROGRAMS = {
    "a product from a constant matrix": (product(), ["matmul", "add"]),
    "a product from a matrix": (product(is_constant=False), ["matmul", "add"]),
    "a convolution from an image": (convolution(), ["conv2d", "add"]),
    "a sum with a broadcast": (broadcast(ops.add), ["reshape", "tile", "add"]),
    "a product with a broadcast": (broadcast(), ["reshape", "tile", "mul"]),
    "a layer norm": (
        layer_norm(),
        ["mean", "reshape", "tile", "sub", "mul", "mean", "lookup", "reshape", "tile", "mul", "mul", "add"],
    ),
}


def quantized(text, target):
    """The propagated program, and the remarks of the passes."""
    module, remarks = ir.parse(text), []
    with remarks_to(remarks.append):
        FuseKernels(target=target).run(module)
        PropagateQuant(target=target).run(module)
        CheckQuant(target=target).run(module)
    return module, [remark.message for remark in remarks]


def kernels(module):
    return [checks.kernel_of(region) for region in checks.regions(module)]


@pytest.fixture(autouse=True)
def _registered():
    with restored_registries():
        yield


@pytest.mark.parametrize("target", ERRORS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_form_is_quantized_or_stays_float_with_a_reason(name, target):
    text, expected = PROGRAMS[name]
    module, remarks = quantized(text, target)
    if target == "weight-only":
        has_weights = expected[0] == "matmul"
        assert kernels(module) == (["float_matmul"] if has_weights else [])
        reasons = [remark for remark in remarks if "stays float" in remark]
        assert reasons
        assert all("target 'weight-only' has no kernel '" in reason for reason in reasons)
    else:
        assert [kernel for kernel in kernels(module) if kernel != "rescale"] == expected
        assert [remark for remark in remarks if "stays float" in remark] == []
    plain = qrt.compile(text)
    rng = np.random.default_rng(1)
    inputs = [rng.uniform(-1.9, 1.9, port.type.shape).astype(np.float32) for port in plain.inputs]
    (result,) = checks.same_bits(module, target, inputs)
    assert np.abs(result - plain(*inputs)).max() < ERRORS[target]
    if target not in NO_KERNELS:
        check_half_a_code(module, target, rng)


@pytest.mark.parametrize("name", ["a product from a constant matrix", "a product from a matrix"])
def test_a_matrix_is_added_last(name):
    """Hazard: a float program that fusion changes where it must not."""
    text, _ = PROGRAMS[name]
    inputs = [np.random.default_rng(2).normal(size=shape).astype(np.float32) for shape in ((3, 8), (3, 4))]
    before = qrt.compile(text)
    inputs = inputs[: len(before.inputs)]
    for layouts, expected in ((True, ["matmul", "add"]), (False, [])):
        module, remarks = ir.parse(text), []
        with remarks_to(remarks.append):
            FuseKernels(layouts=layouts).run(module)
        assert kernels(module) == expected
        result, exact = qrt.compile(module)(*inputs), before(*inputs)
        assert np.abs(result - exact).max() <= (4 * np.spacing(np.float32(8)) if layouts else 0)
    (remark,) = remarks
    assert "port 'bias' is a vector of the last axis, or absent" in remark.message


@pytest.mark.parametrize("is_constant", [True, False])
def test_a_product_is_annotated_with_what_its_sum_leaves(is_constant):
    """Hazard: the product has no range, and everything stays float."""
    module = ir.parse(product(is_constant=is_constant))
    FuseKernels().run(module)
    stats = [operation for operation in module.operation.walk() if operation.name == "quant.stats"]
    (of_product,) = (op for op in stats if any(kernel == "matmul" for kernel in _kernels_before(op)))
    low, high = (float(MATRIX.min()), float(MATRIX.max())) if is_constant else (-3.0, 3.0)
    np.testing.assert_allclose(of_product.attributes["layerStats"].python, [-7 - high, 7 - low])


def test_a_product_from_one_number_is_a_product_with_a_bias():
    """Its float result keeps its bits."""
    text, x = Text(), Tensor("%x", (3, 8))
    y = text.structured("linalg.matmul", [text.stats(x, -3, 3), text.constant(WEIGHTS)], text.filled(1.5, (3, 4)))
    program = text.function("main", [x], [text.stats(y, -7, 7)])
    module, remarks = quantized(program, "qrt-cpu")
    assert (kernels(module), remarks) == (["matmul"], [])
    assert len(checks.regions(module)[0].operands) == 3
    value = np.random.default_rng(4).normal(size=(3, 8)).astype(np.float32)
    fused = ir.parse(program)
    FuseKernels().run(fused)
    np.testing.assert_array_equal(qrt.compile(fused)(value), qrt.compile(program)(value))
    (result,) = checks.same_bits(module, "qrt-cpu", [value])
    assert np.abs(result - qrt.compile(program)(value)).max() < ERRORS["qrt-cpu"]


def _kernels_before(operation):
    source = operation.operands[0].operation
    return [checks.kernel_of(source)] if source is not None and source.name == "quant.region" else []


def test_a_product_without_a_kernel_is_left_alone():
    text = product()
    module = ir.parse(text)
    FuseKernels(target="bf16").run(module)
    assert kernels(module) == ["matmul", "add"]
    other = ir.parse(text)
    with remarks_to(None):
        FuseKernels(target=_without("matmul")).run(other)
    assert str(other) == str(ir.parse(text))


def _without(*names):
    """The name of a target that lacks these kernels of tflite."""
    target = Target(f"without-{'-'.join(names)}", tuple(k for k in find("tflite").kernels if k.name not in names))
    register_target(target)
    return target.name


@pytest.mark.parametrize(
    ("shape", "result", "axes"),
    [
        ((3,), (3, 8), [1]),
        ((3, 1), (3, 2, 1), [1]),
        ((), (2, 2), [0, 1]),
        ((2, 3), (2, 4, 3, 5), [1, 3]),
        ((1,), (1, 4), [1]),
    ],
)
def test_broadcasts_are_copies_of_axes_of_size_1(shape, result, axes):
    text, x = Text(), Tensor("%x", shape)
    program = text.function("main", [x], [text.broadcast(text.stats(x, -2, 2), result, axes)])
    module = ir.parse(program)
    FuseKernels().run(module)
    assert kernels(module) == ["reshape", "tile"]
    value = np.random.default_rng(3).normal(size=shape).astype(np.float32)
    np.testing.assert_array_equal(qrt.compile(module)(value), qrt.compile(program)(value))
    again = str(module)
    FuseKernels().run(module)
    assert str(module) == again


def test_a_broadcast_of_a_dynamic_shape_stays_float():
    text = """func.func @main(%x: tensor<?xf32>, %e: tensor<?x4xf32>) -> tensor<?x4xf32> {
      %y = linalg.broadcast ins(%x : tensor<?xf32>) outs(%e : tensor<?x4xf32>) dimensions = [1]
      return %y : tensor<?x4xf32>
    }"""
    module, remarks = quantized(text, "qrt-cpu")
    assert kernels(module) == []
    assert any("'tile', which repeats axes of size 1 to a static shape" in remark for remark in remarks)


@pytest.mark.parametrize("name", ["reshape", "tile"])
def test_a_broadcast_for_a_target_without_a_kernel_stays_float(name):
    module, remarks = quantized(broadcast(), _without(name))
    assert kernels(module) == ["mul"]
    assert any(f"has no kernel '{name}'" in remark for remark in remarks)
    assert str(module).count("linalg.broadcast") == 1


def test_a_scalar_that_fills_a_tensor_is_no_broadcast():
    """`linalg.fill` copies a scalar, which has no axes."""
    module = ir.parse("""func.func @main(%e: tensor<4x6xf32>, %f: f32) -> tensor<4x6xf32> {
      %0 = linalg.fill ins(%f : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
      return %0 : tensor<4x6xf32>
    }""")
    ir.run_passes(module, "fuse-kernels").verify()
    assert "linalg.fill" in str(module)
