// expected-error@+1:84 {{'vector.contract' op failed to verify that lhs and rhs have same element type}}
func.func @f(%a: vector<2x3xf32>, %b: vector<3x4xf16>, %c: vector<2x4xf32>) { %0 = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} %a, %b, %c : vector<2x3xf32>, vector<3x4xf16> into vector<2x4xf32> return }
// -----
// expected-error@+1:84 {{'vector.contract' op failed to verify that all of {acc, result} have same type}}
func.func @f(%a: vector<2x3xf32>, %b: vector<3x4xf32>, %c: vector<2x4xf32>) { %0 = "vector.contract"(%a, %b, %c) {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = [#vector.iterator_type<parallel>, #vector.iterator_type<parallel>, #vector.iterator_type<reduction>], kind = #vector.kind<add>} : (vector<2x3xf32>, vector<3x4xf32>, vector<2x4xf32>) -> vector<2x4xf16> return }
// -----
// expected-error@+1:68 {{'vector.contract' op only supports signless integer types}}
func.func @f(%a: vector<4xui8>, %b: vector<4xui8>, %c: ui8) { %0 = vector.contract {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} %a, %b, %c : vector<4xui8>, vector<4xui8> into ui8 return }
// -----
// expected-error@+1:84 {{'vector.contract' op expected an indexing map for each vector operand}}
func.func @f(%a: vector<2x3xf32>, %b: vector<3x4xf32>, %c: vector<2x4xf32>) { %0 = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>], iterator_types = ["parallel", "parallel", "reduction"]} %a, %b, %c : vector<2x3xf32>, vector<3x4xf32> into vector<2x4xf32> return }
// -----
// expected-error@+1:84 {{'vector.contract' op expected indexing map 0 to have no symbols}}
func.func @f(%a: vector<2x3xf32>, %b: vector<3x4xf32>, %c: vector<2x4xf32>) { %0 = vector.contract {indexing_maps = [affine_map<(i, j, k)[s] -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} %a, %b, %c : vector<2x3xf32>, vector<3x4xf32> into vector<2x4xf32> return }
// -----
// expected-error@+1:84 {{'vector.contract' op expected indexing map 1 to have 3 number of inputs}}
func.func @f(%a: vector<2x3xf32>, %b: vector<3x4xf32>, %c: vector<2x4xf32>) { %0 = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k, l) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} %a, %b, %c : vector<2x3xf32>, vector<3x4xf32> into vector<2x4xf32> return }
// -----
// expected-error@+1:84 {{'vector.contract' op expected indexing map 2 to have 2 number of outputs}}
func.func @f(%a: vector<2x3xf32>, %b: vector<3x4xf32>, %c: vector<2x4xf32>) { %0 = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i)>], iterator_types = ["parallel", "parallel", "reduction"]} %a, %b, %c : vector<2x3xf32>, vector<3x4xf32> into vector<2x4xf32> return }
// -----
// expected-error@+1:84 {{'vector.contract' op expected indexing map 0 to be a projected permutation of its inputs}}
func.func @f(%a: vector<2x3xf32>, %b: vector<3x4xf32>, %c: vector<2x4xf32>) { %0 = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} %a, %b, %c : vector<2x3xf32>, vector<3x4xf32> into vector<2x4xf32> return }
// -----
// expected-error@+1:84 {{'vector.contract' op expected indexing map 1 to be a projected permutation of its inputs}}
func.func @f(%a: vector<2x3xf32>, %b: vector<3x4xf32>, %c: vector<2x4xf32>) { %0 = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j + 1)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} %a, %b, %c : vector<2x3xf32>, vector<3x4xf32> into vector<2x4xf32> return }
// -----
// expected-error@+1:84 {{'vector.contract' op expected at least one contracting dimension pair}}
func.func @f(%a: vector<2x3xf32>, %b: vector<3x4xf32>, %c: vector<2x4xf32>) { %0 = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "parallel"]} %a, %b, %c : vector<2x3xf32>, vector<3x4xf32> into vector<2x4xf32> return }
// -----
// expected-error@+1:82 {{'vector.contract' op invalid batch dimension map}}
func.func @f(%a: vector<2x4xf32>, %b: vector<3x4xf32>, %c: vector<2xf32>) { %0 = vector.contract {indexing_maps = [affine_map<(b, k) -> (b, k)>, affine_map<(b, k) -> (b, k)>, affine_map<(b, k) -> (b)>], iterator_types = ["parallel", "reduction"]} %a, %b, %c : vector<2x4xf32>, vector<3x4xf32> into vector<2xf32> return }
// -----
// expected-error@+1:78 {{'vector.contract' op invalid accumulator/result vector shape}}
func.func @f(%a: vector<4xf32>, %b: vector<4xf32>, %c: vector<1xf32>) { %0 = vector.contract {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["reduction"]} %a, %b, %c : vector<4xf32>, vector<4xf32> into vector<1xf32> return }
// -----
// expected-error@+1:72 {{'vector.contract' op invalid accumulator/result vector shape}}
func.func @f(%a: vector<2x3xf32>, %b: vector<3x4xf32>, %c: f32) { %0 = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> ()>], iterator_types = ["parallel", "parallel", "reduction"]} %a, %b, %c : vector<2x3xf32>, vector<3x4xf32> into f32 return }
// -----
// expected-error@+1:86 {{'vector.contract' op expected all dimensions to be either a LHS or a RHS dimension}}
func.func @f(%a: vector<2x3xf32>, %b: vector<3x4xf32>, %c: vector<2x4x5xf32>) { %0 = vector.contract {indexing_maps = [affine_map<(i, j, k, l) -> (i, k)>, affine_map<(i, j, k, l) -> (k, j)>, affine_map<(i, j, k, l) -> (i, j, l)>], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} %a, %b, %c : vector<2x3xf32>, vector<3x4xf32> into vector<2x4x5xf32> return }
// -----
// expected-error@+1:84 {{'vector.contract' op invalid accumulator/result vector shape, expected: 'vector<2x4xf32>'}}
func.func @f(%a: vector<2x3xf32>, %b: vector<3x4xf32>, %c: vector<2x5xf32>) { %0 = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} %a, %b, %c : vector<2x3xf32>, vector<3x4xf32> into vector<2x5xf32> return }
// -----
// expected-error@+1:68 {{'vector.contract' op unsupported reduction type ''f32'' for kind 'xor'}}
func.func @f(%a: vector<4xf32>, %b: vector<4xf32>, %c: f32) { %0 = vector.contract {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"], kind = #vector.kind<xor>} %a, %b, %c : vector<4xf32>, vector<4xf32> into f32 return }
