memref.global "private" constant @g : memref<2xf32> = dense<[1.0, 2.0]>
memref.global @u : memref<2x3xi32> = uninitialized
memref.global "private" @e : memref<4xi8>
memref.global "nested" constant @al : memref<2xi64> = dense<3> {alignment = 64 : i64}
memref.global "private" @z : memref<f32> = dense<1.0>
func.func @f(%a: index, %b: index, %x: f32, %m: memref<?x?xf32>, %n: memref<4x8xf32>, %u: memref<*xf32>, %s: memref<2xindex>, %i8: memref<64xi8>, %st: memref<4x8xf32, strided<[8, 1], offset: ?>>) -> f32 {
  %0 = memref.alloc() : memref<8x64xf32, 1>
  %1 = memref.alloc(%a) : memref<8x?xf32>
  %2 = memref.alloc(%a)[%b] {alignment = 8 : i64} : memref<8x?xf32, affine_map<(d0, d1)[s0] -> (d0 + s0, d1)>>
  %3 = memref.alloca() : memref<f32>
  memref.dealloc %0 : memref<8x64xf32, 1>
  %4 = memref.load %m[%a, %b] : memref<?x?xf32>
  %5 = memref.load %3[] {nontemporal = true} : memref<f32>
  memref.store %x, %m[%a, %b] : memref<?x?xf32>
  memref.store %x, %3[] {alignment = 4 : i64} : memref<f32>
  memref.copy %n, %m : memref<4x8xf32> to memref<?x?xf32>
  %6 = memref.cast %n : memref<4x8xf32> to memref<?x?xf32>
  %7 = memref.cast %n : memref<4x8xf32> to memref<*xf32>
  %8 = memref.dim %m, %a : memref<?x?xf32>
  %9 = memref.rank %u : memref<*xf32>
  %10 = memref.subview %n[0, %a] [2, %b] [1, 1] : memref<4x8xf32> to memref<2x?xf32, strided<[8, 1], offset: ?>>
  %11 = memref.subview %n[0, 0] [1, 8] [1, 1] : memref<4x8xf32> to memref<8xf32, strided<[1]>>
  %12 = memref.reinterpret_cast %u to offset: [0], sizes: [%a, 8], strides: [8, 1] : memref<*xf32> to memref<?x8xf32>
  %13 = memref.reinterpret_cast %n to offset: [%a], sizes: [], strides: [] : memref<4x8xf32> to memref<f32, strided<[], offset: ?>>
  %14 = memref.expand_shape %n [[0, 1], [2]] output_shape [2, 2, 8] : memref<4x8xf32> into memref<2x2x8xf32>
  %15 = memref.expand_shape %m [[0, 1], [2]] output_shape [%a, 2, %b] : memref<?x?xf32> into memref<?x2x?xf32>
  %16 = memref.collapse_shape %n [[0, 1]] : memref<4x8xf32> into memref<32xf32>
  %17 = memref.transpose %n (i, j) -> (j, i) : memref<4x8xf32> to memref<8x4xf32, strided<[1, 8]>>
  %18 = memref.view %i8[%a][] : memref<64xi8> to memref<4xf32>
  %19 = memref.view %i8[%a][%b] : memref<64xi8> to memref<?xf32>
  %20 = memref.get_global @g : memref<2xf32>
  %21 = memref.reshape %n(%s) : (memref<4x8xf32>, memref<2xindex>) -> memref<?x?xf32>
  %base, %off, %sizes:2, %strides:2 = memref.extract_strided_metadata %st : memref<4x8xf32, strided<[8, 1], offset: ?>> -> memref<f32>, index, index, index, index, index
  %23 = memref.memory_space_cast %n : memref<4x8xf32> to memref<4x8xf32, 1>
  %24 = memref.assume_alignment %n, 16 : memref<4x8xf32>
  %25 = memref.alloca_scope -> (f32) { memref.alloca_scope.return %x : f32 }
  memref.alloca_scope { %q = memref.alloca() : memref<f32> }
  return %5 : f32
}
