func.func @f(%v: vector<2x3xf32>) -> f32 { %0 = vector.extract %v[1, -9223372036854775808] : f32 from vector<2x3xf32>
  return %0 : f32 }
