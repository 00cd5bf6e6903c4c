"""Quantized types become storage integers in every operation. Hazards: a type that only a block argument or an
attribute has, unsigned storage that is read with a sign, a channel whose scale is lost, a half changed module."""

import re
import shlex

import numpy as np
import pytest

from qrt import ir
from qrt.errors import VerifyError
from qrt.ir import run_passes
from qrt.ops.core import storage_dtype
from qrt.runtime.interpreter import Interpreter
from qrt.types import IndexType, UniformType
from tests import mlir_opt
from tests.docs.documents import ROOT
from tests.ir.passes.draw_quantized_moves import Program
from tests.ir.passes.lower_qrt.upstream import bits_of, integer_case
from tests.oracle.execution.driver import execute

PROGRAMS = 200
RUNNER_PROGRAMS = 40
LOWERED = "lower-qrt,lower-quant-ops,quant-to-integer-types"
Q = "!quant.uniform<i8:f32, 5.000000e-01:3>"
T = f"tensor<2x3x{Q}>"
AXIS = "!quant.uniform<i8:f32:1, {0.5, 0.25, 2.0}>"


def after(text):
    return str(run_passes(ir.parse(text, "f.mlir"), "quant-to-integer-types"))


def arguments(module, seed):
    """Control arguments of a drawn program, and storage for the quantized arguments."""
    rng = np.random.default_rng(seed)
    control, values = [], []
    for type in module.function("f").type.inputs:
        element, shape = getattr(type, "element", type), getattr(type, "shape", ())
        if isinstance(element, UniformType):
            codes = rng.integers(element.storage_min, element.storage_max, shape, endpoint=True)
            values.append(codes.astype(storage_dtype(element)))
        else:
            drawn = rng.integers(0, 4, shape)
            control.append(np.asarray(drawn if isinstance(element, IndexType) else drawn % 2 == 1)[()])
    return control, values


@pytest.mark.parametrize("first", range(0, PROGRAMS, 20))
def test_drawn_programs_keep_their_bits(first):
    for seed in range(first, first + 20):
        text = Program(f"moves {seed}").text
        before = ir.parse(text)
        before.verify()
        module = run_passes(ir.parse(text), LOWERED)
        assert "quant" not in str(module)
        assert str(ir.parse(str(module))) == str(module)
        for run in range(2):
            control, values = arguments(before, (seed, run))
            (wanted,) = Interpreter(before).call(before.function("f"), control + values)
            integers = [value.view(f"i{value.itemsize}") for value in values]
            (result,) = Interpreter(module).call(module.function("f"), control + integers)
            assert np.asarray(result).tobytes() == np.asarray(wanted).tobytes(), f"{text}\n{module}"


def test_elements_in_the_resource_section_become_integers():
    resource = '{-# dialect_resources: { builtin: { r: "0x010000000102" } } #-}'
    text = f"func.func @f() -> tensor<2x{Q}> {{ %0 = arith.constant dense_resource<r> : tensor<2x{Q}>\n"
    text += f"return %0 : tensor<2x{Q}> }}\n{resource}"
    module = run_passes(ir.parse(text), "quant-to-integer-types")
    (result,) = Interpreter(module).call(module.function("f"), [])
    assert result.tolist() == [1, 2]
    assert result.dtype == np.int8


@mlir_opt.needed
def test_drawn_programs_have_their_bits_in_mlir_runner():
    cases, wanted = [], []
    for seed in range(RUNNER_PROGRAMS):
        text = Program(f"runner {seed}", for_runner=True).text
        before = ir.parse(text)
        calls = [control + values for control, values in (arguments(before, (seed, run)) for run in range(2))]
        wanted.append([Interpreter(before).call(before.function("f"), call)[0] for call in calls])
        lowered = run_passes(ir.parse(text), "lower-qrt,lower-quant-ops")
        cases.append(integer_case(lowered, [[bits_of(value) for value in call] for call in calls]))
    for case, outcome, values in zip(cases, execute(cases), wanted, strict=True):
        assert not isinstance(outcome, str), f"{outcome[:2000]}\n{case.text}"
        assert [result.bits for (result,) in outcome] == [bits_of(value).bits for value in values], case.text


