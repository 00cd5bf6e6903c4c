"""Hazards: a bias that wraps in i32; a constraint of a user's that raises, never settles or changes what others rely
on; a type that depends on where the heap began; a port that nobody decides.
"""

import itertools

import numpy as np
import pytest

from qrt.errors import VerifyError
from qrt.quantization.targets.model import Changed, QuantFn, Spec, Target, TargetKernel, TargetPort
from qrt.quantization.verification.check_quant import is_fully_quantized
from qrt.types import FloatType, NoQuantizedType, UniformType, parse_type
from tests.quantization.propagation.programs import (
    FIXED,
    KERNELS,
    NONE,
    STRICT,
    WIDE,
    A,
    B,
    constant,
    function,
    range_of,
    region,
    run,
)

W, BIAS = constant("%w", 1, 2, -127, 0), constant("%b", 1, 2, 3, 4)


def uniform(text: str) -> UniformType:
    return parse_type(text, kind=UniformType)


def test_a_bias_has_the_product_of_the_scales() -> None:
    lines = [W, BIAS, region("%0", "product", "%x, %w, %b", [A, "f32", "f32"], range_of(-1, 1))]
    ((_, w, b, _),) = run(function("%x", *lines)).of("product")
    assert uniform(w).scale == 1.0
    assert b == "!quant.uniform<i32:f32, 5.000000e-01>"


def test_a_bias_of_another_type_gives_way() -> None:
    """Its own annotation does, with a remark; what another region makes is rescaled."""
    other = "!quant.uniform<i32:f32, 2.500000e-01>"
    lines = [W, BIAS, region("%0", "product", "%x, %w, %b", [A, "f32", other], range_of(-1, 1))]
    result = run(function("%x", *lines))
    assert result.of("product")[0][2] == "!quant.uniform<i32:f32, 5.000000e-01>"
    assert [each.message.partition(":")[0] for each in result.remarks] == ["product input 2 is !quant.uniform<i32"]
    lines = [
        W,
        region("%1", "wide32", "%x", A, range_of(-1, 1)),
        region("%0", "product", "%x, %w, %1", [A, "f32", "f32"], range_of(-1, 1)),
    ]
    target = Target("t", (*KERNELS, TargetKernel("wide32", (TargetPort("x", "i8"),), (TargetPort("y", "i32"),))))
    result = run(function("%x", *lines), target=target)
    ((made, taken),) = result.of("rescale")
    assert made == result.of("wide32")[0][1]
    assert taken == "!quant.uniform<i32:f32, 5.000000e-01>"


@pytest.mark.parametrize("coarser", [False, True])
def test_a_bias_that_passes_its_storage(coarser: bool) -> None:
    lines = [W, constant("%b", 1, 2, 3, 3e9), region("%0", "product", "%x, %w, %b", [A, "f32", "f32"], range_of(-1, 1))]
    result = run(function("%x", *lines), target=Target("t", KERNELS, coarser_bias=coarser))
    ((x, w, b, _),) = result.of("product")
    assert x == A
    assert uniform(b).scale == 2.0
    assert uniform(w).scale == (1.0 if coarser else 4.0)
    (remark,) = result.remarks
    assert remark.message.startswith("product input 2 overflows i32 and")
    assert remark.message.endswith("by up to 2^2")


def test_a_bias_beside_activations_without_a_type_is_not_fitted() -> None:
    """The greatest value of the bias rounds to a code beyond i32 in the type of its own range."""
    bias = constant("%b", 0.0, 0.04210363, -0.6165607, 0.6396911)
    lines = [region("%0", "float", "%x"), W, bias, region("%1", "product", "%0, %w, %b", "f32", B)]
    result = run(function("%x", *lines), target=Target("t", KERNELS))
    assert result.of("product") == [[NONE, NONE, NONE, NONE]]
    assert any("product stays float" in remark.message for remark in result.remarks)


def test_a_bias_whose_annotation_gives_way_is_fitted_too() -> None:
    other = "!quant.uniform<i32:f32, 2.000000e+00>"
    lines = [W, constant("%b", 1, 2, 3, 3e9), region("%0", "product", "%x, %w, %b", [A, "f32", other], range_of(-1, 1))]
    ((_, w, b, _),) = run(function("%x", *lines)).of("product")
    assert b == other
    assert uniform(w).scale == 4.0


