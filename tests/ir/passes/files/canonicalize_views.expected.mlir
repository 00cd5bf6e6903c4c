module {
  func.func @reinterpret_rc(%arg0: memref<8x8xf32>, %arg1: index) -> memref<4x4xf32, strided<[8, 1], offset: 9>> {
    %0 = memref.reinterpret_cast %arg0 to offset: [9], sizes: [4, 4], strides: [8, 1] : memref<8x8xf32> to memref<4x4xf32, strided<[8, 1], offset: 9>>
    return %0 : memref<4x4xf32, strided<[8, 1], offset: 9>>
  }
  func.func @reinterpret_cast(%arg0: memref<8x8xf32>, %arg1: memref<*xf32>, %arg2: index) -> (memref<64xf32>, memref<64xf32>) {
    %0 = memref.reinterpret_cast %arg0 to offset: [0], sizes: [64], strides: [1] : memref<8x8xf32> to memref<64xf32>
    %1 = memref.reinterpret_cast %arg1 to offset: [0], sizes: [64], strides: [1] : memref<*xf32> to memref<64xf32>
    return %0, %1 : memref<64xf32>, memref<64xf32>
  }
  func.func @reinterpret_subview(%arg0: memref<8x8xf32>, %arg1: index) -> (memref<4xf32>, memref<4xf32>) {
    %0 = memref.reinterpret_cast %arg0 to offset: [0], sizes: [4], strides: [1] : memref<8x8xf32> to memref<4xf32>
    %1 = memref.subview %arg0[0, 1] [%arg1, 4] [1, 1] : memref<8x8xf32> to memref<?x4xf32, strided<[8, 1], offset: 1>>
    %2 = memref.reinterpret_cast %1 to offset: [0], sizes: [4], strides: [1] : memref<?x4xf32, strided<[8, 1], offset: 1>> to memref<4xf32>
    return %0, %2 : memref<4xf32>, memref<4xf32>
  }
  func.func @reinterpret_subview_c(%arg0: memref<8x8xf32>, %arg1: index) -> memref<4xf32> {
    %0 = memref.reinterpret_cast %arg0 to offset: [0], sizes: [4], strides: [1] : memref<8x8xf32> to memref<4xf32>
    return %0 : memref<4xf32>
  }
  func.func @reinterpret_same(%arg0: memref<8x8xf32>, %arg1: memref<?xf32>, %arg2: memref<4xf32, strided<[2], offset: ?>>, %arg3: index) -> (memref<8x8xf32>, memref<?xf32>, memref<4xf32, strided<[2], offset: ?>>, memref<8x8xf32>) {
    %0 = memref.reinterpret_cast %arg1 to offset: [0], sizes: [%arg3], strides: [1] : memref<?xf32> to memref<?xf32>
    return %arg0, %0, %arg2, %arg0 : memref<8x8xf32>, memref<?xf32>, memref<4xf32, strided<[2], offset: ?>>, memref<8x8xf32>
  }
  func.func @reinterpret_const(%arg0: memref<?xf32>, %arg1: index) -> memref<?x?xf32, strided<[?, ?], offset: ?>> {
    %0 = memref.reinterpret_cast %arg0 to offset: [0], sizes: [4, %arg1], strides: [%arg1, 1] : memref<?xf32> to memref<4x?xf32, strided<[?, 1]>>
    %1 = memref.cast %0 : memref<4x?xf32, strided<[?, 1]>> to memref<?x?xf32, strided<[?, ?], offset: ?>>
    return %1 : memref<?x?xf32, strided<[?, ?], offset: ?>>
  }
  func.func @reinterpret_static_open(%arg0: memref<?xf32>, %arg1: index) -> memref<?xf32, strided<[?], offset: ?>> {
    %0 = memref.reinterpret_cast %arg0 to offset: [3], sizes: [4], strides: [2] : memref<?xf32> to memref<?xf32, strided<[?], offset: ?>>
    return %0 : memref<?xf32, strided<[?], offset: ?>>
  }
  func.func @reinterpret_meta(%arg0: memref<?x?xf32, strided<[?, ?], offset: ?>>) -> memref<?x?xf32, strided<[?, ?], offset: ?>> {
    return %arg0 : memref<?x?xf32, strided<[?, ?], offset: ?>>
  }
  func.func @reinterpret_meta_cast(%arg0: memref<4x?xf32, strided<[?, ?], offset: ?>>) -> memref<?x?xf32, strided<[?, ?], offset: ?>> {
    %0 = memref.cast %arg0 : memref<4x?xf32, strided<[?, ?], offset: ?>> to memref<?x?xf32, strided<[?, ?], offset: ?>>
    return %0 : memref<?x?xf32, strided<[?, ?], offset: ?>>
  }
  func.func @reinterpret_meta_part(%arg0: memref<?x?xf32, strided<[?, ?], offset: ?>>) -> memref<?x?xf32, strided<[?, ?], offset: ?>> {
    %0:6 = memref.extract_strided_metadata %arg0 : memref<?x?xf32, strided<[?, ?], offset: ?>> -> memref<f32>, index, index, index, index, index
    %1 = memref.reinterpret_cast %arg0 to offset: [%0#1], sizes: [%0#3, %0#2], strides: [%0#5, %0#4] : memref<?x?xf32, strided<[?, ?], offset: ?>> to memref<?x?xf32, strided<[?, ?], offset: ?>>
    return %1 : memref<?x?xf32, strided<[?, ?], offset: ?>>
  }
  func.func @reinterpret_meta_static(%arg0: memref<4x4xf32>) -> (memref<4x4xf32>, memref<16xf32>) {
    %0 = memref.reinterpret_cast %arg0 to offset: [0], sizes: [16], strides: [1] : memref<4x4xf32> to memref<16xf32>
    return %arg0, %0 : memref<4x4xf32>, memref<16xf32>
  }
  func.func @meta_cast(%arg0: memref<4x4xf32>, %arg1: memref<*xf32>) -> (memref<f32>, index, memref<f32>, index) {
    %0 = arith.constant 4 : index
    %1:6 = memref.extract_strided_metadata %arg0 : memref<4x4xf32> -> memref<f32>, index, index, index, index, index
    %2 = memref.cast %arg1 : memref<*xf32> to memref<?xf32>
    %3:4 = memref.extract_strided_metadata %2 : memref<?xf32> -> memref<f32>, index, index, index
    return %1#0, %0, %3#0, %3#2 : memref<f32>, index, memref<f32>, index
  }
  func.func @meta_cast2(%arg0: memref<4x4xf32>) -> memref<f32> {
    %0:6 = memref.extract_strided_metadata %arg0 : memref<4x4xf32> -> memref<f32>, index, index, index, index, index
    return %0#0 : memref<f32>
  }
  func.func @transpose_id(%arg0: memref<4x6xf32>, %arg1: memref<?x?xf32, strided<[?, ?], offset: ?>>) -> (memref<4x6xf32>, memref<4x6xf32, strided<[6, 1]>>, memref<?x?xf32, strided<[?, ?], offset: ?>>) {
    %0 = memref.transpose %arg0 (d0, d1) -> (d0, d1) : memref<4x6xf32> to memref<4x6xf32, strided<[6, 1]>>
    return %arg0, %0, %arg1 : memref<4x6xf32>, memref<4x6xf32, strided<[6, 1]>>, memref<?x?xf32, strided<[?, ?], offset: ?>>
  }
  func.func @transpose_tr(%arg0: memref<4x6x8xf32>) -> (memref<8x4x6xf32, strided<[1, 48, 8]>>, memref<4x6x8xf32, strided<[48, 8, 1]>>) {
    %0 = memref.transpose %arg0 (d0, d1, d2) -> (d2, d0, d1) : memref<4x6x8xf32> to memref<8x4x6xf32, strided<[1, 48, 8]>>
    %1 = memref.transpose %arg0 (d0, d1, d2) -> (d0, d1, d2) : memref<4x6x8xf32> to memref<4x6x8xf32, strided<[48, 8, 1]>>
    return %0, %1 : memref<8x4x6xf32, strided<[1, 48, 8]>>, memref<4x6x8xf32, strided<[48, 8, 1]>>
  }
  func.func @transpose_cast(%arg0: memref<4x6xf32>) -> memref<?x?xf32, strided<[1, ?]>> {
    %0 = memref.cast %arg0 : memref<4x6xf32> to memref<?x?xf32>
    %1 = memref.transpose %0 (d0, d1) -> (d1, d0) : memref<?x?xf32> to memref<?x?xf32, strided<[1, ?]>>
    return %1 : memref<?x?xf32, strided<[1, ?]>>
  }
  func.func @view_const(%arg0: memref<2048xi8>, %arg1: index) -> (memref<?x?xf32>, memref<?x4xf32>) {
    %0 = arith.constant 8 : index
    %1 = memref.view %arg0[%0][%arg1] : memref<2048xi8> to memref<4x?xf32>
    %2 = memref.cast %1 : memref<4x?xf32> to memref<?x?xf32>
    %3 = memref.view %arg0[%arg1][] : memref<2048xi8> to memref<4x4xf32>
    %4 = memref.cast %3 : memref<4x4xf32> to memref<?x4xf32>
    return %2, %4 : memref<?x?xf32>, memref<?x4xf32>
  }
  func.func @view_cast(%arg0: memref<2048xi8>, %arg1: memref<*xi8>, %arg2: index) -> (memref<?x4xf32>, memref<?x4xf32>) {
    %0 = memref.view %arg0[%arg2][%arg2] : memref<2048xi8> to memref<?x4xf32>
    return %0, %0 : memref<?x4xf32>, memref<?x4xf32>
  }
  func.func @view_same(%arg0: memref<2048xi8>, %arg1: memref<?xi8>, %arg2: index) -> (memref<2048xi8>, memref<2048xi8>, memref<?xi8>) {
    %0 = arith.constant 0 : index
    %1 = memref.view %arg0[%arg2][] : memref<2048xi8> to memref<2048xi8>
    %2 = memref.view %arg1[%0][%arg2] : memref<?xi8> to memref<?xi8>
    return %arg0, %1, %2 : memref<2048xi8>, memref<2048xi8>, memref<?xi8>
  }
  func.func @view_view(%arg0: memref<2048xi8>, %arg1: index) -> memref<4xf32> {
    %0 = arith.constant 4 : index
    %1 = memref.view %arg0[%arg1][%arg1] : memref<2048xi8> to memref<?xi8>
    %2 = memref.view %1[%0][] : memref<?xi8> to memref<4xf32>
    return %2 : memref<4xf32>
  }
  func.func @reshape(%arg0: memref<4x4xf32>, %arg1: memref<1xindex>, %arg2: memref<?xindex>, %arg3: memref<2xi32>) -> (memref<?xf32>, memref<*xf32>, memref<4x4xf32>, index) {
    %0 = arith.constant 1 : index
    %1 = memref.cast %arg0 : memref<4x4xf32> to memref<?x?xf32>
    %2 = memref.reshape %1(%arg1) : (memref<?x?xf32>, memref<1xindex>) -> memref<?xf32>
    %3 = memref.cast %arg1 : memref<1xindex> to memref<?xindex>
    %4 = memref.reshape %arg0(%3) : (memref<4x4xf32>, memref<?xindex>) -> memref<*xf32>
    %5 = memref.reshape %arg0(%arg3) : (memref<4x4xf32>, memref<2xi32>) -> memref<4x4xf32>
    %6 = memref.load %arg3[%0] : memref<2xi32>
    %7 = arith.index_cast %6 : i32 to index
    return %2, %4, %5, %7 : memref<?xf32>, memref<*xf32>, memref<4x4xf32>, index
  }
  func.func @dim_reshape(%arg0: memref<4x4xf32>, %arg1: memref<?xindex>, %arg2: index) -> (index, index, index) {
    %0 = arith.constant 0 : index
    %1 = memref.reshape %arg0(%arg1) : (memref<4x4xf32>, memref<?xindex>) -> memref<*xf32>
    %2 = memref.load %arg1[%arg2] : memref<?xindex>
    %3 = memref.load %arg1[%0] : memref<?xindex>
    memref.store %0, %arg1[%0] : memref<?xindex>
    %4 = memref.load %arg1[%0] : memref<?xindex>
    %5 = memref.dim %1, %4 : memref<*xf32>
    return %3, %2, %5 : index, index, index
  }
  func.func @dim_view(%arg0: memref<2048xi8>, %arg1: index, %arg2: index) -> (index, index) {
    return %arg1, %arg2 : index, index
  }
  func.func @dim_others(%arg0: memref<?x?xf32>, %arg1: index, %arg2: index) -> (index, index, index, index) {
    %0 = arith.constant 0 : index
    %1 = memref.transpose %arg0 (d0, d1) -> (d1, d0) : memref<?x?xf32> to memref<?x?xf32, strided<[1, ?]>>
    %2 = memref.dim %1, %0 : memref<?x?xf32, strided<[1, ?]>>
    %3 = memref.expand_shape %arg0 [[0, 1], [2]] output_shape [%arg1, 4, %arg2] : memref<?x?xf32> into memref<?x4x?xf32>
    %4 = memref.dim %3, %0 : memref<?x4x?xf32>
    %5 = memref.collapse_shape %arg0 [[0, 1]] : memref<?x?xf32> into memref<?xf32>
    %6 = memref.dim %5, %0 : memref<?xf32>
    %7 = memref.reinterpret_cast %arg0 to offset: [0], sizes: [%arg2, 4], strides: [4, 1] : memref<?x?xf32> to memref<?x4xf32>
    %8 = memref.dim %7, %0 : memref<?x4xf32>
    return %2, %4, %6, %8 : index, index, index, index
  }
  func.func @subsub(%arg0: memref<8x8xf32>, %arg1: index) -> (memref<4x4xf32, strided<[8, 1], offset: 9>>, memref<?x4xf32, strided<[8, 1], offset: 9>>, memref<?x4xf32, strided<[8, 1], offset: 9>>, memref<4xf32, strided<[1], offset: 9>>) {
    %0 = memref.subview %arg0[1, 1] [4, 4] [1, 1] : memref<8x8xf32> to memref<4x4xf32, strided<[8, 1], offset: 9>>
    %1 = memref.subview %arg0[1, 1] [%arg1, 4] [1, 1] : memref<8x8xf32> to memref<?x4xf32, strided<[8, 1], offset: 9>>
    %2 = memref.subview %arg0[1, 1] [1, 4] [1, 1] : memref<8x8xf32> to memref<4xf32, strided<[1], offset: 9>>
    return %0, %1, %1, %2 : memref<4x4xf32, strided<[8, 1], offset: 9>>, memref<?x4xf32, strided<[8, 1], offset: 9>>, memref<?x4xf32, strided<[8, 1], offset: 9>>, memref<4xf32, strided<[1], offset: 9>>
  }
  func.func @subsub2(%arg0: memref<8x8xf32>, %arg1: index) -> memref<?x4xf32, strided<[?, 1], offset: ?>> {
    %0 = memref.subview %arg0[1, %arg1] [%arg1, 4] [%arg1, 1] : memref<8x8xf32> to memref<?x4xf32, strided<[?, 1], offset: ?>>
    return %0 : memref<?x4xf32, strided<[?, 1], offset: ?>>
  }
  func.func @assume(%arg0: memref<8xf32>) -> (memref<8xf32>, memref<8xf32>, memref<8xf32>) {
    %0 = memref.assume_alignment %arg0, 16 : memref<8xf32>
    %1 = memref.assume_alignment %0, 8 : memref<8xf32>
    %2 = memref.assume_alignment %0, 32 : memref<8xf32>
    return %0, %1, %2 : memref<8xf32>, memref<8xf32>, memref<8xf32>
  }
  func.func @expand_id(%arg0: memref<8x8xf32>, %arg1: memref<?x8xf32>, %arg2: index) -> (memref<8x8xf32>, memref<8x8xf32>, memref<?x8xf32>) {
    return %arg0, %arg0, %arg1 : memref<8x8xf32>, memref<8x8xf32>, memref<?x8xf32>
  }
  func.func @expand_ex(%arg0: memref<?xf32>, %arg1: memref<24xf32, strided<[2], offset: ?>>, %arg2: index, %arg3: index) -> (memref<?x2x3xf32>, memref<4x2x3xf32, strided<[12, 6, 2], offset: ?>>) {
    %0 = memref.expand_shape %arg0 [[0, 1, 2]] output_shape [%arg3, 2, 3] : memref<?xf32> into memref<?x2x3xf32>
    %1 = memref.expand_shape %arg1 [[0, 1]] output_shape [8, 3] : memref<24xf32, strided<[2], offset: ?>> into memref<8x3xf32, strided<[6, 2], offset: ?>>
    %2 = memref.expand_shape %1 [[0, 1], [2]] output_shape [4, 2, 3] : memref<8x3xf32, strided<[6, 2], offset: ?>> into memref<4x2x3xf32, strided<[12, 6, 2], offset: ?>>
    return %0, %2 : memref<?x2x3xf32>, memref<4x2x3xf32, strided<[12, 6, 2], offset: ?>>
  }
  func.func @collapse_co(%arg0: memref<?x2x3xf32>, %arg1: memref<4x2x3xf32, strided<[12, 6, 2], offset: ?>>) -> (memref<?xf32>, memref<24xf32, strided<[2], offset: ?>>) {
    %0 = memref.collapse_shape %arg0 [[0, 1, 2]] : memref<?x2x3xf32> into memref<?xf32>
    %1 = memref.collapse_shape %arg1 [[0, 1], [2]] : memref<4x2x3xf32, strided<[12, 6, 2], offset: ?>> into memref<8x3xf32, strided<[6, 2], offset: ?>>
    %2 = memref.collapse_shape %1 [[0, 1]] : memref<8x3xf32, strided<[6, 2], offset: ?>> into memref<24xf32, strided<[2], offset: ?>>
    return %0, %2 : memref<?xf32>, memref<24xf32, strided<[2], offset: ?>>
  }
  func.func @back(%arg0: memref<?x2x3xf32>, %arg1: memref<4x2x3xf32>, %arg2: index) -> (memref<?x2x3xf32>, memref<4x2x3xf32>, memref<4x2x3xf32>) {
    return %arg0, %arg1, %arg1 : memref<?x2x3xf32>, memref<4x2x3xf32>, memref<4x2x3xf32>
  }
  func.func @back2(%arg0: memref<?x3xf32>, %arg1: memref<8x3xf32>, %arg2: index) -> (memref<?x3xf32>, memref<8x3xf32>) {
    return %arg0, %arg1 : memref<?x3xf32>, memref<8x3xf32>
  }
  func.func @back_dyn2(%arg0: memref<?x?x3xf32>, %arg1: index, %arg2: index) -> memref<?x?x3xf32> {
    %0 = memref.collapse_shape %arg0 [[0, 1], [2]] : memref<?x?x3xf32> into memref<?x3xf32>
    %1 = memref.expand_shape %0 [[0, 1], [2]] output_shape [%arg1, %arg2, 3] : memref<?x3xf32> into memref<?x?x3xf32>
    return %1 : memref<?x?x3xf32>
  }
  func.func @collapse_ex(%arg0: memref<8x3xf32>, %arg1: memref<?xf32>, %arg2: index) -> (memref<24xf32>, memref<8x3xf32>, memref<?x6xf32>, memref<2x4x3xf32>) {
    %0 = memref.collapse_shape %arg0 [[0, 1]] : memref<8x3xf32> into memref<24xf32>
    %1 = memref.expand_shape %arg1 [[0, 1]] output_shape [%arg2, 6] : memref<?xf32> into memref<?x6xf32>
    %2 = memref.expand_shape %arg0 [[0, 1], [2]] output_shape [2, 4, 3] : memref<8x3xf32> into memref<2x4x3xf32>
    return %0, %arg0, %1, %2 : memref<24xf32>, memref<8x3xf32>, memref<?x6xf32>, memref<2x4x3xf32>
  }
  func.func @collapse_ex_cross(%arg0: memref<8x3xf32>) -> memref<2x12xf32> {
    %0 = memref.expand_shape %arg0 [[0, 1], [2]] output_shape [2, 4, 3] : memref<8x3xf32> into memref<2x4x3xf32>
    %1 = memref.collapse_shape %0 [[0], [1, 2]] : memref<2x4x3xf32> into memref<2x12xf32>
    return %1 : memref<2x12xf32>
  }
  func.func @collapse_ex_dyn(%arg0: memref<?xf32>, %arg1: index, %arg2: index) -> memref<?x?xf32> {
    %0 = arith.constant 3 : index
    %1 = arith.muli %arg2, %0 : index
    %2 = memref.expand_shape %arg0 [[0, 1]] output_shape [%arg1, %1] : memref<?xf32> into memref<?x?xf32>
    return %2 : memref<?x?xf32>
  }
  func.func @collapse_ex_strided(%arg0: memref<?xf32, strided<[2], offset: ?>>, %arg1: index) -> memref<?x6xf32, strided<[12, 2], offset: ?>> {
    %0 = memref.expand_shape %arg0 [[0, 1, 2]] output_shape [%arg1, 2, 3] : memref<?xf32, strided<[2], offset: ?>> into memref<?x2x3xf32, strided<[12, 6, 2], offset: ?>>
    %1 = memref.collapse_shape %0 [[0], [1, 2]] : memref<?x2x3xf32, strided<[12, 6, 2], offset: ?>> into memref<?x6xf32, strided<[12, 2], offset: ?>>
    return %1 : memref<?x6xf32, strided<[12, 2], offset: ?>>
  }
  func.func @expand_co(%arg0: memref<2x4x3xf32>, %arg1: memref<?x2x3xf32>, %arg2: index) -> (memref<8x3xf32>, memref<?x6xf32>, memref<2x2x2x3xf32>, memref<?x3x2xf32>) {
    %0 = memref.collapse_shape %arg0 [[0, 1], [2]] : memref<2x4x3xf32> into memref<8x3xf32>
    %1 = memref.collapse_shape %arg1 [[0, 1, 2]] : memref<?x2x3xf32> into memref<?xf32>
    %2 = memref.collapse_shape %arg1 [[0], [1, 2]] : memref<?x2x3xf32> into memref<?x6xf32>
    %3 = memref.expand_shape %arg0 [[0], [1, 2], [3]] output_shape [2, 2, 2, 3] : memref<2x4x3xf32> into memref<2x2x2x3xf32>
    %4 = memref.expand_shape %1 [[0, 1, 2]] output_shape [%arg2, 3, 2] : memref<?xf32> into memref<?x3x2xf32>
    return %0, %2, %3, %4 : memref<8x3xf32>, memref<?x6xf32>, memref<2x2x2x3xf32>, memref<?x3x2xf32>
  }
  func.func @expand_co_strided(%arg0: memref<2x4x3xf32, strided<[100, 6, 2], offset: ?>>) -> memref<2x2x2x3xf32, strided<[100, 12, 6, 2], offset: ?>> {
    %0 = memref.collapse_shape %arg0 [[0], [1, 2]] : memref<2x4x3xf32, strided<[100, 6, 2], offset: ?>> into memref<2x12xf32, strided<[100, 2], offset: ?>>
    %1 = memref.expand_shape %0 [[0], [1, 2, 3]] output_shape [2, 2, 2, 3] : memref<2x12xf32, strided<[100, 2], offset: ?>> into memref<2x2x2x3xf32, strided<[100, 12, 6, 2], offset: ?>>
    return %1 : memref<2x2x2x3xf32, strided<[100, 12, 6, 2], offset: ?>>
  }
  func.func @collapse_cast(%arg0: memref<8x3xf32>, %arg1: memref<8x?xf32>, %arg2: memref<*xf32>) -> (memref<?xf32>, memref<?xf32>, memref<?xf32>) {
    %0 = memref.collapse_shape %arg0 [[0, 1]] : memref<8x3xf32> into memref<24xf32>
    %1 = memref.cast %0 : memref<24xf32> to memref<?xf32>
    %2 = memref.cast %arg1 : memref<8x?xf32> to memref<?x3xf32>
    %3 = memref.collapse_shape %2 [[0, 1]] : memref<?x3xf32> into memref<?xf32>
    %4 = memref.cast %arg2 : memref<*xf32> to memref<?x3xf32>
    %5 = memref.collapse_shape %4 [[0, 1]] : memref<?x3xf32> into memref<?xf32>
    return %1, %3, %5 : memref<?xf32>, memref<?xf32>, memref<?xf32>
  }
  func.func @collapse_cast2(%arg0: memref<8x3xf32>, %arg1: memref<8x3xf32, strided<[3, 1], offset: 4>>) -> (memref<?xf32>, memref<24xf32, strided<[1], offset: ?>>) {
    %0 = memref.collapse_shape %arg0 [[0, 1]] : memref<8x3xf32> into memref<24xf32>
    %1 = memref.cast %0 : memref<24xf32> to memref<?xf32>
    %2 = memref.collapse_shape %arg1 [[0, 1]] : memref<8x3xf32, strided<[3, 1], offset: 4>> into memref<24xf32, strided<[1], offset: 4>>
    %3 = memref.cast %2 : memref<24xf32, strided<[1], offset: 4>> to memref<24xf32, strided<[1], offset: ?>>
    return %1, %3 : memref<?xf32>, memref<24xf32, strided<[1], offset: ?>>
  }
  func.func @collapse_cast3(%arg0: memref<4x?x3xf32>) -> memref<?x3xf32> {
    %0 = memref.collapse_shape %arg0 [[0, 1], [2]] : memref<4x?x3xf32> into memref<?x3xf32>
    return %0 : memref<?x3xf32>
  }
  func.func @expand_cast(%arg0: memref<24xf32>, %arg1: index) -> memref<?x3xf32> {
    %0 = memref.cast %arg0 : memref<24xf32> to memref<?xf32>
    %1 = memref.expand_shape %0 [[0, 1]] output_shape [%arg1, 3] : memref<?xf32> into memref<?x3xf32>
    return %1 : memref<?x3xf32>
  }
  func.func @expand_cast2(%arg0: memref<24xf32>, %arg1: memref<24xf32, strided<[2], offset: 4>>, %arg2: index) -> (memref<?x3xf32>, memref<8x3xf32, strided<[?, ?], offset: ?>>, memref<?x3xf32>) {
    %0 = memref.expand_shape %arg0 [[0, 1]] output_shape [8, 3] : memref<24xf32> into memref<8x3xf32>
    %1 = memref.cast %0 : memref<8x3xf32> to memref<?x3xf32>
    %2 = memref.expand_shape %arg1 [[0, 1]] output_shape [8, 3] : memref<24xf32, strided<[2], offset: 4>> into memref<8x3xf32, strided<[6, 2], offset: 4>>
    %3 = memref.cast %2 : memref<8x3xf32, strided<[6, 2], offset: 4>> to memref<8x3xf32, strided<[?, ?], offset: ?>>
    %4 = memref.expand_shape %arg0 [[0, 1]] output_shape [8, 3] : memref<24xf32> into memref<8x3xf32>
    %5 = memref.cast %4 : memref<8x3xf32> to memref<?x3xf32>
    return %1, %3, %5 : memref<?x3xf32>, memref<8x3xf32, strided<[?, ?], offset: ?>>, memref<?x3xf32>
  }
  func.func @expand_const(%arg0: memref<?xf32>, %arg1: index) -> memref<?x3xf32> {
    %0 = arith.constant 8 : index
    %1 = memref.expand_shape %arg0 [[0, 1]] output_shape [%0, 3] : memref<?xf32> into memref<?x3xf32>
    return %1 : memref<?x3xf32>
  }
  func.func @expand_cast3(%arg0: memref<24x?xf32>, %arg1: index, %arg2: index) -> (memref<?x3x?xf32>, memref<?x3x?xf32>) {
    %0 = memref.cast %arg0 : memref<24x?xf32> to memref<?x?xf32>
    %1 = memref.expand_shape %0 [[0, 1], [2]] output_shape [%arg1, 3, %arg2] : memref<?x?xf32> into memref<?x3x?xf32>
    %2 = memref.expand_shape %arg0 [[0, 1], [2]] output_shape [8, 3, %arg2] : memref<24x?xf32> into memref<8x3x?xf32>
    %3 = memref.cast %2 : memref<8x3x?xf32> to memref<?x3x?xf32>
    return %1, %3 : memref<?x3x?xf32>, memref<?x3x?xf32>
  }
  func.func @casts_linalg(%arg0: memref<4x4xf32>, %arg1: memref<4x4xf32>, %arg2: f32, %arg3: vector<4xf32>, %arg4: vector<4xi1>, %arg5: index, %arg6: memref<*xf32>) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>) {
    %0 = memref.cast %arg0 : memref<4x4xf32> to memref<?x?xf32>
    %1 = memref.cast %arg6 : memref<*xf32> to memref<4x4xf32>
    linalg.fill ins(%arg2 : f32) outs(%arg0 : memref<4x4xf32>)
    linalg.copy ins(%arg0 : memref<4x4xf32>) outs(%arg1 : memref<4x4xf32>)
    linalg.matmul ins(%arg0, %arg1 : memref<4x4xf32>, memref<4x4xf32>) outs(%1 : memref<4x4xf32>)
    linalg.map { arith.addf } ins(%0, %0 : memref<?x?xf32>, memref<?x?xf32>) outs(%0 : memref<?x?xf32>)
    linalg.transpose ins(%0 : memref<?x?xf32>) outs(%0 : memref<?x?xf32>) permutation = [1, 0]
    %2 = vector.load %arg0[%arg5, %arg5] : memref<4x4xf32>, vector<4xf32>
    vector.store %2, %arg1[%arg5, %arg5] : memref<4x4xf32>, vector<4xf32>
    %3 = vector.transfer_read %arg0[%arg5, %arg5], %arg2 : memref<4x4xf32>, vector<4xf32>
    vector.transfer_write %3, %arg1[%arg5, %arg5] : vector<4xf32>, memref<4x4xf32>
    %4 = vector.load %1[%arg5, %arg5] : memref<4x4xf32>, vector<4xf32>
    return %2, %3, %4, %4 : vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>
  }
  func.func @scope1(%arg0: f32) -> f32 {
    %0 = arith.addf %arg0, %arg0 : f32
    return %0 : f32
  }
  func.func @scope2(%arg0: f32, %arg1: index) -> f32 {
    %0 = memref.alloca() : memref<4xf32>
    memref.store %arg0, %0[%arg1] : memref<4xf32>
    %1 = memref.load %0[%arg1] : memref<4xf32>
    return %1 : f32
  }
  func.func @scope3(%arg0: f32, %arg1: index) -> f32 {
    %0 = memref.alloca_scope  -> (f32) {
      %2 = memref.alloca() : memref<4xf32>
      memref.store %arg0, %2[%arg1] : memref<4xf32>
      %3 = memref.load %2[%arg1] : memref<4xf32>
      memref.alloca_scope.return %3 : f32
    }
    %1 = arith.addf %0, %arg0 : f32
    return %1 : f32
  }
  func.func private @use_50(memref<4xf32>)
  func.func @scope4(%arg0: f32, %arg1: index, %arg2: index, %arg3: i1) {
    %0 = memref.alloca() : memref<4xf32>
    scf.if %arg3 {
      memref.alloca_scope  {
        func.call @use_50(%0) : (memref<4xf32>) -> ()
      }
    }
    return
  }
  func.func private @use_51(memref<4xf32>)
  func.func @scope5(%arg0: f32, %arg1: index, %arg2: index, %arg3: i1) {
    scf.for %arg4 = %arg1 to %arg2 step %arg1 {
      %0 = memref.alloca() : memref<4xf32>
      func.call @use_51(%0) : (memref<4xf32>) -> ()
    }
    return
  }
  func.func private @use_52(memref<4xf32>)
  func.func private @eff_52()
  func.func @scope6(%arg0: f32, %arg1: index, %arg2: index, %arg3: i1) {
    memref.alloca_scope  {
      func.call @eff_52() : () -> ()
    }
    scf.for %arg4 = %arg1 to %arg2 step %arg1 {
      %0 = memref.alloca() : memref<4xf32>
      func.call @use_52(%0) : (memref<4xf32>) -> ()
    }
    scf.for %arg4 = %arg1 to %arg2 step %arg1 {
      %0 = memref.alloca() : memref<4xf32>
      memref.store %arg0, %0[%arg1] : memref<4xf32>
      %1 = memref.load %0[%arg1] : memref<4xf32>
      memref.store %1, %0[%arg4] : memref<4xf32>
    }
    call @eff_52() : () -> ()
    return
  }
  func.func private @use_53(memref<?xf32>)
  func.func private @fix_53(memref<4xf32>)
  func.func @scope7(%arg0: f32, %arg1: index, %arg2: index, %arg3: i1) {
    %0 = memref.alloca() : memref<4xf32>
    scf.if %arg3 {
      %1 = arith.addi %arg2, %arg1 : index
      memref.alloca_scope  {
        %2 = memref.alloca(%1) : memref<?xf32>
        func.call @fix_53(%0) : (memref<4xf32>) -> ()
        func.call @use_53(%2) : (memref<?xf32>) -> ()
      }
    }
    return
  }
  func.func private @use_54(memref<?xf32>)
  func.func @scope8(%arg0: f32, %arg1: index, %arg2: index, %arg3: i1) {
    scf.if %arg3 {
      memref.alloca_scope  {
        %0 = memref.alloca(%arg2) : memref<?xf32>
        func.call @use_54(%0) : (memref<?xf32>) -> ()
      }
    } else {
      memref.alloca_scope  {
        %0 = memref.alloca(%arg1) : memref<?xf32>
        func.call @use_54(%0) : (memref<?xf32>) -> ()
      }
    }
    call @other_54() : () -> ()
    return
  }
  func.func private @other_54()
  func.func @regrouped_b(%arg0: memref<?x8xf32>, %arg1: index) -> (memref<?x8xf32>, memref<?x8xf32>) {
    return %arg0, %arg0 : memref<?x8xf32>, memref<?x8xf32>
  }
  func.func @b2(%arg0: memref<?x?xf32>, %arg1: index) -> (memref<?x?xf32>, memref<?x?xf32>) {
    return %arg0, %arg0 : memref<?x?xf32>, memref<?x?xf32>
  }
  func.func @regrouped_d(%arg0: memref<?x6xf32>, %arg1: index) -> (memref<?x6xf32>, memref<?x6xf32>) {
    return %arg0, %arg0 : memref<?x6xf32>, memref<?x6xf32>
  }
  func.func @regrouped_e(%arg0: memref<?x?xf32>, %arg1: index) -> (memref<?x?xf32>, memref<?x?xf32>) {
    %0 = memref.expand_shape %arg0 [[0, 1], [2, 3]] output_shape [%arg1, 1, 1, %arg1] : memref<?x?xf32> into memref<?x1x1x?xf32>
    %1 = memref.collapse_shape %0 [[0], [1, 2, 3]] : memref<?x1x1x?xf32> into memref<?x?xf32>
    return %arg0, %1 : memref<?x?xf32>, memref<?x?xf32>
  }
  func.func @regrouped_f(%arg0: memref<?x2x?x3xf32>, %arg1: index) -> memref<?x2x?x3xf32> {
    return %arg0 : memref<?x2x?x3xf32>
  }
  func.func @regrouped_g(%arg0: memref<?x1x1x3xf32>, %arg1: index) -> memref<?x1x1x3xf32> {
    return %arg0 : memref<?x1x1x3xf32>
  }
  func.func @regrouped_i(%arg0: memref<?x2x?xf32>, %arg1: index) -> memref<?x2x?xf32> {
    %0 = memref.collapse_shape %arg0 [[0, 1], [2]] : memref<?x2x?xf32> into memref<?x?xf32>
    %1 = memref.expand_shape %0 [[0], [1, 2]] output_shape [%arg1, 2, %arg1] : memref<?x?xf32> into memref<?x2x?xf32>
    return %1 : memref<?x2x?xf32>
  }
  func.func @regrouped_j(%arg0: memref<f32>, %arg1: memref<1x1xf32>) -> (memref<f32>, memref<1x1xf32>, memref<1xf32>) {
    %0 = memref.collapse_shape %arg1 [[0, 1]] : memref<1x1xf32> into memref<1xf32>
    return %arg0, %arg1, %0 : memref<f32>, memref<1x1xf32>, memref<1xf32>
  }
  func.func private @use_68(memref<4xf32>)
  func.func @branches1(%arg0: index, %arg1: index, %arg2: i1) {
    scf.parallel (%arg3) = (%arg0) to (%arg1) step (%arg0) {
      %0 = memref.alloca() : memref<4xf32>
      func.call @use_68(%0) : (memref<4xf32>) -> ()
      scf.reduce 
    }
    scf.forall (%arg3) in (%arg1) {
      %0 = memref.alloca() : memref<4xf32>
      func.call @use_68(%0) : (memref<4xf32>) -> ()
    }
    return
  }
  func.func private @use_69(memref<4xf32>)
  func.func @branches2(%arg0: index, %arg1: index, %arg2: i1) {
    affine.for %arg3 = 0 to %arg1 {
      %0 = memref.alloca() : memref<4xf32>
      func.call @use_69(%0) : (memref<4xf32>) -> ()
    }
    return
  }
  func.func private @use_71(memref<4xf32>)
  func.func @branches4(%arg0: index, %arg1: index, %arg2: i1) {
    memref.alloca_scope  {
      %0 = memref.alloca() : memref<4xf32>
      func.call @use_71(%0) : (memref<4xf32>) -> ()
      %1 = memref.alloca() : memref<4xf32>
      func.call @use_71(%1) : (memref<4xf32>) -> ()
    }
    call @use2_71() : () -> ()
    return
  }
  func.func private @use2_71()
  func.func private @use_72(memref<4xf32>)
  func.func @branches5(%arg0: index, %arg1: index, %arg2: i1) {
    memref.alloca_scope  {
      memref.alloca_scope  {
        %0 = memref.alloca() : memref<4xf32>
        func.call @use_72(%0) : (memref<4xf32>) -> ()
      }
      func.call @use2_72() : () -> ()
    }
    call @use2_72() : () -> ()
    return
  }
  func.func private @use2_72()
  func.func private @use_74(memref<4xf32>)
  func.func @branches7(%arg0: index, %arg1: index, %arg2: i1) {
    scf.if %arg2 {
      memref.alloca_scope  {
        %0 = memref.alloca() : memref<4xf32>
        func.call @use_74(%0) : (memref<4xf32>) -> ()
      }
      func.call @use2_74() : () -> ()
    }
    return
  }
  func.func private @use2_74()
  func.func private @use_75(memref<4xf32>)
  func.func @branches8(%arg0: index, %arg1: index, %arg2: i1, %arg3: i1) {
    %0 = memref.alloca() : memref<4xf32>
    scf.if %arg2 {
      func.call @use2_75() : () -> ()
      scf.if %arg3 {
        memref.alloca_scope  {
          func.call @use_75(%0) : (memref<4xf32>) -> ()
        }
      }
    }
    return
  }
  func.func private @use2_75()
  func.func private @use_76(memref<4xf32>)
  func.func @branches9(%arg0: index, %arg1: index, %arg2: i1, %arg3: i1) {
    %0 = memref.alloca() : memref<4xf32>
    %1 = memref.alloca() : memref<4xf32>
    %2 = memref.alloca() : memref<4xf32>
    scf.if %arg2 {
      func.call @use2_76() : () -> ()
      memref.alloca_scope  {
        scf.if %arg3 {
          func.call @use_76(%1) : (memref<4xf32>) -> ()
        }
        func.call @use_76(%2) : (memref<4xf32>) -> ()
        func.call @use_76(%0) : (memref<4xf32>) -> ()
      }
    }
    return
  }
  func.func private @use2_76()
  func.func private @use_77(memref<4xf32>)
  func.func @branches10(%arg0: index, %arg1: index, %arg2: i1, %arg3: i1) {
    cf.cond_br %arg2, ^bb1, ^bb2
  ^bb1:  // pred: ^bb0
    memref.alloca_scope  {
      %0 = memref.alloca() : memref<4xf32>
      func.call @use_77(%0) : (memref<4xf32>) -> ()
    }
    cf.br ^bb2
  ^bb2:  // 2 preds: ^bb0, ^bb1
    return
  }
}
