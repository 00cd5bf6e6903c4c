"""shape on extents. Hazards: a negative place to split at, the product of no extents, shapes that do not broadcast."""

import numpy as np

from tests.runtime.interpreter.run import refused, run

TEXT = """
func.func @f(%t: tensor<?x3xf32>, %i: index) -> (index, tensor<?xindex>, tensor<?xindex>, index, index) {
  %s = shape.shape_of %t : tensor<?x3xf32> -> tensor<2xindex>
  %n = shape.num_elements %s : tensor<2xindex> -> index
  %h, %l = "shape.split_at"(%s, %i) : (tensor<2xindex>, index) -> (tensor<?xindex>, tensor<?xindex>)
  %c = arith.constant 0 : index
  %d = shape.dim %t, %c : tensor<?x3xf32>, index -> index
  %e = shape.get_extent %s, %c : tensor<2xindex>, index -> index
  return %n, %h, %l, %d, %e : index, tensor<?xindex>, tensor<?xindex>, index, index
}"""


def test_extents():
    tensor = np.zeros((4, 3), np.float32)
    for index, head, tail in ((1, [4], [3]), (-1, [4], [3]), (2, [4, 3], []), (-2, [], [4, 3])):
        count, first, rest, size, extent = run(TEXT, tensor, np.int64(index))
        assert (count, first.tolist(), rest.tolist(), size, extent) == (12, head, tail, 4, 4)
    for index in (3, -3):
        refused(
            TEXT,
            tensor,
            np.int64(index),
            message="'shape.split_at' op the split index must be in ",
        )


BROADCAST = """
func.func @f(%a: tensor<?xindex>, %b: tensor<?xindex>) -> (i1, i1, tensor<?xindex>, tensor<?xindex>, index) {
  %p = shape.is_broadcastable %a, %b : tensor<?xindex>, tensor<?xindex>
  %q = shape.shape_eq %a, %b : tensor<?xindex>, tensor<?xindex>
  %c = shape.concat %a, %b : tensor<?xindex>, tensor<?xindex> -> tensor<?xindex>
  %d = shape.broadcast %a, %b : tensor<?xindex>, tensor<?xindex> -> tensor<?xindex>
  %n = shape.rank %c : tensor<?xindex> -> index
  return %p, %q, %c, %d, %n : i1, i1, tensor<?xindex>, tensor<?xindex>, index
}"""


def test_broadcast():
    fits, equal, both, made, rank = run(BROADCAST, np.array([4, 1, 3]), np.array([2, 1]))
    assert (fits, equal, both.tolist(), made.tolist(), rank) == (True, False, [4, 1, 3, 2, 1], [4, 2, 3], 5)
    fits, equal, _, made, _ = run(BROADCAST, np.array([-3]), np.array([1, -3]))  # it broadcasts with itself
    assert (fits, equal, made.tolist()) == (True, False, [1, -3])
    refused(
        BROADCAST, np.array([4]), np.array([3]), message="'shape.broadcast' op the shapes cannot be broadcast together"
    )


def test_constants():
    text = """
    func.func @f(%x: index) -> (index, index, index) {
      %s = shape.const_shape [] : tensor<0xindex>
      %t = shape.const_shape [5, 7] : tensor<2xindex>
      %n = shape.num_elements %s : tensor<0xindex> -> index
      %m = shape.num_elements %t : tensor<2xindex> -> index
      %d = shape.div %m, %x : index, index -> index
      return %n, %m, %d : index, index, index
    }"""
    assert run(text, np.int64(-4)) == [1, 35, -9]
    refused(text, np.int64(0), message="'shape.div' op division by zero")
