module {
  func.func @consts() -> (index, index, index, index, index) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 7 : index
    %2 = arith.constant 5 : index
    %3 = arith.constant -14 : index
    %4 = arith.constant -4 : index
    %5 = arith.constant 1 : index
    %6 = shape.div %1, %0 : index, index -> index
    return %2, %3, %4, %5, %6 : index, index, index, index, index
  }
  func.func @identities(%arg0: index) -> (index, index, index, index, index, index) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = shape.mul %arg0, %1 : index, index -> index
    %3 = shape.mul %arg0, %0 : index, index -> index
    %4 = shape.div %arg0, %1 : index, index -> index
    %5 = shape.add %arg0, %1 : index, index -> index
    return %arg0, %2, %3, %4, %arg0, %5 : index, index, index, index, index, index
  }
  func.func @shape_of(%arg0: tensor<4x6xf32>, %arg1: tensor<?x6xf32>, %arg2: tensor<*xf32>, %arg3: memref<4xf32>) -> (tensor<2xindex>, tensor<?xindex>, tensor<?xindex>, tensor<2xindex>, tensor<?xindex>, tensor<1xindex>) {
    %0 = shape.const_shape [4] : tensor<1xindex>
    %1 = shape.const_shape [4, 6] : tensor<2xindex>
    %2 = tensor.cast %1 : tensor<2xindex> to tensor<?xindex>
    %3 = shape.shape_of %arg1 : tensor<?x6xf32> -> tensor<?xindex>
    %4 = shape.shape_of %arg1 : tensor<?x6xf32> -> tensor<2xindex>
    %5 = shape.shape_of %arg2 : tensor<*xf32> -> tensor<?xindex>
    return %1, %2, %3, %4, %5, %0 : tensor<2xindex>, tensor<?xindex>, tensor<?xindex>, tensor<2xindex>, tensor<?xindex>, tensor<1xindex>
  }
  func.func @shape_of_cast(%arg0: tensor<4x6xf32>, %arg1: tensor<?x6xf32>, %arg2: tensor<*xf32>) -> (tensor<?xindex>, tensor<?xindex>, tensor<2xindex>) {
    %0 = tensor.cast %arg1 : tensor<?x6xf32> to tensor<*xf32>
    %1 = shape.shape_of %0 : tensor<*xf32> -> tensor<?xindex>
    %2 = tensor.cast %arg1 : tensor<?x6xf32> to tensor<?x?xf32>
    %3 = shape.shape_of %2 : tensor<?x?xf32> -> tensor<?xindex>
    %4 = shape.shape_of %2 : tensor<?x?xf32> -> tensor<2xindex>
    return %1, %3, %4 : tensor<?xindex>, tensor<?xindex>, tensor<2xindex>
  }
  func.func @cast_of_shape(%arg0: tensor<?x6xf32>, %arg1: tensor<*xf32>) -> (tensor<2xindex>, tensor<?xindex>, tensor<2xindex>) {
    %0 = shape.shape_of %arg0 : tensor<?x6xf32> -> tensor<2xindex>
    %1 = shape.shape_of %arg0 : tensor<?x6xf32> -> tensor<?xindex>
    %2 = shape.shape_of %arg1 : tensor<*xf32> -> tensor<?xindex>
    %3 = tensor.cast %2 : tensor<?xindex> to tensor<2xindex>
    return %0, %1, %3 : tensor<2xindex>, tensor<?xindex>, tensor<2xindex>
  }
  func.func @shape_of_reshape(%arg0: tensor<?xf32>, %arg1: tensor<?xindex>, %arg2: tensor<2xindex>, %arg3: tensor<2xi32>) -> (tensor<?xindex>, tensor<2xindex>, tensor<?xindex>, tensor<2xindex>) {
    %0 = tensor.cast %arg2 : tensor<2xindex> to tensor<?xindex>
    %1 = arith.index_cast %arg3 : tensor<2xi32> to tensor<2xindex>
    return %arg1, %arg2, %0, %1 : tensor<?xindex>, tensor<2xindex>, tensor<?xindex>, tensor<2xindex>
  }
  func.func @extract_of_shape(%arg0: tensor<?x6xf32>, %arg1: tensor<*xf32>, %arg2: index, %arg3: memref<?x6xf32>) -> (index, index, index, index, index) {
    %0 = arith.constant 6 : index
    %1 = arith.constant 0 : index
    %2 = shape.shape_of %arg0 : tensor<?x6xf32> -> tensor<2xindex>
    %3 = tensor.dim %arg0, %1 : tensor<?x6xf32>
    %4 = tensor.dim %arg1, %arg2 : tensor<*xf32>
    %5 = shape.get_extent %2, %1 : tensor<2xindex>, index -> index
    return %3, %0, %4, %5, %5 : index, index, index, index, index
  }
  func.func @rank(%arg0: tensor<?x6xf32>, %arg1: tensor<*xf32>, %arg2: tensor<3xindex>) -> (index, index, index, index) {
    %0 = arith.constant 3 : index
    %1 = arith.constant 2 : index
    %2 = shape.shape_of %arg1 : tensor<*xf32> -> tensor<?xindex>
    %3 = shape.rank %2 : tensor<?xindex> -> index
    %4 = shape.rank %arg2 : tensor<3xindex> -> index
    return %1, %3, %4, %0 : index, index, index, index
  }
  func.func @dims(%arg0: tensor<?x6xf32>, %arg1: tensor<*xf32>, %arg2: memref<4x?xf32>, %arg3: index) -> (index, index, index, index, index, index) {
    %0 = arith.constant 4 : index
    %1 = arith.constant 6 : index
    %2 = arith.constant 0 : index
    %3 = arith.constant 1 : index
    %4 = shape.dim %arg0, %2 : tensor<?x6xf32>, index -> index
    %5 = shape.dim %arg1, %3 : tensor<*xf32>, index -> index
    %6 = shape.dim %arg2, %3 : memref<4x?xf32>, index -> index
    %7 = shape.dim %arg2, %arg3 : memref<4x?xf32>, index -> index
    return %4, %1, %5, %0, %6, %7 : index, index, index, index, index, index
  }
  func.func @extent(%arg0: tensor<3xindex>, %arg1: index, %arg2: tensor<?x6xf32>) -> (index, index, index, index, index) {
    %0 = arith.constant 1 : index
    %1 = arith.constant 0 : index
    %2 = arith.constant 5 : index
    %3 = shape.const_shape [1, 2, 3] : tensor<3xindex>
    %4 = shape.get_extent %3, %2 : tensor<3xindex>, index -> index
    %5 = shape.get_extent %arg0, %1 : tensor<3xindex>, index -> index
    %6 = shape.shape_of %arg2 : tensor<?x6xf32> -> tensor<?xindex>
    %7 = shape.get_extent %6, %0 : tensor<?xindex>, index -> index
    %8 = tensor.from_elements %2, %arg1 : tensor<2xindex>
    %9 = shape.get_extent %8, %0 : tensor<2xindex>, index -> index
    return %0, %4, %5, %7, %9 : index, index, index, index, index
  }
  func.func @constants() -> (index, tensor<?xindex>, tensor<3xindex>, index, tensor<3xindex>, index, tensor<3xindex>, tensor<3xindex>) {
    %0 = arith.constant dense<[2, 4, 6]> : tensor<3xindex>
    %1 = arith.constant 6 : index
    %2 = arith.constant dense<[1, 2, 3]> : tensor<3xindex>
    %3 = arith.constant 1 : index
    %4 = shape.const_shape [1, 2, 3] : tensor<3xindex>
    %5 = arith.constant 2 : index
    %6 = tensor.cast %4 : tensor<3xindex> to tensor<?xindex>
    %7 = tensor.dim %4, %3 : tensor<3xindex>
    return %5, %6, %4, %7, %2, %1, %0, %0 : index, tensor<?xindex>, tensor<3xindex>, index, tensor<3xindex>, index, tensor<3xindex>, tensor<3xindex>
  }
  func.func @splits(%arg0: index, %arg1: tensor<3xindex>) -> (tensor<?xindex>, tensor<?xindex>, tensor<?xindex>, tensor<?xindex>) {
    %0 = arith.constant 5 : index
    %1 = arith.constant -5 : index
    %2 = shape.const_shape [1, 2, 3] : tensor<3xindex>
    %3:2 = "shape.split_at"(%2, %0) : (tensor<3xindex>, index) -> (tensor<?xindex>, tensor<?xindex>)
    %4:2 = "shape.split_at"(%2, %1) : (tensor<3xindex>, index) -> (tensor<?xindex>, tensor<?xindex>)
    return %3#0, %3#1, %4#0, %4#1 : tensor<?xindex>, tensor<?xindex>, tensor<?xindex>, tensor<?xindex>
  }
  func.func @num_elements(%arg0: tensor<3xindex>, %arg1: tensor<4x6xf32>) -> (index, index, index) {
    %0 = arith.constant 1 : index
    %1 = arith.constant 6 : index
    %2 = shape.const_shape [4, 6] : tensor<2xindex>
    %3 = tensor.cast %2 : tensor<2xindex> to tensor<?xindex>
    %4 = shape.num_elements %3 : tensor<?xindex> -> index
    return %1, %4, %0 : index, index, index
  }
  func.func @broadcast1(%arg0: tensor<3xindex>, %arg1: tensor<?xindex>, %arg2: tensor<?xindex>) -> (tensor<3xindex>, tensor<?xindex>, tensor<?xindex>, tensor<?xindex>, tensor<?xindex>, tensor<3xindex>) {
    %0 = tensor.cast %arg0 : tensor<3xindex> to tensor<?xindex>
    %1 = tensor.cast %arg0 : tensor<3xindex> to tensor<?xindex>
    %2 = shape.broadcast %arg0, %arg1, %arg2 : tensor<3xindex>, tensor<?xindex>, tensor<?xindex> -> tensor<?xindex>
    %3 = tensor.cast %arg1 : tensor<?xindex> to tensor<3xindex>
    return %arg0, %0, %arg1, %1, %2, %3 : tensor<3xindex>, tensor<?xindex>, tensor<?xindex>, tensor<?xindex>, tensor<?xindex>, tensor<3xindex>
  }
  func.func @is_broadcastable(%arg0: tensor<3xindex>, %arg1: tensor<?xindex>, %arg2: tensor<?xindex>, %arg3: tensor<2xindex>) -> (i1, i1, i1, i1, i1, i1, i1) {
    %0 = arith.constant true
    %1 = shape.const_shape [] : tensor<0xindex>
    %2 = shape.const_shape [1, 2, 3] : tensor<3xindex>
    %3 = shape.const_shape [4, 2, 1] : tensor<3xindex>
    %4 = shape.const_shape [5] : tensor<1xindex>
    %5 = shape.is_broadcastable %2, %3 : tensor<3xindex>, tensor<3xindex>
    %6 = shape.is_broadcastable %2, %4 : tensor<3xindex>, tensor<1xindex>
    %7 = shape.is_broadcastable %arg1, %arg2 : tensor<?xindex>, tensor<?xindex>
    %8 = tensor.cast %arg0 : tensor<3xindex> to tensor<?xindex>
    %9 = shape.is_broadcastable %8, %arg2 : tensor<?xindex>, tensor<?xindex>
    %10 = shape.is_broadcastable %arg2, %arg0, %1 : tensor<?xindex>, tensor<3xindex>, tensor<0xindex>
    return %5, %6, %0, %0, %7, %9, %10 : i1, i1, i1, i1, i1, i1, i1
  }
  func.func @shape_eq(%arg0: tensor<3xindex>, %arg1: tensor<?xindex>, %arg2: tensor<?xindex>, %arg3: tensor<2xindex>) -> (i1, i1, i1, i1, i1, i1) {
    %0 = arith.constant false
    %1 = arith.constant true
    %2 = shape.shape_eq %arg1, %arg1 : tensor<?xindex>, tensor<?xindex>
    %3 = shape.shape_eq %arg1 : tensor<?xindex>
    %4 = shape.shape_eq %arg1, %arg2, %arg1 : tensor<?xindex>, tensor<?xindex>, tensor<?xindex>
    %5 = shape.shape_eq %arg0, %arg3 : tensor<3xindex>, tensor<2xindex>
    return %0, %1, %2, %3, %4, %5 : i1, i1, i1, i1, i1, i1
  }
  func.func @shape_eq2(%arg0: tensor<3xindex>, %arg1: tensor<?xindex>) -> (i1, i1, i1) {
    %0 = shape.const_shape [1, 2, 3] : tensor<3xindex>
    %1 = shape.const_shape [4, 2, 1] : tensor<3xindex>
    %2 = arith.constant false
    %3 = shape.shape_eq %arg1, %0, %1 : tensor<?xindex>, tensor<3xindex>, tensor<3xindex>
    %4 = tensor.cast %arg0 : tensor<3xindex> to tensor<?xindex>
    %5 = shape.shape_eq %4, %arg1 : tensor<?xindex>, tensor<?xindex>
    return %2, %3, %5 : i1, i1, i1
  }
  func.func @split(%arg0: index, %arg1: tensor<3xindex>) -> (tensor<1xindex>, tensor<2xindex>, tensor<2xindex>, tensor<1xindex>, tensor<3xindex>, tensor<0xindex>) {
    %0 = shape.const_shape [1] : tensor<1xindex>
    %1 = shape.const_shape [2, 3] : tensor<2xindex>
    %2 = shape.const_shape [1, 2] : tensor<2xindex>
    %3 = shape.const_shape [3] : tensor<1xindex>
    %4 = shape.const_shape [1, 2, 3] : tensor<3xindex>
    %5 = shape.const_shape [] : tensor<0xindex>
    return %0, %1, %2, %3, %4, %5 : tensor<1xindex>, tensor<2xindex>, tensor<2xindex>, tensor<1xindex>, tensor<3xindex>, tensor<0xindex>
  }
  func.func @split2(%arg0: index, %arg1: tensor<3xindex>) -> (tensor<0xindex>, tensor<3xindex>, tensor<0xindex>, tensor<3xindex>, tensor<?xindex>, tensor<?xindex>) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = shape.const_shape [] : tensor<0xindex>
    %3 = shape.const_shape [1, 2, 3] : tensor<3xindex>
    %4:2 = "shape.split_at"(%arg1, %0) : (tensor<3xindex>, index) -> (tensor<0xindex>, tensor<3xindex>)
    %5:2 = "shape.split_at"(%arg1, %1) : (tensor<3xindex>, index) -> (tensor<?xindex>, tensor<?xindex>)
    return %2, %3, %4#0, %4#1, %5#0, %5#1 : tensor<0xindex>, tensor<3xindex>, tensor<0xindex>, tensor<3xindex>, tensor<?xindex>, tensor<?xindex>
  }
  func.func @concat(%arg0: tensor<3xindex>) -> (tensor<5xindex>, tensor<?xindex>, tensor<0xindex>) {
    %0 = shape.const_shape [] : tensor<0xindex>
    %1 = shape.const_shape [1, 2, 3, 4, 5] : tensor<5xindex>
    %2 = shape.concat %arg0, %0 : tensor<3xindex>, tensor<0xindex> -> tensor<?xindex>
    return %1, %2, %0 : tensor<5xindex>, tensor<?xindex>, tensor<0xindex>
  }
  func.func @to_extent_tensor(%arg0: tensor<3xindex>, %arg1: tensor<?xindex>) -> (tensor<3xindex>, tensor<3xindex>, tensor<?xindex>, tensor<?xindex>, tensor<3xindex>) {
    %0 = shape.const_shape [1, 2, 3] : tensor<3xindex>
    %1 = shape.to_extent_tensor %arg0 : tensor<3xindex> -> tensor<?xindex>
    %2 = shape.to_extent_tensor %arg1 : tensor<?xindex> -> tensor<3xindex>
    return %0, %arg0, %1, %arg1, %2 : tensor<3xindex>, tensor<3xindex>, tensor<?xindex>, tensor<?xindex>, tensor<3xindex>
  }
  func.func @broadcast2(%arg0: tensor<3xindex>, %arg1: tensor<?xindex>, %arg2: tensor<?xindex>, %arg3: tensor<2xindex>) -> (tensor<3xindex>, tensor<3xindex>, tensor<?xindex>, tensor<?xindex>, tensor<?xindex>, tensor<3xindex>) {
    %0 = shape.const_shape [4, 2, 3] : tensor<3xindex>
    %1 = shape.const_shape [1, 2, 3] : tensor<3xindex>
    %2 = shape.broadcast %arg1, %0 : tensor<?xindex>, tensor<3xindex> -> tensor<?xindex>
    %3 = shape.broadcast %arg1, %arg2 : tensor<?xindex>, tensor<?xindex> -> tensor<?xindex>
    %4 = shape.broadcast %arg0, %arg3 : tensor<3xindex>, tensor<2xindex> -> tensor<3xindex>
    %5 = tensor.cast %4 : tensor<3xindex> to tensor<?xindex>
    return %0, %1, %2, %3, %5, %0 : tensor<3xindex>, tensor<3xindex>, tensor<?xindex>, tensor<?xindex>, tensor<?xindex>, tensor<3xindex>
  }
  func.func @broadcast_of_others(%arg0: tensor<3xindex>, %arg1: tensor<?xindex>) -> (tensor<3xindex>, tensor<?xindex>, tensor<?xindex>) {
    %0 = shape.const_shape [-1, 7] : tensor<2xindex>
    %1 = shape.const_shape [1, 2, 3] : tensor<3xindex>
    %2 = shape.const_shape [5, 2] : tensor<2xindex>
    %3 = shape.broadcast %1, %2 : tensor<3xindex>, tensor<2xindex> -> tensor<3xindex>
    %4 = shape.broadcast %arg1, %1, %2 : tensor<?xindex>, tensor<3xindex>, tensor<2xindex> -> tensor<?xindex>
    %5 = shape.broadcast %arg1, %0 : tensor<?xindex>, tensor<2xindex> -> tensor<?xindex>
    return %3, %4, %5 : tensor<3xindex>, tensor<?xindex>, tensor<?xindex>
  }
  func.func @broadcast3(%arg0: tensor<3xindex>, %arg1: tensor<?xindex>, %arg2: tensor<?xindex>, %arg3: tensor<2xindex>) -> (tensor<?xindex>, tensor<?xindex>, tensor<?xindex>, tensor<?xindex>, tensor<?xindex>) {
    %0 = shape.const_shape [1, 2, 3] : tensor<3xindex>
    %1 = shape.const_shape [] : tensor<0xindex>
    %2 = shape.broadcast %arg0, %arg1 : tensor<3xindex>, tensor<?xindex> -> tensor<?xindex>
    %3 = tensor.cast %1 : tensor<0xindex> to tensor<?xindex>
    %4 = shape.broadcast %arg0, %arg3, %arg1 : tensor<3xindex>, tensor<2xindex>, tensor<?xindex> -> tensor<?xindex>
    %5 = shape.broadcast %arg1, %0 : tensor<?xindex>, tensor<3xindex> -> tensor<?xindex>
    return %2, %3, %4, %5, %arg1 : tensor<?xindex>, tensor<?xindex>, tensor<?xindex>, tensor<?xindex>, tensor<?xindex>
  }
  func.func @broadcast4(%arg0: tensor<3xindex>, %arg1: tensor<?xindex>, %arg2: tensor<*xf32>) -> (tensor<?xindex>, i1, i1) {
    %0 = shape.const_shape [] : tensor<0xindex>
    %1 = shape.shape_of %arg2 : tensor<*xf32> -> tensor<?xindex>
    %2 = tensor.cast %arg1 : tensor<?xindex> to tensor<3xindex>
    %3 = shape.broadcast %1, %2 : tensor<?xindex>, tensor<3xindex> -> tensor<?xindex>
    %4 = shape.is_broadcastable %2, %arg0 : tensor<3xindex>, tensor<3xindex>
    %5 = shape.is_broadcastable %arg0, %0 : tensor<3xindex>, tensor<0xindex>
    return %3, %4, %5 : tensor<?xindex>, i1, i1
  }
  func.func @ranks(%arg0: tensor<?xf32>, %arg1: tensor<4x?xf32>) -> (tensor<?xindex>, index, index) {
    %0 = arith.constant 1 : index
    %1 = shape.shape_of %arg0 : tensor<?xf32> -> tensor<?xindex>
    %2 = shape.shape_of %arg1 : tensor<4x?xf32> -> tensor<?xindex>
    %3 = shape.broadcast %1, %2 : tensor<?xindex>, tensor<?xindex> -> tensor<?xindex>
    %4 = shape.rank %3 : tensor<?xindex> -> index
    %5 = tensor.extract %3[%0] : tensor<?xindex>
    return %3, %4, %5 : tensor<?xindex>, index, index
  }
  func.func @scalar(%arg0: tensor<f32>, %arg1: memref<*xf32>, %arg2: memref<2x?xf32>) -> (tensor<0xindex>, tensor<?xindex>, tensor<2xindex>, index) {
    %0 = shape.const_shape [] : tensor<0xindex>
    %1 = shape.shape_of %arg1 : memref<*xf32> -> tensor<?xindex>
    %2 = shape.shape_of %arg2 : memref<2x?xf32> -> tensor<?xindex>
    %3 = tensor.cast %2 : tensor<?xindex> to tensor<2xindex>
    %4 = shape.rank %2 : tensor<?xindex> -> index
    return %0, %1, %3, %4 : tensor<0xindex>, tensor<?xindex>, tensor<2xindex>, index
  }
}
