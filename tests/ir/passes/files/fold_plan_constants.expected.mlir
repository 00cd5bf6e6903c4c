module {
  func.func private @other() -> i32 {
    %0 = arith.constant 1 : i32
    %1 = arith.addi %0, %0 : i32
    return %1 : i32
  }
  func.func @main(%arg0: index, %arg1: i1) -> (tensor<2x!quant.uniform<u8:f32, 5.000000e-01:128>>, tensor<?xf32>, tensor<2x!quant.uniform<i4:f32, 5.000000e-01>>, i32, i32, i32) {
    %0 = arith.constant dense<[-126, 124]> : tensor<2xi8>
    %1 = quant.scast %0 : tensor<2xi8> to tensor<2x!quant.uniform<u8:f32, 5.000000e-01:128>>
    %2 = arith.constant dense<6.000000e+09> : tensor<2xf32>
    %3 = tensor.cast %2 : tensor<2xf32> to tensor<?xf32>
    %4 = arith.constant dense<[2, -4]> : tensor<2xi4>
    %5 = quant.scast %4 : tensor<2xi4> to tensor<2x!quant.uniform<i4:f32, 5.000000e-01>>
    %6 = arith.constant 2147483647 : i32
    %7 = scf.if %arg1 -> (i32) {
      %9 = arith.constant -2 : i32
      scf.yield %9 : i32
    } else {
      %9 = arith.constant 0 : i32
      %10 = arith.divsi %6, %9 : i32
      scf.yield %10 : i32
    }
    %8 = affine.for %arg2 = 0 to 3 iter_args(%arg3 = %7) -> (i32) {
      %9 = arith.muli %6, %6 : i32
      affine.yield %9 : i32
    }
    return %1, %3, %5, %6, %7, %8 : tensor<2x!quant.uniform<u8:f32, 5.000000e-01:128>>, tensor<?xf32>, tensor<2x!quant.uniform<i4:f32, 5.000000e-01>>, i32, i32, i32
  }
}
