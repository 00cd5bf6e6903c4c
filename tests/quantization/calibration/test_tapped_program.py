"""Programs that tell values and go on with others. Hazards: a value that was converted, or named another way, before it
was replaced; one that a kernel reads from memory that somebody else holds; a reference to memory that is used again."""

from typing import Any

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.ir import Operation, Value
from qrt.quantization.calibration.observe import flattened, name_of, tapped_program

T = "tensor<2x4xf32>"
Q = "tensor<2x4x!quant.uniform<i8:f32, 0.5>>"
HEAD = f"func.func @main(%x: {T}) -> "
LOOP = f"""{HEAD}{T} {{
  %a = arith.constant 0 : index
  %s = arith.constant 1 : index
  %e = arith.constant 3 : index
  %r = scf.for %i = %a to %e step %s iter_args(%c = %x) -> {T} {{
    %0 = arith.addf %c, %c {{my.tap}} : {T}
    scf.yield %0 : {T}
  }}
  return %r : {T}
}}"""
BLOCKS = f"""{HEAD}{T} {{
  cf.br ^next(%x : {T})
^next(%v: {T}):
  %0 = arith.addf %v, %v {{my.tap}} : {T}
  return %0 : {T}
}}"""
PROGRAMS = {
    "an op of the interpreter": f"{HEAD}{T} {{ %0 = arith.addf %x, %x {{my.tap}} : {T}  return %0 : {T} }}",
    "a kernel between kernels": f"{HEAD}{Q} {{ %0 = quant.qcast %x : {T} to {Q}  %1 = qrt.add %0, %0 {{my.tap}} : "
    f"({Q}, {Q}) -> {Q}  %2 = qrt.add %1, %0 : ({Q}, {Q}) -> {Q}  return %2 : {Q} }}",
    "another name of memory that is read later": f"{HEAD}{Q} {{ %0 = quant.qcast %x : {T} to {Q}  "
    f"%1 = quant.scast %0 {{my.tap}} : {Q} to tensor<2x4xi8>  %2 = quant.scast %1 : tensor<2x4xi8> to {Q}  "
    f"%3 = qrt.add %2, %0 : ({Q}, {Q}) -> {Q}  return %3 : {Q} }}",
    "a constant": f"{HEAD}{T} {{ %0 = arith.constant dense<2.0> : {T}  %1 = arith.addf %0, %0 {{my.tap}} : {T}  "
    f"%2 = arith.mulf %1, %x : {T}  return %2 : {T} }}",
    "a loop": LOOP,
    "several blocks": BLOCKS,
    "a call": f"func.func private @f(%x: {T}) -> {T} {{ %0 = arith.addf %x, %x {{my.tap}} : {T}  return %0 : {T} }}\n"
    f"{HEAD}{T} {{ %0 = func.call @f(%x) : ({T}) -> {T}  %1 = func.call @f(%0) : ({T}) -> {T}  return %1 : {T} }}",
}
X = np.float32([[1, 2, 3, 4], [-1, -2, -3, -4]])


def tapped(text: str) -> qrt.Program:
    module = flattened(ir.parse(text), "main")
    taps: dict[Value, str] = {op.results[0]: f"v{n}" for n, op in enumerate(_marked(module))}
    return tapped_program(module, "main", taps)


def _marked(module: ir.Module) -> list[Operation]:
    return [op for op in module.operation.walk() if "my.tap" in op.attributes]


def results(program: qrt.Program, change: Any) -> tuple[Any, list[tuple[str, Any]]]:
    seen = []

    def tap(op: Operation, value: Any) -> Any:
        seen.append((name_of(op), value))
        return change(value)

    (result,) = program.run_arrays(program.arrays_of({"arg0": X}), tap=tap)
    return np.asarray(result), seen


@pytest.mark.parametrize("what", PROGRAMS)
def test_a_run_goes_on_with_the_value_that_a_tap_gives(what: str) -> None:
    """The program with an operation that adds a number in place of the tap is the oracle."""
    text, program = PROGRAMS[what], tapped(PROGRAMS[what])
    plain = np.asarray(qrt.compile(ir.parse(text))(X))
    unchanged, seen = results(program, lambda value: None)
    np.testing.assert_array_equal(unchanged, plain)
    assert len(seen) == {"a loop": 3, "a call": 2}.get(what, 1)
    changed, _ = results(program, lambda value: value + value.dtype.type(1))
    expected = {
        "an op of the interpreter": 2 * X + 1,
        "a kernel between kernels": 3 * X + 0.5,
        "another name of memory that is read later": 2 * X + 0.5,
        "a constant": 5 * X,
        "a loop": 8 * X + 7,
        "several blocks": 2 * X + 1,
        "a call": 4 * X + 3,
    }[what]
    np.testing.assert_array_equal(changed, expected)
    np.testing.assert_array_equal(results(program, lambda value: None)[0], plain)


def test_values_that_were_told_stay_as_they_were() -> None:
    """Memory of one value is not used for another as long as the run is told of."""
    program = tapped(PROGRAMS["a kernel between kernels"])
    _, seen = results(program, lambda value: None)
    np.testing.assert_array_equal(seen[0][1], np.clip(4 * X, -128, 127).astype(np.int8))


def test_annotations_are_gone_and_the_module_stays_as_it_was() -> None:
    text = PROGRAMS["an op of the interpreter"].replace(
        "%0 =", f'%s = "quant.stats_ref"(%x) {{statsKey = "k"}} : ({T}) -> {T}  %0 ='
    )
    module = ir.parse(text)
    before = str(module)
    copy = flattened(module, "main")
    assert "stats_ref" not in str(copy)
    program = tapped_program(copy, "main", {op.results[0]: "v" for op in _marked(copy)})
    program.run_arrays([X], tap=lambda *_: None)
    assert str(module) == before
