func.func @v(%m: memref<?x?xf32>, %t: tensor<4x8xf32>, %i: index, %x: f32, %v: vector<4xf32>, %w: vector<4x8xf32>, %u: vector<8x4xf32>, %k: vector<4xi1>, %a: vector<4x4xf32>, %v0: vector<f32>, %m1: memref<?xf32>, %vs: vector<4x[8]xf32>) -> vector<4xf32> {
  %0 = vector.transfer_read %m[%i, %i], %x : memref<?x?xf32>, vector<4xf32>
  %1 = vector.transfer_read %m[%i, %i], %x {in_bounds = [true, false]} : memref<?x?xf32>, vector<4x8xf32>
  %2 = vector.transfer_read %t[%i, %i], %x {permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : tensor<4x8xf32>, vector<8x4xf32>
  %3 = vector.transfer_read %m[%i, %i], %x, %k {permutation_map = affine_map<(d0, d1) -> (d0)>, in_bounds = [true]} : memref<?x?xf32>, vector<4xf32>
  %4 = vector.transfer_read %m[%i, %i], %x {permutation_map = affine_map<(d0, d1) -> (0, d1)>} : memref<?x?xf32>, vector<4x8xf32>
  vector.transfer_write %v, %m[%i, %i] : vector<4xf32>, memref<?x?xf32>
  %5 = vector.transfer_write %w, %t[%i, %i] {in_bounds = [true, true]} : vector<4x8xf32>, tensor<4x8xf32>
  vector.transfer_write %v, %m[%i, %i], %k {in_bounds = [true]} : vector<4xf32>, memref<?x?xf32>
  %6 = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %w, %u, %a : vector<4x8xf32>, vector<8x4xf32> into vector<4x4xf32>
  %7 = vector.reduction <add>, %v : vector<4xf32> into f32
  %8 = vector.reduction <maximumf>, %v, %x : vector<4xf32> into f32
  %9 = vector.multi_reduction <add>, %w, %v [1] : vector<4x8xf32> to vector<4xf32>
  %10 = vector.broadcast %x : f32 to vector<4x8xf32>
  %11 = vector.extract %w[1] : vector<8xf32> from vector<4x8xf32>
  %12 = vector.extract %w[1, %i] : f32 from vector<4x8xf32>
  %13 = vector.insert %x, %w[1, 2] : f32 into vector<4x8xf32>
  %14 = vector.insert %11, %w[%i] : vector<8xf32> into vector<4x8xf32>
  %15 = vector.shape_cast %w : vector<4x8xf32> to vector<32xf32>
  %16 = vector.transpose %w, [1, 0] : vector<4x8xf32> to vector<8x4xf32>
  %17 = vector.fma %v, %v, %v : vector<4xf32>
  %18 = vector.load %m[%i, %i] : memref<?x?xf32>, vector<4xf32>
  vector.store %18, %m[%i, %i] : memref<?x?xf32>, vector<4xf32>
  vector.print %v : vector<4xf32>
  vector.print %x : f32
  %20 = vector.step : vector<4xindex>
  %21 = vector.create_mask %i, %i : vector<4x8xi1>
  %22 = vector.constant_mask [2, 3] : vector<4x8xi1>
  %23 = arith.constant dense<1.0> : vector<4xf32>
  %24 = arith.addf %v, %23 : vector<4xf32>
  %25 = vector.contract {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> (k)>, affine_map<(k) -> ()>], iterator_types = ["reduction"]} %v, %v, %x : vector<4xf32>, vector<4xf32> into f32
  %26 = vector.from_elements %x, %x : vector<2xf32>
  %27 = vector.extract_strided_slice %w {offsets = [0, 2], sizes = [2, 4], strides = [1, 1]} : vector<4x8xf32> to vector<2x4xf32>
  %28 = vector.insert_strided_slice %27, %w {offsets = [0, 2], strides = [1, 1]} : vector<2x4xf32> into vector<4x8xf32>
  %29 = vector.shuffle %v, %v [0, 4, 1, 5] : vector<4xf32>, vector<4xf32>
  %30 = vector.extract %v0[] : f32 from vector<f32>
  %32 = vector.transfer_read %m[%i, %i], %x {permutation_map = affine_map<(d0, d1) -> (d1)>} : memref<?x?xf32>, vector<4xf32>
  %33 = vector.multi_reduction <mul>, %w, %x [0, 1] : vector<4x8xf32> to f32
  vector.print %v : vector<4xf32> punctuation <no_punctuation>
  %34:2 = vector.to_elements %26 : vector<2xf32>
  %35 = vector.interleave %w, %w : vector<4x8xf32> -> vector<4x16xf32>
  %36 = vector.interleave %v0, %v0 : vector<f32> -> vector<2xf32>
  %37 = vector.extract %vs[1] : vector<[8]xf32> from vector<4x[8]xf32>
  %38 = vector.extract_strided_slice %vs {offsets = [1], sizes = [2], strides = [1]} : vector<4x[8]xf32> to vector<2x[8]xf32>
  return %24 : vector<4xf32>
}
