"""Each rule of a kernel alone, in targets made for it. Hazard: a rule that only another rule seems to hold."""

import re

import pytest

from qrt import ir
from qrt.quantization.targets.model import Target, TargetKernel, TargetPort
from qrt.quantization.targets.registry import find
from qrt.quantization.verification.check_quant import violations
from qrt.types import UniformType

X = UniformType("i8", "f32", 0.5)


def held(constraint, inputs, output, ports=(), *, coarser=False, **options):
    """What is said of a region whose ports have these types; ports are wildcards unless they are given."""
    given = {port.name: port for port in ports}
    names = "abc"[: len(inputs)]
    made = [given.get(name, TargetPort(name)) for name in (*names, "y")]
    kernel = TargetKernel("gate", tuple(made[:-1]), (made[-1],), constraint, **options)
    arguments = ", ".join(f"%{name}: tensor<2xf32>" for name in names)
    values = ", ".join(f"%{name}" for name in names)
    types = ", ".join(["tensor<2xf32>"] * len(inputs))
    text = f"""func.func @f({arguments}) -> tensor<2xf32> {{
      %y = quant.region ({values}) {{
        %0 = arith.negf %a : tensor<2xf32>
        quant.return %0 : tensor<2xf32>
      }} {{input_specs = [{", ".join(map(str, inputs))}], output_specs = [{output}], kernel = "gate"}}
        : ({types}) -> tensor<2xf32>
      return %y : tensor<2xf32>
    }}"""
    module = ir.parse(text)
    module.verify()
    return [each.message for each in violations(module, Target("mine", (kernel,), coarser))]


def uniform(scale, zero=0, storage="i8", **bounds):
    return UniformType(storage, "f32", scale, zero, **bounds)


@pytest.mark.parametrize(
    ("type", "is_right"),
    [
        (uniform(0.5, storage_min=-100, storage_max=100), True),
        (uniform(0.5, storage_min=-50, storage_max=50), True),
        (uniform(0.5, storage_min=-101, storage_max=100), False),
        (uniform(0.5, storage_min=-100, storage_max=101), False),
        (uniform(0.5, storage="i4"), False),
        (uniform(0.5, storage="u4"), False),
    ],
)
def test_storage_is_that_of_the_port_and_bounds_lie_within_its_own(type, is_right):
    said = held("free", [type], X, [TargetPort("a", "i8", -100, 100)])
    assert said == [] if is_right else "requires i8<-100:100>" in said[0]


@pytest.mark.parametrize(("storage", "middle"), [("i8", 0), ("u8", 128), ("u4", 8)])
def test_the_middle_of_the_storage(storage, middle):
    for zero in (middle - 1, middle, middle + 1):
        said = held("free", [uniform(0.5, zero, storage) if storage == "u4" or zero >= 0 or storage == "i8" else X], X,
                    [TargetPort("a", storage, symmetric=True)])  # fmt: skip
        assert (said == []) == (zero == middle)


def test_one_scale_for_all_related_ports():
    assert held("same_scale", [X, X], X) == []
    for inputs, output in (([uniform(0.25), X], X), ([X, uniform(0.5, 1)], X), ([X, X], uniform(0.25))):
        assert "differ in their types" in held("same_scale", inputs, output)[0]
    assert held("same_scale", [uniform(0.25), X], X, constrained=("b", "y")) == []


@pytest.mark.parametrize("given", [uniform(0.25), uniform(0.5, 1), UniformType("i8", "f32", [0.5, 0.5], axis=0)])
def test_a_given_type_has_given_scales_zero_points_and_granularity(given):
    port = TargetPort("y", given=given)
    assert held("fixed_scale", [X], given, [port]) == []
    assert "result 0 is" in held("fixed_scale", [X], X, [port])[0]


def test_each_term_of_a_sum_is_held():
    sums = {"multiplier": (0.5, 2.0)}
    assert held("sum_scale", [uniform(0.25), uniform(1.0)], X, **sums) == []
    for inputs in ([uniform(1.5), X], [X, uniform(1.5)], [uniform(0.125), X], [X, uniform(0.125)]):
        assert "is outside 0.5 to 2 at result 0" in held("sum_scale", inputs, X, **sums)[0]


