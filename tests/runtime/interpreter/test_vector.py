"""vector. Hazards: padding of lanes out of bounds, masks of permuted transfers, the order of a float sum, a negative
position, a contraction's accumulator in another order."""

import numpy as np
import pytest

from tests.runtime.interpreter.run import refused, run

i64 = np.int64


def grid(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


READ = """
func.func @f(%m: memref<?x?xf32>, %i: index, %j: index, %x: f32) -> vector<{0}xf32> {{
  %0 = vector.transfer_read %m[%i, %j], %x {1} : memref<?x?xf32>, vector<{0}xf32>
  return %0 : vector<{0}xf32>
}}"""


@pytest.mark.parametrize("start", [0, 1, 2, 5, -2])
def test_lanes_out_of_bounds_are_padded(start):
    memory = grid(2, 4)
    (result,) = run(READ.format("3", ""), memory, i64(1), i64(start), np.float32(-1))
    expected = [memory[1, j] if 0 <= j < 4 else -1 for j in range(start, start + 3)]
    assert result.tolist() == expected
    if start not in (0, 1):
        text = READ.format("3", "{in_bounds = [true]}")
        refused(
            text,
            memory,
            i64(1),
            i64(start),
            np.float32(-1),
            message="accesses lanes beyond the memory, whose dimension 1 has size 4",
        )
    refused(
        READ.format("3", ""),
        memory,
        i64(2),
        i64(0),
        np.float32(-1),
        message="beyond the memory, whose dimension 0 has size 2",
    )


def test_permuted_and_broadcast_reads():
    transposed = READ.format("3x2", "{permutation_map = affine_map<(d0, d1) -> (d1, d0)>}")
    np.testing.assert_array_equal(run(transposed, grid(2, 3), i64(0), i64(0), np.float32(0))[0], grid(2, 3).T)
    broadcast = READ.format("2x3", "{permutation_map = affine_map<(d0, d1) -> (0, d1)>, in_bounds = [true, false]}")
    (result,) = run(broadcast, grid(2, 3), i64(1), i64(1), np.float32(-1))
    assert result.tolist() == [[4, 5, -1]] * 2


def test_masks_are_in_the_order_of_memory():
    text = """
    func.func @f(%m: memref<2x3xf32>, %k: vector<2x3xi1>, %x: f32) -> vector<3x2xf32> {
      %c0 = arith.constant 0 : index
      %0 = vector.transfer_read %m[%c0, %c0], %x, %k {permutation_map = affine_map<(d0, d1) -> (d1, d0)>}
          : memref<2x3xf32>, vector<3x2xf32>
      return %0 : vector<3x2xf32>
    }"""
    mask = np.array([[True, False, True], [False, False, True]])
    (result,) = run(text, grid(2, 3), mask, np.float32(-1))
    np.testing.assert_array_equal(result, np.where(mask, grid(2, 3), -1).T)


def test_writes():
    text = """
    func.func @f(%v: vector<3xf32>, %m: memref<4xf32>, %t: tensor<4xf32>, %i: index, %k: vector<3xi1>)
        -> tensor<4xf32> {
      vector.transfer_write %v, %m[%i], %k : vector<3xf32>, memref<4xf32>
      %0 = vector.transfer_write %v, %t[%i] : vector<3xf32>, tensor<4xf32>
      return %0 : tensor<4xf32>
    }"""
    memory, tensor = np.zeros(4, np.float32), np.zeros(4, np.float32)
    vector, mask = np.array([7, 8, 9], np.float32), np.array([True, False, True])
    (result,) = run(text, vector, memory, tensor, i64(2), mask)
    assert (result.tolist(), memory.tolist(), tensor.tolist()) == ([0, 0, 7, 8], [0, 0, 7, 0], [0] * 4)
    run(text, vector, memory, tensor, i64(-2), mask)
    assert memory.tolist() == [9, 0, 7, 0]


def test_writes_without_dimensions():
    text = """
    func.func @f(%v: vector<f32>, %m: memref<f32>, %n: memref<4xf32>, %t: tensor<f32>, %i: index) -> tensor<f32> {
      vector.transfer_write %v, %m[] : vector<f32>, memref<f32>
      vector.transfer_write %v, %n[%i] : vector<f32>, memref<4xf32>
      %0 = vector.transfer_write %v, %t[] : vector<f32>, tensor<f32>
      return %0 : tensor<f32>
    }"""
    vector, memory, line, tensor = np.array(7, np.float32), grid(), np.zeros(4, np.float32), grid()
    (result,) = run(text, vector, memory, line, tensor, i64(2))
    assert (result.tolist(), memory.tolist(), line.tolist(), tensor.tolist()) == (7, 7, [0, 0, 7, 0], 0)
    refused(text, vector, memory, line, tensor, i64(4), message="beyond the memory, whose dimension 0 has size 4")


def test_float_sums_are_sequential():
    text = """
    func.func @f(%v: vector<4xf32>, %x: f32) -> (f32, f32) {
      %0 = vector.reduction <add>, %v : vector<4xf32> into f32
      %1 = vector.reduction <add>, %v, %x : vector<4xf32> into f32
      return %0, %1 : f32, f32
    }"""
    vector = np.array([1e8, 1, -1e8, 1], np.float32)
    assert run(text, vector, np.float32(3)) == [1, 1]
    total = np.float32(3)
    for each in vector:
        total = total + each
    assert run(text, vector, np.float32(3))[1] == total


def test_a_sum_of_negative_zeros():
    """mlir-runner 22 prints 0 and -0: without an accumulator a sum begins with 0.0."""
    text = """
    func.func @f(%v: vector<2xf32>, %x: f32) -> (f32, f32) {
      %0 = vector.reduction <add>, %v : vector<2xf32> into f32
      %1 = vector.reduction <add>, %v, %x : vector<2xf32> into f32
      return %0, %1 : f32, f32
    }"""
    zeros = np.full(2, -0.0, np.float32)
    assert [np.signbit(result) for result in run(text, zeros, np.float32(-0.0))] == [False, True]


KINDS = {
    "add": 1,
    "mul": -40,
    "minui": 2,
    "minsi": -5,
    "maxui": -5,
    "maxsi": 4,
    "and": 4 & -5 & 2,
    "or": 4 | -5 | 2,
    "xor": 4 ^ -5 ^ 2,
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(kind):
    text = f"""
    func.func @f(%v: vector<3xi8>) -> i8 {{
      %0 = vector.reduction <{kind}>, %v : vector<3xi8> into i8
      return %0 : i8
    }}"""
    assert run(text, np.array([4, -5, 2], np.int8)) == [KINDS[kind]]


def test_contract():
    text = """
    func.func @f(%a: vector<2x3xi32>, %b: vector<3x4xi32>, %c: vector<4x2xi32>) -> vector<4x2xi32> {
      %0 = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
          affine_map<(i, j, k) -> (j, i)>], iterator_types = ["parallel", "parallel", "reduction"]} %a, %b, %c
          : vector<2x3xi32>, vector<3x4xi32> into vector<4x2xi32>
      return %0 : vector<4x2xi32>
    }"""
    rng = np.random.default_rng(1)
    a, b, c = (rng.integers(-9, 9, shape).astype(np.int32) for shape in ((2, 3), (3, 4), (4, 2)))
    np.testing.assert_array_equal(run(text, a, b, c)[0], (a @ b).T + c)


def test_shapes():
    text = """
    func.func @f(%v: vector<2x3xf32>, %x: f32, %i: index) -> (vector<3x2xf32>, vector<2x3xf32>, f32, vector<6xf32>,
        vector<2x2xf32>, vector<4xf32>, vector<2x3xf32>) {
      %0 = vector.transpose %v, [1, 0] : vector<2x3xf32> to vector<3x2xf32>
      %1 = vector.insert %x, %v[1, %i] : f32 into vector<2x3xf32>
      %2 = vector.extract %v[%i, 2] : f32 from vector<2x3xf32>
      %3 = vector.shape_cast %v : vector<2x3xf32> to vector<6xf32>
      %4 = vector.extract_strided_slice %v {offsets = [0, 1], sizes = [2, 2], strides = [1, 1]}
          : vector<2x3xf32> to vector<2x2xf32>
      %5 = vector.shuffle %3, %3 [0, 11, 5, 6] : vector<6xf32>, vector<6xf32>
      %6 = vector.insert_strided_slice %4, %v {offsets = [0, 0], strides = [1, 1]}
          : vector<2x2xf32> into vector<2x3xf32>
      return %0, %1, %2, %3, %4, %5, %6 : vector<3x2xf32>, vector<2x3xf32>, f32, vector<6xf32>, vector<2x2xf32>,
          vector<4xf32>, vector<2x3xf32>
    }"""
    v = grid(2, 3)
    found = run(text, v, np.float32(9), i64(0))
    expected = [v.T, [[0, 1, 2], [9, 4, 5]], 2, range(6), [[1, 2], [4, 5]], [0, 5, 5, 0], [[1, 2, 2], [4, 5, 5]]]
    for result, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(result, wanted)
    for index in (-1, 2):
        refused(text, v, np.float32(9), i64(index), message="position .* is out of bounds")


def test_masks_steps_and_elements():
    text = """
    func.func @f(%i: index, %j: index, %x: f32) -> (vector<2x3xi1>, vector<2x3xi1>, vector<3xindex>, vector<2xf32>) {
      %0 = vector.create_mask %i, %j : vector<2x3xi1>
      %1 = vector.constant_mask [1, 2] : vector<2x3xi1>
      %2 = vector.step : vector<3xindex>
      %3 = vector.from_elements %x, %x : vector<2xf32>
      return %0, %1, %2, %3 : vector<2x3xi1>, vector<2x3xi1>, vector<3xindex>, vector<2xf32>
    }"""
    mask, constant, steps, elements = run(text, i64(5), i64(-1), np.float32(2))
    assert (mask.sum(), constant.tolist()) == (0, [[True, True, False], [False] * 3])
    assert (steps.tolist(), elements.tolist()) == ([0, 1, 2], [2, 2])
    assert run(text, i64(5), i64(2), np.float32(2))[0].tolist() == [[True, True, False]] * 2


@pytest.mark.parametrize("shape", [(), (1,), (2,), (2, 3)])
def test_interleaved_elements_by_themselves(shape):
    given = "x".join([*map(str, shape), "i32"])
    made = (*shape[:-1], 2 * (shape or (1,))[-1])
    names = [f"%2#{index}" for index in range(2 * int(np.prod(shape)))]
    text = f"""
    func.func @f(%v: vector<{given}>) -> vector<{"x".join(map(str, made))}xi32> {{
      %0 = arith.addi %v, %v : vector<{given}>
      %1 = vector.interleave %v, %0 : vector<{given}> -> vector<{"x".join(map(str, made))}xi32>
      %2:{len(names)} = vector.to_elements %1 : vector<{"x".join(map(str, made))}xi32>
      %3 = vector.from_elements {", ".join(names[::-1])} : vector<{"x".join(map(str, made))}xi32>
      return %3 : vector<{"x".join(map(str, made))}xi32>
    }}"""
    values = np.arange(1, 1 + int(np.prod(shape)), dtype=np.int32).reshape(shape)
    expected = [number for value in values.reshape(-1).tolist() for number in (value, 2 * value)][::-1]
    (found,) = run(text, values)
    assert (found.shape, found.reshape(-1).tolist()) == (made, expected)


def test_loads_stores_and_arithmetic():
    text = """
    func.func @f(%m: memref<2x8xf32>, %i: index) {
      %c0 = arith.constant 0 : index
      %one = arith.constant dense<1.0> : vector<4xf32>
      %v = vector.load %m[%c0, %i] : memref<2x8xf32>, vector<4xf32>
      %w = arith.addf %v, %one : vector<4xf32>
      %f = vector.fma %v, %w, %one : vector<4xf32>
      vector.store %f, %m[%c0, %i] : memref<2x8xf32>, vector<4xf32>
      return
    }"""
    memory = grid(2, 8)
    run(text, memory, i64(4))
    assert memory[0].tolist() == [0, 1, 2, 3, 21, 31, 43, 57]
    for index in (5, -1):
        refused(text, memory, i64(index), message="'vector.load' op a vector at .* is out of bounds")


def test_print(capsys):
    """What mlir-runner 22 prints."""
    text = """
    func.func @f(%v: vector<2x2xf32>, %x: i8, %i: index) {
      vector.print %v : vector<2x2xf32>
      vector.print %i : index
      vector.print %x : i8 punctuation <comma>
      return
    }"""
    run(text, np.array([[1, 2.5], [-3, 1e10]], np.float32), np.int8(-3), i64(-4))
    assert capsys.readouterr().out == "( ( 1, 2.5 ), ( -3, 1e+10 ) )\n18446744073709551612\n-3, "


def test_a_mask_of_one_lane():
    text = """
    func.func @f(%m: memref<f32>, %p: f32, %k: vector<1xi1>) -> vector<f32> {
      %0 = vector.transfer_read %m[], %p, %k : memref<f32>, vector<f32>
      return %0 : vector<f32>
    }"""
    for lane in (True, False):
        (result,) = run(text, np.array(3, np.float32), np.float32(7), np.array([lane]))
        assert (result.shape, result[()]) == ((), 3 if lane else 7)


def test_lanes_that_are_no_elements_do_not_run():
    text = """
    func.func @f(%m: memref<8xi8>, %i: index, %p: i8) -> vector<4xi32> {
      %0 = vector.transfer_read %m[%i], %p : memref<8xi8>, vector<4xi32>
      return %0 : vector<4xi32>
    }"""
    refused(
        text,
        np.zeros(8, np.int8),
        i64(0),
        np.int8(0),
        message=("the interpreter does not support a vector whose element type differs from that of the memory, got"),
    )
