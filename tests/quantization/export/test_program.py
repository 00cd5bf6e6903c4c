"""Edges of an exported program. Hazards: a value that is dequantized and quantized again between two regions, a
constant that is stored twice, a port that was not decided, a float that is lost."""

import numpy as np
import pytest

from qrt import ir
from qrt.errors import VerifyError
from tests.quantization.export.programs import exported, ran, t
from tests.quantization.export.test_kernels import ops

Q, R, X = "!quant.uniform<i8:f32, 0.1:3>", "!quant.uniform<u8:f32, 0.05:7>", t(4)
BODY = "^bb0(%u: X, %v: X):\n%s = arith.addf %u, %v : X\nquant.return %s : X"


def add(name, a, b, specs=(Q, Q), out=Q, kernel="add"):
    """A region that adds."""
    attributes = f'{{input_specs = [{", ".join(specs)}], output_specs = [{out}], kernel = "{kernel}"}}'
    return f"%{name} = quant.region(%{a}, %{b}) {{\n{BODY}\n}} {attributes} : (X, X) -> X\n"


def rescale(name, a, source, result):
    """A region that changes the type of an edge."""
    attributes = f'{{input_specs = [{source}], output_specs = [{result}], kernel = "rescale"}}'
    return f"%{name} = quant.region(%{a}) {{\n^bb0(%u: X):\nquant.return %u : X\n}} {attributes} : (X) -> X\n"


def main(body, returned="%y : X", arguments="%x: X, %z: X"):
    """A function."""
    types = ", ".join(each.split(": ")[-1] for each in returned.split(" : ")[1:])
    return f"func.func @main({arguments}) -> ({types}) {{\n{body}return {returned}\n}}".replace("X", X)


ARRAYS = [np.float32([-3, 0.04, 0.05, 2]), np.float32([0.16, -0.15, 20, -20])]


@pytest.mark.parametrize("to", ["fixed", "codegen"])
def test_edges_are_quantized(to):
    """Arguments are quantized once, the result dequantized once; nothing in between."""
    text = main(add("0", "x", "z") + add("1", "0", "x") + add("y", "1", "0"))
    module = exported(text, to)
    casts = ops(module, "quant")
    assert casts.count("qcast") == 2
    assert casts.count("dcast") == 1
    assert np.array_equal(ran(module, ARRAYS), ran(exported(text, "fixed"), ARRAYS))
    assert np.abs(np.subtract(ran(module, ARRAYS), ran(exported(text, "simulate"), ARRAYS))).max() < 0.101


def test_a_float_use_is_dequantized():
    """What stays outside regions reads the dequantized value, and so does the caller."""
    text = main(add("0", "x", "z") + "%1 = math.exp %0 : X\n" + add("y", "0", "0"), "%1, %y : X, X")
    module = exported(text, "fixed")
    assert ops(module, "quant").count("dcast") == 2
    assert np.array_equal(*(ran(exported(text, to), ARRAYS)[0] for to in ("fixed", "simulate")))


def test_quantized_arguments_and_results_are_used_as_they_are():
    """Arguments that come quantized, and a result that the caller wants quantized: no cast is left."""
    q = f"tensor<4x{Q}>"
    body = f"%a = quant.dcast %x : {q} to X\n" + add("y", "a", "a") + f"%r = quant.qcast %y : X to {q}\n"
    module = exported(main(body, f"%r : {q}", f"%x: {q}"), "fixed")
    assert ops(module, "quant") == []
    assert ops(module) == ["add"]


def test_a_constant_is_stored_once_for_each_type():
    """Shared by three ports, of two types."""
    body = "%c = arith.constant dense<[1.0, 2.0, -3.0, 0.05]> : X\n"
    body += add("0", "x", "c") + add("1", "0", "c") + add("y", "1", "c", (Q, R))
    module = exported(main(body), "fixed")
    constants = [op for op in module.operation.walk() if op.name == "arith.constant"]
    stored = sorted(op.attributes["value"].python.tolist() for op in constants)
    assert stored == [[13, 23, -27, 4], [27, 47, 0, 8]]
    assert all(op.result.type.element.width == 8 for op in constants)


