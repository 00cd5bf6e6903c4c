"""The advice of passes, followed. Hazards: an annotation that does not decide the port, a pass that does not help, a
program that runs in the end and computes something else."""

from typing import Any

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.quantization.forms import KernelMatch
from qrt.quantization.propagation.propagate_quant import Settings
from qrt.quantization.targets.declared import declared_tables
from qrt.quantization.targets.model import Target, TargetKernel, TargetPort
from qrt.quantization.targets.registry import register_target
from qrt.runtime.interpreter import Interpreter
from tests.messages.advice import advises
from tests.quantization.export.programs import drawn_arrays, exported, function, ran, t
from tests.quantization.export.test_program import ARRAYS, Q, R, add, main, rescale
from tests.quantization.fusion.test_fuse_kernels import marked
from tests.quantization.propagation import programs as regions
from tests.quantization.propagation.programs import A, B, range_of, region
from tests.registries import restored_registries

X, Y = t(3, 4), t(3, 2)


def same(text: str, arrays: list[Any], step: float, original: str = "") -> None:
    """Check that a program computes in integers, to a step, what it or another one computes in floats."""
    for to in ("fixed", "codegen"):
        actual = ran(exported(text, to), arrays)
        expected = ran(exported(original or text, "simulate"), arrays)
        assert np.abs(np.subtract(actual, expected)).max() <= step
        assert len(np.unique(actual)) > 2


@advises("quantization/checking/value_edges.py", "{} is {}, but {} is {}: insert a rescale between them")
def test_a_rescale_between(heard: Any) -> None:
    text = main(add("0", "x", "z", out=R) + add("y", "0", "x"))
    _, taken, _, given = heard(lambda: ir.run_passes(ir.parse(text), "check-quant"))
    mended = main(add("0", "x", "z", out=R) + rescale("1", "0", given, taken) + add("y", "1", "x"))
    ir.run_passes(ir.parse(mended), "check-quant")
    same(mended, ARRAYS, 0.101)


@advises("quantization/export/ports.py", "run propagate-quant, which puts a rescale between them")
def test_a_rescale_that_a_pass_puts(heard: Any) -> None:
    text = main(add("0", "x", "z", out="!quant.uniform<i8:f32, 0.25>") + add("y", "0", "x"))
    heard(lambda: exported(text, "fixed"))
    mended = ir.run_passes(ir.parse(text), "propagate-quant")
    same(str(mended), ARRAYS, 0.101)


@pytest.mark.parametrize("way", ["propagate-quant", "!quant.uniform", "!quant.none"])
@advises("quantization/export/ports.py", ": run propagate-quant, or write the type in {}")
def test_a_port_that_is_not_decided(heard: Any, way: str) -> None:
    text = main(add("y", "x", "z", out=range_of(-2, 2)))
    heard(lambda: exported(text, "fixed"))
    if way == "propagate-quant":
        mended = str(ir.run_passes(ir.parse(text), way))
    else:
        mended = text.replace(range_of(-2, 2), Q if way == "!quant.uniform" else "!quant.none<f32>")
    if way == "!quant.none":
        assert np.array_equal(ran(exported(mended, "fixed"), ARRAYS), ran(exported(mended, "simulate"), ARRAYS))
    else:
        same(mended, ARRAYS, 0.101)


@advises("quantization/export/program.py", ": run unfuse-kernels{target={}} first, which inlines its body")
def test_a_kernel_that_the_target_lacks(heard: Any, tmp_path: Any, capsys: Any) -> None:
    text = main(add("0", "x", "z", kernel="mine.gate") + add("y", "0", "0"))
    (target,) = heard(lambda: exported(text, "fixed", "tflite"))
    (tmp_path / "p.mlir").write_text(text)
    option = f"--unfuse-kernels=target={target}"
    assert qrt.cli.main(["opt", option, "--export-quant=target=tflite", str(tmp_path / "p.mlir")]) == 0
    module = ir.parse(capsys.readouterr().out)
    simulated = exported(text, "simulate")
    assert np.abs(np.subtract(ran(module, ARRAYS), ran(simulated, ARRAYS))).max() < 0.101


