func.func @sh(%t: tensor<?x4xf32>, %u: tensor<*xf32>, %e: tensor<?xindex>, %e2: tensor<2xindex>, %i: index, %m: memref<?xf32>) {
  %0 = shape.shape_of %t : tensor<?x4xf32> -> tensor<2xindex>
  %1 = shape.shape_of %u : tensor<*xf32> -> tensor<?xindex>
  %2 = shape.num_elements %e : tensor<?xindex> -> index
  %3, %4 = "shape.split_at"(%e, %i) : (tensor<?xindex>, index) -> (tensor<?xindex>, tensor<?xindex>)
  %5 = shape.const_shape [1, 2, 3] : tensor<3xindex>
  %6 = shape.const_shape [] : tensor<0xindex>
  %8 = shape.dim %t, %i : tensor<?x4xf32>, index -> index
  %9 = shape.rank %e : tensor<?xindex> -> index
  %10 = shape.broadcast %e, %e2 : tensor<?xindex>, tensor<2xindex> -> tensor<?xindex>
  %11 = shape.concat %e, %e2 : tensor<?xindex>, tensor<2xindex> -> tensor<?xindex>
  %12 = shape.get_extent %e, %i : tensor<?xindex>, index -> index
  %14 = shape.to_extent_tensor %e2 : tensor<2xindex> -> tensor<?xindex>
  %15 = shape.mul %i, %i : index, index -> index
  %16 = shape.add %i, %i : index, index -> index
  %17 = shape.div %i, %i : index, index -> index
  %18 = shape.shape_eq %e, %e2 : tensor<?xindex>, tensor<2xindex>
  %19 = shape.is_broadcastable %e, %e2 : tensor<?xindex>, tensor<2xindex>
  %29 = shape.shape_of %m : memref<?xf32> -> tensor<?xindex>
  return
}
