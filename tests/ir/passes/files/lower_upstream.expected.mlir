module {
  func.func @unranked(%arg0: tensor<*xf32>) -> tensor<*x!quant.uniform<u8<3:200>:f32, 5.000000e-01:10>> {
    %0 = shape.shape_of %arg0 : tensor<*xf32> -> tensor<?xindex>
    %1 = shape.num_elements %0 : tensor<?xindex> -> index
    %2 = tensor.from_elements %1 : tensor<1xindex>
    %3 = tensor.reshape %arg0(%2) : (tensor<*xf32>, tensor<1xindex>) -> tensor<?xf32>
    %4 = arith.constant 5.000000e-01 : f32
    %5 = arith.constant 10 : i8
    %6 = arith.constant 0 : index
    %7 = tensor.dim %3, %6 : tensor<?xf32>
    %8 = tensor.splat %4[%7] : tensor<?xf32>
    %9 = arith.divf %3, %8 : tensor<?xf32>
    %10 = tensor.splat %5[%7] : tensor<?xi8>
    %11 = arith.uitofp %10 : tensor<?xi8> to tensor<?xf32>
    %12 = arith.addf %9, %11 : tensor<?xf32>
    %13 = arith.fptoui %12 : tensor<?xf32> to tensor<?xi8>
    %14 = arith.constant 3 : i8
    %15 = arith.constant -56 : i8
    %16 = tensor.splat %14[%7] : tensor<?xi8>
    %17 = tensor.splat %15[%7] : tensor<?xi8>
    %18 = arith.maxui %13, %16 : tensor<?xi8>
    %19 = arith.minui %18, %17 : tensor<?xi8>
    %20 = tensor.reshape %19(%0) : (tensor<?xi8>, tensor<?xindex>) -> tensor<*xi8>
    %21 = quant.scast %20 : tensor<*xi8> to tensor<*x!quant.uniform<u8<3:200>:f32, 5.000000e-01:10>>
    return %21 : tensor<*x!quant.uniform<u8<3:200>:f32, 5.000000e-01:10>>
  }
  func.func @unranked_axis(%arg0: tensor<*x!quant.uniform<i8:f32:1, {5.000000e-01:1,2.500000e-01:2}>>) -> tensor<*xf32> {
    %0 = quant.scast %arg0 : tensor<*x!quant.uniform<i8:f32:1, {5.000000e-01:1,2.500000e-01:2}>> to tensor<*xi8>
    %1 = shape.shape_of %0 : tensor<*xi8> -> tensor<?xindex>
    %2 = arith.constant 1 : index
    %3 = arith.constant 2 : index
    %4:2 = "shape.split_at"(%1, %2) : (tensor<?xindex>, index) -> (tensor<?xindex>, tensor<?xindex>)
    %5 = shape.num_elements %4#0 : tensor<?xindex> -> index
    %6:2 = "shape.split_at"(%1, %3) : (tensor<?xindex>, index) -> (tensor<?xindex>, tensor<?xindex>)
    %7 = shape.num_elements %6#1 : tensor<?xindex> -> index
    %8 = arith.constant 2 : index
    %9 = tensor.from_elements %5, %8, %7 : tensor<3xindex>
    %10 = tensor.reshape %0(%9) : (tensor<*xi8>, tensor<3xindex>) -> tensor<?x2x?xi8>
    %11 = arith.constant dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>
    %12 = arith.constant dense<[1, 2]> : tensor<2xi8>
    %13 = arith.constant 0 : index
    %14 = tensor.dim %10, %13 : tensor<?x2x?xi8>
    %15 = arith.constant 2 : index
    %16 = tensor.dim %10, %15 : tensor<?x2x?xi8>
    %17 = tensor.empty(%14, %16) : tensor<?x2x?xf32>
    %18 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1)>, affine_map<(d0, d1, d2) -> (d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%10, %11, %12 : tensor<?x2x?xi8>, tensor<2xf32>, tensor<2xi8>) outs(%17 : tensor<?x2x?xf32>) {
    ^bb0(%arg1: i8, %arg2: f32, %arg3: i8, %arg4: f32):
      %20 = arith.sitofp %arg1 : i8 to f32
      %21 = arith.sitofp %arg3 : i8 to f32
      %22 = arith.subf %20, %21 : f32
      %23 = arith.mulf %22, %arg2 : f32
      linalg.yield %23 : f32
    } -> tensor<?x2x?xf32>
    %19 = tensor.reshape %18(%1) : (tensor<?x2x?xf32>, tensor<?xindex>) -> tensor<*xf32>
    return %19 : tensor<*xf32>
  }
  func.func @inverses_stay(%arg0: f32) -> f32 {
    %0 = arith.constant 1.000000e+00 : f32
    %1 = arith.constant 0 : i8
    %2 = arith.divf %arg0, %0 : f32
    %3 = arith.fptosi %2 : f32 to i8
    %4 = quant.scast %3 : i8 to !quant.uniform<i8:f32, 1.000000e+00>
    %5 = quant.scast %4 : !quant.uniform<i8:f32, 1.000000e+00> to i8
    %6 = arith.constant 1.000000e+00 : f32
    %7 = arith.constant 0 : i8
    %8 = arith.sitofp %5 : i8 to f32
    %9 = arith.mulf %8, %6 : f32
    return %9 : f32
  }
}