@advises("quantization/export/linear.py", "write a quant.qcast and a quant.dcast in the body before and after it")
def test_types_inside_of_a_body(heard: Any) -> None:
    def gate(body: str) -> str:
        return function((X, X), X, body.replace("X", X), (Q, R), R, kernel="mine.gate")

    text = gate("%1 = arith.addf %a, %b : X\n%2 = math.tanh %1 : X\n%y = arith.addf %2, %b : X")
    heard(lambda: exported(text, "fixed"))
    read, yielded = (f"tensor<3x4x!quant.uniform<i8:f32, {scale}>>" for scale in (0.05, 0.0078125))
    mended = gate(
        f"%1 = arith.addf %a, %b : X\n%q = quant.qcast %1 : X to {read}\n%2 = quant.dcast %q : {read} to X\n"
        f"%3 = math.tanh %2 : X\n%p = quant.qcast %3 : X to {yielded}\n%4 = quant.dcast %p : {yielded} to X\n"
        "%y = arith.addf %4, %b : X"
    )
    same(mended, drawn_arrays(ir.parse(text), np.random.default_rng(1)), 0.101)
    same(mended, drawn_arrays(ir.parse(text), np.random.default_rng(1)), 0.201, original=text)


@advises(
    "quantization/export/linear.py",
    "a constant in the body needs more than 64 bits: make it an operand of the region",
)
def test_a_constant_that_becomes_an_operand(heard: Any) -> None:
    constant = [[1.0, 2.0**-70 * 1.5], [4.0, 1.0], [1.0, -1.0]]
    body = f"%0 = arith.constant dense<{constant}> : {Y}\n%y = arith.addf %a, %0 : {Y}"
    text = function((Y,), Y, body, (Q,), Q, kernel="mine.gate")
    heard(lambda: exported(text, "fixed"))
    mended = function((Y, Y), Y, f"%y = arith.addf %a, %b : {Y}", (Q, Q), Q, {1: constant}, kernel="mine.gate")
    arrays = [np.float32([[1, 2], [-3, 0], [0.5, 1]])]
    same(mended, arrays, 0.101)
    actual = ran(exported(mended, "fixed"), arrays)[0]
    assert np.abs(actual - (arrays[0] + np.float32(constant))).max() <= 0.15


@advises("quantization/export/linear.py", "the scales differ along an axis that is summed over: requantize before it")
def test_scales_along_an_axis_that_is_summed_over(heard: Any) -> None:
    channels = "!quant.uniform<i8:f32:1, {0.02, 0.04, 0.03, 0.01}>"
    body = f"""%zero = arith.constant 0.0 : f32
%e = tensor.empty() : {Y}
%f = linalg.fill ins(%zero : f32) outs(%e : {Y}) -> {Y}
%1 = linalg.matmul ins(%a, %b : {X}, {t(4, 2)}) outs(%f : {Y}) -> {Y}
%y = arith.negf %1 : {Y}"""
    text = function((X, t(4, 2)), Y, body, (channels, Q), Q, kernel="mine.gate")
    heard(lambda: exported(text, "fixed"))
    layer = "!quant.uniform<i8:f32, 0.04>"
    head, _, rest = text.partition("%y = quant.region(%x0, %x1)")
    rescaled = (
        f"%x2 = quant.region(%x0) {{\n^bb0(%u: {X}):\nquant.return %u : {X}\n}} "
        f'{{input_specs = [{channels}], output_specs = [{layer}], kernel = "rescale"}} : ({X}) -> {X}\n'
    )
    mended = f"{head}{rescaled}%y = quant.region(%x2, %x1){rest.replace(channels, layer)}"
    same(
        mended,
        [np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4), np.float32([[1, 2], [3, 4], [-1, 0], [2, 1]])],
        0.101,
    )


LAYER = f"""func.func @main(%x: {t(4, 8)}) -> {t(4, 2)} {{
  %w = arith.constant dense<0.5> : {t(8, 2)}
  %b = arith.constant dense<[1.0, -2.0]> : {t(2)}
  %e = tensor.empty() : {t(4, 2)}
  %f = linalg.broadcast ins(%b : {t(2)}) outs(%e : {t(4, 2)}) dimensions = [0]
  %y = linalg.matmul ins(%x, %w : {t(4, 8)}, {t(8, 2)}) outs(%f : {t(4, 2)}) -> {t(4, 2)}
  return %y : {t(4, 2)}
}}"""


