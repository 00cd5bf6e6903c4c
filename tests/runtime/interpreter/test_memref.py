"""memref. Hazards: a negative index that NumPy would take, a view that copies, strides in bytes, freed memory, memory
that outlives a call, a constant that is written."""

import numpy as np
import pytest

from tests.runtime.interpreter.run import refused, run

i64 = np.int64
ACCESS = """
func.func @f(%m: memref<2x3xf32>, %i: index, %j: index) -> f32 {
  %0 = memref.load %m[%i, %j] : memref<2x3xf32>
  return %0 : f32
}"""


def grid(*shape, dtype=np.float32):
    return np.arange(np.prod(shape), dtype=dtype).reshape(shape)


def test_load():
    assert run(ACCESS, grid(2, 3), i64(1), i64(2)) == [5]


@pytest.mark.parametrize(("i", "j"), [(-1, 0), (0, -1), (2, 0), (0, 3), (-3, 0), (1 << 62, 0)])
def test_load_out_of_bounds(i, j):
    refused(ACCESS, grid(2, 3), i64(i), i64(j), message=r"'memref.load' op index .* is out of bounds of shape \[2, 3\]")


@pytest.mark.parametrize("rank", range(5))
def test_every_rank(rank):
    dims, indices = "4x" * rank, ", ".join(["%i"] * rank)
    text = f"""
    func.func @f(%m: memref<{dims}i32>, %i: index, %x: i32) -> i32 {{
      %0 = memref.load %m[{indices}] : memref<{dims}i32>
      memref.store %x, %m[{indices}] : memref<{dims}i32>
      return %0 : i32
    }}"""
    memory = grid(*(4,) * rank, dtype=np.int32)
    assert run(text, memory, i64(3), np.int32(-7)) == [4**rank - 1]
    assert memory[(3,) * rank] == -7
    if rank:
        refused(text, memory, i64(-1), np.int32(0), message="out of bounds")
        refused(text, memory, i64(4), np.int32(0), message="out of bounds")


def test_memory_is_zero_until_written_and_new_at_each_call():
    text = """
    func.func @f(%n: index) -> memref<?xi8> {
      %c0 = arith.constant 0 : index
      %m = memref.alloc(%n) : memref<?xi8>
      %x = memref.load %m[%c0] : memref<?xi8>
      %c1 = arith.constant 1 : i8
      %y = arith.addi %x, %c1 : i8
      memref.store %y, %m[%c0] : memref<?xi8>
      return %m : memref<?xi8>
    }"""
    for _ in range(2):
        (memory,) = run(text, i64(3))
        np.testing.assert_array_equal(memory, np.array([1, 0, 0], np.int8))
    refused(text, i64(-1), message="every dimension must be at least 0, got shape")
    refused(text, i64(1 << 62), message="not enough memory for a buffer of 4611686018427387904 bytes")


FREE = """
func.func @f(%i: index) -> f32 {{
  %m = memref.alloc() : memref<4x4xf32>
  %v = memref.subview %m[1, 0] [2, 4] [1, 1] : memref<4x4xf32> to memref<2x4xf32, strided<[4, 1], offset: 4>>
  memref.dealloc %m : memref<4x4xf32>
  {}
}}"""


def test_use_after_free():
    load = "%x = memref.load %v[%i, %i] : memref<2x4xf32, strided<[4, 1], offset: 4>> return %x : f32"
    refused(FREE.format(load), i64(0), message="'memref.load' op accesses freed memory")
    store = "%x = arith.constant 1.0 : f32 memref.store %x, %m[%i, %i] : memref<4x4xf32> return %x : f32"
    refused(FREE.format(store), i64(0), message="'memref.store' op accesses freed memory")


def test_double_free():
    text = FREE.format("memref.dealloc %m : memref<4x4xf32> %x = arith.constant 1.0 : f32 return %x : f32")
    refused(text, i64(0), message="'memref.dealloc' op frees memory that is freed already")


def test_the_memory_of_the_caller_is_not_tracked():
    text = "func.func @f(%m: memref<4xf32>) { memref.dealloc %m : memref<4xf32> return }"
    memory = grid(4)
    run(text, memory)
    run(text, memory)


def test_globals_are_new_at_each_call_and_constants_are_not_written():
    text = """
    memref.global "private" {} @g : memref<2xi32> = dense<[3, 4]>
    func.func @f() -> i32 {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : i32
      %g = memref.get_global @g : memref<2xi32>
      %x = memref.load %g[%c0] : memref<2xi32>
      %y = arith.addi %x, %c1 : i32
      memref.store %y, %g[%c0] : memref<2xi32>
      %h = memref.get_global @g : memref<2xi32>
      %z = memref.load %h[%c0] : memref<2xi32>
      return %z : i32
    }}"""
    assert run(text.format("")) == [4]
    assert run(text.format("")) == [4]
    refused(text.format("constant"), message="'memref.store' op writes to constant memory")


