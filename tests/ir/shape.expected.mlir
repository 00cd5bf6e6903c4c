module {
  func.func @sh(%arg0: tensor<?x4xf32>, %arg1: tensor<*xf32>, %arg2: tensor<?xindex>, %arg3: tensor<2xindex>, %arg4: index, %arg5: memref<?xf32>) {
    %0 = shape.shape_of %arg0 : tensor<?x4xf32> -> tensor<2xindex>
    %1 = shape.shape_of %arg1 : tensor<*xf32> -> tensor<?xindex>
    %2 = shape.num_elements %arg2 : tensor<?xindex> -> index
    %3:2 = "shape.split_at"(%arg2, %arg4) : (tensor<?xindex>, index) -> (tensor<?xindex>, tensor<?xindex>)
    %4 = shape.const_shape [1, 2, 3] : tensor<3xindex>
    %5 = shape.const_shape [] : tensor<0xindex>
    %6 = shape.dim %arg0, %arg4 : tensor<?x4xf32>, index -> index
    %7 = shape.rank %arg2 : tensor<?xindex> -> index
    %8 = shape.broadcast %arg2, %arg3 : tensor<?xindex>, tensor<2xindex> -> tensor<?xindex>
    %9 = shape.concat %arg2, %arg3 : tensor<?xindex>, tensor<2xindex> -> tensor<?xindex>
    %10 = shape.get_extent %arg2, %arg4 : tensor<?xindex>, index -> index
    %11 = shape.to_extent_tensor %arg3 : tensor<2xindex> -> tensor<?xindex>
    %12 = shape.mul %arg4, %arg4 : index, index -> index
    %13 = shape.add %arg4, %arg4 : index, index -> index
    %14 = shape.div %arg4, %arg4 : index, index -> index
    %15 = shape.shape_eq %arg2, %arg3 : tensor<?xindex>, tensor<2xindex>
    %16 = shape.is_broadcastable %arg2, %arg3 : tensor<?xindex>, tensor<2xindex>
    %17 = shape.shape_of %arg5 : memref<?xf32> -> tensor<?xindex>
    return
  }
}