@mlir_opt.needed
def test_mlir_opt_lowers_the_program_of_the_page():
    page = (ROOT / "docs" / "lowering.md").read_text()
    (text,) = re.findall(r"`loop.mlir`:\n\n```mlir\n(.*?)```", page, re.DOTALL)
    (command,) = re.findall(r"```text\n(mlir-opt .*?)```", page, re.DOTALL)
    export = "fuse-kernels,propagate-quant,export-quant{to=codegen},lower-quant-ops,quant-to-integer-types"
    lowered = mlir_opt.run(str(run_passes(ir.parse(text), export)), *shlex.split(command)[2:])
    assert not lowered.stderr.decode()
    others = re.findall(r"^ *(?:%\S+ = )?\"?(\w+)\.", lowered.stdout.decode(), re.MULTILINE)
    assert {*others} == {"llvm"}


def test_every_place_that_names_a_type():
    text = after(f"""
    func.func private @declared({T}, tuple<{Q}, f32>) -> {T}
    func.func @passes(%callee: ({T}) -> {T}, %x: {T} {{my.list = [{{a = {Q}}}], my.type = {T}}}) -> {T} {{
      return %x : {T}
    }}
    ml_program.global private mutable @state : {T}
    func.func @reads() -> {T} {{
      %0 = ub.poison : {T}
      %1 = bufferization.alloc_tensor() : {T}
      %2 = tensor.empty() : {T}
      return %1 : {T}
    }}""")
    assert "quant" not in text
    assert "my.list = [{a = i8}], my.type = tensor<2x3xi8>" in text
    assert "(tensor<2x3xi8>, tuple<i8, f32>) -> tensor<2x3xi8>" in text


@pytest.mark.parametrize(
    ("storage", "integer"), [("u8", "i8"), ("i4", "i4"), ("si8", "si8"), ("ui16", "ui16"), ("i8<-4:4>", "i8")]
)
def test_the_storage_type_is_the_one_of_the_quantized_type(storage, integer):
    q = f"!quant.uniform<{storage}:f32, 0.5>"
    assert f"(%arg0: tensor<4x{integer}>) -> tensor<4x{integer}>" in after(
        f"func.func @f(%x: tensor<4x{q}>) -> tensor<4x{q}> {{ return %x : tensor<4x{q}> }}"
    )


def test_a_least_width_has_a_storage_type():
    assert "i4" in after("func.func private @f(!quant.any<i4:f32>)")


def function(body, result=T, argument=T):
    return f"func.func @f(%x: {argument}) -> {result} {{\n{body}\n}}"


