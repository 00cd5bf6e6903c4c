module attributes {test.positions = affine_map<(d0)[s0] -> ((-s0) floordiv 4, d0 floordiv -1, -3, d0 mod 0)>} {
  func.func @traits(%arg0: tensor<4xf32>, %arg1: vector<4xf32>, %arg2: f32) -> tensor<4xf32> {
    %0 = linalg.generic {doc = "d", indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%arg0 : tensor<4xf32>) outs(%arg0 : tensor<4xf32>) attrs =  {b = 2 : i8, i64} {
    ^bb0(%arg3: f32, %arg4: f32):
      linalg.yield %arg3 : f32
    } -> tensor<4xf32>
    %1 = vector.contract {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"], kind = #vector.kind<mul>} %arg1, %arg1, %arg2 {step = 1 : i8} : vector<4xf32>, vector<4xf32> into f32
    return %0 : tensor<4xf32>
  }
  func.func @kinds(%arg0: vector<4x6xf32>, %arg1: vector<4xf32>) attributes {flags = #arith.fastmath<nnan>} {
    %0 = vector.multi_reduction <add>, %arg0, %arg1 [1] : vector<4x6xf32> to vector<4xf32>
    %1 = vector.multi_reduction <add>, %arg0, %arg1 [1] : vector<4x6xf32> to vector<4xf32>
    return
  }
  func.func @unnamed(%arg0: i32, %arg1: i32 {test.b}) {
    return
  }
  func.func private @attributes(i32 {test.a}) -> (i8 {test.b})
  func.func @symbols(%arg0: index) {
    %0 = memref.alloc(%arg0)[%arg0, %arg0] : memref<?xi32, strided<[?], offset: ?>>
    %1 = memref.alloca()[%arg0] : memref<4x4xi32, strided<[?, 1]>>
    return
  }
  func.func @windows(%arg0: memref<1x8x8x1xf32>, %arg1: memref<3x3x1xf32>, %arg2: memref<1x3x3x1xf32>, %arg3: memref<2x2xf32>, %arg4: memref<1x4x4x1xf32>) {
    linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<[2]xi64>} ins(%arg0, %arg1 : memref<1x8x8x1xf32>, memref<3x3x1xf32>) outs(%arg2 : memref<1x3x3x1xf32>)
    linalg.pooling_nhwc_sum {dilations = dense<1> : tensor<2xi64, "e">, strides = dense<2> : vector<2xi64>} ins(%arg0, %arg3 : memref<1x8x8x1xf32>, memref<2x2xf32>) outs(%arg4 : memref<1x4x4x1xf32>)
    return
  }
  func.func @collapse(%arg0: memref<?x4x?xf32, strided<[?, ?, 1]>>, %arg1: memref<4x1xf32, strided<[2, 7]>>, %arg2: memref<?x2xf32, strided<[2, 1], offset: 3>>) {
    %0 = memref.collapse_shape %arg0 [[0, 1, 2]] : memref<?x4x?xf32, strided<[?, ?, 1]>> into memref<?xf32, strided<[?]>>
    %1 = memref.collapse_shape %arg1 [[0, 1]] : memref<4x1xf32, strided<[2, 7]>> into memref<4xf32, strided<[2]>>
    %2 = memref.collapse_shape %arg2 [[0, 1]] : memref<?x2xf32, strided<[2, 1], offset: 3>> into memref<?xf32, strided<[1], offset: 3>>
    return
  }
  func.func @dropped(%arg0: memref<8x?xf32>, %arg1: index, %arg2: index) -> memref<?xf32, strided<[?], offset: ?>> {
    %0 = memref.subview %arg0[%arg1, %arg1] [1, %arg1] [%arg2, %arg2] : memref<8x?xf32> to memref<?xf32, strided<[?], offset: ?>>
    %1 = memref.subview %arg0[0, 0] [1, 1] [1, 1] : memref<8x?xf32> to memref<1xf32, strided<[?]>>
    return %0 : memref<?xf32, strided<[?], offset: ?>>
  }
  func.func @masks(%arg0: memref<?x?xf32>, %arg1: memref<f32>, %arg2: vector<4x[4]xi1>, %arg3: vector<[4]x4xi1>, %arg4: vector<1xi1>, %arg5: index, %arg6: f32, %arg7: vector<4x[4]xf32>) {
    %0 = vector.transfer_read %arg0[%arg5, %arg5], %arg6, %arg2 : memref<?x?xf32>, vector<4x[4]xf32>
    %1 = vector.transfer_read %arg0[%arg5, %arg5], %arg6, %arg3 {permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : memref<?x?xf32>, vector<4x[4]xf32>
    %2 = vector.transfer_read %arg0[%arg5, %arg5], %arg6, %arg4 {permutation_map = affine_map<(d0, d1) -> (0, 0)>} : memref<?x?xf32>, vector<4x[4]xf32>
    %3 = vector.transfer_read %arg1[], %arg6, %arg4 : memref<f32>, vector<f32>
    vector.transfer_write %arg7, %arg0[%arg5, %arg5], %arg3 {permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : vector<4x[4]xf32>, memref<?x?xf32>
    return
  }
  func.func @elements(%arg0: memref<8x8xvector<2x4xf32>>, %arg1: index, %arg2: vector<2x4xf32>, %arg3: vector<1x1x2x4xf32>, %arg4: memref<8xi8>, %arg5: i8) {
    %0 = vector.transfer_read %arg0[%arg1, %arg1], %arg2 : memref<8x8xvector<2x4xf32>>, vector<2x4xf32>
    %1 = vector.transfer_read %arg0[%arg1, %arg1], %arg2 {in_bounds = [true, false]} : memref<8x8xvector<2x4xf32>>, vector<1x1x2x4xf32>
    vector.transfer_write %arg3, %arg0[%arg1, %arg1] {permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : vector<1x1x2x4xf32>, memref<8x8xvector<2x4xf32>>
    %2 = vector.transfer_read %arg4[%arg1], %arg5 : memref<8xi8>, vector<4xi32>
    return
  }
  func.func @bounds(%arg0: memref<?x?xf32>, %arg1: memref<?xi8>, %arg2: index, %arg3: index) {
    %0 = arith.constant 0 : index
    affine.for %arg4 = 0 to %arg2 {
      %1 = memref.dim %arg0, %0 : memref<?x?xf32>
      %2 = memref.subview %arg0[0, 0] [%1, %arg4] [1, 1] : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1]>>
      %3 = memref.dim %2, %0 : memref<?x?xf32, strided<[?, 1]>>
      %4 = memref.view %arg1[%arg4][%arg3] : memref<?xi8> to memref<?xf32>
      %5 = memref.dim %4, %0 : memref<?xf32>
      %6 = memref.alloc(%arg3) : memref<?xf32>
      %7 = memref.cast %6 : memref<?xf32> to memref<4xf32>
      %8 = memref.dim %7, %0 : memref<4xf32>
      affine.for %arg5 = 0 to %3 {
        affine.for %arg6 = 0 to min affine_map<()[s0, s1] -> (s0, s1)>()[%5, %8] {
        }
      }
    }
    return
  }
  func.func @spaces(%arg0: memref<4xi32, #spirv.storage_class<StorageBuffer>>, %arg1: memref<4xi32, #gpu.address_space<workgroup>>, %arg2: memref<*xf32, #ptr.generic_space>) {
    %0 = memref.alloca() : memref<4xi32, #gpu.address_space<workgroup>>
    %1 = memref.memory_space_cast %0 : memref<4xi32, #gpu.address_space<workgroup>> to memref<4xi32>
    return
  }
  memref.global "private" @roots : memref<2xcomplex<f32>> = dense<[(1.000000e+00,0.000000e+00), (-1.000000e+00,0.000000e+00)]>
  func.func @complex(%arg0: tensor<2x2xcomplex<f32>>, %arg1: tensor<2xcomplex<f64>>, %arg2: tensor<2xcomplex<f32>>, %arg3: tensor<2xi8>) -> tensor<2xcomplex<i32>> {
    %0 = arith.constant dense<(1,2)> : tensor<2xcomplex<i32>>
    %1 = arith.constant dense<[(1.500000e+00,0x7FC00000), (3.000000e+00,-4.000000e+00)]> : tensor<2xcomplex<f32>>
    %2 = arith.constant dense<[3, -1]> : tensor<2xi128>
    %3 = arith.constant dense<3> : tensor<2xui8>
    %4 = linalg.matmul ins(%arg0, %arg0 : tensor<2x2xcomplex<f32>>, tensor<2x2xcomplex<f32>>) outs(%arg0 : tensor<2x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>>
    %5 = linalg.copy ins(%arg1 : tensor<2xcomplex<f64>>) outs(%arg2 : tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
    %6 = linalg.copy {cast = #linalg.type_fn<cast_unsigned>} ins(%arg3 : tensor<2xi8>) outs(%arg2 : tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
    %7 = linalg.div ins(%arg2, %arg2 : tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) outs(%arg2 : tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
    return %0 : tensor<2xcomplex<i32>>
  }
}
