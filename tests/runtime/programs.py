"""Program texts that several tests run, and what compares their results."""

import numpy as np

import qrt

CAST = """
func.func @f(%x: tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5:3>> {
  %0 = quant.qcast %x : tensor<4xf32> to tensor<4x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<4x!quant.uniform<i8:f32, 0.5:3>>
}
"""

# Every op of the qrt dialect once, a dynamic batch, constants, storage casts and a call.
EVERYTHING = """
!x = !quant.uniform<i8:f32, 0.05:-3>
!w = !quant.uniform<i8<-127:127>:f32:0, {0.01, 0.02, 0.03, 0.04}>
!v = !quant.uniform<i8:f32:2, {0.01, 0.02, 0.03, 0.04}>
!b = !quant.uniform<i32:f32:0, {0.0005, 0.001, 0.0015, 0.002}>
!y = !quant.uniform<u8:f32, 0.06:128>
!n = !quant.uniform<i4:f32, 0.75>
!m = !quant.uniform<i4:f32:1, {0.25, 0.5, 0.125}>

func.func private @halve(%y: tensor<?x3x3x4x!y>) -> tensor<?x2x2x4x!y> {
  %0 = qrt.avg_pool2d %y {kernel = [2, 2], strides = [2, 2], padding = [[0, 1], [0, 1]]}
      : (tensor<?x3x3x4x!y>) -> tensor<?x2x2x4x!y>
  return %0 : tensor<?x2x2x4x!y>
}

func.func @main(%images: tensor<?x3x3x2xf32> {qrt.name = "images"})
    -> (tensor<?x3xf32> {qrt.name = "logits"}, tensor<?x2x2x4x!y>) {
  %x = quant.qcast %images : tensor<?x3x3x2xf32> to tensor<?x3x3x2x!x>
  %wi = arith.constant dense<[[[[1, -2]]], [[[3, 4]]], [[[-5, 6]]], [[[7, -8]]]]> : tensor<4x1x1x2xi8>
  %w = quant.scast %wi : tensor<4x1x1x2xi8> to tensor<4x1x1x2x!w>
  %bi = arith.constant dense<[10, -20, 30, -40]> : tensor<4xi32>
  %b = quant.scast %bi : tensor<4xi32> to tensor<4x!b>
  %c = qrt.conv2d %x, %w, %b {padding = [[0, 0], [0, 0]], requant = "float32"}
      : (tensor<?x3x3x2x!x>, tensor<4x1x1x2x!w>, tensor<4x!b>) -> tensor<?x3x3x4x!y>
  %vi = arith.constant dense<[[[3, -1, 4, 1]], [[-5, 9, 2, -6]]]> : tensor<2x1x4xi8>
  %v = quant.scast %vi : tensor<2x1x4xi8> to tensor<2x1x4x!v>
  %e = qrt.depthwise_conv2d %c, %v, %b {padding = [[0, 1], [0, 0]]}
      : (tensor<?x3x3x4x!y>, tensor<2x1x4x!v>, tensor<4x!b>) -> tensor<?x3x3x4x!y>
  %r = qrt.clamp %e {min = -5.0 : f64, max = 5.0 : f64} : (tensor<?x3x3x4x!y>) -> tensor<?x3x3x4x!y>
  %r4 = qrt.requantize %r : (tensor<?x3x3x4x!y>) -> tensor<?x3x3x4x!n>
  %ti = arith.constant dense<[3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 255]> : tensor<16xi8>
  %t = quant.scast %ti : tensor<16xi8> to tensor<16x!y>
  %u = qrt.lookup %r4, %t : (tensor<?x3x3x4x!n>, tensor<16x!y>) -> tensor<?x3x3x4x!y>
  %s = qrt.add %r, %u : (tensor<?x3x3x4x!y>, tensor<?x3x3x4x!y>) -> tensor<?x3x3x4x!y>
  %d = qrt.sub %s, %r : (tensor<?x3x3x4x!y>, tensor<?x3x3x4x!y>) -> tensor<?x3x3x4x!y>
  %p = qrt.mul %d, %s : (tensor<?x3x3x4x!y>, tensor<?x3x3x4x!y>) -> tensor<?x3x3x4x!y>
  %h = call @halve(%p) : (tensor<?x3x3x4x!y>) -> tensor<?x2x2x4x!y>
  %pp = qrt.pad %p {padding = [[0, 0], [1, 0], [0, 1], [0, 0]], value = 0.5 : f64}
      : (tensor<?x3x3x4x!y>) -> tensor<?x4x4x4x!y>
  %g = qrt.mean %pp {axes = [1, 2], keepdims = true} : (tensor<?x4x4x4x!y>) -> tensor<?x1x1x4x!y>
  %k = qrt.max_pool2d %p {kernel = [3, 3], strides = [1, 1]} : (tensor<?x3x3x4x!y>) -> tensor<?x1x1x4x!y>
  %j = qrt.concat %k, %g {axis = 3 : i64} : (tensor<?x1x1x4x!y>, tensor<?x1x1x4x!y>) -> tensor<?x1x1x8x!y>
  %js = qrt.softmax %j {beta = 0.75 : f64} : (tensor<?x1x1x8x!y>) -> tensor<?x1x1x8x!y>
  %f = qrt.reshape %js : (tensor<?x1x1x8x!y>) -> tensor<?x8x!y>
  %q = qrt.requantize %f : (tensor<?x8x!y>) -> tensor<?x8x!x>
  %mi = arith.constant dense<[[1, -2, 3], [4, -5, 6], [7, -8, 7], [0, 1, -1],
                              [1, 2, 3], [4, 5, 6], [-7, -8, 7], [0, 1, 1]]> : tensor<8x3xi4>
  %m = quant.scast %mi : tensor<8x3xi4> to tensor<8x3x!m>
  %mt = qrt.transpose %m {permutation = [0, 1]} : (tensor<8x3x!m>) -> tensor<8x3x!m>
  %o = qrt.matmul %q, %mt : (tensor<?x8x!x>, tensor<8x3x!m>) -> tensor<?x3x!y>
  %l = quant.dcast %o : tensor<?x3x!y> to tensor<?x3xf32>
  return %l, %h : tensor<?x3xf32>, tensor<?x2x2x4x!y>
}
"""


def assert_same(a, b):
    assert a.keys() == b.keys()
    for name, value in a.items():
        other = b[name]
        assert type(value) is type(other)
        if isinstance(value, qrt.QuantTensor):
            assert value.equals(other), name
        else:
            assert value.dtype == other.dtype
            np.testing.assert_array_equal(value, other)
