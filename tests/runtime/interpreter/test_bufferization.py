"""bufferization. Hazards: a tensor that changes with its buffer, a write to a tensor's own elements."""

import numpy as np

from tests.runtime.interpreter.run import refused, run


def test_a_tensor_keeps_its_value():
    text = """
    func.func @f(%m: memref<3xi32>, %x: i32) -> tensor<3xi32> {
      %c0 = arith.constant 0 : index
      %t = bufferization.to_tensor %m restrict writable : memref<3xi32> to tensor<3xi32>
      memref.store %x, %m[%c0] : memref<3xi32>
      return %t : tensor<3xi32>
    }"""
    memory = np.arange(3, dtype=np.int32)
    (tensor,) = run(text, memory, np.int32(9))
    assert (tensor.tolist(), memory.tolist()) == ([0, 1, 2], [9, 1, 2])


def test_the_buffer_of_a_tensor_is_not_written():
    text = """
    func.func @f(%t: tensor<3xi32>, %x: i32) -> i32 {
      %c1 = arith.constant 1 : index
      %m = bufferization.to_buffer %t : tensor<3xi32> to memref<3xi32>
      %c = bufferization.clone %m : memref<3xi32> to memref<3xi32>
      memref.store %x, %c[%c1] : memref<3xi32>
      %y = memref.load %m[%c1] : memref<3xi32>
      memref.store %x, %m[%c1] : memref<3xi32>
      return %y : i32
    }"""
    tensor = np.arange(3, dtype=np.int32)
    refused(text, tensor, np.int32(9), message="<string>:8:7: error: 'memref.store' op writes to constant memory")
    assert tensor.tolist() == [0, 1, 2]


def test_materialize_in_destination():
    text = """
    func.func @f(%t: tensor<?xi32>, %m: memref<?xi32>, %n: index) -> (tensor<?xi32>, tensor<?xi32>) {
      bufferization.materialize_in_destination %t in writable %m : (tensor<?xi32>, memref<?xi32>) -> ()
      %e = bufferization.alloc_tensor(%n) : tensor<?xi32>
      %c = bufferization.alloc_tensor() copy(%t) : tensor<?xi32>
      %r = bufferization.materialize_in_destination %t in %e : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
      bufferization.dealloc_tensor %e : tensor<?xi32>
      return %r, %c : tensor<?xi32>, tensor<?xi32>
    }"""
    tensor, memory = np.arange(3, dtype=np.int32), np.zeros(3, np.int32)
    first, second = run(text, tensor, memory, np.int64(3))
    assert first.tolist() == second.tolist() == memory.tolist() == [0, 1, 2]
    refused(text, tensor, memory, np.int64(4), message=r"must have the same shape, got \[3\] and \[4\]")
    refused(text, tensor, np.zeros(2, np.int32), np.int64(3), message=r"must have the same shape, got .* and \[2\]")
