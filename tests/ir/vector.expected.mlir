module {
  func.func @v(%arg0: memref<?x?xf32>, %arg1: tensor<4x8xf32>, %arg2: index, %arg3: f32, %arg4: vector<4xf32>, %arg5: vector<4x8xf32>, %arg6: vector<8x4xf32>, %arg7: vector<4xi1>, %arg8: vector<4x4xf32>, %arg9: vector<f32>, %arg10: memref<?xf32>, %arg11: vector<4x[8]xf32>) -> vector<4xf32> {
    %0 = vector.transfer_read %arg0[%arg2, %arg2], %arg3 : memref<?x?xf32>, vector<4xf32>
    %1 = vector.transfer_read %arg0[%arg2, %arg2], %arg3 {in_bounds = [true, false]} : memref<?x?xf32>, vector<4x8xf32>
    %2 = vector.transfer_read %arg1[%arg2, %arg2], %arg3 {permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : tensor<4x8xf32>, vector<8x4xf32>
    %3 = vector.transfer_read %arg0[%arg2, %arg2], %arg3, %arg7 {in_bounds = [true], permutation_map = affine_map<(d0, d1) -> (d0)>} : memref<?x?xf32>, vector<4xf32>
    %4 = vector.transfer_read %arg0[%arg2, %arg2], %arg3 {permutation_map = affine_map<(d0, d1) -> (0, d1)>} : memref<?x?xf32>, vector<4x8xf32>
    vector.transfer_write %arg4, %arg0[%arg2, %arg2] : vector<4xf32>, memref<?x?xf32>
    %5 = vector.transfer_write %arg5, %arg1[%arg2, %arg2] {in_bounds = [true, true]} : vector<4x8xf32>, tensor<4x8xf32>
    vector.transfer_write %arg4, %arg0[%arg2, %arg2], %arg7 {in_bounds = [true]} : vector<4xf32>, memref<?x?xf32>
    %6 = vector.contract {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %arg5, %arg6, %arg8 : vector<4x8xf32>, vector<8x4xf32> into vector<4x4xf32>
    %7 = vector.reduction <add>, %arg4 : vector<4xf32> into f32
    %8 = vector.reduction <maximumf>, %arg4, %arg3 : vector<4xf32> into f32
    %9 = vector.multi_reduction <add>, %arg5, %arg4 [1] : vector<4x8xf32> to vector<4xf32>
    %10 = vector.broadcast %arg3 : f32 to vector<4x8xf32>
    %11 = vector.extract %arg5[1] : vector<8xf32> from vector<4x8xf32>
    %12 = vector.extract %arg5[1, %arg2] : f32 from vector<4x8xf32>
    %13 = vector.insert %arg3, %arg5 [1, 2] : f32 into vector<4x8xf32>
    %14 = vector.insert %11, %arg5 [%arg2] : vector<8xf32> into vector<4x8xf32>
    %15 = vector.shape_cast %arg5 : vector<4x8xf32> to vector<32xf32>
    %16 = vector.transpose %arg5, [1, 0] : vector<4x8xf32> to vector<8x4xf32>
    %17 = vector.fma %arg4, %arg4, %arg4 : vector<4xf32>
    %18 = vector.load %arg0[%arg2, %arg2] : memref<?x?xf32>, vector<4xf32>
    vector.store %18, %arg0[%arg2, %arg2] : memref<?x?xf32>, vector<4xf32>
    vector.print %arg4 : vector<4xf32>
    vector.print %arg3 : f32
    %19 = vector.step : vector<4xindex>
    %20 = vector.create_mask %arg2, %arg2 : vector<4x8xi1>
    %21 = vector.constant_mask [2, 3] : vector<4x8xi1>
    %22 = arith.constant dense<1.000000e+00> : vector<4xf32>
    %23 = arith.addf %arg4, %22 : vector<4xf32>
    %24 = vector.contract {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"], kind = #vector.kind<add>} %arg4, %arg4, %arg3 : vector<4xf32>, vector<4xf32> into f32
    %25 = vector.from_elements %arg3, %arg3 : vector<2xf32>
    %26 = vector.extract_strided_slice %arg5 {offsets = [0, 2], sizes = [2, 4], strides = [1, 1]} : vector<4x8xf32> to vector<2x4xf32>
    %27 = vector.insert_strided_slice %26, %arg5 {offsets = [0, 2], strides = [1, 1]} : vector<2x4xf32> into vector<4x8xf32>
    %28 = vector.shuffle %arg4, %arg4 [0, 4, 1, 5] : vector<4xf32>, vector<4xf32>
    %29 = vector.extract %arg9[] : f32 from vector<f32>
    %30 = vector.transfer_read %arg0[%arg2, %arg2], %arg3 : memref<?x?xf32>, vector<4xf32>
    %31 = vector.multi_reduction <mul>, %arg5, %arg3 [0, 1] : vector<4x8xf32> to f32
    vector.print %arg4 : vector<4xf32> punctuation <no_punctuation>
    %32:2 = vector.to_elements %25 : vector<2xf32>
    %33 = vector.interleave %arg5, %arg5 : vector<4x8xf32> -> vector<4x16xf32>
    %34 = vector.interleave %arg9, %arg9 : vector<f32> -> vector<2xf32>
    %35 = vector.extract %arg11[1] : vector<[8]xf32> from vector<4x[8]xf32>
    %36 = vector.extract_strided_slice %arg11 {offsets = [1], sizes = [2], strides = [1]} : vector<4x[8]xf32> to vector<2x[8]xf32>
    return %23 : vector<4xf32>
  }
}
