"""affine. Hazards: floor division of negative numbers, bounds with several results, the last iteration, loops that
carry values, sets with equalities, symbols after dimensions."""

import numpy as np
import pytest

from tests.runtime.interpreter.run import refused, run

i64 = np.int64


def apply(map, *operands):
    """The result of an `affine.apply` of one map."""
    names = ", ".join(f"%d{i}: index" for i in range(len(operands)))
    values = ", ".join(f"%d{i}" for i in range(len(operands)))
    text = f"func.func @f({names}) -> index {{ %0 = affine.apply affine_map<{map}>({values}) return %0 : index }}"
    return run(text, *map_of(operands))


def map_of(operands):
    return [i64(operand) for operand in operands]


@pytest.mark.parametrize(
    ("map", "operands", "expected"),
    [
        ("(d0) -> (d0 floordiv 4)", [-1], -1),
        ("(d0) -> (d0 ceildiv 4)", [-1], 0),
        ("(d0) -> (d0 mod 4)", [-1], 3),
        ("(d0) -> (d0 ceildiv 4)", [5], 2),
        ("(d0, d1) -> (d0 * 3 - d1 + 7)", [2, 5], 8),
        ("(d0) -> (-(d0 floordiv 2) * 5)", [7], -15),
        ("(d0) -> (d0 floordiv -2)", [7], -4),
        ("(d0) -> (d0 ceildiv -2)", [7], -3),
    ],
)
def test_apply(map, operands, expected):
    assert apply(map, *operands) == [expected]


def test_symbols_follow_dimensions():
    text = """
    func.func @f(%d: index, %s: index) -> (index, index, index) {
      %0 = affine.apply affine_map<(d0)[s0] -> (d0 floordiv s0)>(%d)[%s]
      %1 = affine.min affine_map<(d0)[s0] -> (d0, s0 + 10, 99)>(%d)[%s]
      %2 = affine.max affine_map<(d0)[s0] -> (d0, s0 + 10, 9)>(%d)[%s]
      return %0, %1, %2 : index, index, index
    }"""
    assert run(text, i64(23), i64(4)) == [5, 14, 23]
    refused(text, i64(23), i64(0), message="'affine.apply' op the divisor of floordiv must be other than 0, got 0")


def test_what_has_no_value():
    for divisor in ("floordiv 0", "ceildiv 0", "mod 0", "mod -2"):
        text = f"""
        func.func @f(%d: index) -> index {{
          %0 = affine.apply affine_map<(d0) -> (d0 {divisor})>(%d)
          return %0 : index
        }}"""
        refused(text, i64(7), message=f"the divisor of {divisor.split()[0]} must be ")


def test_a_result_that_is_no_index():
    text = """
    func.func @f(%d: index) -> index {
      %0 = affine.apply affine_map<(d0) -> (d0 * 4)>(%d)
      return %0 : index
    }"""
    refused(text, i64(1 << 61), message="is out of the range of an index")


LOOP = """
func.func @f(%m: memref<?xi32>, %a: index, %b: index, %x: i32) {
  affine.for %i = max affine_map<(d0) -> (d0, 1)>(%a) to min affine_map<(d0) -> (d0, 6)>(%b) step 2 {
    affine.store %x, %m[%i] : memref<?xi32>
  }
  return
}"""


@pytest.mark.parametrize("start", [-3, 0, 2, 5, 9])
@pytest.mark.parametrize("stop", [-1, 0, 3, 6, 8])
def test_bounds(start, stop):
    memory = np.zeros(8, np.int32)
    run(LOOP, memory, i64(start), i64(stop), np.int32(1))
    assert np.flatnonzero(memory).tolist() == list(range(max(start, 1), min(stop, 6), 2))


def test_carried_values_swap_at_once():
    text = """
    func.func @f(%n: index, %x: i32, %y: i32) -> (i32, i32) {
      %r:2 = affine.for %i = 0 to %n iter_args(%u = %x, %v = %y) -> (i32, i32) {
        affine.yield %v, %u : i32, i32
      }
      return %r#0, %r#1 : i32, i32
    }"""
    assert run(text, i64(3), np.int32(1), np.int32(2)) == [2, 1]
    assert run(text, i64(0), np.int32(1), np.int32(2)) == [1, 2]


def test_conditions():
    text = """
    func.func @f(%i: index, %n: index) -> i32 {
      %a = arith.constant 1 : i32
      %b = arith.constant 0 : i32
      %0 = affine.if affine_set<(d0)[s0] : (d0 - 2 >= 0, s0 - d0 >= 0, d0 mod 2 == 0)>(%i)[%n] -> i32 {
        affine.yield %a : i32
      } else {
        affine.yield %b : i32
      }
      return %0 : i32
    }"""
    assert [run(text, i64(i), i64(6))[0] for i in range(9)] == [0, 0, 1, 0, 1, 0, 1, 0, 0]


