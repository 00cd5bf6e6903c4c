"""`print(op)`: an operation is printed as it stands in the text of the whole. Hazards: a value with another number than
in the program that a user reads; a block without its name; an operation that cannot be printed while its surroundings
are made."""

from pathlib import Path

import pytest

from qrt import ir
from qrt.ir.text.printer import print_operation
from tests.ir.test_builder_programs import PROGRAMS

HIDDEN = ("linalg.", "memref.alloca_scope", "affine.for", "affine.if", "affine.parallel", "scf.")
"""Ops whose forms leave out what is inside, or its terminator."""


def plain(text: str) -> str:
    """The lines of a text, without their indentation."""
    return "\n".join(["", *(line.strip() for line in text.splitlines()), ""])


@pytest.mark.parametrize("generic", [False, True], ids=["custom", "generic"])
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_an_operation_is_printed_as_in_the_whole(path: Path, generic: bool) -> None:
    module = ir.parse(path.read_text())
    whole = plain(module.print(generic=generic))
    printed = 0
    for operation in [*module.operation.walk()][1::2]:
        text = print_operation(operation, generic)
        assert "UNKNOWN" not in text
        found = plain(text) in whole
        parent = operation.parent_operation
        assert found or (not generic and parent is not None and parent.name.startswith(HIDDEN)), text
        printed += found
    assert printed


def test_functions_in_functions_and_blocks() -> None:
    module = ir.parse("""module @outer {
  module {
    func.func @f(%a: i1, %b: i32) {
      %0 = arith.addi %b, %b : i32
      cf.cond_br %a, ^bb1(%0 : i32), ^bb2
    ^bb1(%c: i32):
      %1 = arith.muli %c, %0 : i32
      cf.br ^bb2
    ^bb2:
      return
    }
  }
}""")
    printed = {operation.name: str(operation).strip() for operation in module.operation.walk()}
    assert printed["cf.cond_br"] == "cf.cond_br %arg0, ^bb1(%0 : i32), ^bb2"
    assert printed["arith.muli"] == "%2 = arith.muli %1, %0 : i32"
    assert printed["cf.br"] == "cf.br ^bb2"
    assert printed["func.return"] == "return"


def test_what_is_not_whole_yet_is_printed() -> None:
    """The function around it has no type that its form could print."""
    module = ir.parse("func.func @f(%x: i32) -> i32 { %0 = arith.addi %x, %x : i32  return %0 : i32 }")
    function = module.functions[0]
    add = function.regions[0].blocks[0].first
    del function.attributes["function_type"]
    assert str(add).strip() == "%0 = arith.addi %arg0, %arg0 : i32"


def test_an_operation_is_printed_with_the_names_of_the_whole() -> None:
    text = """module {
  func.func @f(%arg0: i32, %arg1: i1) -> i32 {
    %0 = arith.addi %arg0, %arg0 : i32
    %1:2 = scf.if %arg1 -> (i32, i32) {
      %2 = arith.muli %0, %arg0 : i32
      scf.yield %2, %0 : i32, i32
    } else {
      %2 = arith.subi %0, %arg0 : i32
      scf.yield %2, %2 : i32, i32
    }
    return %1#1 : i32
  }
}
"""
    module = ir.parse(text)
    assert str(module) == text
    lines = [line.strip() for line in text.splitlines()]
    for operation in module.operation.walk():
        assert str(operation).splitlines()[0] in lines
