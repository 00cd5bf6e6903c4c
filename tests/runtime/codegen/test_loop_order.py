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


def test_memrefs_of_the_caller_are_not_split(splits: list[SplitLoop]) -> None:
    """Hazard: two of them may be the same array."""
    text = """func.func @main(%x: memref<3x9xi32>, %m: memref<9xi32>) {
      affine.for %j = 0 to 9 {
        affine.for %k = 0 to 3 {
          %p = affine.load %x[%k, %j] : memref<3x9xi32>
          %o = affine.load %m[%j] : memref<9xi32>
          %s = arith.addi %o, %p : i32
          affine.store %s, %m[%j] : memref<9xi32>
        }
      }
      return
    }"""
    check(text, np.arange(27, dtype=np.int32).reshape(3, 9), np.arange(9, dtype=np.int32))
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
