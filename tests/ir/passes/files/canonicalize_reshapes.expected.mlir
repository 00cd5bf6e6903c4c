module {
  func.func @dimmany(%arg0: index, %arg1: index, %arg2: f32, %arg3: tensor<?x?xf32>, %arg4: tensor<2xindex>, %arg5: i32) -> (index, index, index, index, index, index) {
    %0 = arith.constant 1 : index
    %1 = tensor.splat %arg2[%arg0] : tensor<4x?xf32>
    %2 = tensor.dim %1, %0 : tensor<4x?xf32>
    %3 = tensor.extract %arg4[%0] : tensor<2xindex>
    %4 = tensor.pad %arg3 low[1, %arg0] high[2, %arg1] {
    ^bb0(%arg6: index, %arg7: index):
      tensor.yield %arg2 : f32
    } : tensor<?x?xf32> to tensor<?x?xf32>
    %5 = tensor.dim %4, %0 : tensor<?x?xf32>
    %6 = tensor.dim %arg3, %0 : tensor<?x?xf32>
    return %arg0, %2, %arg1, %3, %5, %6 : index, index, index, index, index, index
  }
  func.func @dimdest(%arg0: index, %arg1: tensor<?x?xf32>, %arg2: tensor<?x?xf32>, %arg3: f32) -> (index, index, index) {
    %0 = arith.constant 1 : index
    %1 = tensor.dim %arg2, %0 : tensor<?x?xf32>
    %2 = tensor.dim %arg2, %0 : tensor<?x?xf32>
    %3 = tensor.expand_shape %arg1 [[0], [1, 2]] output_shape [%arg0, %arg0, 4] : tensor<?x?xf32> into tensor<?x?x4xf32>
    %4 = tensor.dim %3, %0 : tensor<?x?x4xf32>
    return %1, %2, %4 : index, index, index
  }
  func.func @dimcollapse(%arg0: tensor<?x?x4xf32>) -> (index, index) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = tensor.collapse_shape %arg0 [[0], [1, 2]] : tensor<?x?x4xf32> into tensor<?x?xf32>
    %3 = tensor.dim %2, %1 : tensor<?x?xf32>
    %4 = tensor.dim %2, %0 : tensor<?x?xf32>
    return %3, %4 : index, index
  }
  func.func @emptyexp(%arg0: index) -> tensor<?x4xf32> {
    %0 = tensor.empty(%arg0) : tensor<?xf32>
    %1 = tensor.expand_shape %0 [[0, 1]] output_shape [%arg0, 4] : tensor<?xf32> into tensor<?x4xf32>
    return %1 : tensor<?x4xf32>
  }
  func.func @emptyexpstatic() -> tensor<4x4xf32> {
    %0 = tensor.empty() : tensor<16xf32>
    %1 = tensor.expand_shape %0 [[0, 1]] output_shape [4, 4] : tensor<16xf32> into tensor<4x4xf32>
    return %1 : tensor<4x4xf32>
  }
  func.func @emptycollstatic() -> tensor<16xf32> {
    %0 = tensor.empty() : tensor<4x4xf32>
    %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<4x4xf32> into tensor<16xf32>
    return %1 : tensor<16xf32>
  }
  func.func @extcoll(%arg0: tensor<4x4xf32>, %arg1: index) -> f32 {
    %0 = tensor.collapse_shape %arg0 [[0, 1]] : tensor<4x4xf32> into tensor<16xf32>
    %1 = tensor.extract %0[%arg1] : tensor<16xf32>
    return %1 : f32
  }
  func.func @cc(%arg0: tensor<4x4x4xf32>) -> tensor<64xf32> {
    %0 = tensor.collapse_shape %arg0 [[0, 1, 2]] : tensor<4x4x4xf32> into tensor<64xf32>
    return %0 : tensor<64xf32>
  }
  func.func @ee(%arg0: tensor<?xf32>, %arg1: index, %arg2: index) -> tensor<?x4x4xf32> {
    %0 = tensor.expand_shape %arg0 [[0, 1, 2]] output_shape [%arg2, 4, 4] : tensor<?xf32> into tensor<?x4x4xf32>
    return %0 : tensor<?x4x4xf32>
  }
  func.func @ec(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> {
    return %arg0 : tensor<4x4xf32>
  }
  func.func @ec2(%arg0: tensor<?x?xf32>, %arg1: index) -> tensor<?x4xf32> {
    %0 = tensor.collapse_shape %arg0 [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
    %1 = tensor.expand_shape %0 [[0, 1]] output_shape [%arg1, 4] : tensor<?xf32> into tensor<?x4xf32>
    return %1 : tensor<?x4xf32>
  }
  func.func @ce(%arg0: tensor<16xf32>) -> tensor<16xf32> {
    return %arg0 : tensor<16xf32>
  }
  func.func @ce2(%arg0: tensor<16x2xf32>) -> tensor<4x8xf32> {
    %0 = tensor.expand_shape %arg0 [[0, 1], [2]] output_shape [4, 4, 2] : tensor<16x2xf32> into tensor<4x4x2xf32>
    %1 = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<4x4x2xf32> into tensor<4x8xf32>
    return %1 : tensor<4x8xf32>
  }
  func.func @ce3(%arg0: tensor<16x2xf32>) -> tensor<32xf32> {
    %0 = tensor.collapse_shape %arg0 [[0, 1]] : tensor<16x2xf32> into tensor<32xf32>
    return %0 : tensor<32xf32>
  }
  func.func @ce4(%arg0: tensor<32xf32>) -> tensor<16x2xf32> {
    %0 = tensor.expand_shape %arg0 [[0, 1]] output_shape [16, 2] : tensor<32xf32> into tensor<16x2xf32>
    return %0 : tensor<16x2xf32>
  }
  func.func @ec5(%arg0: tensor<4x4x2xf32>) -> tensor<2x2x4x2xf32> {
    %0 = tensor.expand_shape %arg0 [[0, 1], [2], [3]] output_shape [2, 2, 4, 2] : tensor<4x4x2xf32> into tensor<2x2x4x2xf32>
    return %0 : tensor<2x2x4x2xf32>
  }
  func.func @same(%arg0: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
    return %arg0, %arg0 : tensor<4x4xf32>, tensor<4x4xf32>
  }
  func.func @consts() -> (tensor<4xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<4xf32>) {
    %0 = arith.constant dense<1.000000e+00> : tensor<4xf32>
    %1 = arith.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>
    %2 = arith.constant dense<[[1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>
    %3 = tensor.extract_slice %1[1] [2] [1] : tensor<4xf32> to tensor<2xf32>
    return %1, %2, %3, %0 : tensor<4xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<4xf32>
  }
  func.func @constslice() -> (tensor<2xf32>, tensor<2xf32>, tensor<2x2xf32>) {
    %0 = arith.constant dense<1.000000e+00> : tensor<2xf32>
    %1 = arith.constant dense<1.000000e+00> : tensor<2x2xf32>
    return %0, %0, %1 : tensor<2xf32>, tensor<2xf32>, tensor<2x2xf32>
  }
  func.func @reshape(%arg0: tensor<4x4xf32>, %arg1: tensor<1xindex>, %arg2: tensor<2xindex>, %arg3: tensor<?xf32>) -> (tensor<16xf32>, tensor<4x4xf32>, tensor<?xf32>) {
    %0 = tensor.reshape %arg0(%arg1) : (tensor<4x4xf32>, tensor<1xindex>) -> tensor<16xf32>
    %1 = tensor.reshape %arg0(%arg2) : (tensor<4x4xf32>, tensor<2xindex>) -> tensor<4x4xf32>
    return %0, %1, %arg3 : tensor<16xf32>, tensor<4x4xf32>, tensor<?xf32>
  }
  func.func @reshape2(%arg0: index, %arg1: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<4x4xf32>) {
    %0 = arith.constant dense<1.000000e+00> : tensor<4x4xf32>
    %1 = arith.constant 0 : index
    %2 = arith.constant 1 : index
    %3 = tensor.dim %arg1, %1 : tensor<?x?xf32>
    %4 = tensor.dim %arg1, %2 : tensor<?x?xf32>
    %5 = tensor.from_elements %4, %3 : tensor<2xindex>
    %6 = tensor.reshape %arg1(%5) : (tensor<?x?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
    return %arg1, %6, %0 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<4x4xf32>
  }
  func.func @reshcast(%arg0: tensor<4x4xf32>, %arg1: index) -> (tensor<16xf32>, tensor<?xf32>) {
    %0 = tensor.collapse_shape %arg0 [[0, 1]] : tensor<4x4xf32> into tensor<16xf32>
    %1 = tensor.cast %0 : tensor<16xf32> to tensor<?xf32>
    return %0, %1 : tensor<16xf32>, tensor<?xf32>
  }
  func.func @expcast(%arg0: tensor<16xf32>, %arg1: index) -> (tensor<?x?xf32>, tensor<4x4xf32>) {
    %0 = tensor.cast %arg0 : tensor<16xf32> to tensor<?xf32>
    %1 = tensor.expand_shape %0 [[0, 1]] output_shape [4, %arg1] : tensor<?xf32> into tensor<4x?xf32>
    %2 = tensor.cast %1 : tensor<4x?xf32> to tensor<?x?xf32>
    %3 = tensor.expand_shape %arg0 [[0, 1]] output_shape [4, 4] : tensor<16xf32> into tensor<4x4xf32>
    return %2, %3 : tensor<?x?xf32>, tensor<4x4xf32>
  }
  func.func @expsplat(%arg0: f32) -> (tensor<4x4xf32>, tensor<16xf32>) {
    %0 = tensor.splat %arg0 : tensor<4x4xf32>
    %1 = tensor.splat %arg0 : tensor<16xf32>
    return %0, %1 : tensor<4x4xf32>, tensor<16xf32>
  }
  func.func @fromcoll(%arg0: f32, %arg1: f32) -> (tensor<2xf32>, tensor<1x2xf32>) {
    %0 = tensor.from_elements %arg0, %arg1 : tensor<2xf32>
    %1 = tensor.from_elements %arg0, %arg1 : tensor<1x2xf32>
    return %0, %1 : tensor<2xf32>, tensor<1x2xf32>
  }
  func.func @dimresh(%arg0: tensor<?xf32>, %arg1: tensor<2xi32>, %arg2: index) -> (index, index) {
    %0 = arith.constant 1 : index
    %1 = arith.addi %arg2, %arg2 : index
    %2 = tensor.extract %arg1[%0] : tensor<2xi32>
    %3 = arith.index_cast %2 : i32 to index
    %4 = tensor.extract %arg1[%1] : tensor<2xi32>
    %5 = arith.index_cast %4 : i32 to index
    return %3, %5 : index, index
  }
  func.func @invdyn(%arg0: tensor<?x?xf32>, %arg1: index, %arg2: index) -> tensor<?x?xf32> {
    %0 = tensor.collapse_shape %arg0 [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
    %1 = tensor.expand_shape %0 [[0, 1]] output_shape [%arg1, %arg2] : tensor<?xf32> into tensor<?x?xf32>
    return %1 : tensor<?x?xf32>
  }
  func.func @invdyn1(%arg0: tensor<?x4xf32>, %arg1: index, %arg2: index) -> tensor<?x4xf32> {
    return %arg0 : tensor<?x4xf32>
  }
  func.func @invdyn2(%arg0: tensor<?xf32>, %arg1: index, %arg2: index) -> tensor<?xf32> {
    return %arg0 : tensor<?xf32>
  }
  func.func @ce4dyn(%arg0: tensor<?xf32>, %arg1: index) -> tensor<?x2xf32> {
    %0 = arith.constant 4 : index
    %1 = arith.muli %arg1, %0 : index
    %2 = tensor.expand_shape %arg0 [[0, 1]] output_shape [%1, 2] : tensor<?xf32> into tensor<?x2xf32>
    return %2 : tensor<?x2xf32>
  }
  func.func @ce3dyn(%arg0: tensor<?x2xf32>, %arg1: index) -> tensor<?xf32> {
    %0 = tensor.collapse_shape %arg0 [[0, 1]] : tensor<?x2xf32> into tensor<?xf32>
    return %0 : tensor<?xf32>
  }
  func.func @ec5dyn(%arg0: tensor<?x4x2xf32>, %arg1: index) -> tensor<?x2x4x2xf32> {
    %0 = tensor.expand_shape %arg0 [[0, 1], [2], [3]] output_shape [%arg1, 2, 4, 2] : tensor<?x4x2xf32> into tensor<?x2x4x2xf32>
    return %0 : tensor<?x2x4x2xf32>
  }
  func.func @ec6(%arg0: tensor<2x2x4x2xf32>) -> tensor<4x4x2xf32> {
    %0 = tensor.collapse_shape %arg0 [[0, 1], [2], [3]] : tensor<2x2x4x2xf32> into tensor<4x4x2xf32>
    return %0 : tensor<4x4x2xf32>
  }
  func.func @ec7(%arg0: tensor<2x1x8xf32>) -> tensor<2x8xf32> {
    %0 = tensor.collapse_shape %arg0 [[0], [1, 2]] : tensor<2x1x8xf32> into tensor<2x8xf32>
    return %0 : tensor<2x8xf32>
  }
  func.func @ec8(%arg0: tensor<2x8xf32>) -> tensor<1x2x8x1xf32> {
    %0 = tensor.expand_shape %arg0 [[0, 1], [2, 3]] output_shape [1, 2, 8, 1] : tensor<2x8xf32> into tensor<1x2x8x1xf32>
    return %0 : tensor<1x2x8x1xf32>
  }
  func.func @ec9(%arg0: tensor<2x8xf32>) -> tensor<2x1x1x8xf32> {
    %0 = tensor.expand_shape %arg0 [[0], [1, 2, 3]] output_shape [2, 1, 1, 8] : tensor<2x8xf32> into tensor<2x1x1x8xf32>
    return %0 : tensor<2x1x1x8xf32>
  }
  func.func @ec10(%arg0: tensor<2x8xf32>) -> tensor<8x2xf32> {
    %0 = tensor.collapse_shape %arg0 [[0, 1]] : tensor<2x8xf32> into tensor<16xf32>
    %1 = tensor.expand_shape %0 [[0, 1]] output_shape [8, 2] : tensor<16xf32> into tensor<8x2xf32>
    return %1 : tensor<8x2xf32>
  }
  func.func @ec11(%arg0: tensor<2x8xf32>) -> tensor<8x2x1xf32> {
    %0 = tensor.collapse_shape %arg0 [[0, 1]] : tensor<2x8xf32> into tensor<16xf32>
    %1 = tensor.expand_shape %0 [[0, 1, 2]] output_shape [8, 2, 1] : tensor<16xf32> into tensor<8x2x1xf32>
    return %1 : tensor<8x2x1xf32>
  }
  func.func @c0(%arg0: tensor<1x1xf32>) -> tensor<1xf32> {
    %0 = tensor.collapse_shape %arg0 [[0, 1]] : tensor<1x1xf32> into tensor<1xf32>
    return %0 : tensor<1xf32>
  }
  func.func @c02(%arg0: tensor<1x1xf32>) -> tensor<f32> {
    %0 = tensor.collapse_shape %arg0 [] : tensor<1x1xf32> into tensor<f32>
    return %0 : tensor<f32>
  }
  func.func @c03(%arg0: tensor<1x1xf32>) -> tensor<1x1xf32> {
    return %arg0 : tensor<1x1xf32>
  }
  func.func @resh1(%arg0: tensor<?xf32>, %arg1: tensor<?xindex>, %arg2: tensor<*xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
    %0 = tensor.reshape %arg0(%arg1) : (tensor<?xf32>, tensor<?xindex>) -> tensor<*xf32>
    %1 = tensor.reshape %arg0(%arg1) : (tensor<?xf32>, tensor<?xindex>) -> tensor<*xf32>
    return %0, %1 : tensor<*xf32>, tensor<*xf32>
  }
  func.func @reshcst(%arg0: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
    %0 = arith.constant 4 : i32
    %1 = arith.constant 0 : index
    %2 = tensor.dim %arg0, %1 : tensor<?x4xf32>
    %3 = arith.index_cast %2 : index to i32
    %4 = tensor.from_elements %3, %0 : tensor<2xi32>
    %5 = tensor.reshape %arg0(%4) : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
    return %arg0, %5 : tensor<?x4xf32>, tensor<?x4xf32>
  }
  func.func @expsplatdyn(%arg0: f32, %arg1: index) -> tensor<?x4xf32> {
    %0 = tensor.splat %arg0[%arg1] : tensor<?xf32>
    %1 = tensor.expand_shape %0 [[0, 1]] output_shape [%arg1, 4] : tensor<?xf32> into tensor<?x4xf32>
    return %1 : tensor<?x4xf32>
  }
  func.func @r1(%arg0: tensor<?x4xf32>, %arg1: index) -> tensor<?x1x4xf32> {
    %0 = tensor.expand_shape %arg0 [[0], [1, 2]] output_shape [%arg1, 1, 4] : tensor<?x4xf32> into tensor<?x1x4xf32>
    return %0 : tensor<?x1x4xf32>
  }
  func.func @r2(%arg0: tensor<4x?xf32>, %arg1: index) -> tensor<4x1x?xf32> {
    %0 = tensor.expand_shape %arg0 [[0], [1, 2]] output_shape [4, 1, %arg1] : tensor<4x?xf32> into tensor<4x1x?xf32>
    return %0 : tensor<4x1x?xf32>
  }
  func.func @r3(%arg0: tensor<?x?x4xf32>, %arg1: index) -> tensor<?x4xf32> {
    %0 = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<?x?x4xf32> into tensor<?x4xf32>
    return %0 : tensor<?x4xf32>
  }
  func.func @r4(%arg0: tensor<?x2x?x4xf32>, %arg1: index) -> tensor<?x?xf32> {
    %0 = tensor.collapse_shape %arg0 [[0, 1, 2, 3]] : tensor<?x2x?x4xf32> into tensor<?xf32>
    %1 = tensor.expand_shape %0 [[0, 1]] output_shape [%arg1, %arg1] : tensor<?xf32> into tensor<?x?xf32>
    return %1 : tensor<?x?xf32>
  }
  func.func @reshst(%arg0: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
    %0 = arith.constant dense<4> : tensor<2xindex>
    %1 = tensor.reshape %arg0(%0) : (tensor<4x4xf32>, tensor<2xindex>) -> tensor<4x4xf32>
    %2 = tensor.reshape %arg0(%0) : (tensor<4x4xf32>, tensor<2xindex>) -> tensor<4x4xf32>
    return %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>
  }
}
