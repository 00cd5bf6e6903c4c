// canonicalize
func.func @one_element(%v: vector<1xf32>, %o: vector<f32>, %i: vector<1xi32>, %x: f32, %j: i32) -> (f32, f32, f32, i32, i32, f32) {
  %0 = vector.reduction <mul>, %v : vector<1xf32> into f32
  %1 = vector.reduction <add>, %v, %x fastmath<nnan> : vector<1xf32> into f32
  %2 = vector.reduction <maximumf>, %o, %x : vector<f32> into f32
  %3 = vector.reduction <add>, %i : vector<1xi32> into i32
  %4 = vector.reduction <xor>, %i, %j fastmath<nnan> : vector<1xi32> into i32
  %5 = vector.reduction <minnumf>, %o : vector<f32> into f32
  return %0, %1, %2, %3, %4, %5 : f32, f32, f32, i32, i32, f32
}
func.func @unit_dimensions(%v: vector<1x2x1xf32>, %a: vector<2xf32>, %w: vector<1x1xi32>, %j: i32, %u: vector<2x3xf32>, %b: vector<2x3xf32>, %c: vector<2xf32>) -> (vector<2xf32>, i32, vector<2x3xf32>, vector<2xf32>) {
  %0 = vector.multi_reduction <mul>, %v, %a [0, 2] : vector<1x2x1xf32> to vector<2xf32>
  %1 = vector.multi_reduction <maxsi>, %w, %j [0, 1] : vector<1x1xi32> to i32
  %2 = vector.multi_reduction <add>, %u, %b [] : vector<2x3xf32> to vector<2x3xf32>
  %3 = vector.multi_reduction <add>, %u, %c [1] : vector<2x3xf32> to vector<2xf32>
  return %0, %1, %2, %3 : vector<2xf32>, i32, vector<2x3xf32>, vector<2xf32>
}
func.func @contractions(%v: vector<2x3xi32>, %w: vector<3x2xi32>, %a: vector<2x2xi32>) -> (vector<2x2xi32>, vector<2x2xi32>) {
  %zero = arith.constant dense<0> : vector<2x2xi32>
  %0 = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} %v, %w, %zero : vector<2x3xi32>, vector<3x2xi32> into vector<2x2xi32>
  %1 = arith.addi %a, %0 : vector<2x2xi32>
  %2 = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} %v, %w, %a : vector<2x3xi32>, vector<3x2xi32> into vector<2x2xi32>
  %3 = arith.addi %2, %a : vector<2x2xi32>
  return %1, %3 : vector<2x2xi32>, vector<2x2xi32>
}
