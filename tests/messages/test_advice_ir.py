"""The advice in errors of the IR and of its builder, followed. Hazard: a program that is refused again."""

from typing import Any

import numpy as np
import pytest

import qrt
from qrt import ir
from tests.ir.passes.test_ends import Folds, rewrite_greedily, swap_forever
from tests.messages.advice import advises

CHANNELS = "tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>"
TWO = "func.func @f(%x: f32) { return }\nfunc.func @g(%x: f32) { return }"
Q = "tensor<2x!quant.uniform<i8:f32, 0.5>>"


def reading(result: str, *lines: str) -> Any:
    """Return what a function of a per-axis tensor gives for its element 1."""
    body = "\n".join(["%i = arith.constant 1 : index", *lines])
    text = f"func.func @main(%x: {CHANNELS}) -> {result} {{\n{body}\nreturn %e : {result}\n}}"
    ir.parse(text).verify()
    (value,) = qrt.compile(text).run({"arg0": np.int8([4, 6])}).values()
    return np.asarray(value)


@advises(
    "ir/dialects/quant/channels.py",
    "; extract the element from the storage (quant.scast) or from the floats (quant.dcast)",
)
def test_an_element_of_channels(heard: Any) -> None:
    element = CHANNELS.removeprefix("tensor<2x")[:-1]
    extract = "%e = tensor.extract {}[%i] : {}"
    heard(lambda: reading(element, extract.format("%x", CHANNELS)))
    storage = f"%s = quant.scast %x : {CHANNELS} to tensor<2xi8>"
    assert reading("i8", storage, extract.format("%s", "tensor<2xi8>")) == 6
    floats = f"%d = quant.dcast %x : {CHANNELS} to tensor<2xf32>"
    assert reading("f32", floats, extract.format("%d", "tensor<2xf32>")) == 1.5


@advises(
    "ir/dialects/quant/channels.py",
    "use {}, which adapts the type of its result, or ",
    "move floats instead (quant.dcast before, quant.qcast after)",
)
def test_channels_that_move(heard: Any) -> None:
    square, turned = (f"tensor<2x2x!quant.uniform<i8:f32:{axis}, {{0.5, 0.25}}>>" for axis in (0, 1))

    def transposed(result: str, *lines: str) -> Any:
        body = "\n".join(lines)
        text = f"func.func @main(%x: {square}) -> {result} {{\n{body}\nreturn %y : {result}\n}}"
        (value,) = qrt.compile(text).run({"arg0": np.int8([[4, 6], [8, 2]])}).values()
        return np.asarray(value)

    move = "%e = tensor.empty() : {0}\n%{2} = linalg.transpose ins(%{1} : {0}) outs(%e : {0}) permutation = [1, 0]"
    (name,) = heard(lambda: transposed(square, move.format(square, "x", "y")))
    op = f"%y = {name} %x {{permutation = [1, 0]}} : ({square}) -> {turned}"
    floats = "tensor<2x2xf32>"
    before, after = f"%a = quant.dcast %x : {square} to {floats}", f"%y = quant.qcast %b : {floats} to {square}"
    assert transposed(turned, op).tolist() == [[2, 2], [3, 0.5]]
    assert transposed(square, before, move.format(floats, "a", "b"), after).tolist() == [[2, 2], [3, 0.5]]


@advises("ir/builder.py", ": write b.func.return_(...) at the end of the `with` block")
def test_the_end_of_a_built_function(heard: Any) -> None:
    def built(ends: bool) -> Any:
        module = ir.Module()
        b = ir.Builder(module)
        with b.function("main", ["i32"]) as (x,):
            if ends:
                b.func.return_(b.arith.addi(x, x))
        return qrt.compile(module)(np.int32(2))

    heard(lambda: built(ends=False))
    assert built(ends=True) == 4


@advises("ir/builder.py", ": write {} for one element")
def test_a_quantized_constant(heard: Any) -> None:
    module = ir.Module()
    b = ir.Builder(module)
    with b.function("main", []):
        (type,) = heard(lambda: b.constant(3, "!quant.uniform<i8:f32, 0.5>"))
        b.func.return_(b.constant(3, type))
    assert float(qrt.compile(module)().dequantize()) == 1.5