@advises(
    "quantization/checking/kernels.py",
    "; give data of the size that the program runs on, or a wider !quant.calibrated range at operand 0",
)
def test_a_bias_that_is_lost(heard: Any) -> None:
    x = np.linspace(-1, 1, 32, dtype=np.float32).reshape(4, 8)
    expected = x.sum(axis=1, keepdims=True) / 2 + np.float32([1, -2])
    heard(lambda: qrt.quantize_program(ir.parse(LAYER), {"arg0": x * np.float32(1e-20)}))
    assert np.abs(qrt.quantize_program(ir.parse(LAYER), {"arg0": x}).program(x) - expected).max() < 0.05

    def propagated(magnitude: float) -> ir.Module:
        text = str(ir.run_passes(ir.parse(LAYER), "fuse-kernels"))
        specs = f"input_specs = [{range_of(-magnitude, magnitude).replace('1e-20', '1.0e-20')}, f32, f32]"
        text = text.replace("input_specs = [f32, f32, f32]", specs)
        text = text.replace("output_specs = [f32]", f"output_specs = [{range_of(-6, 6)}]")
        return ir.run_passes(ir.parse(text), "propagate-quant,check-quant,export-quant")

    heard(lambda: propagated(1e-20))
    assert np.abs(ran(propagated(1.0), [x])[0] - expected).max() < 0.05


@advises("quantization/fusion/wrap_region.py", "run inline{entry={}} first")
def test_a_kernel_that_calls_another_function(heard: Any) -> None:
    call = "%r = func.call @inner(%x) : (tensor<4xf32>) -> tensor<4xf32>"
    inner = "func.func private @inner(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
    inner += "%y = arith.negf %x : tensor<4xf32>\nreturn %y : tensor<4xf32>\n}\n"
    text = inner + marked("mine.negated", call).replace("mulf %x", "mulf %r")
    ports = TargetPort("a", "i8"), TargetPort("b", "i8")
    fuse = "fuse-kernels{target=mine-negated}"
    with restored_registries():
        register_target(Target("mine-negated", (TargetKernel("mine.negated", ports, (TargetPort("y", "i8"),)),)))
        (entry,) = heard(lambda: ir.run_passes(ir.parse(text), fuse))
        module = ir.run_passes(ir.parse(text), f"inline{{entry={entry}}},{fuse}")
    assert [op.name for op in module.function("f").walk() if op.name in ("quant.region", "func.call")] == [
        "quant.region"
    ] * 2
    arrays = [np.float32([1, 2, 3, 4]), np.float32([0.5, -1, 2, 3])]
    results = [Interpreter(m).call(m.function("f"), arrays) for m in (module, ir.parse(text))]
    assert np.array_equal(np.asarray(results[0][0]), np.asarray(results[1][0]))


# -- propagation: programs of regions whose bodies say nothing


@advises("quantization/propagation/rescale_causes.py", ": annotate {} as {}")
def test_an_annotation_that_makes_a_rescale_go(heard: Any) -> None:
    lines = [region("%0", "op", "%x", A, A), region("%1", "op", "%0", B, A)]
    (cause,) = regions.run(regions.function("%x", *lines)).causes
    place, type = heard.text(cause)
    assert f"{place} op output 0 is {A}" in cause
    lines[int(place.rpartition(":")[2]) - 2] = region("%0", "op", "%x", A, type)  # the body begins on the second line
    assert regions.run(regions.function("%x", *lines)).causes == []


@advises("quantization/propagation/classes.py", "couples this value without effect: {}: annotate both as one type")
def test_values_that_are_annotated_as_one_type(heard: Any) -> None:
    def program(first: str, second: str) -> str:
        pairs = ((0, first), (1, second))
        return regions.function(
            "%x",
            *(region(f"%{n}", "op", "%x", A, spec) for n, spec in pairs),
            *(f'%c{n} = "quant.coupled_ref"(%{n}) {{coupledKey = "k"}} : ({regions.T}) -> {regions.T}' for n in (0, 1)),
            *(region(f"%r{n}", "op", f"%c{n}", output=A) for n in (0, 1)),
        )

    (remark,) = regions.run(program(range_of(-1, 1), range_of(-100, 100))).remarks
    heard.text(remark.message)
    result = regions.run(program(A, A))
    assert result.remarks == []
    assert result.of("op")[2:] == [[A, A]] * 2


