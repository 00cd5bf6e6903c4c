"""Ops on plain numbers as steps of C, against the interpreter. Hazards: numbers that wrap, one bit whose set value
reads as -1, quotients that are errors, views of what only the run makes, results that live on in the interpreter."""

from typing import Any

import numpy as np
import pytest

import qrt
from qrt import kernels
from qrt.errors import ModelError, UndefinedError
from tests.kernels.draws import ISAS

PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
NAMES = ("addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui")


def _drawn(rng: np.random.Generator, shape: tuple[int, ...], width: int) -> Any:
    if width == 1:
        return rng.integers(0, 2, shape).astype(bool)
    info = np.iinfo(f"i{width // 8}")
    some = rng.integers(info.min, info.max, shape, info.dtype, endpoint=True)
    return np.where(rng.random(shape) < 0.3, rng.choice([info.min, -1, 0, 1, info.max], shape), some).astype(info.dtype)


def _program(rng: np.random.Generator, width: int, shape: tuple[int, ...]) -> str:
    """Drawn ops, each on what came before; the last three values are its results."""
    t = "x".join(map(str, (*shape, f"i{width}")))
    wide = "x".join(map(str, (*shape, "i64")))
    b = "x".join(map(str, (*shape, "i1")))
    lines, values, bools = [], ["%a", "%b"], [f"%t{0}"]
    lines.append(f"%t0 = arith.cmpi slt, %a, %b : tensor<{t}>")
    for number in range(1, 16):
        x, y = rng.choice(values, 2)
        kind = rng.integers(5)
        if kind == 0:
            lines.append(f"%t{number} = arith.cmpi {rng.choice(PREDICATES)}, {x}, {y} : tensor<{t}>")
            bools.append(f"%t{number}")
            continue
        if kind == 1:
            lines.append(f"%v{number} = arith.select {rng.choice(bools)}, {x}, {y} : tensor<{b}>, tensor<{t}>")
        elif kind == 2 and width < 64:
            lines.append(f"%w{number} = arith.{rng.choice(['extsi', 'extui'])} {x} : tensor<{t}> to tensor<{wide}>")
            lines.append(f"%x{number} = arith.muli %w{number}, %w{number} : tensor<{wide}>")
            lines.append(f"%v{number} = arith.trunci %x{number} : tensor<{wide}> to tensor<{t}>")
        else:
            lines.append(f"%v{number} = arith.{rng.choice(NAMES)} {x}, {y} : tensor<{t}>")
        values.append(f"%v{number}")
    text = "\n".join(lines)
    return f"""func.func @f(%a: tensor<{t}>, %b: tensor<{t}>) -> (tensor<{t}>, tensor<{t}>, tensor<{b}>) {{
      {text}
      return {values[-1]}, {values[-2]}, {bools[-1]} : tensor<{t}>, tensor<{t}>, tensor<{b}>
    }}"""


@pytest.mark.parametrize("width", [1, 8, 16, 32, 64])
@pytest.mark.parametrize("isa", ISAS)
def test_drawn_programs_have_the_bits_of_the_interpreter(isa: str, width: int) -> None:
    rng = np.random.default_rng(width)
    with kernels.use(isa):
        for shape in ((), (1,), (0, 3), (7, 5), (70_000,)):
            program = qrt.compile(_program(rng, width, shape))
            assert {step.engine for step in program.coverage()} <= {"kernel"}
            given = {"arg0": _drawn(rng, shape, width), "arg1": _drawn(rng, shape, width)}
            for one, other in zip(
                program.run(given).values(), program.run(given, interpret=True).values(), strict=True
            ):
                assert one.dtype == other.dtype
                np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ["divsi", "floordivsi", "remsi"])
@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_quotients(name: str, width: int) -> None:
    """A zero is said before an overflow, wherever it is."""
    t = f"tensor<?xi{width}>"
    program = qrt.compile(
        f"func.func @f(%a: {t}, %b: {t}) -> {t} {{ %0 = arith.{name} %a, %b : {t}\n return %0 : {t} }}"
    )
    rng = np.random.default_rng(width)
    a, b = _drawn(rng, (999,), width), _drawn(rng, (999,), width)
    low = np.iinfo(a.dtype).min
    fits = (b != 0) & ((a != low) | (b != -1))
    given = {"arg0": a[fits], "arg1": b[fits]}
    found, expected = (program.run(given, interpret=each)["result0"] for each in (False, True))
    np.testing.assert_array_equal(found, expected)
    for wrong, said in (((1, 5, 0, 7), "division by zero"), ((1, -1, 2, 3), f"signed overflow: {low} / -1")):
        given = {"arg0": np.full(4, low, a.dtype), "arg1": np.array(wrong, a.dtype)}
        for interpret in (False, True):
            with pytest.raises(ModelError, match=f"'arith.{name}' op {said}") as caught:
                program.run(given, interpret=interpret)
            assert type(caught.value.__cause__) is UndefinedError


