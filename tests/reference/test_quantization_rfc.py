"""What sentences of the propagation RFC say, one by one, of small programs: constraints, annotations and regions.
quantization_rfc.toml says which test holds which sentence.
"""

import re

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.errors import QuantError
from qrt.quantization.targets import Target, TargetKernel, TargetPort, register_target
from qrt.types import CalibratedType, NoQuantizedType, UniformType
from tests.quantization import float_text as ops
from tests.quantization.checks import kernel_of
from tests.reference import rfc
from tests.reference.rfc_programs import (
    CALIBRATED,
    F32,
    FLOATS,
    I8,
    OF_16_BITS,
    OTHER,
    SHAPE,
    one_region,
    passed,
    products,
    program,
    propagated,
    said,
    written,
)

# -- target constraints -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("asked", "storage"), [(F32, "i8"), ("!quant.any<i9:f32>", "i16")])
def test_a_signature_says_what_a_device_stores(tmp_path, asked, storage):
    """The kernel's name and the widths of the ports are the key; the first signature that fits is taken."""

    def build(text, a, b):
        return text.region("add", [text.stats(a, -1, 1), b], [asked, str(CALIBRATED)], str(CALIBRATED), ops.add)

    inputs, outputs = said(propagated(program(build, SHAPE, SHAPE), written(tmp_path, OF_16_BITS)))
    assert [spec.storage for spec in (*inputs, *outputs)] == [storage] * 3


def test_a_partial_signature_is_completed_by_the_first_match(tmp_path):
    """One port says 16 bits, and the others follow."""
    text = one_region("add", [CALIBRATED, CALIBRATED], "!quant.uniform<i16:f32, 0.001>", ops.add)
    target = OF_16_BITS.replace('y = "*"', 'y = "i8"').replace('default = {y = "i8"}\n', "")
    inputs, _ = said(propagated(text, written(tmp_path, target)))
    assert [spec.storage for spec in inputs] == ["i16", "i16"]


@pytest.mark.parametrize(("output", "storage"), [(CALIBRATED, "i8"), ("!quant.uniform<u4:f32, 0.5>", "u4")])
def test_a_wildcard_takes_what_is_decided_or_its_default(tmp_path, output, storage):
    text = one_region("add", [CALIBRATED, CALIBRATED], output, ops.add)
    _, (spec,) = said(propagated(text, written(tmp_path, OF_16_BITS)))
    assert spec.storage == storage


@pytest.mark.parametrize("side", ["input", "output"])
def test_ports_are_operands_and_results(side):
    """A type goes from either to the other."""
    given = [I8, F32] if side == "input" else [F32, I8]
    text = one_region("reshape", given[:1], given[1], ops.flatten, (1, 2, 2, 3))
    assert said(propagated(text)) == ([I8], [I8])


def test_a_function_derives_types_of_ports():
    calls = []

    def halved(inputs, outputs):
        x, y = inputs[0], outputs[0]
        if not isinstance(x, UniformType):
            return [], []
        outputs[0] = x.with_(scales=x.scale / 2)
        calls.append(([], [] if outputs[0] is y else [0]))
        return calls[-1]

    register_target(
        Target("halving", (TargetKernel("half", (TargetPort("x", "i8"),), (TargetPort("y", "i8"),), halved),))
    )
    text = one_region("half", [I8], F32, ops.tanh)
    assert said(propagated(text, "halving")) == ([I8], [UniformType("i8", "f32", 0.25, 3)])
    assert ([], [0]) in calls


def test_what_changes_reaches_users_and_definitions():
    """Of the type that one port has, along a chain of kernels that keep it, in both directions."""

    def chain(text, x):
        for number in range(5):
            x = text.region("clamp", [x], [F32], str(I8) if number == 2 else F32, _clamp)
        return x

    module = propagated(program(chain))
    assert [said(module, number) for number in range(5)] == [([I8], [I8])] * 5