@advises("quantization/propagation/decide.py", ": annotate it as !quant.calibrated<{}<min:max>>")
def test_a_range_for_a_port(heard: Any) -> None:
    text = regions.function("%x", region("%0", "op", "%x", "f32", A))
    (element,) = heard(lambda: regions.run(text, Settings(undecided="error")))
    annotation = f"!quant.calibrated<{element}<-1.0:2.0>>"
    result = regions.run(regions.function("%x", region("%0", "op", "%x", annotation, A)))
    type = qrt.parse_type(result.of("op")[0][0])
    values = qrt.quantize([-1.0, 2.0], type)
    assert np.abs(np.asarray(values) - [-1, 2]).max() <= type.scale / 2


@advises("quantization/propagation/decide.py", ": annotate it with a !quant.uniform type")
def test_a_type_for_a_port(heard: Any) -> None:
    text = regions.function("%x", region("%0", "undecided", "%x", range_of(0, 1), A))
    heard(lambda: regions.run(text, Settings(undecided="error")))
    result = regions.run(regions.function("%x", region("%0", "undecided", "%x", B, A)))
    assert result.of("undecided") == [[B, A]]


POOL = regions.function("%v", region("%p", "pool", "%v"), name="private @pool", returned="%p")


def calls(*types: str, callee: str = "@pool") -> str:
    """Return a program that calls a function once with an operand of each type."""
    lines = [region(f"%{n}", "op", "%x", A, type) for n, type in enumerate(types)]
    lines += [f"%c{n} = func.call {callee}(%{n}) : ({regions.T}) -> {regions.T}" for n in range(len(types))]
    return regions.function("%x", *lines)


@advises(
    "quantization/propagation/functions.py", ": write its branches as scf ops, or run propagate-quant with functions={}"
)
def test_a_function_of_several_blocks(heard: Any) -> None:
    blocks = regions.function(
        "%v", f"cf.br ^bb1(%v : {regions.T})", f"^bb1(%w: {regions.T}):", region("%p", "pool", "%w"), returned="%p"
    ).replace("@main", "private @pool")
    (functions,) = heard(lambda: regions.run(calls(A, B) + blocks))
    settings = Settings(functions=functions)  # type: ignore[arg-type]
    assert regions.run(calls(A, B) + blocks, settings).of("pool") == [[A, A], [B, B]]
    branch = regions.function(
        "%v",
        f"%c = arith.constant true\n%p = scf.if %c -> {regions.T} {{",
        region("%q", "pool", "%v"),
        f"scf.yield %q : {regions.T}\n}} else {{\nscf.yield %v : {regions.T}\n}}",
        name="private @pool",
        returned="%p",
    )
    assert regions.run(calls(A, B) + branch).of("pool") == [[A, A], [B, B]]


@advises("quantization/propagation/functions.py", " for each call: call it less often")
def test_a_function_that_is_called_less_often(heard: Any) -> None:
    def chain(calls_of_each: int) -> str:
        functions = [POOL.replace("@pool", "@f0")]
        for n in range(1, 20):
            lines = [f"%{k} = func.call @f{n - 1}(%v) : ({regions.T}) -> {regions.T}" for k in range(calls_of_each)]
            functions.append(regions.function("%v", *lines, name=f"private @f{n}", returned="%0"))
        return calls(A, callee="@f19") + "".join(functions)

    settings = Settings(functions="duplicate")
    heard(lambda: regions.run(chain(2), settings))
    assert regions.run(chain(1), settings).of("pool") == [[A, A]]