REFUSED = {
    "qcast": (function(f"%0 = quant.qcast %x : tensor<2x3xf32> to {T}\nreturn %0 : {T}", argument="tensor<2x3xf32>"),
              "'quant.qcast' op quant-to-integer-types cannot convert this operation, which computes with the "
              "quantized type !quant.uniform<i8:f32, 5.000000e-01:3> and would compute something else with "
              "its storage integers: "
              "run lower-quant-ops first"),
    "dcast": (function(f"%0 = quant.dcast %x : {T} to tensor<2x3xf32>\nreturn %0 : tensor<2x3xf32>", "tensor<2x3xf32>"),
              "run lower-quant-ops first"),
    "kernel": (function(f"%0 = qrt.add %x, %x : ({T}, {T}) -> {T}\nreturn %0 : {T}"), "run lower-qrt first"),
    "article": (
        function(f'%0 = "quant.cast"(%x) : ({T}) -> tensor<2x3xf32>\nreturn %0 : tensor<2x3xf32>', "tensor<2x3xf32>"),
        "run lower-quant-ops first",
    ),
    "region": (
        f"""func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {{
        %0 = quant.region (%x) {{
        ^bb0(%v: tensor<4xf32>):
          quant.return %v : tensor<4xf32>
        }} {{input_specs = [{Q}], output_specs = [{Q}], kernel = "lookup"}} : (tensor<4xf32>) -> tensor<4xf32>
        return %0 : tensor<4xf32>
        }}""",
        "'quant.region' op quant-to-integer-types cannot convert this operation, which computes with the quantized",
    ),
    "unregistered": (
        function(f'%0 = "mine.op"(%x) : ({T}) -> {T}\nreturn %0 : {T}'),
        "'mine.op' op quant-to-integer-types cannot convert this operation, which computes with the quantized type "
        "!quant.uniform<i8:f32, 5.000000e-01:3> and would compute something else with its storage integers: "
        "replace the operation by operations on integers first",
    ),
    "calibrated": (
        "func.func private @f(!quant.calibrated<f32<-1.0:1.0>>)",
        "'func.func' op quant-to-integer-types cannot convert the types of this operation: "
        "!quant.calibrated<f32<-1.000000e+00:1.000000e+00>> has no",
    ),
    "none": ("func.func private @f(!quant.none<f32>)", "has no storage type"),
    "elements written as texts": (
        f'func.func private @f() attributes {{a = [{{b = dense<["1", "2"]> : tensor<2x{Q}>}}]}}',
        "cannot convert the elements of attribute 'b', which are written as texts and have the type tensor<2x!quant",
    ),
    "channels that change places": (
        f"""func.func @f(%x: tensor<3x3x{AXIS}>) -> tensor<3x3x{AXIS}> {{
        %e = tensor.empty() : tensor<3x3x{AXIS}>
        %0 = linalg.transpose ins(%x : tensor<3x3x{AXIS}>) outs(%e : tensor<3x3x{AXIS}>) permutation = [1, 0]
        return %0 : tensor<3x3x{AXIS}>
        }}""",
        "moves channels: axis 1 of %x",
    ),
    "scales that do not fit": (
        f"func.func @f(%x: tensor<3x4x{AXIS}>) -> tensor<3x4x{AXIS}> {{ return %x : tensor<3x4x{AXIS}> }}",
        "quantized dimension size does not match number of scales: dimension 1 has size 4, the type has 3 scales",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_changed_is_an_error_and_stays(name):
    text, message = REFUSED[name]
    module = ir.parse(text, "f.mlir", allow_unregistered=True)
    given = str(module)
    with pytest.raises(VerifyError, match=re.escape(message)) as caught:
        run_passes(module, "quant-to-integer-types")
    assert caught.value.location.filename == "f.mlir"
    assert str(module) == given


@pytest.mark.parametrize("storage", ["f8E4M3FN", "!quant.quantile<ui1:f32, {-1.0, 1.0}>"])
def test_storage_that_is_no_integer_is_refused(storage):
    module = ir.parse(f"func.func private @f(!quant.uniform<{storage}:f32, 0.5>)", upstream=24)
    with pytest.raises(VerifyError, match="is not an integer type"):
        run_passes(module, "quant-to-integer-types")


def test_storage_casts_of_another_encoding_are_refused():
    text = f"""func.func @f(%x: tensor<4x{Q}, "a">) -> tensor<4xi8> {{
      %0 = quant.scast %x : tensor<4x{Q}, "a"> to tensor<4xi8>
      return %0 : tensor<4xi8>
    }}"""
    message = (
        "'quant.scast' op quant-to-integer-types cannot remove this cast, because its types differ as integers: "
        'tensor<4xi8, "a"> and tensor<4xi8>'
    )
    with pytest.raises(VerifyError, match=re.escape(message)):
        after(text)


def test_only_function_headers_change_without_it():
    """`strip-func-quant-types` does what upstream's does, and leaves loops."""
    text = f"""func.func @f(%x: {T}, %n: index) -> {T} {{
      %c1 = arith.constant 1 : index
      %0 = scf.for %i = %c1 to %n step %c1 iter_args(%c = %x) -> ({T}) {{
        scf.yield %c : {T}
      }}
      return %0 : {T}
    }}"""
    stripped = str(run_passes(ir.parse(text), "strip-func-quant-types"))
    assert re.search(rf"iter_args\(%\w+ = %\d+\) -> \({re.escape(T)}\)", stripped)
    assert "quant" not in after(stripped)
    assert after(stripped) == after(text)
