// canonicalize
func.func @constant_masks() -> (vector<4x3xi1>, vector<4x3xi1>, vector<4x3xi1>, vector<4x3xi1>, vector<i1>, vector<2x2xi1>, vector<2x2xi1>, vector<3x4xi1>, vector<4xi1>) {
  %c-2 = arith.constant -2 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %0 = vector.create_mask %c5, %c2 : vector<4x3xi1>
  %1 = vector.create_mask %c5, %c-2 : vector<4x3xi1>
  %2 = vector.create_mask %c5, %c5 : vector<4x3xi1>
  %3 = vector.constant_mask [2, 1] : vector<4x3xi1>
  %4 = vector.create_mask %c2 : vector<i1>
  %5 = vector.extract_strided_slice %3 {offsets = [1, 0], sizes = [2, 2], strides = [1, 1]} : vector<4x3xi1> to vector<2x2xi1>
  %6 = vector.extract_strided_slice %3 {offsets = [1, 1], sizes = [2, 2], strides = [1, 1]} : vector<4x3xi1> to vector<2x2xi1>
  %7 = vector.transpose %3, [1, 0] : vector<4x3xi1> to vector<3x4xi1>
  %8 = vector.constant_mask [3, 1, 1] : vector<4x1x1xi1>
  %9 = vector.shape_cast %8 : vector<4x1x1xi1> to vector<4xi1>
  return %0, %1, %2, %3, %4, %5, %6, %7, %9 : vector<4x3xi1>, vector<4x3xi1>, vector<4x3xi1>, vector<4x3xi1>, vector<i1>, vector<2x2xi1>, vector<2x2xi1>, vector<3x4xi1>, vector<4xi1>
}
func.func @masks(%n: index) -> (vector<3xi1>, vector<3xi1>, vector<3xi1>, vector<4xi1>, vector<4x1xi1>, vector<3x2x2xi1>, vector<2x2xi1>, vector<4xi1>) {
  %c-1 = arith.constant -1 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %0 = vector.create_mask %c2, %n : vector<4x3xi1>
  %1 = vector.extract %0[1] : vector<3xi1> from vector<4x3xi1>
  %2 = vector.extract %0[3] : vector<3xi1> from vector<4x3xi1>
  %3 = vector.create_mask %n, %c-1 : vector<4x3xi1>
  %4 = vector.extract %3[0] : vector<3xi1> from vector<4x3xi1>
  %5 = vector.create_mask %n, %c1, %c1 : vector<4x1x1xi1>
  %6 = vector.shape_cast %5 : vector<4x1x1xi1> to vector<4xi1>
  %7 = vector.shape_cast %5 : vector<4x1x1xi1> to vector<4x1xi1>
  %8 = vector.create_mask %c2, %n, %c1 : vector<2x2x3xi1>
  %9 = vector.transpose %8, [2, 0, 1] : vector<2x2x3xi1> to vector<3x2x2xi1>
  %10 = vector.extract_strided_slice %0 {offsets = [1, 0], sizes = [2, 2], strides = [1, 1]} : vector<4x3xi1> to vector<2x2xi1>
  %11 = vector.create_mask %n, %c2 : vector<4x1xi1>
  %12 = vector.shape_cast %11 : vector<4x1xi1> to vector<4xi1>
  return %1, %2, %4, %6, %7, %9, %10, %12 : vector<3xi1>, vector<3xi1>, vector<3xi1>, vector<4xi1>, vector<4x1xi1>, vector<3x2x2xi1>, vector<2x2xi1>, vector<4xi1>
}
func.func @less_than_all() -> (vector<4xi1>, vector<4xi1>, vector<4xi1>) {
  %0 = vector.step : vector<4xindex>
  %1 = arith.constant dense<3> : vector<4xindex>
  %2 = arith.cmpi ule, %0, %1 : vector<4xindex>
  %3 = arith.cmpi ult, %0, %1 : vector<4xindex>
  %4 = vector.step : vector<4xindex>
  %5 = arith.constant dense<4> : vector<4xindex>
  %6 = arith.cmpi ugt, %5, %4 : vector<4xindex>
  return %2, %3, %6 : vector<4xi1>, vector<4xi1>, vector<4xi1>
}