def test_matmul_as_loops():
    text = """
    func.func @f(%a: memref<5x7xf32>, %b: memref<7x3xf32>, %c: memref<5x3xf32>) {
      affine.for %i = 0 to 5 {
        affine.for %j = 0 to 3 {
          affine.for %k = 0 to 7 {
            %x = affine.load %a[%i, %k] : memref<5x7xf32>
            %y = affine.load %b[%k, %j] : memref<7x3xf32>
            %z = affine.load %c[%i, %j] : memref<5x3xf32>
            %p = arith.mulf %x, %y : f32
            %s = arith.addf %z, %p : f32
            affine.store %s, %c[%i, %j] : memref<5x3xf32>
          }
        }
      }
      return
    }"""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((5, 7)).astype(np.float32), rng.standard_normal((7, 3)).astype(np.float32)
    c, expected = np.zeros((5, 3), np.float32), np.zeros((5, 3), np.float32)
    for k in range(7):
        expected = expected + a[:, k : k + 1] * b[k]
    run(text, a, b, c)
    np.testing.assert_array_equal(c, expected)


def test_accesses_through_maps_stay_within_bounds():
    text = """
    func.func @f(%m: memref<8xi32>, %i: index, %n: index) -> i32 {
      %0 = affine.load %m[%i * 2 - symbol(%n)] : memref<8xi32>
      return %0 : i32
    }"""
    memory = np.arange(8, dtype=np.int32)
    assert run(text, memory, i64(3), i64(1)) == [5]
    for i, n in ((0, 1), (4, 0), (-1, 0)):
        refused(text, memory, i64(i), i64(n), message=r"'affine.load' op index \[.*\] is out of bounds")


def test_steps_are_bounded():
    text = """
    func.func @f() {
      affine.for %i = 0 to 4611686018427387904 { }
      return
    }"""
    refused(text, message="'affine.for' op does not end within max_steps, the limit of steps", max_steps=1000)


def test_a_step_of_zero_is_undefined():
    text = "func.func @f() { affine.for %i = 0 to 4 step 0 { } return }"
    refused(text, message="'affine.for' op the step must be positive, got 0")


PARALLEL = """
func.func @f(%n: index, %k: index, %m: memref<?x?xi32>) -> (f32, i32, f32) {{
  %x = arith.constant 0.1 : f32
  %c = arith.constant 1 : i32
  %r:3 = affine.parallel (%i, %j) = (0, max(1, %k - 1)) to (%n, min(%n + 2, 5)) step (1, {step})
      reduce ("addf", "addi", "maximumf") -> (f32, i32, f32) {{
    %l = affine.load %m[%i, %j] : memref<?x?xi32>
    %s = arith.addi %l, %c : i32
    affine.store %s, %m[%i, %j] : memref<?x?xi32>
    %f = arith.sitofp %s : i32 to f32
    affine.yield %x, %s, %f : f32, i32, f32
  }}
  return %r#0, %r#1, %r#2 : f32, i32, f32
}}"""


@pytest.mark.parametrize(("n", "k"), [(3, 0), (3, 3), (4, 2), (0, 0), (1, 9)])
def test_parallel(n, k):
    """Bounds are the largest and the smallest; a reduction begins with its identity, and adds in order."""
    memory = np.arange(64, dtype=np.int32).reshape(8, 8)
    expected, total, sums, largest = memory.copy(), np.float32(0), np.int32(0), np.float32(-np.inf)
    for i in range(n):
        for j in range(max(1, k - 1), min(n + 2, 5), 2):
            expected[i, j] += 1
            total, sums, largest = total + np.float32(0.1), sums + expected[i, j], max(largest, expected[i, j])
    assert run(PARALLEL.format(step=2), i64(n), i64(k), memory) == [total, sums, largest]
    np.testing.assert_array_equal(memory, expected)


def test_parallel_loops_that_do_not_run():
    memory = np.zeros((8, 8), np.int32)
    for step in (0, -1):
        refused(
            PARALLEL.format(step=step),
            i64(3),
            i64(0),
            memory,
            message=f"the step must be positive, got {step}",
        )
    text = PARALLEL.format(step=1)
    refused(text, i64(3), i64(0), memory, message="does not end within max_steps, the limit of steps", max_steps=10)
    refused(
        text.replace('"addf"', '"assign"'), i64(3), i64(0), memory, message="does not support the reduction 'assign'"
    )