@advises("ir/core/define.py", "; did you mean '{}'?")
def test_the_name_of_an_attribute(heard: Any) -> None:
    def clamped(name: str) -> Any:
        clamp = f"%y = qrt.clamp %x {{min = 0.0 : f64, {name} = 1.0 : f64}} : ({Q}) -> {Q}"
        program = qrt.compile(f"func.func @main(%x: {Q}) -> {Q} {{\n{clamp}\nreturn %y : {Q}\n}}")
        return np.asarray(program(np.int8([-4, 6])))

    (name,) = heard(lambda: clamped("maxx"))
    assert clamped(name).tolist() == [0, 1]


@advises("ir/module.py", "exactly one function of the module must have a body, found {}")
def test_the_name_of_a_function(heard: Any) -> None:
    heard(lambda: ir.parse(TWO).function())
    assert ir.parse(TWO).function("g").sym_name == "g"


@advises("ir/text/attribute_parser.py", "for a floating point value of type {}: add a trailing dot")
def test_a_trailing_dot(heard: Any) -> None:
    text = "func.func @f() -> f32 {{ %x = arith.constant {} : f32 return %x : f32 }}"
    heard(lambda: ir.parse(text.format("1")))
    assert qrt.compile(text.format("1."))() == 1


@advises("ir/making.py", "did you mean {}?")
def test_the_names_of_a_builder(heard: Any) -> None:
    builder = ir.Builder(ir.Module())
    with builder.function("f", ["f32"]) as (x,):
        (name,) = heard(lambda: builder.arith.cmpf(x, x, predicat="oeq"))
        assert builder.arith.cmpf(x, x, **{eval(name): "oeq"}).operation.name == "arith.cmpf"
        for wrong, right in (("builder.arithh.addf", "arith"), ("builder.arith.adf", "addf")):
            with pytest.raises(AttributeError) as raised:
                eval(wrong)
            (name,) = heard.text(str(raised.value))
            assert eval(name) == right
            eval(wrong.replace("arithh", eval(name)).replace("adf", eval(name)))
        builder.func.return_()


@advises("ir/making.py", "must be signless, got {}: write {}")
def test_a_constant_without_a_sign_in_its_type(heard: Any) -> None:
    module = ir.Module()
    builder = ir.Builder(module)
    with builder.function("main", []):
        for given in ("si8", "ui8"):
            _, type = heard(lambda given=given: builder.constant(5, given))
            assert type == "i8"
        builder.func.return_(builder.constant(5, type))
    assert qrt.compile(module)() == 5


@advises("ir/rewriting/greedy.py", "; change the operation that the {} rewrites, or omit the passes that simplify")
def test_a_program_without_what_is_rewritten(heard: Any) -> None:
    def rewritten(operation: str) -> str:
        text = f"func.func @f(%x: i32, %y: i32) -> i32 {{ %0 = arith.{operation} %x, %y : i32 return %0 : i32 }}"
        module = ir.parse(text)
        rewrite_greedily(module.operation, Folds(), lambda op: (swap_forever,) if op.name == "arith.addi" else ())
        return str(module)

    heard(lambda: rewritten("addi"))
    assert "arith.muli" in rewritten("muli")


@advises("ir/core/matching.py", ": remove the operation, or run canonicalize first")
def test_a_value_that_depends_on_itself(heard: Any) -> None:
    text = """func.func @f() {
      return
    ^bb1:
      %1 = arith.negf %0 : tensor<2xf32>
      %0 = "quant.stats_ref"(%1) {statsKey = "a"} : (tensor<2xf32>) -> tensor<2xf32>
      return
    }"""
    heard(lambda: ir.run_passes(ir.parse(text), "convert-stats"))
    lines = text.splitlines()
    for module in (
        ir.run_passes(ir.parse(text), "canonicalize,convert-stats"),
        ir.run_passes(ir.parse("\n".join(lines[:3] + lines[5:])), "convert-stats"),
    ):
        assert [op.name for op in module.function("f").walk() if "negf" in op.name] == []