@advises(
    "quantization/propagation/functions.py",
    "calls itself and contains regions, which may need other types in each call: write a loop instead, or move "
    "the regions out of it",
)
def test_a_function_that_calls_itself(heard: Any) -> None:
    again = f"%q = func.call @pool(%p) : ({regions.T}) -> {regions.T}"
    recursive = regions.function("%v", region("%p", "pool", "%v"), again, name="private @pool", returned="%q")
    heard(lambda: regions.run(calls(A) + recursive))
    loop = regions.function(
        "%v",
        "%c0 = arith.constant 0 : index\n%c3 = arith.constant 3 : index\n%c1 = arith.constant 1 : index",
        f"%q = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %v) -> ({regions.T}) {{",
        region("%p", "pool", "%a"),
        f"scf.yield %p : {regions.T}\n}}",
        name="private @pool",
        returned="%q",
    )
    assert regions.run(calls(A) + loop).of("pool") == [[A, A]]
    outside = regions.function("%v", again.replace("%p", "%v"), name="private @pool", returned="%q")
    text = (
        regions.function(
            "%x", region("%0", "pool", "%x", A), f"%1 = func.call @pool(%0) : ({regions.T}) -> {regions.T}"
        )
        + outside
    )
    assert regions.run(text).of("pool") == [[A, A]]


@advises("quantization/propagation/select.py", ": did you mean {}?")
def test_the_name_of_a_kernel(heard: Any) -> None:
    def program(kernel: str) -> str:
        return regions.function("%x", region("%0", kernel, "%x", A, A))

    (name,) = heard(lambda: regions.run(program("poool")))
    assert regions.run(program(name.strip("'"))).of("pool") == [[A, A]]


def _returned(body: str, type: str = "tensor<4x!quant.uniform<i8:f32, 0.5>>") -> str:
    return f"func.func @main(%x: {type}) -> {type} {{\n{body}\n  return %y : {type}\n}}"


@advises("ir/passes/quant_to_integer_types.py", "replace the operation by operations on integers first")
def test_an_operation_that_no_pass_lowers(heard: Any) -> None:
    t, i = "tensor<4x!quant.uniform<i8:f32, 0.5>>", "tensor<4xi8>"
    unknown = ir.parse(_returned(f'  %y = "mine.op"(%x) : ({t}) -> {t}'), allow_unregistered=True)
    heard(lambda: ir.run_passes(unknown, "quant-to-integer-types"))
    body = f"%a = quant.scast %x : {t} to {i}\n%b = arith.addi %a, %a : {i}\n%y = quant.scast %b : {i} to {t}"
    mended = ir.run_passes(ir.parse(_returned(body)), "quant-to-integer-types")
    assert "!quant" not in str(mended)
    assert qrt.compile(mended)(np.int8([1, 2, 3, 4])).tolist() == [2, 4, 6, 8]


@advises("ir/passes/quant_to_integer_types.py", ": write the storage integers as a constant, and a quant.scast")
def test_quantized_elements_that_are_written_as_texts(heard: Any) -> None:
    t, i = "tensor<4x!quant.uniform<i8:f32, 0.5>>", "tensor<4xi8>"
    texts = _returned(f'%y = arith.constant dense<["1", "2", "3", "4"]> : {t}')
    heard(lambda: ir.run_passes(ir.parse(texts), "quant-to-integer-types"))
    body = f"%c = arith.constant dense<[1, 2, 3, 4]> : {i}\n%y = quant.scast %c : {i} to {t}"
    mended = ir.run_passes(ir.parse(_returned(body)), "quant-to-integer-types")
    assert qrt.compile(mended)(np.int8([0, 0, 0, 0])).tolist() == [1, 2, 3, 4]


@advises("ir/passes/quant_to_integer_types.py", "{} has no storage type: run propagate-quant first, which chooses one")
def test_a_type_that_propagation_decides(heard: Any) -> None:
    text = main(add("y", "x", "z", out=range_of(-2, 2)))
    heard(lambda: ir.run_passes(ir.parse("func.func private @f(!quant.none<f32>)"), "quant-to-integer-types"))
    decided = ir.run_passes(ir.parse(text), "propagate-quant,export-quant{to=codegen},lower-quant-ops,canonicalize")
    assert "!quant" not in str(ir.run_passes(decided, "quant-to-integer-types"))


