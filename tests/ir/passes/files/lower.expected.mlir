module {
  func.func @scalar(%arg0: f32) -> !quant.uniform<i8:f32, 5.000000e-01:3> {
    %0 = arith.constant 5.000000e-01 : f32
    %1 = arith.divf %arg0, %0 : f32
    %2 = arith.constant 3.000000e+00 : f32
    %3 = arith.addf %1, %2 : f32
    %4 = arith.cmpf uno, %3, %3 : f32
    %5 = arith.select %4, %2, %3 : f32
    %6 = math.roundeven %5 : f32
    %7 = arith.constant -1.280000e+02 : f32
    %8 = arith.constant 1.270000e+02 : f32
    %9 = arith.maximumf %6, %7 : f32
    %10 = arith.minimumf %9, %8 : f32
    %11 = arith.fptosi %10 : f32 to i8
    %12 = quant.scast %11 : i8 to !quant.uniform<i8:f32, 5.000000e-01:3>
    return %12 : !quant.uniform<i8:f32, 5.000000e-01:3>
  }
  func.func @bounds(%arg0: tensor<?x2xf32>) -> tensor<?x2x!quant.uniform<u8<3:200>:f32, 5.000000e-01>> {
    %0 = arith.constant 5.000000e-01 : f32
    %1 = arith.constant 0 : index
    %2 = tensor.dim %arg0, %1 : tensor<?x2xf32>
    %3 = tensor.splat %0[%2] : tensor<?x2xf32>
    %4 = arith.divf %arg0, %3 : tensor<?x2xf32>
    %5 = arith.cmpf uno, %4, %4 : tensor<?x2xf32>
    %6 = arith.constant 3.000000e+00 : f32
    %7 = tensor.splat %6[%2] : tensor<?x2xf32>
    %8 = arith.select %5, %7, %4 : tensor<?x2xi1>, tensor<?x2xf32>
    %9 = math.round %8 : tensor<?x2xf32>
    %10 = arith.constant 2.000000e+02 : f32
    %11 = tensor.splat %10[%2] : tensor<?x2xf32>
    %12 = arith.maximumf %9, %7 : tensor<?x2xf32>
    %13 = arith.minimumf %12, %11 : tensor<?x2xf32>
    %14 = arith.fptoui %13 : tensor<?x2xf32> to tensor<?x2xi8>
    %15 = quant.scast %14 : tensor<?x2xi8> to tensor<?x2x!quant.uniform<u8<3:200>:f32, 5.000000e-01>>
    return %15 : tensor<?x2x!quant.uniform<u8<3:200>:f32, 5.000000e-01>>
  }
  func.func @bounds_that_are_no_floats(%arg0: f32) -> !quant.uniform<i32:f32, 5.000000e-01:7> {
    %0 = arith.constant 5.000000e-01 : f32
    %1 = arith.divf %arg0, %0 : f32
    %2 = arith.constant 7.000000e+00 : f32
    %3 = arith.addf %1, %2 : f32
    %4 = arith.cmpf uno, %3, %3 : f32
    %5 = arith.select %4, %2, %3 : f32
    %6 = math.roundeven %5 : f32
    %7 = arith.constant -2.14748365E+9 : f32
    %8 = arith.constant 2.14748352E+9 : f32
    %9 = arith.maximumf %6, %7 : f32
    %10 = arith.minimumf %9, %8 : f32
    %11 = arith.fptosi %10 : f32 to i32
    %12 = arith.cmpf ogt, %6, %8 : f32
    %13 = arith.constant 2147483647 : i32
    %14 = arith.select %12, %13, %11 : i32
    %15 = quant.scast %14 : i32 to !quant.uniform<i32:f32, 5.000000e-01:7>
    return %15 : !quant.uniform<i32:f32, 5.000000e-01:7>
  }
  func.func @zero_point_after(%arg0: f32) -> !quant.uniform<i8:f32, 5.000000e-01:3> {
    %0 = arith.constant 2.000000e+00 : f32
    %1 = arith.mulf %arg0, %0 : f32
    %2 = arith.cmpf uno, %1, %1 : f32
    %3 = arith.constant 0.000000e+00 : f32
    %4 = arith.select %2, %3, %1 : f32
    %5 = math.roundeven %4 : f32
    %6 = arith.constant -1.310000e+02 : f32
    %7 = arith.constant 1.240000e+02 : f32
    %8 = arith.maximumf %5, %6 : f32
    %9 = arith.minimumf %8, %7 : f32
    %10 = arith.fptosi %9 : f32 to i16
    %11 = arith.constant 3 : i16
    %12 = arith.addi %10, %11 : i16
    %13 = arith.trunci %12 : i16 to i8
    %14 = quant.scast %13 : i8 to !quant.uniform<i8:f32, 5.000000e-01:3>
    return %14 : !quant.uniform<i8:f32, 5.000000e-01:3>
  }
  func.func @axis(%arg0: tensor<4x2xf32>) -> tensor<4x2xf32> {
    %0 = arith.constant dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>
    %1 = arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
    %2 = tensor.empty() : tensor<4x2xi8>
    %3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%arg0, %0, %1 : tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>) outs(%2 : tensor<4x2xi8>) {
    ^bb0(%arg1: f32, %arg2: f32, %arg3: f32, %arg4: i8):
      %10 = arith.divf %arg1, %arg2 : f32
      %11 = arith.addf %10, %arg3 : f32
      %12 = arith.cmpf uno, %11, %11 : f32
      %13 = arith.select %12, %arg3, %11 : f32
      %14 = math.roundeven %13 : f32
      %15 = arith.constant -1.280000e+02 : f32
      %16 = arith.constant 1.270000e+02 : f32
      %17 = arith.maximumf %14, %15 : f32
      %18 = arith.minimumf %17, %16 : f32
      %19 = arith.fptosi %18 : f32 to i8
      linalg.yield %19 : i8
    } -> tensor<4x2xi8>
    %4 = quant.scast %3 : tensor<4x2xi8> to tensor<4x2x!quant.uniform<i8:f32:1, {5.000000e-01:1,2.500000e-01:2}>>
    %5 = quant.scast %4 : tensor<4x2x!quant.uniform<i8:f32:1, {5.000000e-01:1,2.500000e-01:2}>> to tensor<4x2xi8>
    %6 = arith.constant dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>
    %7 = arith.constant dense<[1, 2]> : tensor<2xi8>
    %8 = tensor.empty() : tensor<4x2xf32>
    %9 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%5, %6, %7 : tensor<4x2xi8>, tensor<2xf32>, tensor<2xi8>) outs(%8 : tensor<4x2xf32>) {
    ^bb0(%arg1: i8, %arg2: f32, %arg3: i8, %arg4: f32):
      %10 = arith.sitofp %arg1 : i8 to f32
      %11 = arith.sitofp %arg3 : i8 to f32
      %12 = arith.subf %10, %11 : f32
      %13 = arith.mulf %12, %arg2 : f32
      linalg.yield %13 : f32
    } -> tensor<4x2xf32>
    return %9 : tensor<4x2xf32>
  }
}
