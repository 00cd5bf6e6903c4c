// expected-error@+1:40 {{'vector.extract' op expected position attribute #1 to be a non-negative integer smaller than the corresponding vector dimension or poison (-1)}}
func.func @f(%v: vector<4xf32>) { %0 = vector.extract %v[4] : f32 from vector<4xf32> return }
// -----
// expected-error@+1:42 {{'vector.shape_cast' op has different number of elements at source (32) and result (31)}}
func.func @f(%v: vector<4x8xf32>) { %0 = vector.shape_cast %v : vector<4x8xf32> to vector<31xf32> return }
// -----
// expected-error@+1:42 {{'vector.transpose' op duplicate position index: 0}}
func.func @f(%v: vector<4x8xf32>) { %0 = vector.transpose %v, [0, 0] : vector<4x8xf32> to vector<4x8xf32> return }
// -----
// expected-error@+1:42 {{'vector.transpose' op dimension size mismatch at: 1}}
func.func @f(%v: vector<4x8xf32>) { %0 = vector.transpose %v, [1, 0] : vector<4x8xf32> to vector<4x8xf32> return }
// -----
// expected-error@+1:42 {{'vector.reduction' op unsupported reduction rank: 2}}
func.func @f(%v: vector<4x8xf32>) { %0 = vector.reduction <add>, %v : vector<4x8xf32> into f32 return }
// -----
// expected-error@+1:40 {{'vector.reduction' op unsupported reduction type ''f32'' for kind 'and'}}
func.func @f(%v: vector<4xf32>) { %0 = vector.reduction <and>, %v : vector<4xf32> into f32 return }
// -----
// expected-error@+1:58 {{expected one of add, mul, minui, minsi, minnumf, maxui, maxsi, maxnumf, and, or, xor, minimumf, maximumf}}
func.func @f(%v: vector<4xf32>) { %0 = vector.reduction <foo>, %v : vector<4xf32> into f32 return }
// -----
// expected-error@+1:40 {{'vector.broadcast' op dimension mismatch (4 vs. 8)}}
func.func @f(%v: vector<4xf32>) { %0 = vector.broadcast %v : vector<4xf32> to vector<4x8xf32> return }
// -----
// expected-error@+1:42 {{'vector.broadcast' op source rank higher than destination rank}}
func.func @f(%v: vector<4x8xf32>) { %0 = vector.broadcast %v : vector<4x8xf32> to vector<8xf32> return }
// -----
// expected-error@+1:60 {{expected a custom permutation_map when rank(source) != rank(destination)}}
func.func @f(%m: memref<?xf32>, %i: index, %x: f32) { %0 = vector.transfer_read %m[%i], %x : memref<?xf32>, vector<4x4xf32> return }
// -----
// expected-error@+1:62 {{'vector.transfer_read' op requires 2 indices}}
func.func @f(%m: memref<?x?xf32>, %i: index, %x: f32) { %0 = vector.transfer_read %m[%i], %x : memref<?x?xf32>, vector<4xf32> return }
// -----
// expected-error@+1:60 {{'vector.transfer_read' op expects the in_bounds attr of same rank as permutation_map results: affine_map<(d0) -> (d0)> vs inBounds of size: 2}}
func.func @f(%m: memref<?xf32>, %i: index, %x: f32) { %0 = vector.transfer_read %m[%i], %x {in_bounds = [true, true]} : memref<?xf32>, vector<4xf32> return }
// -----
// expected-error@+1:62 {{'vector.transfer_read' op requires a permutation_map that is a permutation (found one dim used more than once)}}
func.func @f(%m: memref<?x?xf32>, %i: index, %x: f32) { %0 = vector.transfer_read %m[%i, %i], %x {permutation_map = affine_map<(d0, d1) -> (d0, d0)>} : memref<?x?xf32>, vector<4x4xf32> return }
// -----
// expected-error@+1:62 {{'vector.transfer_read' op requires a projected permutation_map (at most one dim or the zero constant can appear in each result)}}
func.func @f(%m: memref<?x?xf32>, %i: index, %x: f32) { %0 = vector.transfer_read %m[%i, %i], %x {permutation_map = affine_map<(d0, d1) -> (d0 + d1)>} : memref<?x?xf32>, vector<4xf32> return }
// -----
// expected-error@+1:67 {{'vector.transfer_write' op should not have broadcast dimensions}}
func.func @f(%m: memref<?x?xf32>, %i: index, %v: vector<4xf32>) { vector.transfer_write %v, %m[%i, %i] {permutation_map = affine_map<(d0, d1) -> (0)>} : vector<4xf32>, memref<?x?xf32> return }
// -----
// expected-error@+1:32 {{'vector.create_mask' op must specify an operand for each result vector dimension}}
func.func @f(%i: index) { %0 = vector.create_mask %i : vector<4x4xi1> return }
// -----
// expected-error@+1:23 {{'vector.constant_mask' op array attr of size out of bounds of vector result dimension size}}
func.func @f() { %0 = vector.constant_mask [5] : vector<4xi1> return }
// -----
// expected-error@+1:84 {{'vector.contract' op invalid contracting dimension map}}
func.func @f(%a: vector<2x3xf32>, %b: vector<4x3xf32>, %c: vector<2x3xf32>) { %0 = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} %a, %b, %c : vector<2x3xf32>, vector<4x3xf32> into vector<2x3xf32> return }
// -----
// expected-error@+1:40 {{'vector.multi_reduction' op destination type 'vector<4xf32>' is incompatible with source type 'vector<4xf32>'}}
func.func @f(%v: vector<4xf32>) { %0 = vector.multi_reduction <add>, %v, %v [0] : vector<4xf32> to vector<4xf32> return }
// -----
// expected-error@+1:51 {{'vector.load' op base and result element types should match}}
func.func @f(%m: memref<?xi32>, %i: index) { %0 = vector.load %m[%i] : memref<?xi32>, vector<4xf32> return }
// -----
// expected-error@+1:51 {{'vector.load' op requires 1 indices}}
func.func @f(%m: memref<?xf32>, %i: index) { %0 = vector.load %m[%i, %i] : memref<?xf32>, vector<4xf32> return }
// -----
// expected-error@+1:30 {{'vector.from_elements' op failed to verify that operand types match result element type}}
func.func @f(%x: f32) { %0 = vector.from_elements %x, %x : vector<3xf32> return }
// -----
// expected-error@+1:40 {{'vector.shuffle' op mask index #2 out of range}}
func.func @f(%v: vector<4xf32>) { %0 = vector.shuffle %v, %v [0, 8] : vector<4xf32>, vector<4xf32> return }
// -----
// expected-error@+1:40 {{'vector.extract_strided_slice' op expected sum(offsets, sizes) dimension 0 to be confined to [1, 5)}}
func.func @f(%v: vector<4xf32>) { %0 = vector.extract_strided_slice %v {offsets = [2], sizes = [3], strides = [1]} : vector<4xf32> to vector<3xf32> return }
// -----
// expected-error@+1:40 {{'vector.extract_strided_slice' op expected strides to be confined to [1, 2)}}
func.func @f(%v: vector<4xf32>) { %0 = vector.extract_strided_slice %v {offsets = [0], sizes = [2], strides = [2]} : vector<4xf32> to vector<2xf32> return }
// -----
// expected-error@+1:40 {{'vector.interleave' op result type must be 'vector<8xf32>', got 'vector<4xf32>'}}
func.func @f(%v: vector<4xf32>) { %0 = vector.interleave %v, %v : vector<4xf32> -> vector<4xf32> return }
// -----
// expected-error@+1:42 {{'vector.to_elements' op must have 4 results of type 'f32', the elements of 'vector<4xf32>'}}
func.func @f(%v: vector<4xf32>) { %0:3 = "vector.to_elements"(%v) : (vector<4xf32>) -> (f32, f32, f32) return }
// -----
func.func @f(%m: memref<?x?xf32>, %t: vector<[4]x4xi1>, %i: index, %v: vector<4x[4]xf32>) {
  // expected-error@+1:3 {{'vector.transfer_write' op requires a projected permutation_map (at most one dim or the zero constant can appear in each result)}}
  vector.transfer_write %v, %m[%i, %i], %t {permutation_map = affine_map<(d0, d1) -> (d1 floordiv 3 + d1, d0)>} : vector<4x[4]xf32>, memref<?x?xf32>
  return
}
// -----
// expected-error@+1:50 {{'vector.load' op destination memref has lower rank than the result vector}}
func.func @f(%m: memref<?xi8>, %i: index) { %0 = vector.load %m[%i] : memref<?xi8>, vector<16x16xi8> return }
// -----
// expected-error@+1:37 {{'vector.load' op destination memref has lower rank than the result vector}}
func.func @f(%m: memref<i8>) { %0 = vector.load %m[] : memref<i8>, vector<1xi8> return }
// -----
// expected-error@+1:67 {{'vector.store' op source memref has lower rank than the vector to store}}
func.func @f(%m: memref<?xi8>, %i: index, %v: vector<16x16xi8>) { vector.store %v, %m[%i] : memref<?xi8>, vector<16x16xi8> return }
// -----
// expected-error@+1:50 {{'vector.load' op destination memref has lower rank than the result vector}}
func.func @f(%m: memref<?xi8>, %i: index) { %0 = vector.load %m[%i, %i] : memref<?xi8>, vector<2x2xi16> return }
// -----
// expected-error@+1:60 {{'vector.load' op base memref and result vector types should match}}
func.func @f(%m: memref<?xvector<4xi8>>, %i: index) { %0 = vector.load %m[%i] : memref<?xvector<4xi8>>, vector<8xi8> return }
// -----
// expected-error@+1:73 {{'vector.store' op base memref and valueToStore vector types should match}}
func.func @f(%m: memref<?xvector<4xi8>>, %i: index, %v: vector<8xi8>) { vector.store %v, %m[%i] : memref<?xvector<4xi8>>, vector<8xi8> return }
