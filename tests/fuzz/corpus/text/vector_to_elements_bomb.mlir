func.func @f(%v: vector<4611686018427387904xf32>) { %0:3 = vector.to_elements %v : vector<4611686018427387904xf32>
  return }
