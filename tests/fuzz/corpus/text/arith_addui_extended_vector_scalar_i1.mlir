func.func @f(%a: vector<8xi32>) { %r:2 = arith.addui_extended %a, %a : vector<8xi32>, i1 return }
