// pipeline: canonicalize
func.func @masks(%m: memref<?x?xf32>, %t: vector<[4]x4xi1>, %i: index, %v: vector<4x[4]xf32>) {
  vector.transfer_write %v, %m[%i, %i], %t {permutation_map = affine_map<(d0, d1) -> (d1 floordiv 3 + d1, d0)>} : vector<4x[4]xf32>, memref<?x?xf32>
  return
}
