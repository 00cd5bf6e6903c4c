module {
  func.func @constant_masks() -> (vector<4x3xi1>, vector<4x3xi1>, vector<4x3xi1>, vector<4x3xi1>, vector<i1>, vector<2x2xi1>, vector<2x2xi1>, vector<3x4xi1>, vector<4xi1>) {
    %0 = arith.constant dense<false> : vector<2x2xi1>
    %1 = arith.constant dense<true> : vector<i1>
    %2 = arith.constant dense<true> : vector<4x3xi1>
    %3 = arith.constant dense<false> : vector<4x3xi1>
    %4 = vector.constant_mask [4, 2] : vector<4x3xi1>
    %5 = vector.constant_mask [2, 1] : vector<4x3xi1>
    %6 = vector.constant_mask [1, 1] : vector<2x2xi1>
    %7 = vector.constant_mask [1, 2] : vector<3x4xi1>
    %8 = vector.constant_mask [3] : vector<4xi1>
    return %4, %3, %2, %5, %1, %6, %0, %7, %8 : vector<4x3xi1>, vector<4x3xi1>, vector<4x3xi1>, vector<4x3xi1>, vector<i1>, vector<2x2xi1>, vector<2x2xi1>, vector<3x4xi1>, vector<4xi1>
  }
  func.func @masks(%arg0: index) -> (vector<3xi1>, vector<3xi1>, vector<3xi1>, vector<4xi1>, vector<4x1xi1>, vector<3x2x2xi1>, vector<2x2xi1>, vector<4xi1>) {
    %0 = arith.constant dense<false> : vector<3xi1>
    %1 = arith.constant 1 : index
    %2 = arith.constant 2 : index
    %3 = vector.create_mask %arg0 : vector<3xi1>
    %4 = vector.create_mask %arg0, %1, %1 : vector<4x1x1xi1>
    %5 = vector.create_mask %arg0 : vector<4xi1>
    %6 = vector.shape_cast %4 : vector<4x1x1xi1> to vector<4x1xi1>
    %7 = vector.create_mask %1, %2, %arg0 : vector<3x2x2xi1>
    %8 = vector.create_mask %1, %arg0 : vector<2x2xi1>
    %9 = vector.create_mask %arg0, %2 : vector<4x1xi1>
    %10 = vector.shape_cast %9 : vector<4x1xi1> to vector<4xi1>
    return %3, %0, %0, %5, %6, %7, %8, %10 : vector<3xi1>, vector<3xi1>, vector<3xi1>, vector<4xi1>, vector<4x1xi1>, vector<3x2x2xi1>, vector<2x2xi1>, vector<4xi1>
  }
  func.func @less_than_all() -> (vector<4xi1>, vector<4xi1>, vector<4xi1>) {
    %0 = arith.constant dense<true> : vector<4xi1>
    %1 = arith.constant dense<3> : vector<4xindex>
    %2 = vector.step : vector<4xindex>
    %3 = arith.cmpi ult, %2, %1 : vector<4xindex>
    return %0, %3, %0 : vector<4xi1>, vector<4xi1>, vector<4xi1>
  }
}
