func.func @f(%v: vector<4x8xf32>) { %0 = vector.extract_strided_slice %v {offsets = [2, @x], sizes = [1, 2], strides = [1, 1]} : vector<4x8xf32> to vector<1x2xf32>
  return }
