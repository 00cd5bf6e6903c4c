func.func @f(%a: vector<[4]xi32>) { %0 = arith.trunci %a : vector<[4]xi32> to vector<4xi8> return }