def view(op, source, made, arguments=""):
    """A program that writes through a view of its argument."""
    return f"func.func @f(%m: {source}{arguments}) -> {made} {{ %v = {op} return %v : {made} }}"


@pytest.mark.parametrize(
    ("op", "source", "made", "expected"),
    [
        (
            "memref.subview %m[1, 2] [2, 3] [2, 1] : memref<4x8xf32> to memref<2x3xf32, strided<[16, 1], offset: 10>>",
            "memref<4x8xf32>",
            "memref<2x3xf32, strided<[16, 1], offset: 10>>",
            lambda m: m[1:4:2, 2:5],
        ),
        (
            "memref.subview %m[1, 2] [1, 3] [1, 1] : memref<4x8xf32> to memref<3xf32, strided<[1], offset: 10>>",
            "memref<4x8xf32>",
            "memref<3xf32, strided<[1], offset: 10>>",
            lambda m: m[1, 2:5],
        ),
        (
            "memref.reinterpret_cast %m to offset: [3], sizes: [2, 5], strides: [7, 2] : memref<4x8xf32> to "
            "memref<2x5xf32, strided<[7, 2], offset: 3>>",
            "memref<4x8xf32>",
            "memref<2x5xf32, strided<[7, 2], offset: 3>>",
            lambda m: m.reshape(-1)[3 + 7 * np.arange(2)[:, None] + 2 * np.arange(5)],
        ),
        (
            "memref.expand_shape %m [[0, 1], [2, 3]] output_shape [2, 2, 4, 2] : memref<4x8xf32> into "
            "memref<2x2x4x2xf32>",
            "memref<4x8xf32>",
            "memref<2x2x4x2xf32>",
            lambda m: m.reshape(2, 2, 4, 2),
        ),
        (
            "memref.collapse_shape %m [[0, 1]] : memref<4x8xf32> into memref<32xf32>",
            "memref<4x8xf32>",
            "memref<32xf32>",
            lambda m: m.reshape(32),
        ),
        (
            "memref.transpose %m (i, j) -> (j, i) : memref<4x8xf32> to memref<8x4xf32, strided<[1, 8]>>",
            "memref<4x8xf32>",
            "memref<8x4xf32, strided<[1, 8]>>",
            lambda m: m.T,
        ),
        (
            "memref.cast %m : memref<4x8xf32> to memref<?x?xf32>",
            "memref<4x8xf32>",
            "memref<?x?xf32>",
            lambda m: m,
        ),
    ],
    ids=lambda value: value.split()[0] if isinstance(value, str) and value.startswith("memref.") else "",
)
def test_views_alias(op, source, made, expected):
    memory = grid(4, 8)
    (seen,) = run(view(op, source, made), memory)
    np.testing.assert_array_equal(seen, expected(memory))
    seen[...] = -1
    assert (expected(memory) == -1).all()


SUBVIEW = view(
    "memref.subview %m[%i, 0] [%n, 8] [%s, 1] : memref<4x8xf32> to memref<?x8xf32, strided<[?, 1], offset: ?>>",
    "memref<4x8xf32>",
    "memref<?x8xf32, strided<[?, 1], offset: ?>>",
    ", %i: index, %n: index, %s: index",
)


@pytest.mark.parametrize(("i", "n", "s"), [(-1, 1, 1), (4, 1, 1), (2, 3, 1), (0, 3, 2), (0, -1, 1), (1, 3, -1)])
def test_subview_out_of_bounds(i, n, s):
    refused(SUBVIEW, grid(4, 8), i64(i), i64(n), i64(s), message="out of bounds: dimension 0 has size 4")


def test_subview_backwards():
    memory = grid(4, 8)
    np.testing.assert_array_equal(run(SUBVIEW, memory, i64(3), i64(4), i64(-1))[0], memory[::-1])


def test_metadata_and_back():
    text = """
    func.func @f(%m: memref<4x8xf32>, %i: index) -> (index, index, index, memref<?xf32>) {
      %v = memref.subview %m[%i, 1] [2, 3] [1, 2] : memref<4x8xf32> to memref<2x3xf32, strided<[8, 2], offset: ?>>
      %b, %o, %s0, %s1, %t0, %t1 = memref.extract_strided_metadata %v
          : memref<2x3xf32, strided<[8, 2], offset: ?>> -> memref<f32>, index, index, index, index, index
      %r = memref.reinterpret_cast %b to offset: [0], sizes: [%o], strides: [1] : memref<f32> to memref<?xf32>
      return %o, %t0, %t1, %r : index, index, index, memref<?xf32>
    }"""
    offset, first, second, line = run(text, grid(4, 8), i64(2))
    assert (offset, first, second) == (17, 8, 2)
    np.testing.assert_array_equal(line, np.arange(17))


