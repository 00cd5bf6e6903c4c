module {
  memref.global "private" constant @g : memref<2xf32> = dense<[1.000000e+00, 2.000000e+00]>
  memref.global @u : memref<2x3xi32> = uninitialized
  memref.global "private" @e : memref<4xi8>
  memref.global "nested" constant @al : memref<2xi64> = dense<3> {alignment = 64 : i64}
  memref.global "private" @z : memref<f32> = dense<1.000000e+00>
  func.func @f(%arg0: index, %arg1: index, %arg2: f32, %arg3: memref<?x?xf32>, %arg4: memref<4x8xf32>, %arg5: memref<*xf32>, %arg6: memref<2xindex>, %arg7: memref<64xi8>, %arg8: memref<4x8xf32, strided<[8, 1], offset: ?>>) -> f32 {
    %0 = memref.alloc() : memref<8x64xf32, 1>
    %1 = memref.alloc(%arg0) : memref<8x?xf32>
    %2 = memref.alloc(%arg0)[%arg1] {alignment = 8 : i64} : memref<8x?xf32, affine_map<(d0, d1)[s0] -> (d0 + s0, d1)>>
    %3 = memref.alloca() : memref<f32>
    memref.dealloc %0 : memref<8x64xf32, 1>
    %4 = memref.load %arg3[%arg0, %arg1] : memref<?x?xf32>
    %5 = memref.load %3[] {nontemporal = true} : memref<f32>
    memref.store %arg2, %arg3[%arg0, %arg1] : memref<?x?xf32>
    memref.store %arg2, %3[] {alignment = 4 : i64} : memref<f32>
    memref.copy %arg4, %arg3 : memref<4x8xf32> to memref<?x?xf32>
    %6 = memref.cast %arg4 : memref<4x8xf32> to memref<?x?xf32>
    %7 = memref.cast %arg4 : memref<4x8xf32> to memref<*xf32>
    %8 = memref.dim %arg3, %arg0 : memref<?x?xf32>
    %9 = memref.rank %arg5 : memref<*xf32>
    %10 = memref.subview %arg4[0, %arg0] [2, %arg1] [1, 1] : memref<4x8xf32> to memref<2x?xf32, strided<[8, 1], offset: ?>>
    %11 = memref.subview %arg4[0, 0] [1, 8] [1, 1] : memref<4x8xf32> to memref<8xf32, strided<[1]>>
    %12 = memref.reinterpret_cast %arg5 to offset: [0], sizes: [%arg0, 8], strides: [8, 1] : memref<*xf32> to memref<?x8xf32>
    %13 = memref.reinterpret_cast %arg4 to offset: [%arg0], sizes: [], strides: [] : memref<4x8xf32> to memref<f32, strided<[], offset: ?>>
    %14 = memref.expand_shape %arg4 [[0, 1], [2]] output_shape [2, 2, 8] : memref<4x8xf32> into memref<2x2x8xf32>
    %15 = memref.expand_shape %arg3 [[0, 1], [2]] output_shape [%arg0, 2, %arg1] : memref<?x?xf32> into memref<?x2x?xf32>
    %16 = memref.collapse_shape %arg4 [[0, 1]] : memref<4x8xf32> into memref<32xf32>
    %17 = memref.transpose %arg4 (d0, d1) -> (d1, d0) : memref<4x8xf32> to memref<8x4xf32, strided<[1, 8]>>
    %18 = memref.view %arg7[%arg0][] : memref<64xi8> to memref<4xf32>
    %19 = memref.view %arg7[%arg0][%arg1] : memref<64xi8> to memref<?xf32>
    %20 = memref.get_global @g : memref<2xf32>
    %21 = memref.reshape %arg4(%arg6) : (memref<4x8xf32>, memref<2xindex>) -> memref<?x?xf32>
    %22:6 = memref.extract_strided_metadata %arg8 : memref<4x8xf32, strided<[8, 1], offset: ?>> -> memref<f32>, index, index, index, index, index
    %23 = memref.memory_space_cast %arg4 : memref<4x8xf32> to memref<4x8xf32, 1>
    %24 = memref.assume_alignment %arg4, 16 : memref<4x8xf32>
    %25 = memref.alloca_scope  -> (f32) {
      memref.alloca_scope.return %arg2 : f32
    }
    memref.alloca_scope  {
      %26 = memref.alloca() : memref<f32>
    }
    return %5 : f32
  }
}
