"""Functions of several blocks, calls, and regions to choose from. Hazards: arguments of a block that a branch swaps, a
block that stands before the one that dominates it, a function that is emitted twice, and recursion."""

import numpy as np
import pytest

from qrt.errors import ModelError
from qrt.runtime.compilation import compile
from tests.runtime.codegen.harness import check

T = "tensor<5xi32>"
X = np.arange(5, dtype=np.int32)


@pytest.mark.parametrize("count", [0, 1, 4])
def test_loop_of_blocks_that_swaps_tensors(count: int) -> None:
    """The block ``^exit`` stands before the one that branches to it."""
    text = f"""func.func @main(%n: i32, %x: {T}, %y: {T}) -> ({T}, {T}, i32) {{
      %z = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      cf.br ^head(%z, %x, %y : i32, {T}, {T})
    ^exit(%r: {T}):
      %s = arith.addi %r, %x : {T}
      return %s, %a, %i : {T}, {T}, i32
    ^head(%i: i32, %a: {T}, %b: {T}):
      %go = arith.cmpi slt, %i, %n : i32
      cf.cond_br %go, ^body, ^exit(%b : {T})
    ^body:
      %m = arith.addi %i, %one : i32
      %t = arith.addi %a, %b : {T}
      cf.br ^head(%m, %b, %t : i32, {T}, {T})
    }}"""
    check(text, np.array(count, np.int32), X, X[::-1].copy())


@pytest.mark.parametrize("value", [-128, -1, 0, 3, 5])
def test_switch(value: int) -> None:
    text = """func.func @main(%v: i8, %x: i32) -> i32 {
      %one = arith.constant 1 : i32
      cf.switch %v : i8, [default: ^end(%x : i32), -1: ^twice, 3: ^end(%one : i32), -128: ^twice]
    ^twice:
      %d = arith.addi %x, %x : i32
      cf.br ^end(%d : i32)
    ^end(%r: i32):
      return %r : i32
    }"""
    check(text, np.array(value, np.int8), np.array(21, np.int32))


@pytest.mark.parametrize("value", [0, 1])
def test_unreachable_block(value: int) -> None:
    text = """func.func @main(%p: i1) -> i1 {
      cf.cond_br %p, ^end, ^never
    ^never: ub.unreachable
    ^end: return %p : i1
    }"""
    check(text, np.array(bool(value)))


@pytest.mark.parametrize("value", [-3, 0, 2, 7])
def test_region_of_several_blocks_and_index_switch(value: int) -> None:
    text = f"""func.func @main(%i: index, %x: {T}) -> ({T}, i32) {{
      %zero = arith.constant 0 : index
      %k = arith.constant 9 : i32
      %r:2 = scf.index_switch %i -> {T}, i32
      case -3 {{ scf.yield %x, %k : {T}, i32 }}
      case 2 {{
        %e = scf.execute_region -> i32 {{
          %p = arith.cmpi eq, %i, %zero : index
          cf.cond_br %p, ^a, ^b
        ^a: scf.yield %k : i32
        ^b:
          %s = arith.addi %k, %k : i32
          scf.yield %s : i32
        }}
        %y = arith.addi %x, %x : {T}
        scf.yield %y, %e : {T}, i32
      }}
      default {{
        %f = tensor.extract %x[%zero] : {T}
        scf.yield %x, %f : {T}, i32
      }}
      return %r#0, %r#1 : {T}, i32
    }}"""
    check(text, np.array(value), X)


def test_function_that_is_called_twice() -> None:
    """Hazards: what the first call knew (an empty tensor, a constant) is used in the second one; calls in a loop of a
    function of several blocks, which is not inlined before."""
    text = f"""func.func private @f(%n: i32, %t: {T}) -> {T} {{
      %zero = arith.constant 0 : i32
      %c1 = arith.constant 1 : index
      %p = arith.cmpi eq, %n, %zero : i32
      cf.cond_br %p, ^same, ^changed
    ^same: return %t : {T}
    ^changed:
      %i = tensor.insert %n into %t[%c1] : {T}
      return %i : {T}
    }}
    func.func @main(%x: {T}, %m: i32) -> ({T}, {T}) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %k = arith.constant 7 : i32
      %e = tensor.empty() : {T}
      %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %b = %x) -> ({T}, {T}) {{
        %u = func.call @f(%k, %e) : (i32, {T}) -> {T}
        %v = func.call @f(%m, %a) : (i32, {T}) -> {T}
        %w = arith.addi %u, %b : {T}
        scf.yield %v, %w : {T}, {T}
      }}
      return %r#0, %r#1 : {T}, {T}
    }}"""
    for number in (0, 5):
        check(text, X, np.array(number, np.int32))


def test_memref_that_a_function_writes() -> None:
    text = """func.func private @set(%m: memref<4xi32>, %i: index, %v: i32) {
      memref.store %v, %m[%i] : memref<4xi32>
      return
    }
    func.func @main(%m: memref<4xi32>, %i: index) {
      %k = arith.constant 7 : i32
      %c2 = arith.constant 2 : index
      call @set(%m, %i, %k) : (memref<4xi32>, index, i32) -> ()
      call @set(%m, %c2, %k) : (memref<4xi32>, index, i32) -> ()
      return
    }"""
    for index in (0, 3, 4):
        check(text, np.zeros(4, np.int32), np.array(index))


def test_recursion_and_declarations_are_refused() -> None:
    for body, message in (
        ("{ %0 = func.call @f(%x) : (i1) -> i1 return %0 : i1 }", "is recursive"),
        ("", "without a body"),
    ):
        text = f"""func.func private @f(%x: i1) -> i1 {body}
        func.func @main(%x: i1) -> i1 {{ %0 = func.call @f(%x) : (i1) -> i1 return %0 : i1 }}"""
        with pytest.raises(ModelError, match=f"'func.call' op .*{message}"):
            compile(text if body else text.replace("%x: i1) -> i1 \n", "i1) -> i1\n", 1), codegen=True)