def test_reinterpret_cast_stays_within_the_buffer():
    text = view(
        "memref.reinterpret_cast %m to offset: [%o], sizes: [4], strides: [8] : memref<4x8xf32> to "
        "memref<4xf32, strided<[8], offset: ?>>",
        "memref<4x8xf32>",
        "memref<4xf32, strided<[8], offset: ?>>",
        ", %o: index",
    )
    np.testing.assert_array_equal(run(text, grid(4, 8), i64(7))[0], [7, 15, 23, 31])
    for offset in (8, -1):
        refused(text, grid(4, 8), i64(offset), message="are out of bounds of the buffer of 32")


def test_view_reads_bytes():
    text = view(
        "memref.view %m[%o][] : memref<16xi8> to memref<2xi32>", "memref<16xi8>", "memref<2xi32>", ", %o: index"
    )
    memory = np.zeros(16, np.int8)
    (seen,) = run(text, memory, i64(4))
    seen[...] = 0x01020304
    assert memory[4:12].tolist() == [4, 3, 2, 1] * 2
    refused(text, memory, i64(9), message="bytes 9 to 17 are out of bounds of the buffer of 16")


def test_copy_dim_rank_and_reshape():
    text = """
    func.func @f(%m: memref<?x?xf32>, %n: memref<?x?xf32>, %i: index, %s: memref<1xindex>)
        -> (index, index, memref<?xf32>) {
      memref.copy %m, %n : memref<?x?xf32> to memref<?x?xf32>
      %d = memref.dim %n, %i : memref<?x?xf32>
      %r = memref.rank %n : memref<?x?xf32>
      %v = memref.reshape %n(%s) : (memref<?x?xf32>, memref<1xindex>) -> memref<?xf32>
      return %d, %r, %v : index, index, memref<?xf32>
    }"""
    target = np.zeros((2, 3), np.float32)
    size, rank, line = run(text, grid(2, 3), target, i64(1), np.array([6]))
    assert (size, rank) == (3, 2)
    np.testing.assert_array_equal(line, np.arange(6))
    refused(
        text,
        grid(3, 2),
        target,
        i64(1),
        np.array([6]),
        message=r"source and target must have the same shape, got \[3, 2\] and \[2, 3\]",
    )
    refused(text, grid(2, 3), target, i64(2), np.array([6]), message="dimension 2")
    refused(text, grid(2, 3), target, i64(0), np.array([5]), message=r"6 elements cannot be reshaped to \[5\]")


def test_a_cast_to_a_static_shape_is_checked():
    text = view("memref.cast %m : memref<?xf32> to memref<4xf32>", "memref<?xf32>", "memref<4xf32>")
    run(text, grid(4))
    refused(text, grid(5), message=r"the operand has shape \[5\], which does not match the result type memref<4xf32>")


def test_expansions_of_sizes_that_only_the_run_knows():
    """As strides without a check, they would reach beyond the buffer."""
    text = view(
        "memref.expand_shape %m [[0, 1]] output_shape [%n, %k] : memref<?xf32> into memref<?x?xf32>",
        "memref<?xf32>",
        "memref<?x?xf32>",
        ", %n: index, %k: index",
    )
    refused(text, grid(6), i64(-2), i64(-3), message=r"dimension 0 of size 6 cannot be expanded to \[-2, -3\]")


def test_memory_is_laid_out_as_its_symbols_say():
    """The offset comes first, then the strides."""
    text = """
    func.func @f(%n: index, %o: index, %s: index) -> (index, index, index) {
      %m = memref.alloc(%n)[%o, %s] : memref<?x2xi32, strided<[?, 1], offset: ?>>
      %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %m
        : memref<?x2xi32, strided<[?, 1], offset: ?>> -> memref<i32>, index, index, index, index, index
      return %offset, %sizes#0, %strides#0 : index, index, index
    }"""
    assert run(text, i64(3), i64(5), i64(7)) == [5, 3, 7]
    refused(text, i64(3), i64(-1), i64(7), message="new memory must be at least 0")


def test_a_dimension_that_may_be_one_is_collapsed():
    text = """
    func.func @f(%m: memref<?x?xf32>, %i: index, %n: index) -> f32 {
      %s = memref.subview %m[0, 0] [%n, 2] [1, 1] : memref<?x?xf32> to memref<?x2xf32, strided<[?, 1]>>
      %e = memref.collapse_shape %s [[0, 1]] : memref<?x2xf32, strided<[?, 1]>> into memref<?xf32, strided<[1]>>
      %0 = memref.load %e[%i] : memref<?xf32, strided<[1]>>
      return %0 : f32
    }"""
    assert run(text, grid(2, 2), i64(3), i64(2)) == [3]
    assert run(text, grid(2, 3), i64(1), i64(1)) == [1]
    refused(text, grid(2, 3), i64(3), i64(2), message="memref.collapse_shape")
