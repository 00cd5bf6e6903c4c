"""The order of loops. Hazards: a loop that is split although an iteration reads what another one writes, a sum of
floats in another order, and a loop that is not split, which is many times slower."""

import numpy as np
import pytest

from qrt.ir import parse, run_passes
from qrt.runtime.codegen import control
from qrt.runtime.codegen.loop_order import SplitLoop, split_loop
from qrt.runtime.compilation import compile
from tests.runtime.codegen.harness import check

NEST = """func.func @main(%a: tensor<6x7xi8>, %b: tensor<7x20xi8>) -> tensor<6x20xi32> {{
  %x = bufferization.to_buffer %a : tensor<6x7xi8> to memref<6x7xi8>
  %y = bufferization.to_buffer %b : tensor<7x20xi8> to memref<7x20xi8>
  %m = memref.alloc() : memref<6x20xi32>
  affine.for %i = 0 to 6 {{
    affine.for %j = 0 to {length} {{
      %z = arith.constant 3 : i32
      {prefix}
      affine.for %k = 0 to 7 {{
        %p = affine.load %x[%i, %k] : memref<6x7xi8>
        %q = affine.load %y[%k, %j] : memref<7x20xi8>
        %o = affine.load %m[{read}] : memref<6x20xi32>
        %pe = arith.extsi %p : i8 to i32
        %qe = arith.extsi %q : i8 to i32
        %t = arith.muli %pe, %qe : i32
        %s = arith.addi %o, {term} : i32
        affine.store %s, %m[{write}] : memref<6x20xi32>
      }}
      {suffix}
    }}
  }}
  %r = bufferization.to_tensor %m restrict : memref<6x20xi32> to tensor<6x20xi32>
  return %r : tensor<6x20xi32>
}}"""
PRODUCT = {
    "prefix": "affine.store %z, %m[%i, %j] : memref<6x20xi32>",
    "read": "%i, %j",
    "write": "%i, %j",
    "term": "%t",
    "length": "19",
    "suffix": "",
}
A, B = (np.random.default_rng(3).integers(-128, 128, shape, np.int8) for shape in ((6, 7), (7, 20)))


@pytest.fixture
def splits(monkeypatch: pytest.MonkeyPatch) -> list[SplitLoop]:
    """The loops that are split while programs are compiled."""
    collected: list[SplitLoop] = []

    def note(e, op):
        split = split_loop(e, op)
        collected.extend([] if split is None else [split])
        return split

    monkeypatch.setattr(control, "split_loop", note)
    return collected


def test_a_product_is_split(splits: list[SplitLoop]) -> None:
    check(NEST.format(**PRODUCT), A, B)
    assert [len(split.prefix) for split in splits] == [2]


@pytest.mark.parametrize(
    "change",
    [
        {"length": "10", "read": "%i, %j + %j"},
        {"read": "%i, %j + 1"},  # reads what the next iteration writes first
        {"write": "%i, %j + 1"},
        {"write": "%i, 0", "read": "%i, 0"},  # all iterations write one element
        {"write": "%i, %k", "read": "%i, %k"},
        {"prefix": "%w = affine.load %m[%i, %j] : memref<6x20xi32>", "term": "%w"},  # a value of the first part
        {"suffix": "affine.store %z, %m[%i, %j] : memref<6x20xi32>"},
        {"suffix": "%u = affine.load %m[%i, 19] : memref<6x20xi32> affine.store %u, %m[%i, %j] : memref<6x20xi32>"},
        {"read": "%i, symbol(%n) + %j"},
    ],
)
def test_what_reads_or_writes_other_elements_is_not_split(splits: list[SplitLoop], change: dict[str, str]) -> None:
    text = NEST.format(**{**PRODUCT, **change})
    if "%n" in text:
        text = text.replace("affine.for %i", "%n = arith.constant 1 : index\n  affine.for %i")
    check(text, A, B)
    assert not splits


def test_a_view_of_the_written_memory_is_another_place(splits: list[SplitLoop]) -> None:
    """Hazard: the same indices are other elements in a view."""
    text = NEST.format(**{**PRODUCT, "prefix": "", "length": "10"})
    view = "memref<6x10xi32, strided<[20, 1], offset: 1>>"
    text = text.replace(
        "affine.for %i", f"%v = memref.subview %m[0, 1] [6, 10] [1, 1] : memref<6x20xi32> to {view} affine.for %i"
    )
    text = text.replace("affine.load %m[%i, %j] : memref<6x20xi32>", f"affine.load %v[%i, %j] : {view}")
    check(text, A, B)
    assert not splits


def test_a_place_that_moves_with_the_inner_loop(splits: list[SplitLoop]) -> None:
    """It may be split: each iteration of the outer loop has a column of its own."""
    place = "(%i + %k) mod 6, %j"
    check(NEST.format(**{**PRODUCT, "read": place, "write": place}), A, B)
    assert len(splits) == 1


SUM_OF_COLUMNS = """func.func @main(%x: memref<3x9xi32>, %m: memref<3x9xi32>) {
  affine.for %j = 0 to 8 {
    affine.for %k = 0 to 3 {
      %p = affine.load %x[%k, %j] : memref<3x9xi32>
      %o = affine.load %m[1, %j] : memref<3x9xi32>
      %s = arith.addi %o, %p : i32
      affine.store %s, %m[1, %j] : memref<3x9xi32>
    }
  }
  return
}"""


def test_memrefs_of_the_caller_are_split_if_they_do_not_overlap(splits: list[SplitLoop]) -> None:
    x = np.arange(27, dtype=np.int32).reshape(3, 9)
    check(SUM_OF_COLUMNS, x, x + 5)
    assert len(splits) == 1


