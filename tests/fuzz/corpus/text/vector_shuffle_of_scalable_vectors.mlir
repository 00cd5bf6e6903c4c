func.func @f(%a: vector<[4]xi32>) -> vector<4xi32> { %0 = vector.shuffle %a, %a [0, 1, 2, 3] : vector<[4]xi32>, vector<[4]xi32> return %0 : vector<4xi32> }
