// canonicalize
func.func @consts() -> (index, index, index, index, index) {
  %c7 = arith.constant 7 : index
  %cm2 = arith.constant -2 : index
  %0 = shape.add %c7, %cm2 : index, index -> index
  %1 = shape.mul %c7, %cm2 : index, index -> index
  %2 = shape.div %c7, %cm2 : index, index -> index
  %3 = shape.div %c7, %c7 : index, index -> index
  %c0 = arith.constant 0 : index
  %4 = shape.div %c7, %c0 : index, index -> index
  return %0, %1, %2, %3, %4 : index, index, index, index, index
}
func.func @identities(%n: index) -> (index, index, index, index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = shape.add %n, %c0 : index, index -> index
  %1 = shape.mul %n, %c1 : index, index -> index
  %2 = shape.mul %c0, %n : index, index -> index
  %3 = shape.div %n, %c1 : index, index -> index
  %4 = shape.add %c0, %n : index, index -> index
  %5 = shape.add %c1, %n : index, index -> index
  return %0, %1, %2, %3, %4, %5 : index, index, index, index, index, index
}
func.func @shape_of(%a: tensor<4x6xf32>, %b: tensor<?x6xf32>, %u: tensor<*xf32>, %m: memref<4xf32>) -> (tensor<2xindex>, tensor<?xindex>, tensor<?xindex>, tensor<2xindex>, tensor<?xindex>, tensor<1xindex>) {
  %0 = shape.shape_of %a : tensor<4x6xf32> -> tensor<2xindex>
  %1 = shape.shape_of %a : tensor<4x6xf32> -> tensor<?xindex>
  %2 = shape.shape_of %b : tensor<?x6xf32> -> tensor<?xindex>
  %3 = shape.shape_of %b : tensor<?x6xf32> -> tensor<2xindex>
  %4 = shape.shape_of %u : tensor<*xf32> -> tensor<?xindex>
  %5 = shape.shape_of %m : memref<4xf32> -> tensor<1xindex>
  return %0, %1, %2, %3, %4, %5 : tensor<2xindex>, tensor<?xindex>, tensor<?xindex>, tensor<2xindex>, tensor<?xindex>, tensor<1xindex>
}
func.func @shape_of_cast(%a: tensor<4x6xf32>, %b: tensor<?x6xf32>, %u: tensor<*xf32>) -> (tensor<?xindex>, tensor<?xindex>, tensor<2xindex>) {
  %c = tensor.cast %b : tensor<?x6xf32> to tensor<*xf32>
  %0 = shape.shape_of %c : tensor<*xf32> -> tensor<?xindex>
  %d = tensor.cast %b : tensor<?x6xf32> to tensor<?x?xf32>
  %1 = shape.shape_of %d : tensor<?x?xf32> -> tensor<?xindex>
  %2 = shape.shape_of %d : tensor<?x?xf32> -> tensor<2xindex>
  return %0, %1, %2 : tensor<?xindex>, tensor<?xindex>, tensor<2xindex>
}
func.func @cast_of_shape(%b: tensor<?x6xf32>, %u: tensor<*xf32>) -> (tensor<2xindex>, tensor<?xindex>, tensor<2xindex>) {
  %0 = shape.shape_of %b : tensor<?x6xf32> -> tensor<?xindex>
  %1 = tensor.cast %0 : tensor<?xindex> to tensor<2xindex>
  %2 = shape.shape_of %b : tensor<?x6xf32> -> tensor<2xindex>
  %3 = tensor.cast %2 : tensor<2xindex> to tensor<?xindex>
  %4 = shape.shape_of %u : tensor<*xf32> -> tensor<?xindex>
  %5 = tensor.cast %4 : tensor<?xindex> to tensor<2xindex>
  return %1, %3, %5 : tensor<2xindex>, tensor<?xindex>, tensor<2xindex>
}
func.func @shape_of_reshape(%b: tensor<?xf32>, %s: tensor<?xindex>, %t: tensor<2xindex>, %x: tensor<2xi32>) -> (tensor<?xindex>, tensor<2xindex>, tensor<?xindex>, tensor<2xindex>) {
  %r = tensor.reshape %b(%s) : (tensor<?xf32>, tensor<?xindex>) -> tensor<*xf32>
  %0 = shape.shape_of %r : tensor<*xf32> -> tensor<?xindex>
  %q = tensor.reshape %b(%t) : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %1 = shape.shape_of %q : tensor<?x?xf32> -> tensor<2xindex>
  %2 = shape.shape_of %q : tensor<?x?xf32> -> tensor<?xindex>
  %p = tensor.reshape %b(%x) : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %3 = shape.shape_of %p : tensor<?x?xf32> -> tensor<2xindex>
  return %0, %1, %2, %3 : tensor<?xindex>, tensor<2xindex>, tensor<?xindex>, tensor<2xindex>
}
func.func @extract_of_shape(%b: tensor<?x6xf32>, %u: tensor<*xf32>, %i: index, %m: memref<?x6xf32>) -> (index, index, index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = shape.shape_of %b : tensor<?x6xf32> -> tensor<2xindex>
  %1 = tensor.extract %0[%c0] : tensor<2xindex>
  %2 = tensor.extract %0[%c1] : tensor<2xindex>
  %3 = shape.shape_of %u : tensor<*xf32> -> tensor<?xindex>
  %4 = tensor.extract %3[%i] : tensor<?xindex>
  %5 = shape.get_extent %0, %c0 : tensor<2xindex>, index -> index
  return %1, %2, %4, %5, %5 : index, index, index, index, index
}
func.func @rank(%b: tensor<?x6xf32>, %u: tensor<*xf32>, %s: tensor<3xindex>) -> (index, index, index, index) {
  %0 = shape.shape_of %b : tensor<?x6xf32> -> tensor<?xindex>
  %1 = shape.rank %0 : tensor<?xindex> -> index
  %2 = shape.shape_of %u : tensor<*xf32> -> tensor<?xindex>
  %3 = shape.rank %2 : tensor<?xindex> -> index
  %4 = shape.rank %s : tensor<3xindex> -> index
  %5 = shape.const_shape [1, 2, 3] : tensor<3xindex>
  %6 = shape.rank %5 : tensor<3xindex> -> index
  return %1, %3, %4, %6 : index, index, index, index
}
func.func @dims(%b: tensor<?x6xf32>, %u: tensor<*xf32>, %m: memref<4x?xf32>, %i: index) -> (index, index, index, index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = shape.dim %b, %c0 : tensor<?x6xf32>, index -> index
  %1 = shape.dim %b, %c1 : tensor<?x6xf32>, index -> index
  %2 = shape.dim %u, %c1 : tensor<*xf32>, index -> index
  %3 = shape.dim %m, %c0 : memref<4x?xf32>, index -> index
  %4 = shape.dim %m, %c1 : memref<4x?xf32>, index -> index
  %5 = shape.dim %m, %i : memref<4x?xf32>, index -> index
  return %0, %1, %2, %3, %4, %5 : index, index, index, index, index, index
}
func.func @extent(%s: tensor<3xindex>, %i: index, %b: tensor<?x6xf32>) -> (index, index, index, index, index) {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %0 = shape.const_shape [1, 2, 3] : tensor<3xindex>
  %1 = shape.get_extent %0, %c0 : tensor<3xindex>, index -> index
  %2 = shape.get_extent %0, %c5 : tensor<3xindex>, index -> index
  %3 = shape.get_extent %s, %c0 : tensor<3xindex>, index -> index
  %4 = shape.shape_of %b : tensor<?x6xf32> -> tensor<?xindex>
  %c1 = arith.constant 1 : index
  %5 = shape.get_extent %4, %c1 : tensor<?xindex>, index -> index
  %6 = tensor.from_elements %c5, %i : tensor<2xindex>
  %7 = shape.get_extent %6, %c1 : tensor<2xindex>, index -> index
  return %1, %2, %3, %5, %7 : index, index, index, index, index
}
func.func @constants() -> (index, tensor<?xindex>, tensor<3xindex>, index, tensor<3xindex>, index, tensor<3xindex>, tensor<3xindex>) {
  %c1 = arith.constant 1 : index
  %0 = shape.const_shape [1, 2, 3] : tensor<3xindex>
  %1 = tensor.extract %0[%c1] : tensor<3xindex>
  %2 = tensor.cast %0 : tensor<3xindex> to tensor<?xindex>
  %3 = shape.const_shape [1, 2, 3] : tensor<3xindex>
  %4 = tensor.dim %2, %c1 : tensor<?xindex>
  %5 = arith.constant dense<[1, 2, 3]> : tensor<3xindex>
  %6 = shape.num_elements %5 : tensor<3xindex> -> index
  %7 = arith.addi %5, %0 : tensor<3xindex>
  %8 = arith.addi %0, %0 : tensor<3xindex>
  return %1, %2, %3, %4, %5, %6, %7, %8 : index, tensor<?xindex>, tensor<3xindex>, index, tensor<3xindex>, index, tensor<3xindex>, tensor<3xindex>
}
func.func @splits(%i: index, %s: tensor<3xindex>) -> (tensor<?xindex>, tensor<?xindex>, tensor<?xindex>, tensor<?xindex>) {
  %c5 = arith.constant 5 : index
  %cm = arith.constant -5 : index
  %0 = shape.const_shape [1, 2, 3] : tensor<3xindex>
  %h, %t = "shape.split_at"(%0, %c5) : (tensor<3xindex>, index) -> (tensor<?xindex>, tensor<?xindex>)
  %h1, %t1 = "shape.split_at"(%0, %cm) : (tensor<3xindex>, index) -> (tensor<?xindex>, tensor<?xindex>)
  return %h, %t, %h1, %t1 : tensor<?xindex>, tensor<?xindex>, tensor<?xindex>, tensor<?xindex>
}
func.func @num_elements(%s: tensor<3xindex>, %a: tensor<4x6xf32>) -> (index, index, index) {
  %0 = shape.const_shape [1, 2, 3] : tensor<3xindex>
  %1 = shape.num_elements %0 : tensor<3xindex> -> index
  %2 = shape.shape_of %a : tensor<4x6xf32> -> tensor<?xindex>
  %3 = shape.num_elements %2 : tensor<?xindex> -> index
  %4 = shape.const_shape [] : tensor<0xindex>
  %5 = shape.num_elements %4 : tensor<0xindex> -> index
  return %1, %3, %5 : index, index, index
}
func.func @broadcast1(%s: tensor<3xindex>, %d: tensor<?xindex>, %e: tensor<?xindex>) -> (tensor<3xindex>, tensor<?xindex>, tensor<?xindex>, tensor<?xindex>, tensor<?xindex>, tensor<3xindex>) {
  %0 = shape.broadcast %s : tensor<3xindex> -> tensor<3xindex>
  %1 = shape.broadcast %s : tensor<3xindex> -> tensor<?xindex>
  %2 = shape.broadcast %d, %d : tensor<?xindex>, tensor<?xindex> -> tensor<?xindex>
  %3 = shape.broadcast %s, %s : tensor<3xindex>, tensor<3xindex> -> tensor<?xindex>
  %4 = shape.broadcast %s, %d, %s, %e, %d : tensor<3xindex>, tensor<?xindex>, tensor<3xindex>, tensor<?xindex>, tensor<?xindex> -> tensor<?xindex>
  %5 = shape.broadcast %d : tensor<?xindex> -> tensor<3xindex>
  return %0, %1, %2, %3, %4, %5 : tensor<3xindex>, tensor<?xindex>, tensor<?xindex>, tensor<?xindex>, tensor<?xindex>, tensor<3xindex>
}
func.func @is_broadcastable(%s: tensor<3xindex>, %d: tensor<?xindex>, %e: tensor<?xindex>, %t: tensor<2xindex>) -> (i1, i1, i1, i1, i1, i1, i1) {
  %a = shape.const_shape [1, 2, 3] : tensor<3xindex>
  %b = shape.const_shape [4, 2, 1] : tensor<3xindex>
  %f = shape.const_shape [5] : tensor<1xindex>
  %0 = shape.is_broadcastable %a, %b : tensor<3xindex>, tensor<3xindex>
  %1 = shape.is_broadcastable %a, %f : tensor<3xindex>, tensor<1xindex>
  %2 = shape.is_broadcastable %d, %d : tensor<?xindex>, tensor<?xindex>
  %3 = shape.is_broadcastable %d : tensor<?xindex>
  %4 = shape.is_broadcastable %d, %e, %d : tensor<?xindex>, tensor<?xindex>, tensor<?xindex>
  %5 = tensor.cast %s : tensor<3xindex> to tensor<?xindex>
  %6 = shape.is_broadcastable %5, %e : tensor<?xindex>, tensor<?xindex>
  %c = shape.const_shape [] : tensor<0xindex>
  %7 = shape.is_broadcastable %c, %e, %s : tensor<0xindex>, tensor<?xindex>, tensor<3xindex>
  return %0, %1, %2, %3, %4, %6, %7 : i1, i1, i1, i1, i1, i1, i1
}
func.func @shape_eq(%s: tensor<3xindex>, %d: tensor<?xindex>, %e: tensor<?xindex>, %t: tensor<2xindex>) -> (i1, i1, i1, i1, i1, i1) {
  %a = shape.const_shape [1, 2, 3] : tensor<3xindex>
  %b = shape.const_shape [4, 2, 1] : tensor<3xindex>
  %c = shape.const_shape [1, 2, 3] : tensor<3xindex>
  %0 = shape.shape_eq %a, %b : tensor<3xindex>, tensor<3xindex>
  %1 = shape.shape_eq %a, %c : tensor<3xindex>, tensor<3xindex>
  %2 = shape.shape_eq %d, %d : tensor<?xindex>, tensor<?xindex>
  %3 = shape.shape_eq %d : tensor<?xindex>
  %4 = shape.shape_eq %d, %e, %d : tensor<?xindex>, tensor<?xindex>, tensor<?xindex>
  %5 = shape.shape_eq %s, %t : tensor<3xindex>, tensor<2xindex>
  return %0, %1, %2, %3, %4, %5 : i1, i1, i1, i1, i1, i1
}
func.func @shape_eq2(%s: tensor<3xindex>, %d: tensor<?xindex>) -> (i1, i1, i1) {
  %a = shape.const_shape [1, 2, 3] : tensor<3xindex>
  %b = shape.const_shape [4, 2, 1] : tensor<3xindex>
  %1 = shape.shape_eq %a, %a, %b : tensor<3xindex>, tensor<3xindex>, tensor<3xindex>
  %2 = shape.shape_eq %a, %d, %b : tensor<3xindex>, tensor<?xindex>, tensor<3xindex>
  %5 = tensor.cast %s : tensor<3xindex> to tensor<?xindex>
  %3 = shape.shape_eq %5, %d : tensor<?xindex>, tensor<?xindex>
  return %1, %2, %3 : i1, i1, i1
}
func.func @split(%i: index, %s: tensor<3xindex>) -> (tensor<1xindex>, tensor<2xindex>, tensor<2xindex>, tensor<1xindex>, tensor<3xindex>, tensor<0xindex>) {
  %c1 = arith.constant 1 : index
  %cm = arith.constant -1 : index
  %c3 = arith.constant 3 : index
  %0 = shape.const_shape [1, 2, 3] : tensor<3xindex>
  %h2, %t2 = "shape.split_at"(%0, %c1) : (tensor<3xindex>, index) -> (tensor<1xindex>, tensor<2xindex>)
  %h3, %t3 = "shape.split_at"(%0, %cm) : (tensor<3xindex>, index) -> (tensor<2xindex>, tensor<1xindex>)
  %h4, %t4 = "shape.split_at"(%0, %c3) : (tensor<3xindex>, index) -> (tensor<3xindex>, tensor<0xindex>)
  return %h2, %t2, %h3, %t3, %h4, %t4 : tensor<1xindex>, tensor<2xindex>, tensor<2xindex>, tensor<1xindex>, tensor<3xindex>, tensor<0xindex>
}
func.func @split2(%i: index, %s: tensor<3xindex>) -> (tensor<0xindex>, tensor<3xindex>, tensor<0xindex>, tensor<3xindex>, tensor<?xindex>, tensor<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = shape.const_shape [1, 2, 3] : tensor<3xindex>
  %h2, %t2 = "shape.split_at"(%0, %c0) : (tensor<3xindex>, index) -> (tensor<0xindex>, tensor<3xindex>)
  %h3, %t3 = "shape.split_at"(%s, %c0) : (tensor<3xindex>, index) -> (tensor<0xindex>, tensor<3xindex>)
  %h4, %t4 = "shape.split_at"(%s, %c1) : (tensor<3xindex>, index) -> (tensor<?xindex>, tensor<?xindex>)
  return %h2, %t2, %h3, %t3, %h4, %t4 : tensor<0xindex>, tensor<3xindex>, tensor<0xindex>, tensor<3xindex>, tensor<?xindex>, tensor<?xindex>
}
func.func @concat(%s: tensor<3xindex>) -> (tensor<5xindex>, tensor<?xindex>, tensor<0xindex>) {
  %0 = shape.const_shape [1, 2, 3] : tensor<3xindex>
  %1 = shape.const_shape [4, 5] : tensor<2xindex>
  %2 = shape.const_shape [] : tensor<0xindex>
  %4 = shape.concat %0, %1 : tensor<3xindex>, tensor<2xindex> -> tensor<5xindex>
  %5 = shape.concat %s, %2 : tensor<3xindex>, tensor<0xindex> -> tensor<?xindex>
  %6 = shape.concat %2, %2 : tensor<0xindex>, tensor<0xindex> -> tensor<0xindex>
  return %4, %5, %6 : tensor<5xindex>, tensor<?xindex>, tensor<0xindex>
}
func.func @to_extent_tensor(%s: tensor<3xindex>, %d: tensor<?xindex>) -> (tensor<3xindex>, tensor<3xindex>, tensor<?xindex>, tensor<?xindex>, tensor<3xindex>) {
  %0 = shape.const_shape [1, 2, 3] : tensor<3xindex>
  %2 = shape.to_extent_tensor %0 : tensor<3xindex> -> tensor<3xindex>
  %3 = shape.to_extent_tensor %s : tensor<3xindex> -> tensor<3xindex>
  %4 = shape.to_extent_tensor %s : tensor<3xindex> -> tensor<?xindex>
  %5 = shape.to_extent_tensor %d : tensor<?xindex> -> tensor<?xindex>
  %6 = shape.to_extent_tensor %d : tensor<?xindex> -> tensor<3xindex>
  return %2, %3, %4, %5, %6 : tensor<3xindex>, tensor<3xindex>, tensor<?xindex>, tensor<?xindex>, tensor<3xindex>
}
func.func @broadcast2(%s: tensor<3xindex>, %d: tensor<?xindex>, %e: tensor<?xindex>, %t: tensor<2xindex>) -> (tensor<3xindex>, tensor<3xindex>, tensor<?xindex>, tensor<?xindex>, tensor<?xindex>, tensor<3xindex>) {
  %a = shape.const_shape [1, 2, 3] : tensor<3xindex>
  %b = shape.const_shape [4, 2, 1] : tensor<3xindex>
  %c = shape.const_shape [] : tensor<0xindex>
  %f = shape.const_shape [5, 1] : tensor<2xindex>
  %g = shape.const_shape [2, 1] : tensor<2xindex>
  %0 = shape.broadcast %a, %b : tensor<3xindex>, tensor<3xindex> -> tensor<3xindex>
  %1 = shape.broadcast %a, %g : tensor<3xindex>, tensor<2xindex> -> tensor<3xindex>
  %2 = shape.broadcast %a, %d, %b : tensor<3xindex>, tensor<?xindex>, tensor<3xindex> -> tensor<?xindex>
  %3 = shape.broadcast %c, %d, %e : tensor<0xindex>, tensor<?xindex>, tensor<?xindex> -> tensor<?xindex>
  %4 = shape.broadcast %s, %t : tensor<3xindex>, tensor<2xindex> -> tensor<?xindex>
  %5 = shape.broadcast %a, %b, %b : tensor<3xindex>, tensor<3xindex>, tensor<3xindex> -> tensor<3xindex>
  return %0, %1, %2, %3, %4, %5 : tensor<3xindex>, tensor<3xindex>, tensor<?xindex>, tensor<?xindex>, tensor<?xindex>, tensor<3xindex>
}
func.func @broadcast_of_others(%s: tensor<3xindex>, %d: tensor<?xindex>) -> (tensor<3xindex>, tensor<?xindex>, tensor<?xindex>) {
  %a = shape.const_shape [1, 2, 3] : tensor<3xindex>
  %f = shape.const_shape [5, 2] : tensor<2xindex>
  %1 = shape.broadcast %a, %f : tensor<3xindex>, tensor<2xindex> -> tensor<3xindex>
  %2 = shape.broadcast %a, %f, %d : tensor<3xindex>, tensor<2xindex>, tensor<?xindex> -> tensor<?xindex>
  %g = shape.const_shape [-1, 7] : tensor<2xindex>
  %3 = shape.broadcast %g, %g, %d : tensor<2xindex>, tensor<2xindex>, tensor<?xindex> -> tensor<?xindex>
  return %1, %2, %3 : tensor<3xindex>, tensor<?xindex>, tensor<?xindex>
}
func.func @broadcast3(%s: tensor<3xindex>, %d: tensor<?xindex>, %e: tensor<?xindex>, %t: tensor<2xindex>) -> (tensor<?xindex>, tensor<?xindex>, tensor<?xindex>, tensor<?xindex>, tensor<?xindex>) {
  %c = shape.const_shape [] : tensor<0xindex>
  %0 = tensor.cast %s : tensor<3xindex> to tensor<?xindex>
  %1 = shape.broadcast %0, %d : tensor<?xindex>, tensor<?xindex> -> tensor<?xindex>
  %2 = shape.broadcast %c : tensor<0xindex> -> tensor<?xindex>
  %3 = shape.broadcast %s, %t, %d : tensor<3xindex>, tensor<2xindex>, tensor<?xindex> -> tensor<?xindex>
  %a = shape.const_shape [1, 2, 3] : tensor<3xindex>
  %4 = shape.broadcast %a, %d : tensor<3xindex>, tensor<?xindex> -> tensor<?xindex>
  %5 = shape.broadcast %d, %c : tensor<?xindex>, tensor<0xindex> -> tensor<?xindex>
  return %1, %2, %3, %4, %5 : tensor<?xindex>, tensor<?xindex>, tensor<?xindex>, tensor<?xindex>, tensor<?xindex>
}
func.func @broadcast4(%s: tensor<3xindex>, %d: tensor<?xindex>, %t: tensor<*xf32>) -> (tensor<?xindex>, i1, i1) {
  %0 = shape.shape_of %t : tensor<*xf32> -> tensor<?xindex>
  %x = tensor.cast %d : tensor<?xindex> to tensor<3xindex>
  %1 = shape.broadcast %0, %x : tensor<?xindex>, tensor<3xindex> -> tensor<?xindex>
  %2 = shape.is_broadcastable %x, %s : tensor<3xindex>, tensor<3xindex>
  %c = shape.const_shape [] : tensor<0xindex>
  %3 = shape.is_broadcastable %c, %s : tensor<0xindex>, tensor<3xindex>
  return %1, %2, %3 : tensor<?xindex>, i1, i1
}
func.func @ranks(%t: tensor<?xf32>, %u: tensor<4x?xf32>) -> (tensor<?xindex>, index, index) {
  %0 = shape.shape_of %t : tensor<?xf32> -> tensor<?xindex>
  %1 = shape.shape_of %u : tensor<4x?xf32> -> tensor<?xindex>
  %2 = shape.broadcast %0, %1 : tensor<?xindex>, tensor<?xindex> -> tensor<?xindex>
  %3 = shape.rank %2 : tensor<?xindex> -> index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant -1 : index
  %4 = tensor.extract %2[%c1] : tensor<?xindex>
  return %2, %3, %4 : tensor<?xindex>, index, index
}
func.func @scalar(%t: tensor<f32>, %m: memref<*xf32>, %q: memref<2x?xf32>) -> (tensor<0xindex>, tensor<?xindex>, tensor<2xindex>, index) {
  %0 = shape.shape_of %t : tensor<f32> -> tensor<0xindex>
  %1 = shape.shape_of %m : memref<*xf32> -> tensor<?xindex>
  %2 = shape.shape_of %q : memref<2x?xf32> -> tensor<?xindex>
  %3 = tensor.cast %2 : tensor<?xindex> to tensor<2xindex>
  %4 = shape.rank %2 : tensor<?xindex> -> index
  return %0, %1, %3, %4 : tensor<0xindex>, tensor<?xindex>, tensor<2xindex>, index
}
