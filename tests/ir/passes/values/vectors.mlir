func.func @from_casts(%m: memref<8xf32>, %i: index, %f: f32) -> (vector<4xf32>, vector<4xf32>) {
  %0 = memref.cast %m : memref<8xf32> to memref<?xf32>
  %1 = vector.transfer_read %0[%i], %f : memref<?xf32>, vector<4xf32>
  %2 = vector.load %0[%i] : memref<?xf32>, vector<4xf32>
  vector.transfer_write %2, %0[%i] : vector<4xf32>, memref<?xf32>
  vector.store %1, %0[%i] : memref<?xf32>, vector<4xf32>
  return %1, %2 : vector<4xf32>, vector<4xf32>
}
func.func @extracted_from_a_cast(%v: vector<4xf32>) -> vector<2x2xf32> {
  %0 = vector.shape_cast %v : vector<4xf32> to vector<1x2x2xf32>
  %1 = vector.extract %0[0] : vector<2x2xf32> from vector<1x2x2xf32>
  return %1 : vector<2x2xf32>
}
func.func @without_dimensions(%v: vector<f32>, %m: memref<f32>, %n: memref<4xf32>, %i: index, %k: vector<1xi1>, %f: f32) -> (vector<f32>, vector<f32>) {
  %0 = memref.cast %n : memref<4xf32> to memref<?xf32>
  vector.transfer_write %v, %m[] : vector<f32>, memref<f32>
  vector.transfer_write %v, %0[%i], %k : vector<f32>, memref<?xf32>
  %1 = vector.transfer_read %m[], %f : memref<f32>, vector<f32>
  %2 = vector.transfer_read %0[%i], %f : memref<?xf32>, vector<f32>
  return %1, %2 : vector<f32>, vector<f32>
}
func.func @of_its_own_elements(%v: vector<2x2xf32>, %u: vector<4xi8>) -> (vector<2x2xf32>, vector<4xf32>, vector<4xi8>) {
  %0:4 = vector.to_elements %v : vector<2x2xf32>
  %1 = vector.from_elements %0#0, %0#1, %0#2, %0#3 : vector<2x2xf32>
  %2 = vector.from_elements %0#3, %0#1, %0#2, %0#0 : vector<4xf32>
  %3:4 = vector.to_elements %u : vector<4xi8>
  %4 = vector.from_elements %3#0, %3#1, %3#2, %3#3 : vector<4xi8>
  return %1, %2, %4 : vector<2x2xf32>, vector<4xf32>, vector<4xi8>
}
