func.func @f(%v: vector<134217728xf32>) {
  %0:3 = vector.to_elements %v : vector<134217728xf32>
  return
}
