"""Views of memory that canonicalize compute what they did. Hazards: a view of another place, an extent of another view,
memory freed too early, a size that only looked constant."""

import re

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.ir import run_passes
from tests.oracle.draw_buffers import NUMBERS, buffers
from tests.oracle.draw_types import Draw


def arguments():
    """The buffers and numbers that drawn functions take: each call writes into new ones."""
    grids = [np.arange(24, dtype=np.float32).reshape(shape) + 100 * n for n, shape in enumerate([(4, 6)] * 3 + [(24,)])]
    raw = np.arange(24, dtype=np.float32).view(np.int8)
    return [*grids, raw, np.array([4, 6]), np.float32(-5), True, *map(np.int64, NUMBERS)]


def outcome(module):
    """The results, and the memory written."""
    values = arguments()
    names = (f"arg{number}" for number in range(len(values)))
    results = qrt.compile(module).run(dict(zip(names, values, strict=True)), interpret=True)
    return [np.asarray(value).tolist() for value in (*results.values(), *values[:5])]


def test_drawn_programs_compute_what_they_did():
    draw = Draw("values of buffers")
    for _ in range(150):
        text = buffers(draw)
        after = run_passes(ir.parse(text), "canonicalize")
        after.verify()
        assert outcome(after) == outcome(ir.parse(text)), text


def test_canonical_programs_stay():
    draw = Draw("again")
    for _ in range(40):
        module = run_passes(ir.parse(buffers(draw)), "canonicalize")
        assert str(run_passes(ir.parse(str(module)), "canonicalize")) == str(module)


@pytest.mark.parametrize(
    ("type", "offset", "strides"),
    [("memref<4xf32, strided<[1], offset: ?>>", "0", "1"), ("memref<4xf32, strided<[?]>>", "0", "%n")],
)
def test_a_reinterpreted_memref_of_its_own_type_may_be_another(type, offset, strides):
    """Upstream takes it for the memref, wherever that stands and whatever its strides are."""
    text = f"""
    func.func @f(%m: {type}, %n: index) -> {type} {{
      %0 = memref.reinterpret_cast %m to offset: [{offset}], sizes: [4], strides: [{strides}] : {type} to {type}
      return %0 : {type}
    }}"""
    assert "memref.reinterpret_cast" in str(run_passes(ir.parse(text), "canonicalize"))


@pytest.mark.parametrize(
    "op",
    [
        "memref.reinterpret_cast %m to offset: [0], sizes: [%k], strides: [1] : memref<?xi8> to memref<?xi8>",
        "memref.view %m[%n][%k] : memref<?xi8> to memref<?xi8>",
    ],
)
def test_a_negative_size_stays(op):
    """mlir-opt 22 ends with an assertion."""
    text = f"""
    func.func @f(%m: memref<?xi8>, %n: index) -> memref<?xi8> {{
      %k = arith.constant -4 : index
      %0 = {op}
      return %0 : memref<?xi8>
    }}"""
    module = ir.parse(text)
    assert run_passes(ir.parse(text), "canonicalize") == module


@pytest.mark.parametrize("dialect", ["memref", "affine"])
def test_what_is_stored_keeps_its_type(dialect):
    """It is an element of that type, also where it is a memref that was cast."""
    text = f"""
    func.func @f(%h: memref<4xmemref<?xi8>>, %m: memref<5xi8>) {{
      %0 = memref.cast %m : memref<5xi8> to memref<?xi8>
      %1 = memref.cast %h : memref<4xmemref<?xi8>> to memref<?xmemref<?xi8>>
      %2 = arith.constant 1 : index
      {dialect}.store %0, %1[%2] : memref<?xmemref<?xi8>>
      return
    }}"""
    after = str(run_passes(ir.parse(text), "canonicalize"))
    assert f"{dialect}.store %1, %arg0[" in after or f"{dialect}.store %0, %arg0[" in after
    ir.parse(after).verify()


@pytest.mark.parametrize(("offset", "size", "stride"), [(2, 11, 1), (10, 1, 1), (0, 4, 4)])
def test_a_view_out_of_bounds_stays(offset, size, stride):
    """As constants of the view itself they would not verify; it is an error when it runs."""
    text = f"""
    func.func @f(%m: memref<10xf32>) -> memref<?xf32, strided<[?], offset: ?>> {{
      %o = arith.constant {offset} : index
      %n = arith.constant {size} : index
      %s = arith.constant {stride} : index
      %0 = memref.subview %m[%o] [%n] [%s] : memref<10xf32> to memref<?xf32, strided<[?], offset: ?>>
      return %0 : memref<?xf32, strided<[?], offset: ?>>
    }}"""
    after = str(run_passes(ir.parse(text), "canonicalize"))
    assert re.search(r"memref\.subview %arg0\[%\d\] \[%\d\] \[%\d\]", after)


def test_memory_of_a_scope_is_taken_where_it_was():
    """Upstream takes it before the branch, also if its size is negative where the branch is not taken, and before the
    loop, whose iterations then share it."""
    text = """
    func.func @f(%b: i1, %n: index, %m: memref<4xf32>, %f: f32) {
      %c0 = arith.constant 0 : index
      scf.if %b {
        memref.alloca_scope {
          %0 = memref.alloca(%n) : memref<?xf32>
          memref.store %f, %0[%c0] : memref<?xf32>
          %c1 = arith.constant 1 : index
          %c3 = arith.constant 3 : index
          scf.for %i = %c0 to %c3 step %c1 {
            %1 = memref.alloca() : memref<1xf32>
            %2 = memref.load %1[%c0] : memref<1xf32>
            %3 = arith.addf %2, %f : f32
            memref.store %3, %1[%c0] : memref<1xf32>
            memref.store %3, %m[%i] : memref<4xf32>
          }
        }
      }
      return
    }"""
    for condition, size in ((True, 1), (False, -1)):
        seen = []
        for module in (ir.parse(text), run_passes(ir.parse(text), "canonicalize")):
            memory = np.zeros(4, np.float32)
            given = (condition, np.int64(size), memory, np.float32(2))
            qrt.compile(module).run({f"arg{at}": value for at, value in enumerate(given)}, interpret=True)
            seen.append(memory.tolist())
        assert seen == [[2, 2, 2, 0] if condition else [0] * 4] * 2


def test_a_cast_to_its_own_type_keeps_the_type():
    text = """
    func.func @f(%m: memref<4xf32>) -> memref<?xf32> {
      %0 = memref.cast %m : memref<4xf32> to memref<?xf32>
      %1 = memref.cast %0 : memref<?xf32> to memref<?xf32>
      return %1 : memref<?xf32>
    }"""
    run_passes(ir.parse(text), "canonicalize").verify()