def test_a_result_grows_into_the_range_of_multipliers() -> None:
    """Of a scale of its own at first, and of one that is fixed, from which the port departs with a rescale."""
    lines = [W, region("%0", "least", "%x, %w", [A, "f32"], range_of(-1, 1)), region("%1", "op", "%0", "f32", A)]
    result = run(function("%x", *lines))
    assert uniform(result.of("least")[0][2]).scale == 0.5
    assert result.of("op") == [["!quant.uniform<i8:f32, 5.000000e-01>", A]]
    lines = [W, region("%0", "least", "%x, %w", [A, "f32"], B), region("%1", "op", "%0", B, A)]
    result = run(function("%x", *lines))
    assert result.of("least")[0][2] == A
    assert result.of("rescale") == [[A, B]]
    with pytest.raises(VerifyError, match=r"'least' fails: .*no scale of the result"):
        run(function("%x", W, region("%0", "least", "%x, %w", [A, "f32"], range_of(-1e6, 1))))


def test_a_fixed_scale_outranks_an_annotation() -> None:
    lines = [region("%0", "fixed", "%x", A, A), region("%1", "op", "%0", A, A)]
    result = run(function("%x", *lines))
    assert result.of("fixed") == [[A, str(FIXED)]]
    assert result.of("rescale") == [[str(FIXED), A]]
    assert "the constraint of the kernel takes precedence over its annotation" in result.remarks[0].message


@pytest.mark.parametrize(
    ("kernel", "specs", "said"),
    [
        ("op", ("f32", A), "no type can be chosen for op input 0: it has no range"),
        ("op", (A, "f32"), "annotate it as !quant.calibrated<f32<min:max>>"),
        (
            "undecided",
            (range_of(0, 1), A),
            "no type can be chosen for undecided input 0: the kernel accepts any type there",
        ),
    ],
)
def test_a_port_that_nobody_decides(kernel: str, specs: tuple[str, str], said: str) -> None:
    text = function("%x", region("%0", kernel, "%x", *specs))
    with pytest.raises(VerifyError) as error:
        run(text, STRICT)
    assert said in str(error.value)
    assert str(error.value).startswith("f.mlir:2:6: error")
    result = run(text)
    assert result.of(kernel) == [[NONE, NONE]]
    (remark,) = result.remarks
    assert remark.message.startswith(f"{kernel} stays float: no type can be chosen for {kernel} ")
    assert said in remark.message
    assert remark.location is not None
    assert remark.location.line == 2


def test_regions_around_one_that_nobody_decides_keep_their_types() -> None:
    """The whole region is float: types that reach it are rescaled to floats, and floats to types."""
    lines = [region("%0", "op", "%x", A), region("%1", "wide", "%0"), region("%2", "op", "%1", B, B)]
    result = run(function("%x", *lines))
    assert result.of("op") == [[NONE, NONE], [B, B]]
    assert [remark.message.count("no type can be chosen for") for remark in result.remarks] == [1, 1]
    assert result.of("wide") == [[NONE, NONE]]
    assert result.of("rescale") == [[NONE, B]]


def test_a_constant_that_is_not_finite_is_named() -> None:
    line = "%c = arith.constant dense<[1.0, 0x7F800000, 2.0, 3.0]> : tensor<4xf32>"
    with pytest.raises(VerifyError, match=r"op input 0: .*finite"):
        run(function("%x", line, region("%0", "op", "%c", "f32", A)))


# -- functions of users ------------------------------------------------------------------------------------------------


def device(constraint: QuantFn) -> Target:
    return Target(
        "mine", (*KERNELS, TargetKernel("mine", (TargetPort("x", "i8"),), (TargetPort("y", "i8"),), constraint))
    )


def doubled(inputs: list[Spec], outputs: list[Spec]) -> Changed:
    """The result has twice the scale of the operand."""
    if not isinstance(inputs[0], UniformType):
        return [], []
    wanted = inputs[0].with_(scales=inputs[0].scale * 2)
    if outputs[0] is wanted:
        return [], []
    outputs[0] = wanted
    return [], [0]


def test_a_function_decides_what_others_give_no_range_for() -> None:
    lines = [
        region("%0", "mine", "%x", B, "f32"),
        region("%1", "mine", "%0", "f32", "f32"),
        region("%2", "op", "%1", "f32", A),
    ]
    result = run(function("%x", *lines), target=device(doubled))
    assert [specs[1] for specs in result.of("mine")] == [A, "!quant.uniform<i8:f32, 1.000000e+00>"]
    assert result.outcome.visits <= result.outcome.bound


