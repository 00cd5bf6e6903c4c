"""Ops of arith and math on types they do not take: refused with mlir-opt 22's words, as `VERDICTS` holds them."""

import pytest

from qrt import ir
from qrt.errors import ParseError, VerifyError
from tests import mlir_opt

# op, operand types, result types, properties -> what is wrong, or "" where nothing is
VERDICTS = [
    ("arith.addi", "i32, i64", "i32", "", "requires the same type for all operands and results"),
    ("arith.addi", "f32, f32", "f32", "", "operand #0 must be signless-integer-like, but got 'f32'"),
    ("arith.addi", "i32", "i32", "", "expected 2 operands, but found 1"),
    ("arith.addi", "si32, si32", "si32", "", "operand #0 must be signless-integer-like, but got 'si32'"),
    ("arith.shli", "f32, f32", "f32", "", "operand #0 must be signless-integer-like, but got 'f32'"),
    ("arith.addf", "f32, f32", "f64", "", "requires the same type for all operands and results"),
    ("arith.negf", "i32", "i32", "", "operand #0 must be floating-point-like, but got 'i32'"),
    ("arith.addui_extended", "i32, i32", "i32, i32", "", "result #1 must be bool-like, but got 'i32'"),
    ("arith.addui_extended", "i32, i32", "i64, i1", "", "failed to verify that all of {lhs, rhs, sum} have same type"),
    (
        "arith.mulsi_extended",
        "i32, i32",
        "i32, i64",
        "",
        "failed to verify that all of {lhs, rhs, low, high} have same type",
    ),
    ("arith.extsi", "i32", "i32", "", "operand type 'i32' and result type 'i32' are cast incompatible"),
    ("arith.extsi", "index", "i64", "", "operand #0 must be signless-fixed-width-integer-like, but got 'index'"),
    ("arith.extsi", "i32", "f64", "", "result #0 must be signless-fixed-width-integer-like, but got 'f64'"),
    ("arith.extsi", "i32", "vector<4xi64>", "", "requires the same shape for all operands and results"),
    ("arith.extsi", "vector<4xi32>", "vector<5xi64>", "", "requires the same shape for all operands and results"),
    (
        "arith.extsi",
        "tensor<4xi32>",
        "tensor<?xi64>",
        "",
        "failed to verify that input and output have the same tensor dimensions",
    ),
    (
        "arith.extsi",
        "vector<4xi32>",
        "tensor<4xi64>",
        "",
        "failed to verify that input and output have the same tensor dimensions",
    ),
    ("arith.trunci", "i32", "i64", "", "operand type 'i32' and result type 'i64' are cast incompatible"),
    ("arith.extf", "f16", "bf16", "", "operand type 'f16' and result type 'bf16' are cast incompatible"),
    ("arith.truncf", "f32", "i8", "", "result #0 must be floating-point-like, but got 'i8'"),
    ("arith.fptosi", "f32", "index", "", "result #0 must be signless-fixed-width-integer-like, but got 'index'"),
    ("arith.index_cast", "i32", "i32", "", "operand type 'i32' and result type 'i32' are cast incompatible"),
    ("arith.index_cast", "index", "index", "", "operand type 'index' and result type 'index' are cast incompatible"),
    (
        "arith.index_cast",
        "i32",
        "f32",
        "",
        "result #0 must be signless-integer-like or memref of signless-integer, but got 'f32'",
    ),
    ("arith.index_cast", "memref<4xi32>", "memref<4xindex>", "", ""),
    ("arith.bitcast", "i32", "f64", "", "operand type 'i32' and result type 'f64' are cast incompatible"),
    (
        "arith.bitcast",
        "index",
        "i64",
        "",
        "operand #0 must be signless-integer-or-float-like or memref of signless-integer or float, but got 'index'",
    ),
    ("arith.bitcast", "memref<4xi32>", "memref<4xf32>", "", ""),
    ("arith.cmpi", "i32, i32", "i32", "predicate = 1 : i64", "result #0 must be bool-like, but got 'i32'"),
    ("arith.cmpi", "i32, i64", "i1", "predicate = 1 : i64", "requires all operands to have the same type"),
    ("arith.cmpi", "i32, i32", "i1", "", "requires attribute 'predicate'"),
    (
        "arith.cmpi",
        "tensor<4xi32>, tensor<4xi32>",
        "i1",
        "predicate = 1 : i64",
        "failed to verify that result type has i1 element type and same shape as operands",
    ),
    ("arith.cmpf", "i32, i32", "i1", "predicate = 1 : i64", "operand #0 must be floating-point-like, but got 'i32'"),
    ("arith.select", "i32, f32, f32", "f32", "", "operand #0 must be bool-like, but got 'i32'"),
    (
        "arith.select",
        "i1, f32, f64",
        "f32",
        "",
        "failed to verify that all of {true_value, false_value, result} have same type",
    ),
    (
        "arith.select",
        "vector<4xi1>, vector<5xf32>, vector<5xf32>",
        "vector<5xf32>",
        "",
        "failed to verify that condition is signless i1 or has matching shape",
    ),
    ("arith.select", "i1, memref<4xf32>, memref<4xf32>", "memref<4xf32>", "", ""),
    (
        "arith.scaling_extf",
        "f4E2M1FN, f8E8M0FNU",
        "f4E2M1FN",
        "",
        "operand types 'f4E2M1FN', 'f8E8M0FNU' and result type 'f4E2M1FN' are cast incompatible",
    ),
    ("arith.scaling_extf", "f4E2M1FN, i8", "f32", "", "operand #1 must be floating-point-like, but got 'i8'"),
    ("arith.scaling_extf", "vector<4xf4E2M1FN>, f8E8M0FNU", "vector<4xf32>", "", ""),
    ("arith.scaling_truncf", "f32, f8E8M0FNU", "f4E2M1FN", "", ""),
    ("arith.constant", "", "i32", "value = 1 : i64", "failed to verify that all of {value, result} have same type"),
    ("arith.constant", "", "si32", "value = 1 : si32", "integer return type must be signless"),
    (
        "arith.constant",
        "",
        "vector<[4]xi32>",
        "value = dense<[1, 2, 3, 4]> : vector<[4]xi32>",
        "intializing scalable vectors with elements attribute is not supported unless it's a vector splat",
    ),
    ("math.absf", "f32", "f64", "", "requires the same type for all operands and results"),
    ("math.absi", "f32", "f32", "", "operand #0 must be signless-integer-like, but got 'f32'"),
    ("math.fpowi", "f32, f32", "f32", "", "operand #1 must be signless-integer-like, but got 'f32'"),
    ("math.fpowi", "f32, i32", "f64", "", "failed to verify that all of {lhs, result} have same type"),
    ("math.fpowi", "vector<4xf32>, i32", "vector<4xf32>", "", "requires the same shape for all operands and results"),
    (
        "math.isnan",
        "vector<4xf32>",
        "i1",
        "",
        "failed to verify that result type has i1 element type and same shape as operands",
    ),
    ("math.sincos", "f32", "f32, f64", "", "failed to verify that all of {operand, sin, cos} have same type"),
    ("math.sincos", "f32", "f32", "", "expected 2 results"),
    ("math.clampf", "f32, f32, i32", "f32", "", "operand #2 must be floating-point-like, but got 'i32'"),
    ("math.ipowi", "i32, i64", "i32", "", "requires the same type for all operands and results"),
]


