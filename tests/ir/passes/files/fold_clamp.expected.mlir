module {
  func.func @into(%arg0: tensor<4x!quant.uniform<u8:f32, 5.000000e-02:131>>) -> tensor<4x!quant.uniform<u8:f32, 5.000000e-02:131>> {
    %0 = qrt.add %arg0, %arg0 {qrt.fused = ["qrt.clamp"]} : (tensor<4x!quant.uniform<u8:f32, 5.000000e-02:131>>, tensor<4x!quant.uniform<u8:f32, 5.000000e-02:131>>) -> tensor<4x!quant.uniform<u8<131:251>:f32, 5.000000e-02:131>>
    %1 = quant.scast %0 : tensor<4x!quant.uniform<u8<131:251>:f32, 5.000000e-02:131>> to tensor<4xi8>
    %2 = quant.scast %1 : tensor<4xi8> to tensor<4x!quant.uniform<u8:f32, 5.000000e-02:131>>
    return %2 : tensor<4x!quant.uniform<u8:f32, 5.000000e-02:131>>
  }
  func.func @read_twice(%arg0: tensor<4x!quant.uniform<u8:f32, 5.000000e-02:131>>) -> (tensor<4x!quant.uniform<u8:f32, 5.000000e-02:131>>, tensor<4x!quant.uniform<u8:f32, 5.000000e-02:131>>) {
    %0 = qrt.add %arg0, %arg0 : (tensor<4x!quant.uniform<u8:f32, 5.000000e-02:131>>, tensor<4x!quant.uniform<u8:f32, 5.000000e-02:131>>) -> tensor<4x!quant.uniform<u8:f32, 5.000000e-02:131>>
    %1 = qrt.clamp %0 {max = 6.000000e+00 : f64, min = 0.000000e+00 : f64} : (tensor<4x!quant.uniform<u8:f32, 5.000000e-02:131>>) -> tensor<4x!quant.uniform<u8:f32, 5.000000e-02:131>>
    return %0, %1 : tensor<4x!quant.uniform<u8:f32, 5.000000e-02:131>>, tensor<4x!quant.uniform<u8:f32, 5.000000e-02:131>>
  }
}