@advises("quantization/checking/names.py", ": name the kernel that the body computes")
def test_a_body_of_another_kernel(heard: Any) -> None:
    heard(lambda: ir.run_passes(ir.parse(MISNAMED), "export-quant"))
    ir.run_passes(ir.parse(MISNAMED.replace('kernel = "add"', 'kernel = "mul"')), "check-quant,export-quant")


@advises(
    "quantization/verification/agreement.py",
    ": write the body as fuse-kernels recognizes it, or write its operations without the region and run fuse-kernels, "
    "or give the region the name of a kernel for which the target has a pattern or an operation of its own",
)
def test_a_body_that_is_not_recognized(heard: Any) -> None:
    product = "%t = arith.mulf %x, %y : tensor<4xf32>"
    two = f"%s = math.absf %x : tensor<4xf32>\n    {product.replace('%x', '%s')}"
    unread = MISNAMED.replace(product, two).replace('kernel = "add"', 'kernel = "mul"')
    heard(lambda: ir.run_passes(ir.parse(unread), "check-quant"))
    ir.run_passes(ir.parse(unread.replace(two, product)), "check-quant")
    head, _, rest = unread.partition("  %0 = quant.region")
    assert "kernel" in rest
    plain = f"{head}{two.replace('%t', '%0')}\n  return %0 : tensor<4xf32>\n}}"
    ir.run_passes(ir.parse(plain), "fuse-kernels,propagate-quant,check-quant")

    def pattern(value: ir.Value) -> KernelMatch | None:
        product = value.operation
        absolute = None if product is None else product.operands[0].operation
        if product is None or absolute is None:
            return None
        return KernelMatch("mine.mul", ((absolute.operands[0], None), (product.operands[1], None)), (absolute, product))

    target = Target("mine", ())
    target.kernel("mine.mul", ports={"a": "i8", "b": "i8", "y": "i8"}, pattern=pattern)
    with restored_registries():
        register_target(target)
        ir.run_passes(ir.parse(unread.replace('kernel = "mul"', 'kernel = "mine.mul"')), "check-quant{target=mine}")


MISNAMED = """func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = quant.region (%x, %y) {
    %t = arith.mulf %x, %y : tensor<4xf32>
    quant.return %t : tensor<4xf32>
  } {input_specs = [!quant.uniform<i8:f32, 0.5>, !quant.uniform<i8:f32, 0.5>],
     output_specs = [!quant.uniform<i8:f32, 0.5>], kernel = "add"}
    : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}"""


@advises("quantization/targets/declared.py", ": 'activations' must be given, such as 'i8' or [\"i8\", \"u8\"]")
def test_the_activations_of_a_target(heard: Any) -> None:
    heard(lambda: declared_tables({}, (), "a target"))
    for activations in ("i8", ["i8", "u8"]):
        assert declared_tables({"activations": activations}, (), "a target")


@advises("quantization/targets/declared.py", "'default' can be given only together with results = \"*\"")
def test_the_default_of_results(heard: Any) -> None:
    heard(lambda: declared_tables({"activations": "i8", "default": "i8"}, (), "a target"))
    assert declared_tables({"activations": "i8", "default": "i8", "results": "*"}, (), "a target")


@pytest.mark.parametrize("strategy", ["post-accumulation", "auto"])
@advises("ir/passes/lower_qrt/__init__.py", "write zero-point=post-accumulation or zero-point=auto")
def test_dot_products_of_bytes(heard: Any, strategy: str) -> None:
    """The other strategies lower to dot products what `in-loop` cannot."""
    q = "!quant.uniform<i8:f32, 0.5:3>"
    a, w, y = f"tensor<2x16x{q}>", f"tensor<16x2x{q}>", f"tensor<2x2x{q}>"
    body = f"%y = qrt.matmul %a, %w : ({a}, {w}) -> {y}\n  return %y : {y}"
    text = f"func.func @main(%a: {a}, %w: {w}) -> {y} {{\n  {body}\n}}"
    heard(lambda: ir.run_passes(ir.parse(text), "lower-qrt{to=dot4 zero-point=in-loop}"))
    assert "vector.reduction" in str(ir.run_passes(ir.parse(text), f"lower-qrt{{to=dot4 zero-point={strategy}}}"))
