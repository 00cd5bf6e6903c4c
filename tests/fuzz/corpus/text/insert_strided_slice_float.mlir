func.func @f(%v: vector<4x8xf32>, %p: vector<1x2xf32>) { %0 = vector.insert_strided_slice %p, %v {offsets = [2, 0.5], strides = [1, 1]} : vector<1x2xf32> into vector<4x8xf32>
  return }