def program(name, operands, results, properties):
    types = operands.split(", ") if operands else []
    arguments = ", ".join(f"%a{i}: {type}" for i, type in enumerate(types))
    names = ", ".join(f"%a{i}" for i in range(len(types)))
    said = f" <{{{properties}}}>" if properties else ""
    count = results.count(",") + 1
    op = f'%0:{count} = "{name}"({names}){said} : ({operands}) -> ({results})'
    return f"func.func @f({arguments}) {{ {op} return }}\n"


@pytest.mark.parametrize("case", VERDICTS, ids=lambda case: f"{case[0]} {case[1]} -> {case[2]}")
def test_verdict(case):
    *what, expected = case
    text = program(*what)
    if not expected:
        ir.parse(text).verify()
        return
    with pytest.raises((ParseError, VerifyError)) as caught:
        ir.parse(text).verify()
    assert caught.value.message == f"'{case[0]}' op {expected}"


def test_a_predicate_beyond_the_last():
    """mlir-opt refuses the property as such; the words are ours."""
    for name, type, beyond in (("cmpi", "i32", 10), ("cmpf", "f32", 16)):
        text = program(f"arith.{name}", f"{type}, {type}", "i1", f"predicate = {beyond} : i64")
        with pytest.raises((ParseError, VerifyError), match="predicate"):
            ir.parse(text).verify()


@mlir_opt.needed
def test_the_verdicts_are_those_of_mlir_opt():
    text = "// -----\n".join(program(*case[:-1]) for case in VERDICTS)
    refused = [f"'{case[0]}' op {case[-1]}" for case in VERDICTS if case[-1]]
    assert mlir_opt.errors(text, "--split-input-file") == refused
