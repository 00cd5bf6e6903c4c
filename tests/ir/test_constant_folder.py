"""The folder of constants. Hazards: an operation with effects is computed before the run, an operation is evaluated
again and again, or never as it stands before what it reads, a value that no constant writes is lost."""

import numpy as np
import pytest

from qrt import ir
from qrt.errors import QuantTypeError
from qrt.ir.constants import constant_array, replacements
from qrt.ir.core.matching import cyclic_operations
from qrt.ir.rewriting.constant_folder import ConstantFolder, captured


def folder_of(as_constant=None, may_fold=lambda op: bool(op.results)):
    """A folder of sums, and the operations that it evaluates."""
    evaluated = []

    def evaluate(op, known):
        evaluated.append(op)
        if op.name == "arith.constant":
            return [constant_array(op)]
        return [sum(known[value] for value in op.operands)] if op.name == "arith.addi" else None

    folder = ConstantFolder(
        evaluate, may_fold, as_constant or (lambda op, arrays: replacements(folder.arrays, op, arrays))
    )
    return folder, evaluated


def folded(text, **options):
    module = ir.parse(text)
    folder, evaluated = folder_of(**options)
    folder.fold_inside(module.operation, cyclic_operations(module.operation.walk()))
    module.verify()
    return module, [op.name for op in evaluated]


CHAIN = """func.func @f() -> i32 {
  %a = arith.constant 5 : i32
  cf.br ^b0
BLOCKS
^end:
  return %v0 : i32
}"""


@pytest.mark.parametrize("count", [1, 40])
def test_each_is_evaluated_once_wherever_it_stands(count):
    """Each block reads what the next one in the text computes, so that none is known when it is first met."""
    blocks = [
        f"^b{count - 1 - n}:\n  %v{n} = arith.addi %{f'v{n + 1}' if n + 1 < count else 'a'}, %a : i32\n  cf.br "
        f"{f'^b{count - n}' if n else '^end'}"
        for n in range(count)
    ]
    module, evaluated = folded(CHAIN.replace("BLOCKS", "\n".join(blocks)))
    assert evaluated == ["arith.constant", *["arith.addi"] * count]
    assert f"arith.constant {5 * (count + 1)} : i32" in str(module)


LOOP = """func.func @f(%c: i1) -> i32 {
  %a = arith.constant 5 : i32
  %r = scf.if %c -> i32 {
    %b = arith.addi %a, %a : i32
    scf.yield %b : i32
  } else {
    scf.yield %a : i32
  }
  return %r : i32
}"""


def test_what_stays_is_folded_inside():
    module, evaluated = folded(LOOP)
    assert evaluated == ["arith.constant", "arith.addi"]
    assert "arith.constant 10 : i32" in str(module)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("%r = memref.load %m[] : memref<i32>", "it reads memory"),
        ('%r = "unknown.op"(%a) : (i32) -> i32', "nothing is known of it"),
        ("%r = arith.addi %a, %x : i32", "an operand is not known"),
    ],
)
def test_what_is_never_evaluated(body, why):
    text = f"func.func @f(%x: i32, %m: memref<i32>) -> i32 {{ %a = arith.constant 5 : i32 {body} return %r : i32 }}"
    module = ir.parse(text, allow_unregistered=True)
    folder, evaluated = folder_of()
    folder.fold_inside(module.operation, ())
    assert [op.name for op in evaluated] == ["arith.constant"], why


def test_who_owns_it_says_what_is_left():
    text = "func.func @f() -> i32 { %a = arith.constant 5 : i32 %r = arith.addi %a, %a : i32 return %r : i32 }"
    module, evaluated = folded(text, may_fold=lambda op: not op.operands)
    assert evaluated == ["arith.constant"]
    assert module == ir.parse(text)


def test_a_value_without_a_constant_is_known_to_its_readers():
    """An operation for which no constant stands stays, and its readers are folded."""
    text = """func.func @f() -> i32 {
      %a = arith.constant 5 : i32
      %b = arith.addi %a, %a : i32
      %c = arith.addi %b, %a : i32
      return %c : i32
    }"""
    module = ir.parse(text)
    folder, _ = folder_of(as_constant=lambda op, arrays: None)
    folder.fold_inside(module.operation, ())
    assert module == ir.parse(text)
    assert sorted(int(array) for array in folder.arrays.values()) == [5, 10, 15]


def test_an_error_of_the_evaluator_is_that_of_the_fold():
    def evaluate(op, known):
        raise QuantTypeError("the evaluator says so")

    module = ir.parse("func.func @f() { %a = arith.constant 5 : i32 return }")
    with pytest.raises(QuantTypeError, match="the evaluator says so"):
        ConstantFolder(evaluate, lambda op: bool(op.results), lambda op, arrays: None).fold_inside(module.operation, ())


def test_what_regions_read_is_captured():
    function = ir.parse(LOOP).functions[0]
    branch = next(op for op in function.walk() if op.name == "scf.if")
    block = function.regions[0].blocks[0]
    assert captured(branch) == [block.arguments[0], block.first.results[0]]
    assert captured(function) == []


def test_constants_of_other_types_keep_the_array():
    """What stands between a constant and the value of its type is known too: a plan has a place for it."""
    text = """func.func @f() -> tensor<?x!quant.uniform<u8:f32, 0.5>> {
      %0 = qrt.reshape %1 : (tensor<2x!quant.uniform<u8:f32, 0.5>>) -> tensor<?x!quant.uniform<u8:f32, 0.5>>
      return %0 : tensor<?x!quant.uniform<u8:f32, 0.5>>
    }"""
    module = ir.parse(text.replace("%1 :", "%q :").replace("()", "(%q: tensor<2x!quant.uniform<u8:f32, 0.5>>)"))
    (op, _) = module.functions[0].regions[0].blocks[0]
    known = {}
    (value,) = replacements(known, op, [np.uint8([3, 250])])
    assert value.type is op.result.type
    assert [v.operation.name for v in known] == ["arith.constant", "quant.scast", "tensor.cast"]
    assert all(np.array_equal(array, [3, 250]) for array in known.values())
