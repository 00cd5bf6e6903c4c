module {
  func.func @chain(%arg0: tensor<?x!quant.uniform<u2:f32, 5.000000e-01>>) -> tensor<?x!quant.uniform<i8:f32, 5.000000e-02:3>> {
    %0 = arith.constant dense<[9, 9, 15, 21]> : tensor<4xi8>
    %1 = quant.scast %0 : tensor<4xi8> to tensor<4x!quant.uniform<i8:f32, 5.000000e-02:3>>
    %2 = qrt.lookup %arg0, %1 {qrt.fused = ["qrt.clamp", "qrt.mul", "qrt.requantize"]} : (tensor<?x!quant.uniform<u2:f32, 5.000000e-01>>, tensor<4x!quant.uniform<i8:f32, 5.000000e-02:3>>) -> tensor<?x!quant.uniform<i8:f32, 5.000000e-02:3>>
    return %2 : tensor<?x!quant.uniform<i8:f32, 5.000000e-02:3>>
  }
  func.func @alone(%arg0: tensor<4x!quant.uniform<i8:f32, 5.000000e-02:3>>, %arg1: tensor<2x4x!quant.uniform<i8:f32, 5.000000e-02:3>>) -> (tensor<4x!quant.uniform<i8:f32, 5.000000e-02:3>>, tensor<2x4x!quant.uniform<i8:f32, 5.000000e-02:3>>) {
    %0 = qrt.clamp %arg0 {min = 5.000000e-01 : f64} : (tensor<4x!quant.uniform<i8:f32, 5.000000e-02:3>>) -> tensor<4x!quant.uniform<i8:f32, 5.000000e-02:3>>
    %1 = qrt.add %0, %arg1 : (tensor<4x!quant.uniform<i8:f32, 5.000000e-02:3>>, tensor<2x4x!quant.uniform<i8:f32, 5.000000e-02:3>>) -> tensor<2x4x!quant.uniform<i8:f32, 5.000000e-02:3>>
    return %0, %1 : tensor<4x!quant.uniform<i8:f32, 5.000000e-02:3>>, tensor<2x4x!quant.uniform<i8:f32, 5.000000e-02:3>>
  }
}
