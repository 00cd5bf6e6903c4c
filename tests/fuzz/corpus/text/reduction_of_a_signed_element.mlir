// pipeline: canonicalize
func.func @one_element(%v: vector<1xf32>, %o: vector<f32>, %i: vector<1xsi8>, %x: f32, %j: si8) -> (f32, f32, f32, si8, si8, f32) {
  %0 = vector.reduction <mul>, %v : vector<1xf32> into f32
  %1 = vector.reduction <add>, %v  : vector<1xf32> into f32
  %2 = vector.reduction <maximumf>, %o : vector<f32> into f32
  %3 = vector.reduction <add>, %i : vector<1xsi8> into si8
  %4 = vector.reduction <xor>, %i, %j  : vector<1xsi8> into si8
  %5 = vector.reduction <minnumf>, %o : vector<f32> into f32
  return %0, %1, %2, %3, %4, %5 : f32, f32, f32, si8, si8, f32
}