def test_what_is_decided_late_is_passed_on_backwards() -> None:
    """The operand follows from the result, and the region that defines it is visited again."""

    def halved(inputs: list[Spec], outputs: list[Spec]) -> Changed:
        if isinstance(outputs[0], UniformType) and inputs[0] is not (
            w := outputs[0].with_(scales=outputs[0].scale / 2)
        ):
            inputs[0] = w
            return [0], []
        return [], []

    count = 6
    lines = [region(f"%{n}", "mine", "%x" if n == 0 else f"%{n - 1}", "f32", "f32") for n in range(count - 1)]
    lines.append(region(f"%{count - 1}", "mine", f"%{count - 2}", "f32", A))
    result = run(function("%x", *lines), target=device(halved))
    assert [uniform(specs[0]).scale for specs in result.of("mine")] == [0.5 ** (count + 1 - n) for n in range(count)]
    assert len(lines) < result.outcome.visits <= result.outcome.bound


def raises(inputs: list[Spec], outputs: list[Spec]) -> Changed:
    raise KeyError("scale")


def loops(inputs: list[Spec], outputs: list[Spec]) -> Changed:
    assert isinstance(outputs[0], UniformType)
    outputs[0] = outputs[0].with_(scales=outputs[0].scale * 2)
    return [], [0]


def hides(inputs: list[Spec], outputs: list[Spec]) -> Changed:
    doubled(inputs, outputs)
    return [], []


def exceeds(inputs: list[Spec], outputs: list[Spec]) -> Changed:
    return [3], []


def returns_nothing(inputs: list[Spec], outputs: list[Spec]) -> Changed:
    return None  # type: ignore[return-value]


def misfits(inputs: list[Spec], outputs: list[Spec]) -> Changed:
    outputs[0] = uniform(WIDE)
    return [], [0]


def forgets(inputs: list[Spec], outputs: list[Spec]) -> Changed:
    outputs[0] = FloatType("f32")
    return [], [0]


def gives_text(inputs: list[Spec], outputs: list[Spec]) -> Changed:
    inputs[0] = "i8"  # type: ignore[assignment]
    return [0], []


def of_another_float(inputs: list[Spec], outputs: list[Spec]) -> Changed:
    outputs[0] = UniformType("i8", "f64", 0.5)
    return [], [0]