def test_copies_and_views_are_part_of_the_one_call() -> None:
    text = """func.func @f(%x: tensor<3xi32>, %n: tensor<1x1xi32>) -> (tensor<2x3xi32>, tensor<4xi32>, tensor<1xi32>) {
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %e = tensor.empty() : tensor<2x3xi32>
      %0 = linalg.broadcast ins(%x : tensor<3xi32>) outs(%e : tensor<2x3xi32>) dimensions = [0]
      %1 = arith.addi %0, %0 : tensor<2x3xi32>
      %a = tensor.extract %n[%c0, %c0] : tensor<1x1xi32>
      %b = tensor.extract %x[%c2] : tensor<3xi32>
      %2 = tensor.from_elements %a, %b, %a, %b : tensor<4xi32>
      %3 = tensor.from_elements %b : tensor<1xi32>
      %4 = tensor.bitcast %3 : tensor<1xi32> to tensor<1xui32>
      %5 = tensor.bitcast %4 : tensor<1xui32> to tensor<1xi32>
      return %1, %2, %5 : tensor<2x3xi32>, tensor<4xi32>, tensor<1xi32>
    }"""
    program = qrt.compile(text)
    assert {step.engine for step in program.coverage()} == {"kernel"}
    given = {"arg0": np.int32([5, 6, -7]), "arg1": np.int32([[9]])}
    for interpret in (False, True):
        found = program.run(given, interpret=interpret)
        assert [value.tolist() for value in found.values()] == [[[10, 12, -14]] * 2, [9, -7, 9, -7], [-7]]


def test_storage_of_open_sizes_is_seen_as_another_type() -> None:
    text = """func.func @f(%x: tensor<?x2xui8>) -> tensor<?x2xf32> {
      %0 = tensor.bitcast %x : tensor<?x2xui8> to tensor<?x2xi8>
      %1 = quant.scast %0 : tensor<?x2xi8> to tensor<?x2x!quant.uniform<u8:f32, 0.5:128>>
      %2 = quant.dcast %1 : tensor<?x2x!quant.uniform<u8:f32, 0.5:128>> to tensor<?x2xf32>
      return %2 : tensor<?x2xf32>
    }"""
    program = qrt.compile(text)
    assert [(step.op, step.engine) for step in program.coverage((3, 2))] == [("quant.dcast", "kernel")]
    for rows in (0, 1, 3):
        x = np.arange(2 * rows, dtype=np.uint8).reshape(rows, 2) + np.uint8(126)
        for interpret in (False, True):
            found = program.run({"arg0": x}, interpret=interpret)["result0"]
            assert found.tolist() == ((x.astype(np.float32) - 128) / 2).tolist()


def test_what_a_program_promises_is_checked_by_the_interpreter() -> None:
    t = "tensor<2xi8>"
    program = qrt.compile(
        f"func.func @f(%x: {t}) -> {t} {{ %0 = arith.addi %x, %x overflow<nsw> : {t}\n return %0 : {t} }}"
    )
    assert [step.engine for step in program.coverage()] == ["interpreter"]
    with pytest.raises(ModelError, match="signed overflow"):
        program(np.int8([1, 100]))


@pytest.mark.parametrize(
    "body",
    [
        "%0 = arith.addf %a, %b : tensor<?x4xf32>",
        "%0 = arith.maximumf %b, %a : tensor<?x4xf32>",
        "%1 = arith.fptosi %a : tensor<?x4xf32> to tensor<?x4xi32>\n"
        "%2 = arith.fptosi %b : tensor<?x4xf32> to tensor<?x4xi32>\n"
        "%3 = arith.addi %1, %2 : tensor<?x4xi32>\n%0 = arith.sitofp %3 : tensor<?x4xi32> to tensor<?x4xf32>",
        "%1 = arith.cmpf olt, %a, %a : tensor<?x4xf32>\n%0 = arith.select %1, %b, %b : tensor<?x4xi1>, tensor<?x4xf32>",
    ],
)
def test_inputs_that_disagree_on_an_open_dimension_are_an_error(body: str) -> None:
    """A kernel would read behind the smaller one."""
    declared = "tensor<?x4xf32>"
    text = f"func.func @f(%a: {declared}, %b: {declared}) -> {declared} {{ {body}\n return %0 : {declared} }}"
    program = qrt.compile(qrt.ir.parse(text))
    for sizes in ((2, 3), (3, 2), (0, 1), (1, 0)):
        with pytest.raises(qrt.QuantError):
            program(*(np.ones((n, 4), np.float32) for n in sizes))
    assert np.asarray(program(np.ones((2, 4), np.float32), np.ones((2, 4), np.float32))).shape == (2, 4)
