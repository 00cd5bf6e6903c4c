func.func @ranks(%t: tensor<4x?xf32>, %m: memref<4x?x2xf32>) -> (index, index) {
  %0 = tensor.rank %t : tensor<4x?xf32>
  %1 = memref.rank %m : memref<4x?x2xf32>
  return %0, %1 : index, index
}
func.func @bits(%t: tensor<?xf32>, %u: tensor<4xi32>) -> (tensor<?xf32>, tensor<4xi32>) {
  %0 = tensor.bitcast %t : tensor<?xf32> to tensor<?xi32>
  %1 = tensor.bitcast %0 : tensor<?xi32> to tensor<?xf32>
  %2 = tensor.bitcast %u : tensor<4xi32> to tensor<4xi32>
  return %1, %2 : tensor<?xf32>, tensor<4xi32>
}
func.func @elements(%i: index) -> (f32, i8, i64, f32) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %a = arith.constant dense<[[1.0, 0x7FC00001], [-0.0, 4.0]]> : tensor<2x2xf32>
  %b = arith.constant dense<-128> : tensor<3xi8>
  %c = arith.constant dense<[9223372036854775807, -9223372036854775808]> : tensor<2xi64>
  %2 = tensor.extract %a[%1, %0] : tensor<2x2xf32>
  %3 = tensor.extract %b[%i] : tensor<3xi8>
  %4 = tensor.extract %c[%1] : tensor<2xi64>
  %5 = tensor.extract %a[%0, %1] : tensor<2x2xf32>
  return %2, %3, %4, %5 : f32, i8, i64, f32
}
func.func @expanded_twice(%t: tensor<?xf32>, %n: index) -> tensor<?x1x1xf32> {
  %0 = tensor.expand_shape %t [[0, 1]] output_shape [%n, 1] : tensor<?xf32> into tensor<?x1xf32>
  %1 = tensor.expand_shape %0 [[0], [1, 2]] output_shape [%n, 1, 1] : tensor<?x1xf32> into tensor<?x1x1xf32>
  return %1 : tensor<?x1x1xf32>
}
func.func @expanded_of_none(%t: tensor<f32>, %n: index) -> (tensor<?xf32>, tensor<1x1xf32>) {
  %0 = tensor.expand_shape %t [] output_shape [%n] : tensor<f32> into tensor<?xf32>
  %1 = tensor.expand_shape %t [] output_shape [1] : tensor<f32> into tensor<1xf32>
  %2 = tensor.expand_shape %1 [[0, 1]] output_shape [1, 1] : tensor<1xf32> into tensor<1x1xf32>
  return %0, %2 : tensor<?xf32>, tensor<1x1xf32>
}
func.func @inserted_from_cast(%t: tensor<2x4xf32>, %d: tensor<8x8xf32>, %n: index) -> tensor<?x8xf32> {
  %0 = tensor.cast %t : tensor<2x4xf32> to tensor<?x4xf32>
  %1 = tensor.cast %d : tensor<8x8xf32> to tensor<?x8xf32>
  %2 = arith.constant 2 : index
  %3 = tensor.insert_slice %0 into %1[%n, 0] [%2, 4] [1, 1] : tensor<?x4xf32> into tensor<?x8xf32>
  return %3 : tensor<?x8xf32>
}
func.func @inserted_from_cast_in_parallel(%t: tensor<2x4xf32>, %d: tensor<8x8xf32>, %n: index, %m: index) -> tensor<8x8xf32> {
  %0 = tensor.cast %t : tensor<2x4xf32> to tensor<?x4xf32>
  %1 = scf.forall (%i) in (%m) shared_outs(%o = %d) -> tensor<8x8xf32> {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %0 into %o[%i, 0] [%n, 4] [1, 1] : tensor<?x4xf32> into tensor<8x8xf32>
    }
  }
  return %1 : tensor<8x8xf32>
}
func.func @memory_expanded_twice(%t: memref<?xf32>, %n: index) -> memref<?x1x1xf32> {
  %0 = memref.expand_shape %t [[0, 1]] output_shape [%n, 1] : memref<?xf32> into memref<?x1xf32>
  %1 = memref.expand_shape %0 [[0], [1, 2]] output_shape [%n, 1, 1] : memref<?x1xf32> into memref<?x1x1xf32>
  return %1 : memref<?x1x1xf32>
}
func.func @reshaped(%m: memref<4x6xf32>, %s: memref<2xindex>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = arith.constant 3 : index
  %b = arith.constant 8 : index
  memref.store %a, %s[%c0] : memref<2xindex>
  memref.store %b, %s[%c1] : memref<2xindex>
  %0 = memref.reshape %m(%s) : (memref<4x6xf32>, memref<2xindex>) -> memref<?x?xf32>
  %1 = memref.dim %0, %c0 : memref<?x?xf32>
  %2 = memref.dim %0, %c1 : memref<?x?xf32>
  return %1, %2 : index, index
}
func.func @inserted_in_parallel(%t: tensor<2x4xf32>, %u: tensor<?x4xf32>, %d: tensor<8x8xf32>, %e: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %c4 = arith.constant 4 : index
  %c2 = arith.constant 2 : index
  %0 = tensor.cast %t : tensor<2x4xf32> to tensor<?x4xf32>
  %1:2 = scf.forall (%i) in (%c4) shared_outs(%o = %d, %p = %e) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
    %at = affine.apply affine_map<(d0) -> (d0 * 2)>(%i)
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %0 into %o[%at, 0] [%c2, 4] [1, 1] : tensor<?x4xf32> into tensor<8x8xf32>
      tensor.parallel_insert_slice %u into %p[%at, 4] [%c2, 4] [1, 1] : tensor<?x4xf32> into tensor<8x8xf32>
    }
  }
  return %1#0, %1#1 : tensor<8x8xf32>, tensor<8x8xf32>
}
func.func @slices_without_ones(%t: tensor<1x1x8x1xf16>, %i: index) -> (tensor<1x4xf16>, tensor<4xf16>) {
  %c0 = arith.constant 0 : index
  %0 = tensor.extract_slice %t[%c0, 0, %i, 0] [1, 1, 4, 1] [1, 1, 1, 1] : tensor<1x1x8x1xf16> to tensor<1x4xf16>
  %1 = tensor.extract_slice %t[0, %c0, %i, 0] [1, 1, 4, 1] [1, 1, 1, 1] : tensor<1x1x8x1xf16> to tensor<4xf16>
  return %0, %1 : tensor<1x4xf16>, tensor<4xf16>
}
func.func @buffers(%t: tensor<4x?xf32>, %i: index) -> (f32, index, tensor<4x?xf32>) {
  %0 = bufferization.to_buffer %t read_only : tensor<4x?xf32> to memref<4x?xf32>
  %1 = memref.load %0[%i, %i] : memref<4x?xf32>
  %c1 = arith.constant 1 : index
  %2 = memref.dim %0, %c1 : memref<4x?xf32>
  %3 = bufferization.to_buffer %t : tensor<4x?xf32> to memref<4x?xf32>
  %4 = bufferization.to_tensor %3 : memref<4x?xf32> to tensor<4x?xf32>
  return %1, %2, %4 : f32, index, tensor<4x?xf32>
}
func.func @padded_twice(%t: tensor<?x4xf32>, %n: index, %f: f32) -> tensor<?x?xf32> {
  %0 = tensor.pad %t low[%n, 1] high[1, %n] { ^bb0(%i: index, %j: index): tensor.yield %f : f32 } : tensor<?x4xf32> to tensor<?x?xf32>
  %1 = tensor.pad %0 low[2, %n] high[%n, 0] { ^bb0(%i: index, %j: index): tensor.yield %f : f32 } : tensor<?x?xf32> to tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
func.func @views(%m: memref<10xf32>) -> f32 {
  %c = arith.constant 8 : index
  %c7 = arith.constant 7 : index
  %0 = memref.subview %m[2] [%c] [1] : memref<10xf32> to memref<?xf32, strided<[1], offset: 2>>
  %1 = memref.load %0[%c7] : memref<?xf32, strided<[1], offset: 2>>
  return %1 : f32
}
func.func @view_out_of_bounds(%m: memref<10xf32>, %i: index) -> f32 {
  %c = arith.constant 11 : index
  %0 = memref.subview %m[2] [%c] [1] : memref<10xf32> to memref<?xf32, strided<[1], offset: 2>>
  %1 = memref.load %0[%i] : memref<?xf32, strided<[1], offset: 2>>
  return %1 : f32
}
func.func @different_shapes(%a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<?xi1>, %n: tensor<?xi32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %0 = arith.addf %a, %b : tensor<?xf32>
  %1 = arith.select %c, %0, %b : tensor<?xi1>, tensor<?xf32>
  %2 = math.fpowi %a, %n : tensor<?xf32>, tensor<?xi32>
  return %0, %1, %2 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
func.func @affine_access(%m: memref<8xi32>, %x: i32) -> i32 {
  %c1 = arith.constant 1 : index
  affine.for %i = 0 to 3 {
    %0 = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%c1]
    %1 = affine.load %m[%0] : memref<8xi32>
    %2 = arith.addi %1, %x : i32
    affine.store %2, %m[%0 + 1] : memref<8xi32>
  }
  %3 = affine.load %m[%c1 + 2] : memref<8xi32>
  return %3 : i32
}
func.func @affine_decided(%x: i32, %y: i32) -> i32 {
  %c1 = arith.constant 1 : index
  %0 = affine.if affine_set<(d0) : (d0 - 1 >= 0)>(%c1) -> i32 {
    affine.yield %x : i32
  } else {
    affine.yield %y : i32
  }
  return %0 : i32
}
func.func @buffer_of_a_buffer(%m: memref<4xf32>, %f: f32) -> f32 {
  %c1 = arith.constant 1 : index
  %0 = bufferization.to_tensor %m restrict writable : memref<4xf32> to tensor<4xf32>
  %1 = bufferization.to_buffer %0 : tensor<4xf32> to memref<4xf32>
  memref.store %f, %1[%c1] : memref<4xf32>
  %2 = memref.load %m[%c1] : memref<4xf32>
  return %2 : f32
}
func.func @filled_from_a_cast(%m: memref<4xf32>, %f: f32) {
  %0 = memref.cast %m : memref<4xf32> to memref<?xf32>
  linalg.fill ins(%f : f32) outs(%0 : memref<?xf32>)
  return
}
func.func @allocated(%f: f32) -> (f32, f32, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0 = memref.alloc(%c4) : memref<?xf32>
  %1 = memref.alloca(%c4) : memref<?xf32>
  memref.store %f, %0[%c1] : memref<?xf32>
  memref.store %f, %1[%c0] : memref<?xf32>
  %2 = memref.load %0[%c1] : memref<?xf32>
  %3 = memref.load %1[%c1] : memref<?xf32>
  %4 = memref.dim %0, %c0 : memref<?xf32>
  memref.dealloc %0 : memref<?xf32>
  return %2, %3, %4 : f32, f32, index
}
func.func @viewed_from_a_cast(%m: memref<16xi8>, %n: memref<4x?xf32>) -> (i32, index) {
  %c0 = arith.constant 0 : index
  %0 = memref.cast %m : memref<16xi8> to memref<?xi8>
  %1 = memref.view %0[%c0][] : memref<?xi8> to memref<4xi32>
  %2 = memref.load %1[%c0] : memref<4xi32>
  %3 = memref.dim %n, %c0 : memref<4x?xf32>
  return %2, %3 : i32, index
}
func.func @cast_to_itself(%t: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tensor.cast %t : tensor<?xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @slice_that_is_cast(%t: tensor<8x8xf32>) -> tensor<2x4xf32> {
  %c2 = arith.constant 2 : index
  %0 = tensor.extract_slice %t[1, 1] [%c2, 4] [1, 1] : tensor<8x8xf32> to tensor<?x4xf32>
  %1 = tensor.cast %0 : tensor<?x4xf32> to tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
func.func @slice_of_a_size_that_is_cast(%t: tensor<8x8xf32>, %n: index) -> tensor<4x4xf32> {
  %0 = tensor.extract_slice %t[1, 1] [%n, 4] [1, 1] : tensor<8x8xf32> to tensor<?x4xf32>
  %1 = tensor.cast %0 : tensor<?x4xf32> to tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
func.func @expanded_and_collapsed(%m: memref<?x4xf32>, %n: index) -> memref<?xf32> {
  %0 = memref.expand_shape %m [[0, 1], [2]] output_shape [%n, 1, 4] : memref<?x4xf32> into memref<?x1x4xf32>
  %1 = memref.collapse_shape %0 [[0, 1, 2]] : memref<?x1x4xf32> into memref<?xf32>
  return %1 : memref<?xf32>
}
func.func @affine_never(%x: i32, %y: i32, %n: index) -> i32 {
  %0 = affine.if affine_set<() : (1 == 0)>() -> i32 {
    affine.yield %x : i32
  } else {
    affine.yield %y : i32
  }
  %1 = affine.if affine_set<(d0) : (d0 - d0 >= 0)>(%n) -> i32 {
    affine.yield %x : i32
  } else {
    affine.yield %y : i32
  }
  %2 = arith.subi %0, %1 : i32
  return %2 : i32
}
