module {
  func.func @one_element(%arg0: vector<1xf32>, %arg1: vector<f32>, %arg2: vector<1xi32>, %arg3: f32, %arg4: i32) -> (f32, f32, f32, i32, i32, f32) {
    %0 = vector.extract %arg0[0] : f32 from vector<1xf32>
    %1 = vector.extract %arg0[0] : f32 from vector<1xf32>
    %2 = arith.addf %1, %arg3 fastmath<nnan> : f32
    %3 = vector.extract %arg1[] : f32 from vector<f32>
    %4 = arith.maximumf %3, %arg3 : f32
    %5 = vector.extract %arg2[0] : i32 from vector<1xi32>
    %6 = vector.extract %arg2[0] : i32 from vector<1xi32>
    %7 = arith.xori %6, %arg4 : i32
    %8 = vector.extract %arg1[] : f32 from vector<f32>
    return %0, %2, %4, %5, %7, %8 : f32, f32, f32, i32, i32, f32
  }
  func.func @unit_dimensions(%arg0: vector<1x2x1xf32>, %arg1: vector<2xf32>, %arg2: vector<1x1xi32>, %arg3: i32, %arg4: vector<2x3xf32>, %arg5: vector<2x3xf32>, %arg6: vector<2xf32>) -> (vector<2xf32>, i32, vector<2x3xf32>, vector<2xf32>) {
    %0 = vector.shape_cast %arg0 : vector<1x2x1xf32> to vector<2xf32>
    %1 = arith.mulf %arg1, %0 : vector<2xf32>
    %2 = vector.extract %arg2[0, 0] : i32 from vector<1x1xi32>
    %3 = arith.maxsi %arg3, %2 : i32
    %4 = arith.addf %arg5, %arg4 : vector<2x3xf32>
    %5 = vector.multi_reduction <add>, %arg4, %arg6 [1] : vector<2x3xf32> to vector<2xf32>
    return %1, %3, %4, %5 : vector<2xf32>, i32, vector<2x3xf32>, vector<2xf32>
  }
  func.func @contractions(%arg0: vector<2x3xi32>, %arg1: vector<3x2xi32>, %arg2: vector<2x2xi32>) -> (vector<2x2xi32>, vector<2x2xi32>) {
    %0 = vector.contract {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %arg0, %arg1, %arg2 : vector<2x3xi32>, vector<3x2xi32> into vector<2x2xi32>
    %1 = vector.contract {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %arg0, %arg1, %arg2 : vector<2x3xi32>, vector<3x2xi32> into vector<2x2xi32>
    %2 = arith.addi %1, %arg2 : vector<2x2xi32>
    return %0, %2 : vector<2x2xi32>, vector<2x2xi32>
  }
}