def test_memrefs_of_the_caller_that_overlap(splits: list[SplitLoop]) -> None:
    """Hazard: code for other arguments, in which the columns are sums of what other iterations wrote."""
    program = compile(SUM_OF_COLUMNS, codegen=True)
    plain = compile(SUM_OF_COLUMNS)
    for shift in (0, 1, 8, 9, 18):
        results = []
        for options in ({}, {"interpret": True}):
            memory = np.arange(60, dtype=np.int32)
            inputs = {"arg0": memory[:27].reshape(3, 9), "arg1": memory[shift : shift + 27].reshape(3, 9)}
            (plain if options else program).run(inputs, **options)
            results.append(memory.tolist())
        assert results[0] == results[1], shift
    assert len(splits) == 1, "only the code for arguments that do not overlap"


def test_loops_that_upstream_writes(splits: list[SplitLoop]) -> None:
    """`scf.for` around `memref.load` and `memref.store`, as ``convert-linalg-to-loops`` writes a product."""
    text = """func.func @main(%x: memref<6x7xi8>, %y: memref<7x20xi8>, %m: memref<6x20xi32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c6 = arith.constant 6 : index
      %c7 = arith.constant 7 : index
      %c20 = arith.constant 20 : index
      scf.for %i = %c0 to %c6 step %c1 {
        scf.for %j = %c0 to %c20 step %c1 {
          scf.for %k = %c0 to %c7 step %c1 {
            %p = memref.load %x[%i, %k] : memref<6x7xi8>
            %q = memref.load %y[%k, %j] : memref<7x20xi8>
            %o = memref.load %m[%i, %j] : memref<6x20xi32>
            %pe = arith.extsi %p : i8 to i32
            %qe = arith.extsi %q : i8 to i32
            %t = arith.muli %pe, %qe : i32
            %s = arith.addi %o, %t : i32
            memref.store %s, %m[%i, %j] : memref<6x20xi32>
          }
        }
      }
      return
    }"""
    check(text, A, B, np.zeros((6, 20), np.int32))
    assert len(splits) == 1
    splits.clear()
    dynamic = text.replace("%c7 = arith.constant 7 : index", "%c7 = memref.load %n[] : memref<index>")
    check(dynamic.replace("%m: memref<6x20xi32>)", "%m: memref<6x20xi32>, %n: memref<index>)"), A, B,
          np.zeros((6, 20), np.int32), np.array(5))  # fmt: skip
    assert not splits


@pytest.mark.parametrize("sizes", [(1, 1, 1), (3, 1, 17), (2, 40, 5), (5, 33, 64)])
@pytest.mark.parametrize("form", ["i32", "f32"])
def test_products_in_each_layout(form: str, sizes: tuple[int, int, int]) -> None:
    """Whichever loop becomes the innermost, a sum of floats keeps the order of its terms."""
    m, k, n = sizes
    rng = np.random.default_rng(sum(sizes))
    loops = 'iterator_types = ["parallel", "parallel", "reduction"]'
    multiply, add = ("arith.mulf", "arith.addf") if form == "f32" else ("arith.muli", "arith.addi")
    for left, right in (("(i, k)", "(k, j)"), ("(i, k)", "(j, k)"), ("(k, i)", "(k, j)"), ("(k, i)", "(j, k)")):
        extent = {"i": m, "j": n, "k": k}
        shapes = [tuple(extent[name] for name in map[1::3]) for map in (left, right)]
        types = [f"tensor<{'x'.join(map(str, shape))}x{form}>" for shape in (*shapes, (m, n))]
        maps = ", ".join(f"affine_map<(i, j, k) -> {map}>" for map in (left, right, "(i, j)"))
        text = f"""func.func @main(%a: {types[0]}, %b: {types[1]}, %c: {types[2]}) -> {types[2]} {{
          %r = linalg.generic {{indexing_maps = [{maps}], {loops}}}
              ins(%a, %b : {types[0]}, {types[1]}) outs(%c : {types[2]}) {{
          ^bb0(%x: {form}, %y: {form}, %z: {form}):
            %p = {multiply} %x, %y : {form}
            %s = {add} %z, %p : {form}
            linalg.yield %s : {form}
          }} -> {types[2]}
          return %r : {types[2]}
        }}"""
        draw = rng.standard_normal if form == "f32" else lambda shape: rng.integers(-(2**31), 2**31, shape)
        dtype = np.float32 if form == "f32" else np.int32
        check(text, *(np.asarray(draw(shape)).astype(dtype) for shape in (*shapes, (m, n))))


def test_each_lowered_loop_that_can_be_split_is(splits: list[SplitLoop]) -> None:
    product = """
    !q = !quant.uniform<i8:f32, 0.5:3>
    func.func @main(%a: tensor<8x16x!q>, %b: tensor<16x32x!q>) -> tensor<8x32x!q> {
      %r = qrt.matmul %a, %b : (tensor<8x16x!q>, tensor<16x32x!q>) -> tensor<8x32x!q>
      return %r : tensor<8x32x!q>
    }"""
    rng = np.random.default_rng(0)
    arrays = rng.integers(-128, 128, (8, 16), np.int8), rng.integers(-128, 128, (16, 32), np.int8)
    expected = compile(product)(*arrays).storage
    for strategy, count in (("in-loop", 1), ("post-accumulation", 2)):  # with the sums of the weights' columns
        module = run_passes(parse(product), f"lower-qrt{{to=loops zero-point={strategy}}}")
        np.testing.assert_array_equal(compile(module, codegen=True)(*arrays).storage, expected)
        assert len(splits) == count
        splits.clear()
