func.func @f(%v: vector<2x3xf32>, %x: f32) -> vector<2x3xf32> { %0 = vector.insert %x, %v[1, -9223372036854775808] : f32 into vector<2x3xf32>
  return %0 : vector<2x3xf32> }
