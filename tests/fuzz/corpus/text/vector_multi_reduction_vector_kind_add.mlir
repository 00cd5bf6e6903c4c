func.func @f(%v: vector<4x6xf32>, %a: vector<4xf32>) -> vector<4xf32> { %0 = vector.multi_reduction #vector.kind<add>, %v, %a [1] : vector<4x6xf32> to vector<4xf32> return %0 : vector<4xf32> }
