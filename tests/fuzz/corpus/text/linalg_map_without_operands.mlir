func.func @f() { linalg.map { arith.addf } }