def test_shorthands(tmp_path):
    """`same_scale`, `fixed_scale`, `multiplier_scale`, `multiplier_accumulator_scale`."""
    same = one_region("max_pool2d", [F32], I8, ops.max_pool2d, (1, 4, 4, 2))
    assert said(propagated(same, "tflite")) == ([I8], [I8])
    fixed = one_region("softmax", [CALIBRATED], F32, ops.softmax)
    assert said(propagated(fixed, "tflite"))[1] == [UniformType("i8", "f32", 1 / 256, -128)]
    target = '[[kernel]]\nname = "mul"\nconstraint = "multiplier_scale"\nmultiplier = [0.0, 1.0]\n'
    target += 'ports = {a = "i8", b = "i8", y = "i8"}\n'
    multiplied = one_region("mul", [I8, UniformType("i8", "f32", 0.25)], CalibratedType("f32", -0.1, 0.1), ops.mul)
    _, (spec,) = said(propagated(multiplied, written(tmp_path, target)))
    assert spec.scale == 0.125
    inputs, _ = said(
        propagated(
            one_region("matmul", [I8, OTHER, CALIBRATED], CALIBRATED, products, SHAPE, (6, 3), (3,)),
            "tflite",
        )
    )
    assert inputs[2].scales == (0.125,)
    assert (inputs[2].storage, inputs[2].zero_points) == ("i32", (0,))


# -- model constraints ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec",
    [I8, CALIBRATED, NoQuantizedType("f32"), "!quant.any<i4:f32>", "bf16", F32],
    ids=str,
)
def test_specs_say_how_to_quantize(spec):
    """Each is the type at a port, and is read again as it is printed; of other floats it is an error."""
    text = one_region("lookup", [spec], F32, ops.tanh)
    module = ir.parse(text)
    module.verify()
    assert str(said(module)[0][0]) == str(spec)
    assert str(ir.parse(str(module))) == str(module)
    if str(spec).startswith("!"):
        with pytest.raises(QuantError, match="must be the element type of"):
            ir.parse(text.replace(str(spec), str(spec).replace("f32", "f16"))).verify()


def test_a_uniform_spec_is_kept():
    """And a kernel that does not take it is an error with a place."""
    narrow = UniformType("i8", "f32", 0.5, storage_min=-100, storage_max=100)
    assert said(propagated(one_region("lookup", [narrow], I8, ops.tanh))) == ([narrow], [I8])
    text = one_region("lookup", ["!quant.uniform<i16:f32, 0.5>"], I8, ops.tanh)
    with pytest.raises(QuantError, match=r"f.mlir:2:\d+.* no signature of 'lookup'"):
        propagated(text, options="undecided=error")
    assert said(propagated(text)) == ([NoQuantizedType("f32")], [NoQuantizedType("f32")])


@pytest.mark.parametrize(("asked", "storage"), [("i4", "i8"), ("i8", "i8"), ("i9", "i16")])
def test_any_is_a_least_width(asked, storage):
    def build(text, x):
        return text.region("clamp", [text.stats(x, -1, 1)], [f"!quant.any<{asked}:f32>"], F32, _clamp)

    (spec,), _ = said(propagated(program(build)))
    assert spec.storage == storage


def _clamp(text, x):
    return ops.clamp(text, x, -1, 1)


@pytest.mark.parametrize(("target", "storage"), [("tflite", "i8"), ("int16x8", "i16")])
def test_a_calibrated_spec_gives_the_range_and_the_kernel_the_width(target, storage):
    text = one_region("add", [CALIBRATED, CALIBRATED], CALIBRATED, ops.add)
    inputs, outputs = said(propagated(text, target))
    for spec in (*inputs, *outputs):
        assert spec.storage == storage
        assert spec.scale * (spec.storage_max - spec.storage_min) == pytest.approx(2, rel=1e-2)


def test_none_keeps_a_tensor_as_it_is():
    """The kernel is there, and is not used."""
    text = one_region("matmul", [NoQuantizedType("f32"), F32], F32, ops.matmul, SHAPE, (6, 3))
    module = passed(text, "propagate-quant{target=qrt-cpu},export-quant")
    assert "qrt.matmul" not in str(module)
    x, w = (np.random.default_rng(0).normal(size=shape).astype(np.float32) for shape in (SHAPE, (6, 3)))
    assert qrt.compile(module)(x, w).tobytes() == qrt.compile(text)(x, w).tobytes()


def test_bfloat16_is_another_type():
    text = passed(one_region("add", [F32, F32], F32, ops.add), "propagate-quant{target=bf16},export-quant")
    names = [operation.name for operation in text.operation.walk()]
    assert names.count("arith.truncf") == 3
    assert names.count("arith.extf") == 3


