module {
  func.func @gelu(%arg0: tensor<?x!quant.uniform<u4:f32, 5.000000e-01:3>>) -> tensor<?x!quant.uniform<i8:f32, 2.500000e-01:-1>> {
    %0 = arith.constant dense<[5, 2, 0, -1, 0, 2, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23]> : tensor<16xi8>
    %1 = quant.scast %0 : tensor<16xi8> to tensor<16x!quant.uniform<i8:f32, 2.500000e-01:-1>>
    %2 = qrt.lookup %arg0, %1 {qrt.fused = ["quant.dcast", "math.erf", "arith.mulf", "quant.qcast"]} : (tensor<?x!quant.uniform<u4:f32, 5.000000e-01:3>>, tensor<16x!quant.uniform<i8:f32, 2.500000e-01:-1>>) -> tensor<?x!quant.uniform<i8:f32, 2.500000e-01:-1>>
    return %2 : tensor<?x!quant.uniform<i8:f32, 2.500000e-01:-1>>
  }
  func.func @another_reader(%arg0: tensor<4x!quant.uniform<u4:f32, 5.000000e-01:3>>) -> (tensor<4x!quant.uniform<i8:f32, 2.500000e-01:-1>>, tensor<4xf32>) {
    %0 = quant.dcast %arg0 : tensor<4x!quant.uniform<u4:f32, 5.000000e-01:3>> to tensor<4xf32>
    %1 = math.erf %0 : tensor<4xf32>
    %2 = quant.qcast %1 : tensor<4xf32> to tensor<4x!quant.uniform<i8:f32, 2.500000e-01:-1>>
    return %2, %1 : tensor<4x!quant.uniform<i8:f32, 2.500000e-01:-1>>, tensor<4xf32>
  }
  func.func @wide(%arg0: tensor<4x!quant.uniform<i16:f32, 5.000000e-01>>) -> tensor<4x!quant.uniform<i8:f32, 2.500000e-01:-1>> {
    %0 = quant.dcast %arg0 : tensor<4x!quant.uniform<i16:f32, 5.000000e-01>> to tensor<4xf32>
    %1 = quant.qcast %0 : tensor<4xf32> to tensor<4x!quant.uniform<i8:f32, 2.500000e-01:-1>>
    return %1 : tensor<4x!quant.uniform<i8:f32, 2.500000e-01:-1>>
  }
}
