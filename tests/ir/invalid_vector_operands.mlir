// expected-error@+1:49 {{'vector.contract' op requires attribute 'indexing_maps'}}
func.func @f(%a: vector<4xf32>, %c: f32) { %0 = "vector.contract"(%a, %a, %c) {iterator_types = [#vector.iterator_type<reduction>], kind = #vector.kind<add>} : (vector<4xf32>, vector<4xf32>, f32) -> f32 return }
// -----
// expected-error@+1:49 {{'vector.contract' op requires attribute 'iterator_types'}}
func.func @f(%a: vector<4xf32>, %c: f32) { %0 = "vector.contract"(%a, %a, %c) {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>], kind = #vector.kind<add>} : (vector<4xf32>, vector<4xf32>, f32) -> f32 return }
// -----
// expected-error@+1:40 {{'vector.extract_strided_slice' op requires attribute 'sizes'}}
func.func @f(%a: vector<4xf32>) { %0 = "vector.extract_strided_slice"(%a) {offsets = [0], strides = [1]} : (vector<4xf32>) -> vector<2xf32> return }
// -----
// expected-error@+1:59 {{'vector.insert_strided_slice' op requires attribute 'offsets'}}
func.func @f(%p: vector<2xf32>, %a: vector<4xf32>) { %0 = "vector.insert_strided_slice"(%p, %a) {strides = [1]} : (vector<2xf32>, vector<4xf32>) -> vector<4xf32> return }
// -----
// expected-error@+1:59 {{'vector.shuffle' op failed to verify that second operand v2 and result have same element type}}
func.func @f(%a: vector<4xf32>, %b: vector<4xf16>) { %0 = vector.shuffle %a, %b [0, 4] : vector<4xf32>, vector<4xf16> return }
// -----
// expected-error@+1:40 {{'vector.broadcast' op source type is not a vector}}
func.func @f(%a: tensor<4xf32>) { %0 = vector.broadcast %a : tensor<4xf32> to vector<4xf32> return }
// -----
// expected-error@+1:62 {{'vector.transfer_read' op requires a permutation_map with result dims of the same rank as the vector type}}
func.func @f(%m: memref<?x?xf32>, %i: index, %x: f32) { %0 = vector.transfer_read %m[%i, %i], %x {permutation_map = affine_map<(d0, d1) -> (d0, d1)>} : memref<?x?xf32>, vector<4xf32> return }
// -----
// expected-error@+1:84 {{'vector.transfer_read' op requires source vector element and vector result ranks to match.}}
func.func @f(%m: memref<?xvector<2x4xf32>>, %i: index, %x: vector<2x4xf32>) { %0 = "vector.transfer_read"(%m, %i, %x) {permutation_map = affine_map<(i) -> (i)>, in_bounds = [true], operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (memref<?xvector<2x4xf32>>, index, vector<2x4xf32>) -> vector<4xf32> return }
// -----
// expected-error@+1:78 {{'vector.transfer_read' op requires valid padding vector elemental type}}
func.func @f(%m: memref<?xcomplex<f32>>, %i: index, %x: complex<f32>) { %0 = vector.transfer_read %m[%i], %x : memref<?xcomplex<f32>>, vector<4xf32> return }
// -----
// expected-error@+1:60 {{'vector.transfer_read' op requires attribute 'permutation_map'}}
func.func @f(%m: memref<?xf32>, %i: index, %x: f32) { %0 = "vector.transfer_read"(%m, %i, %x) {in_bounds = [true], operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (memref<?xf32>, index, f32) -> vector<4xf32> return }
// -----
// expected-error@+1:60 {{'vector.transfer_read' op requires attribute 'in_bounds'}}
func.func @f(%m: memref<?xf32>, %i: index, %x: f32) { %0 = "vector.transfer_read"(%m, %i, %x) {permutation_map = affine_map<(i) -> (i)>, operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (memref<?xf32>, index, f32) -> vector<4xf32> return }