def test_annotations_come_from_ops_and_from_element_types():
    """An argument of a quantized type, `quant.stats`, `quant.qcast` with `quant.dcast`, and a region's own."""

    def build(text, x, y):
        x = text.op(f"quant.dcast {x.name} : {x.type.replace('f32>', f'{I8}>')} to {x.type}", x.shape)
        z = text.region("add", [x, text.stats(y, -1, 1)], [F32, F32], F32, ops.add)
        return text.region("lookup", [text.fake_quantized(z, str(OTHER))], [F32], str(CALIBRATED), ops.tanh)

    text = program(build, SHAPE, SHAPE).replace(f"%x0: {FLOATS}", f"%x0: {FLOATS.replace('f32>', f'{I8}>')}")
    module = propagated(text)
    (a, b), (c,) = said(module)
    assert (a, c) == (I8, OTHER)
    assert b.scale * 255 == pytest.approx(2, rel=1e-2)
    assert said(module, 1)[0] == [OTHER]


def test_emulated_quantization_becomes_a_uniform_spec():
    def build(text, x):
        return text.fake_quantized(text.region("lookup", [x], [F32], F32, ops.tanh), str(I8))

    assert said(passed(program(build), "convert-fake-quant"))[1] == [I8]


def test_statistics_become_a_calibrated_spec():
    def build(text, x):
        return text.stats(text.region("lookup", [text.stats(x, -1, 1)], [F32], F32, ops.tanh), -0.5, 0.5)

    module = passed(program(build), "convert-stats")
    assert said(module) == ([CALIBRATED], [CalibratedType("f32", -0.5, 0.5)])
    assert "quant.stats" not in str(module)


def test_annotations_of_several_kinds_are_combined():
    """A width, statistics, and a learned type."""

    def build(text, x):
        y = text.region("clamp", [text.stats(x, -4, 4)], ["!quant.any<i9:f32>"], F32, _clamp)
        z = text.region("add", [y, y], [F32, F32], F32, ops.add)
        return text.fake_quantized(z, "!quant.uniform<i16:f32, 0.001>")

    module = propagated(program(build))
    (x,), _ = said(module)
    assert (x.storage, said(module, 1)[1][0].storage) == ("i16", "i16")
    assert said(module, 1)[1] == [UniformType("i16", "f32", 0.001)]


# -- the region -------------------------------------------------------------------------------------------------------

FILLED_IN = {
    "%..": "%y",
    "(imported_ssa_values)": "(%x, %w)",
    "…high precision ops w/ model constraints for intermediates values…": """
        %e = tensor.empty() : tensor<2x3xf32>
        %zero = arith.constant 0.0 : f32
        %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
        %m = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x3xf32>) outs(%f : tensor<2x3xf32>) -> tensor<2x3xf32>
        %s = "quant.stats"(%m) {layerStats = dense<[-1.0, 1.0]> : tensor<2xf32>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
        """,
    "exported_ssa_values": "%s : tensor<2x3xf32>",
    "input_specs: [QT]": "input_specs: [!quant.any<i4:f32>, f32]",
    "output_specs: [QT]": "output_specs: [!quant.calibrated<f32<-1.0:1.0>>]",
    "“kernel_name”": '"matmul"',
    "(high-precision tensor types) ->": "(tensor<2x4xf32>, tensor<4x3xf32>) ->",
    "-> (high-precision tensor types)": "-> (tensor<2x3xf32>)",
}


def test_the_region_of_the_rfc_is_read():
    """Word for word, once what it leaves out is filled in."""
    (said,) = (each.text for each in rfc.sections()["The region"] if "quant.region (" in each.text)
    text = said[said.index("%..") :]
    for left_out, filled in FILLED_IN.items():
        assert left_out in text
        text = text.replace(left_out, filled)
    program = f"func.func @f(%x: tensor<2x4xf32>, %w: tensor<4x3xf32>) {{ {text} return }}"
    module = ir.parse(program)
    module.verify()
    (region,) = (operation for operation in module.operation.walk() if operation.name == "quant.region")
    assert kernel_of(region) == "matmul"
    assert str(ir.parse(str(module))) == str(module)


def test_a_region_lists_what_it_takes_and_gives():
    """Its body sees nothing else, and other code nothing but its results."""
    text = one_region("lookup", [F32], F32, ops.tanh, SHAPE)
    ir.parse(text).verify()
    inside = re.search(r"math.tanh (%\w+)", text)[1]
    with pytest.raises(QuantError, match=r"undeclared SSA value|not declared"):
        ir.parse(text.replace(f"math.tanh {inside}", "math.tanh %x0")).verify()


def test_annotations_inside_decide_nothing():
    def annotated(text, x):
        return ops.tanh(text, text.stats(x, -100, 100))

    plain, other = (one_region("lookup", [CALIBRATED], CALIBRATED, body) for body in (ops.tanh, annotated))
    assert said(propagated(plain)) == said(propagated(other))
    assert "quant.stats" in str(propagated(other))
