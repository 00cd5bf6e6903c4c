module {
  func.func @network(%arg0: tensor<3x4xf32>) -> tensor<3x2xf32> {
    %0 = quant.qcast %arg0 : tensor<3x4xf32> to tensor<3x4x!quant.uniform<i8:f32, 5.000000e-02:3>>
    %1 = arith.constant dense<[[50, 50], [-25, 35], [100, -50], [33, 5]]> : tensor<4x2xi8>
    %2 = quant.scast %1 : tensor<4x2xi8> to tensor<4x2x!quant.uniform<i8<-127:127>:f32:1, {1.000000e-02,2.000000e-02}>>
    %3 = arith.constant dense<[500, -500]> : tensor<2xi32>
    %4 = quant.scast %3 : tensor<2xi32> to tensor<2x!quant.uniform<i32:f32:0, {5.000000e-04,1.000000e-03}>>
    %5 = qrt.matmul %0, %2, %4 : (tensor<3x4x!quant.uniform<i8:f32, 5.000000e-02:3>>, tensor<4x2x!quant.uniform<i8<-127:127>:f32:1, {1.000000e-02,2.000000e-02}>>, tensor<2x!quant.uniform<i32:f32:0, {5.000000e-04,1.000000e-03}>>) -> tensor<3x2x!quant.uniform<i8:f32, 1.000000e-01:-128>>
    %6 = arith.constant dense<"0x000D1925313B454D555C61666B6E71747678797A7B7C7D7D7E7E7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F"> : tensor<256xi8>
    %7 = quant.scast %6 : tensor<256xi8> to tensor<256x!quant.uniform<i8:f32, 7.812500e-03>>
    %8 = qrt.lookup %5, %7 : (tensor<3x2x!quant.uniform<i8:f32, 1.000000e-01:-128>>, tensor<256x!quant.uniform<i8:f32, 7.812500e-03>>) -> tensor<3x2x!quant.uniform<i8:f32, 7.812500e-03>>
    %9 = qrt.requantize %8 : (tensor<3x2x!quant.uniform<i8:f32, 7.812500e-03>>) -> tensor<3x2x!quant.uniform<i8:f32, 1.000000e-01:-128>>
    %10 = qrt.add %5, %9 : (tensor<3x2x!quant.uniform<i8:f32, 1.000000e-01:-128>>, tensor<3x2x!quant.uniform<i8:f32, 1.000000e-01:-128>>) -> tensor<3x2x!quant.uniform<i8:f32, 5.000000e-02:3>>
    %11 = quant.dcast %10 : tensor<3x2x!quant.uniform<i8:f32, 5.000000e-02:3>> to tensor<3x2xf32>
    return %11 : tensor<3x2xf32>
  }
  func.func @gate(%arg0: tensor<2x3x!quant.uniform<i8:f32, 5.000000e-02:3>>, %arg1: tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<i8:f32, 1.000000e-01:-128>> {
    %0 = quant.qcast %arg1 : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32, 7.812500e-03>>
    %1 = quant.scast %arg0 : tensor<2x3x!quant.uniform<i8:f32, 5.000000e-02:3>> to tensor<2x3xi8>
    %2 = tensor.empty() : tensor<2x3xi64>
    %3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<2x3xi8>) outs(%2 : tensor<2x3xi64>) {
    ^bb0(%arg2: i8, %arg3: i64):
      %14 = arith.extsi %arg2 : i8 to i64
      %15 = arith.constant 3 : i64
      %16 = arith.subi %14, %15 : i64
      linalg.yield %16 : i64
    } -> tensor<2x3xi64>
    %4 = quant.scast %0 : tensor<2x3x!quant.uniform<i8:f32, 7.812500e-03>> to tensor<2x3xi8>
    %5 = tensor.empty() : tensor<2x3xi64>
    %6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<2x3xi8>) outs(%5 : tensor<2x3xi64>) {
    ^bb0(%arg2: i8, %arg3: i64):
      %14 = arith.extsi %arg2 : i8 to i64
      linalg.yield %14 : i64
    } -> tensor<2x3xi64>
    %7 = tensor.empty() : tensor<2x3xi64>
    %8 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%3, %6 : tensor<2x3xi64>, tensor<2x3xi64>) outs(%7 : tensor<2x3xi64>) {
    ^bb0(%arg2: i64, %arg3: i64, %arg4: i64):
      %14 = arith.muli %arg2, %arg3 : i64
      linalg.yield %14 : i64
    } -> tensor<2x3xi64>
    %9 = tensor.empty() : tensor<2x3xi64>
    %10 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%8 : tensor<2x3xi64>) outs(%9 : tensor<2x3xi64>) {
    ^bb0(%arg2: i64, %arg3: i64):
      %14 = arith.constant 0 : i64
      %15 = arith.subi %14, %arg2 : i64
      linalg.yield %15 : i64
    } -> tensor<2x3xi64>
    %11 = tensor.empty() : tensor<2x3xi8>
    %12 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%10 : tensor<2x3xi64>) outs(%11 : tensor<2x3xi8>) {
    ^bb0(%arg2: i64, %arg3: i8):
      %14 = arith.trunci %arg2 : i64 to i32
      %15 = arith.extsi %14 : i32 to i64
      %16 = arith.constant 1073741824 : i64
      %17 = arith.muli %15, %16 : i64
      %18 = arith.constant 274877906944 : i64
      %19 = arith.addi %17, %18 : i64
      %20 = arith.constant 39 : i64
      %21 = arith.shrsi %19, %20 : i64
      %22 = arith.constant -128 : i64
      %23 = arith.addi %21, %22 : i64
      %24 = arith.constant -128 : i64
      %25 = arith.maxsi %23, %24 : i64
      %26 = arith.constant 127 : i64
      %27 = arith.minsi %25, %26 : i64
      %28 = arith.trunci %27 : i64 to i8
      linalg.yield %28 : i8
    } -> tensor<2x3xi8>
    %13 = quant.scast %12 : tensor<2x3xi8> to tensor<2x3x!quant.uniform<i8:f32, 1.000000e-01:-128>>
    return %13 : tensor<2x3x!quant.uniform<i8:f32, 1.000000e-01:-128>>
  }
  func.func @floats(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = quant.qcast %arg0 : tensor<4xf32> to tensor<4x!quant.uniform<i8:f32, 7.812500e-03>>
    %1 = quant.dcast %0 : tensor<4x!quant.uniform<i8:f32, 7.812500e-03>> to tensor<4xf32>
    %2 = math.exp %1 : tensor<4xf32>
    %3 = arith.truncf %2 : tensor<4xf32> to tensor<4xbf16>
    %4 = arith.extf %3 : tensor<4xbf16> to tensor<4xf32>
    %5 = arith.addf %4, %4 : tensor<4xf32>
    %6 = arith.truncf %5 : tensor<4xf32> to tensor<4xbf16>
    %7 = arith.extf %6 : tensor<4xbf16> to tensor<4xf32>
    return %7 : tensor<4xf32>
  }
}