@pytest.mark.parametrize(
    ("bias", "coarser", "message"),
    [
        (uniform(0.25, storage="i32"), False, None),
        (uniform(0.25, 1, "i32"), False, ", but must have zero point 0"),
        (uniform(0.5, storage="i32"), False, "has scale 0.5 in channel 0"),
        (uniform(0.5, storage="i32"), True, None),
        (uniform(0.75, storage="i32"), True, "has scale 0.75 in channel 0"),
        (uniform(0.125, storage="i32"), True, "has scale 0.125 in channel 0"),
        (uniform(0.375, storage="i32"), True, "has scale 0.375 in channel 0"),
        (UniformType("i32", "f32", [0.25, 0.25], axis=0), False, None),
        (UniformType("i32", "f32", [0.25, 0.5], axis=0), False, "has scale 0.5 in channel 1"),
        (UniformType("i32", "f32", [0.25, 0.25], [0, 1], axis=0), False, ", but must have zero point 0"),
    ],
)
def test_a_bias_has_the_product_and_zero_point_0(bias, coarser, message):
    said = held("multiplier_accumulator_scale", [X, X, bias], X, [TargetPort("c", "i32", axis=0)], coarser=coarser)
    assert said == [] if message is None else message in said[0]


def test_a_bias_stands_beside_a_factor_of_one_scale():
    many = UniformType("i8", "f32", [0.5, 0.5], axis=0)
    said = held(
        "multiplier_accumulator_scale", [many, X, uniform(0.25, storage="i32")], X, [TargetPort("a", "i8", axis=0)]
    )
    assert "operand 0 is" in said[0]
    assert ", but must be per layer if there is a bias" in said[0]


# -- filters and matrices in another order than the kernel's -----------------------------------------------------------

TRANSPOSED = """func.func @f(%a: tensor<2x64xf32>, %w: tensor<2x64xf32>, %b: tensor<2xf32>) -> tensor<2x2xf32> {
  %y = quant.region (%a, %w, %b) {
    %e = tensor.empty() : tensor<2x2xf32>
    %s = linalg.broadcast ins(%b : tensor<2xf32>) outs(%e : tensor<2x2xf32>) dimensions = [0]
    %m = MATMUL ins(%a, %w : tensor<2x64xf32>, tensor<2x64xf32>) outs(%s : tensor<2x2xf32>) -> tensor<2x2xf32>
    quant.return %m : tensor<2x2xf32>
  } {input_specs = [A, W, B], output_specs = [A], kernel = "matmul"}
    : (tensor<2x64xf32>, tensor<2x64xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}""".replace(
    "MATMUL",
    "linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, "
    "affine_map<(m, n, k) -> (m, n)>]",
)


def transposed(w, bias, target="int4-weights"):
    text = re.sub(r"\b[AWB]\b", lambda found: {"A": str(X), "W": str(w), "B": str(bias)}[found[0]], TRANSPOSED)
    module = ir.parse(text)
    module.verify()
    return [each.message for each in violations(module, find(target))]


def test_blocks_of_a_transposed_matrix_and_the_greatest_scale_of_each_column():
    options = {"block_sizes": {0: 1, 1: 32}, "storage_min": -7, "storage_max": 7}
    w = UniformType("i4", "f32", [[0.5, 2.0], [0.25, 0.125]], **options)
    right = UniformType("i32", "f32", [1.0, 0.125], axis=0)
    assert transposed(w, right) == []
    assert "in channel 0" in transposed(w, right.with_(scales=[0.25, 0.125]))[0]
    assert "in channel 1" in transposed(w, right.with_(scales=[1.0, 0.0625]))[0]
    across = UniformType("i4", "f32", [[0.5] * 64], block_sizes={0: 2, 1: 1}, storage_min=-7, storage_max=7)
    assert "operand 1 (w)" in transposed(across, right)[0]


def test_one_scale_is_no_scale_for_each_block():
    """Another signature of the kernel takes it, where the target has one."""
    one = UniformType("i4", "f32", 0.5, storage_min=-7, storage_max=7)
    assert transposed(one, UniformType("i32", "f32", 0.25)) == []
    blocks = TargetPort("a", "i4", -7, 7, blocks={0: 2})
    assert "i4<-7:7> blocks=0:2" in held("free", [one], X, [blocks])[0]
    assert held("free", [UniformType("i4", "f32", [0.5], None, None, {0: 2}, -7, 7)], X, [blocks]) == []


def test_channels_of_a_transposed_matrix():
    right = UniformType("i32", "f32", [0.25, 0.5], axis=0)
    rows = UniformType("i8", "f32", [0.5, 1.0], axis=0)
    assert transposed(rows, right, "qrt-cpu") == []
    columns = UniformType("i8", "f32", [0.5] * 64, axis=1)
    assert "operand 1 (w)" in transposed(columns, right, "qrt-cpu")[0]


def test_a_fixed_type_has_its_bounds():
    given = TargetPort("y", given=uniform(0.5))
    assert held("fixed_scale", [X], uniform(0.5), [given]) == []
    assert "!quant.uniform<i8:f32" in held("fixed_scale", [X], uniform(0.5, storage_min=-100), [given])[0]


def test_a_multiplier_just_outside_is_told_from_the_end():
    said = held("multiplier_scale", [X, X], uniform(0.25 + 2**-40), multiplier=(1.0, 2.0))
    assert "the multiplier 0.99999999999" in said[0]
