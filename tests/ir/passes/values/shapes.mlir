// What the other files fold where no argument can run it, one fold in a function.
func.func @constants() -> (index, index, index, index, index) {
  %a = arith.constant -7 : index
  %b = arith.constant 3 : index
  %s = shape.const_shape [4, 5, 6] : tensor<3xindex>
  %c = arith.constant 2 : index
  %0 = shape.add %a, %b : index, index -> index
  %1 = shape.mul %a, %b : index, index -> index
  %2 = shape.div %a, %b : index, index -> index
  %3 = shape.div %b, %a : index, index -> index
  %4 = shape.get_extent %s, %c : tensor<3xindex>, index -> index
  return %0, %1, %2, %3, %4 : index, index, index, index, index
}
func.func @sum_beyond() -> index {
  %a = arith.constant 9223372036854775807 : index
  %b = arith.constant 1 : index
  %0 = shape.add %a, %b : index, index -> index
  return %0 : index
}
func.func @product_beyond() -> index {
  %a = arith.constant 4294967296 : index
  %0 = shape.mul %a, %a : index, index -> index
  return %0 : index
}
func.func @quotient_beyond() -> index {
  %a = arith.constant -9223372036854775808 : index
  %b = arith.constant -1 : index
  %0 = shape.div %a, %b : index, index -> index
  return %0 : index
}
func.func @elements_beyond() -> index {
  %s = shape.const_shape [4294967296, 4294967296] : tensor<2xindex>
  %0 = shape.num_elements %s : tensor<2xindex> -> index
  return %0 : index
}
func.func @of_any(%a: index, %b: index) -> (index, index, index) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = shape.add %a, %0 : index, index -> index
  %3 = shape.mul %b, %1 : index, index -> index
  %4 = shape.add %0, %b : index, index -> index
  return %2, %3, %4 : index, index, index
}
func.func @once(%a: tensor<?xindex>) -> (tensor<?xindex>, i1, i1) {
  %0 = shape.broadcast %a, %a : tensor<?xindex>, tensor<?xindex> -> tensor<?xindex>
  %1 = shape.is_broadcastable %a, %a : tensor<?xindex>, tensor<?xindex>
  %2 = shape.shape_eq %a, %a : tensor<?xindex>, tensor<?xindex>
  return %0, %1, %2 : tensor<?xindex>, i1, i1
}
func.func @only_one(%a: tensor<3xindex>, %b: tensor<?xindex>) -> (tensor<?xindex>, tensor<?xindex>) {
  %0 = shape.broadcast %a : tensor<3xindex> -> tensor<?xindex>
  %1 = shape.broadcast %b : tensor<?xindex> -> tensor<?xindex>
  return %0, %1 : tensor<?xindex>, tensor<?xindex>
}
func.func @broadcastable(%a: tensor<?xindex>, %b: tensor<2xindex>) -> (i1, i1, i1) {
  %s = shape.const_shape [2, -1] : tensor<2xindex>
  %0 = shape.is_broadcastable %a, %b : tensor<?xindex>, tensor<2xindex>
  %1 = shape.is_broadcastable %b, %s, %b : tensor<2xindex>, tensor<2xindex>, tensor<2xindex>
  %2 = shape.is_broadcastable %a : tensor<?xindex>
  return %0, %1, %2 : i1, i1, i1
}
func.func @reshaped(%t: tensor<4x6xf32>, %n: index) -> (tensor<2xindex>, tensor<2xindex>) {
  %a = arith.constant 8 : index
  %b = arith.constant 3 : index
  %c = arith.constant dense<[3, 8]> : tensor<2xi32>
  %s = tensor.from_elements %a, %b : tensor<2xindex>
  %0 = tensor.reshape %t(%s) : (tensor<4x6xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %1 = shape.shape_of %0 : tensor<?x?xf32> -> tensor<2xindex>
  %2 = tensor.reshape %t(%c) : (tensor<4x6xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %3 = shape.shape_of %2 : tensor<?x?xf32> -> tensor<2xindex>
  return %1, %3 : tensor<2xindex>, tensor<2xindex>
}
func.func @splits(%a: tensor<?xindex>) -> (tensor<?xindex>, tensor<?xindex>, tensor<?xindex>) {
  %s = shape.const_shape [4, 0, -6] : tensor<3xindex>
  %n = arith.constant -1 : index
  %0, %1 = "shape.split_at"(%s, %n) : (tensor<3xindex>, index) -> (tensor<?xindex>, tensor<?xindex>)
  %2 = shape.concat %0, %a : tensor<?xindex>, tensor<?xindex> -> tensor<?xindex>
  return %0, %1, %2 : tensor<?xindex>, tensor<?xindex>, tensor<?xindex>
}
func.func @from_casts(%a: tensor<3xindex>) -> tensor<?xindex> {
  %0 = tensor.cast %a : tensor<3xindex> to tensor<?xindex>
  %1 = shape.const_shape [1, 1, 1] : tensor<3xindex>
  %2 = shape.broadcast %0, %1 : tensor<?xindex>, tensor<3xindex> -> tensor<?xindex>
  return %2 : tensor<?xindex>
}
func.func @one_of_a_length_that_is_stated(%a: tensor<?xindex>) -> tensor<3xindex> {
  %0 = shape.broadcast %a : tensor<?xindex> -> tensor<3xindex>
  return %0 : tensor<3xindex>
}
func.func @constants_among_others(%a: tensor<0xindex>, %t: tensor<?x1xf32>) -> (tensor<2xindex>, tensor<?xindex>) {
  %b = shape.const_shape [2, 1] : tensor<2xindex>
  %c = shape.const_shape [3] : tensor<1xindex>
  %0 = shape.broadcast %b, %a, %c : tensor<2xindex>, tensor<0xindex>, tensor<1xindex> -> tensor<2xindex>
  %d = shape.const_shape [5, 1, 1] : tensor<3xindex>
  %e = shape.const_shape [1, 4] : tensor<2xindex>
  %s = shape.shape_of %t : tensor<?x1xf32> -> tensor<2xindex>
  %1 = shape.broadcast %d, %s, %e : tensor<3xindex>, tensor<2xindex>, tensor<2xindex> -> tensor<?xindex>
  return %0, %1 : tensor<2xindex>, tensor<?xindex>
}
