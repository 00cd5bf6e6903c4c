module {
  func.func private @other() -> i32 {
    %0 = arith.constant 1 : i32
    %1 = arith.addi %0, %0 : i32
    return %1 : i32
  }
  func.func @main(%arg0: index, %arg1: i1) -> (tensor<2x!quant.uniform<u8:f32, 5.000000e-01:128>>, tensor<?xf32>, tensor<2x!quant.uniform<i4:f32, 5.000000e-01>>, i32, i32, i32) {
    %0 = arith.constant 2 : index
    %1 = arith.constant dense<[-126, 124]> : tensor<2xi8>
    %2 = quant.scast %1 : tensor<2xi8> to tensor<2x!quant.uniform<u8:f32, 5.000000e-01:128>>
    %3 = arith.constant dense<6.000000e+09> : tensor<2xf32>
    %4 = tensor.cast %3 : tensor<2xf32> to tensor<?xf32>
    %5 = arith.constant dense<[2, -4]> : tensor<2xi4>
    %6 = quant.scast %5 : tensor<2xi4> to tensor<2x!quant.uniform<i4:f32, 5.000000e-01>>
    %7 = arith.constant 2147483647 : i32
    %8 = scf.if %arg1 -> (i32) {
      %10 = arith.constant -2 : i32
      scf.yield %10 : i32
    } else {
      %10 = arith.constant 0 : i32
      %11 = arith.divsi %7, %10 : i32
      scf.yield %11 : i32
    }
    %9 = scf.for %arg2 = %arg0 to %arg0 step %0 iter_args(%arg3 = %8) -> (i32) {
      %10 = arith.constant 1 : i32
      scf.yield %10 : i32
    }
    return %2, %4, %6, %7, %8, %9 : tensor<2x!quant.uniform<u8:f32, 5.000000e-01:128>>, tensor<?xf32>, tensor<2x!quant.uniform<i4:f32, 5.000000e-01>>, i32, i32, i32
  }
}
