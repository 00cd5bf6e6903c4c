// A quantized convolution: input, weights and bias are cast from floats, the result is i8.
!input = !quant.uniform<i8:f32, 0.05:3>
!weight = !quant.uniform<u8:f32, 0.02:128>
!bias = !quant.uniform<i32<-1000000:1000000>:f32, 0.001>
!output = !quant.uniform<i8:f32, 0.1:-5>

func.func @main(%input: tensor<1x4x4x2xf32>, %weight: tensor<3x3x3x2xf32>, %bias: tensor<3xf32>) -> tensor<1x4x4x3x!output> {
  %input_q = quant.qcast %input : tensor<1x4x4x2xf32> to tensor<1x4x4x2x!input>
  %weight_q = quant.qcast %weight : tensor<3x3x3x2xf32> to tensor<3x3x3x2x!weight>
  %bias_q = quant.qcast %bias : tensor<3xf32> to tensor<3x!bias>
  %output_q = qrt.conv2d %input_q, %weight_q, %bias_q {strides = [1, 1], padding = [[1, 1], [1, 1]], requant = "fixed"}
      : (tensor<1x4x4x2x!input>, tensor<3x3x3x2x!weight>, tensor<3x!bias>) -> tensor<1x4x4x3x!output>
  return %output_q : tensor<1x4x4x3x!output>
}