class Unsayable(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


def raises_what_has_no_text(inputs: list[Spec], outputs: list[Spec]) -> Changed:
    raise Unsayable


@pytest.mark.parametrize(
    ("constraint", "said"),
    [
        (gives_text, "must set ports to types, got 'i8' for port 0"),
        (of_another_float, "but the kernel does not accept this type there"),
        (raises_what_has_no_text, "the constraint of 'mine' fails: Unsayable"),
        (raises, "the constraint of 'mine' fails: KeyError: 'scale'"),
        (loops, "the constraint of 'mine' must stop changing types"),
        (hides, "changed the type of mine output 0, so it must return its number as changed"),
        (exceeds, "must return numbers of ports from 0 to 0 as changed, got [3]"),
        (returns_nothing, "must return two lists"),
        (misfits, f"sets mine output 0 to {WIDE}, but the kernel does not accept this type there"),
        (forgets, "sets mine output 0 to f32, but the kernel does not accept this type there"),
    ],
)
def test_functions_that_are_wrong(constraint: QuantFn, said: str) -> None:
    text = function("%x", region("%0", "mine", "%x", A, range_of(-1, 1)))
    with pytest.raises(VerifyError) as error:
        run(text, target=device(constraint))
    assert said in str(error.value)
    assert str(error.value).startswith("f.mlir:2:6: error")


def test_numbers_of_ports_may_be_numpys() -> None:
    def twice(inputs: list[Spec], outputs: list[Spec]) -> Changed:
        outputs[0] = uniform(B)
        return [], [np.int64(0)]  # type: ignore[list-item]

    assert run(function("%x", region("%0", "mine", "%x", A)), target=device(twice)).of("mine") == [[A, B]]


@pytest.mark.parametrize("output", [A, range_of(-1, 1)])
def test_a_port_that_a_function_changes_after_it_was_decided_gets_a_rescale(output: str) -> None:
    """The other type is that of an annotation, or of a region that was visited before."""
    lines = [region("%0", "op", "%x", A, output)] + [region("%1", "mine", "%x", A, A)] * (output == A)
    if output != A:
        lines = [region("%0", "op", "%x", A, output), region("%1", "mine2", "%0", "f32", A)]
    kernels = (
        *KERNELS,
        TargetKernel("mine", (TargetPort("x", "i8"),), (TargetPort("y", "i8"),), doubled),
        TargetKernel(
            "mine2",
            (TargetPort("x", "i8"),),
            (TargetPort("y", "i8"),),
            lambda x, y: (x.__setitem__(0, uniform(B)), ([0], []))[1],
        ),
    )
    result = run(function("%x", *lines), target=Target("t", kernels))
    assert result.outcome.rescales == (output != A)
    assert result.of("mine" if output == A else "mine2") == (
        [[A, "!quant.uniform<i8:f32, 1.000000e+00>"]] if output == A else [[B, A]]
    )


# -- order -------------------------------------------------------------------------------------------------------------


def test_the_start_of_the_heap_has_no_influence() -> None:
    lines = [
        W,
        BIAS,
        region("%0", "product", "%x, %w, %b", [A, "f32", "f32"], range_of(-1, 1)),
        region("%1", "least", "%0, %w", "f32", range_of(-2, 3)),
        region("%2", "join", "%0, %1"),
        region("%3", "fixed", "%2"),
    ]
    text = function("%x", *lines)
    texts = {str(run(text, order=order).module) for order in itertools.permutations(range(4))}
    assert len(texts) == 1


def test_what_is_quantized_stays_as_it_is() -> None:
    lines = [
        region("%0", "op", "%x", range_of(-1, 1), range_of(-1, 1)),
        region("%1", "wide", "%0", "f32", WIDE),
        region("%2", "float", "%1"),
    ]
    once = run(function("%x", *lines))
    again = run(str(once.module))
    assert str(again.module) == str(once.module)
    assert again.outcome.rescales == 0
    assert len(once.of("rescale")) == 2


def test_visits_and_time_grow_linearly() -> None:
    def of(count: int) -> int:
        lines = [region(f"%{n}", "op", f"%{n - 1}" if n else "%x", "f32", range_of(-1 - n, 1)) for n in range(count)]
        lines[0] = region("%0", "op", "%x", range_of(-1, 1), range_of(-1, 1))
        return run(function("%x", *lines)).outcome.visits

    assert (of(20), of(40)) == (20, 40)


def test_a_fixed_type_that_the_values_cannot_have() -> None:
    least = TargetKernel(
        "k", (TargetPort("x", "i8"),), (TargetPort("y", given=UniformType("i8", "f32", 1e-20)),), "fixed_scale"
    )
    text = function("%x", region("%0", "k", "%x", A.replace("f32", "f16"), "f16")).replace("4xf32", "4xf16")
    with pytest.raises(
        VerifyError, match=r"^f.mlir:2:6: error: k output 0 is fixed by the target: scale 1.0.*e-20 out"
    ):
        run(text, target=Target("t", (least,)))


def test_ports_of_one_type_that_express_two() -> None:
    text = """func.func @main(%x: tensor<4xf32>) {
%0 = quant.region (%x) { ^bb0(%a: tensor<4xf32>):
  %b = arith.extf %a : tensor<4xf32> to tensor<4xf64>
  quant.return %b : tensor<4xf64>
} {input_specs = [f32], output_specs = [f64], kernel = "pool"} : (tensor<4xf32>) -> tensor<4xf64>
return }"""
    with pytest.raises(
        VerifyError,
        match="pool input 0 and pool output 0 must have the same type, but have the expressed types f32 and f64",
    ):
        run(text)


def test_operands_that_are_no_floats_are_nobodys_to_decide() -> None:
    """They go to the kernel as they are; its function is told that they stay so."""
    text = """func.func @main(%x: tensor<4xf32>, %i: tensor<4xi32>) {
%0 = quant.region (%x, %i) { ^bb0(%a: tensor<4xf32>, %b: tensor<4xi32>):
  quant.return %a : tensor<4xf32>
} {input_specs = [!quant.uniform<i8:f32, 0.5>, i32], output_specs = [f32], kernel = "pick"}
  : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
return }"""

    def first(inputs: list[Spec], outputs: list[Spec]) -> Changed:
        assert isinstance(inputs[1], NoQuantizedType)
        changed = outputs[0] is not inputs[0]
        outputs[0] = inputs[0]
        return [], [0] * changed

    device = Target(
        "t", (TargetKernel("pick", (TargetPort("x", "i8"), TargetPort("i")), (TargetPort("y", "i8"),), first),)
    )
    result = run(text, target=device)
    assert result.of("pick") == [[A, "i32", A]]
    assert is_fully_quantized(result.module, device)
