func.func @f() -> tensor<complex<i32>> { %0 = arith.constant dense<(1, 2)> : tensor<complex<i32>> return %0 : tensor<complex<i32>> }
