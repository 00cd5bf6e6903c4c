module {
  func.func private @id(%arg0: tensor<4xi8>) -> tensor<4xi8> {
    return %arg0 : tensor<4xi8>
  }
  func.func @f(%arg0: tensor<4xi8>, %arg1: index, %arg2: i1, %arg3: tensor<4xi1>) -> tensor<4xf32> {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = scf.for %arg4 = %0 to %arg1 step %1 iter_args(%arg5 = %arg0) -> (tensor<4xi8>) {
      %14 = func.call @id(%arg5) : (tensor<4xi8>) -> tensor<4xi8>
      %15 = tensor.extract %14[%0] : tensor<4xi8>
      %16 = tensor.empty() : tensor<4xi8>
      %17 = linalg.fill ins(%15 : i8) outs(%16 : tensor<4xi8>) -> tensor<4xi8>
      %18 = arith.select %arg3, %14, %17 : tensor<4xi1>, tensor<4xi8>
      scf.yield %18 : tensor<4xi8>
    }
    %3 = scf.if %arg2 -> (tensor<4xi8>) {
      scf.yield %2 : tensor<4xi8>
    } else {
      scf.yield %arg0 : tensor<4xi8>
    }
    cf.cond_br %arg2, ^bb1(%3 : tensor<4xi8>), ^bb2(%2 : tensor<4xi8>)
  ^bb1(%4: tensor<4xi8>):  // pred: ^bb0
    cf.br ^bb2(%4 : tensor<4xi8>)
  ^bb2(%5: tensor<4xi8>):  // 2 preds: ^bb0, ^bb1
    %6 = arith.constant 5.000000e-01 : f32
    %7 = arith.constant 3 : i8
    %8 = tensor.splat %6 : tensor<4xf32>
    %9 = arith.sitofp %5 : tensor<4xi8> to tensor<4xf32>
    %10 = tensor.splat %7 : tensor<4xi8>
    %11 = arith.sitofp %10 : tensor<4xi8> to tensor<4xf32>
    %12 = arith.subf %9, %11 : tensor<4xf32>
    %13 = arith.mulf %12, %8 : tensor<4xf32>
    return %13 : tensor<4xf32>
  }
}