def test_rescales():
    """Between quantized types an op; to and from floats a cast."""
    body = add("0", "x", "z") + rescale("1", "0", Q, R) + add("2", "1", "1", (R, R))
    body += (
        rescale("3", "2", Q, "!quant.none<f32>") + "%4 = math.exp %3 : X\n" + rescale("5", "4", "!quant.none<f32>", Q)
    )
    text = main(body + add("y", "5", "0"))
    module = exported(text, "fixed")
    assert ops(module) == ["add", "requantize", "add", "add"]
    assert ops(module, "quant") == ["qcast", "qcast", "dcast", "qcast", "dcast"]
    assert np.abs(np.subtract(ran(module, ARRAYS), ran(exported(text, "simulate"), ARRAYS))).max() < 0.101


def test_none_keeps_the_float_body():
    """A port that stays float keeps its kernel in floats, and says so."""
    text = main(add("0", "x", "z") + add("y", "0", "z", (Q, "!quant.none<f32>"), "!quant.none<f32>"))
    from qrt.ir.pipeline import module_steps, run_steps

    said, module = [], ir.parse(text)
    run_steps(module, module_steps("export-quant"), report=said.append)
    assert [each.message for each in said] == ["kernel 'add' stays in floats: operand #1 is !quant.none<f32>"]
    assert ops(module) == ["add"]
    (first,) = ran(exported(main(add("y", "x", "z")), "fixed"), ARRAYS)
    assert np.array_equal(ran(module, ARRAYS)[0], first + ARRAYS[1])


def test_narrow_floats():
    """Ports in bf16 are truncated and extended, once on an edge."""
    text = main(add("0", "x", "z", ("bf16", "bf16"), "bf16") + add("y", "0", "0", ("bf16", "bf16"), "bf16"))
    module = exported(text, "fixed")
    assert ops(module, "arith") == [
        "truncf",
        "extf",
        "truncf",
        "extf",
        "addf",
        "truncf",
        "extf",
        "addf",
        "truncf",
        "extf",
    ]


def test_constants_in_narrow_floats():
    """Stored narrow, with the values that truncf gives: overflow and ties among them."""
    values = "%c = arith.constant dense<[1.00390625, 3.4e38, -0.0, 1.0e-40]> : X\n"
    text = main(values + add("y", "x", "c", ("bf16", "bf16"), "bf16"))
    module = exported(text, "fixed")
    (constant,) = [op for op in module.operation.walk() if op.name == "arith.constant"]
    assert str(constant.result.type) == "tensor<4xbf16>"
    plain = main("%t = arith.truncf %z : X to tensor<4xbf16>\n%y = arith.extf %t : tensor<4xbf16> to X\n")
    zeros, given = [np.zeros(4, np.float32)] * 2, np.float32([1.00390625, 3.4e38, -0.0, 1.0e-40])
    assert np.array_equal(ran(module, zeros)[0], ran(ir.parse(plain), [zeros[0], given])[0])


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            add("y", "x", "z", (Q, "f32")),
            "of kernel 'add': operand #1 must have a quantized type or !quant.none, got f32",
        ),
        (
            add("y", "x", "z", (Q, Q), "!quant.any<i8:f32>"),
            "of kernel 'add': result #0 must have a quantized type or !quant.none, got !quant.any",
        ),
        (
            add("0", "x", "z", out=R) + add("y", "0", "z"),
            "operand #0 has the type !quant.uniform<u8:f32, 5.000000e-02:7>, but input_specs declares "
            "!quant.uniform<i8",
        ),
    ],
)
@pytest.mark.parametrize("to", ["fixed", "codegen", "simulate"])
def test_programs_that_are_not_propagated(body, said, to):
    """Named with its port, before anything has been changed."""
    module = ir.parse(main(body))
    before = str(module)
    with pytest.raises(VerifyError, match=said.replace("(", ".")) as caught:
        ir.run_passes(module, f"export-quant{{to={to}}}")
    assert caught.value.location is not None
    assert str(module) == before


def test_a_target_that_lacks_the_kernel():
    """The error says what to write instead."""
    with pytest.raises(
        VerifyError,
        match=r"of kernel 'mine.gate' cannot be exported: the target 'tflite' has no such kernel: run unfuse-kernels",
    ):
        exported(main(add("y", "x", "z", kernel="mine.gate")), "fixed", "tflite")
    assert ops(exported(main(add("y", "x", "z", kernel="mine.gate")), "fixed")) == ["add"]
