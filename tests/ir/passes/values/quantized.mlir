!q = !quant.uniform<i8:f32, 0.5:3>
!u = !quant.uniform<u8<3:250>:f32, 0.3:130>
!w = !quant.uniform<i16:f32, 0.1:-7>
!a = !quant.uniform<i8:f32:0, {0.5:1, 0.25:-128}>
func.func @there_and_back(%x: tensor<?x!q>, %y: !q, %z: tensor<4x!w>) -> (tensor<?x!q>, !q, tensor<4x!w>) {
  %0 = quant.dcast %x : tensor<?x!q> to tensor<?xf32>
  %1 = quant.qcast %0 : tensor<?xf32> to tensor<?x!q>
  %2 = quant.dcast %y : !q to f32
  %3 = quant.qcast %2 : f32 to !q
  %4 = quant.dcast %z : tensor<4x!w> to tensor<4xf32>
  %5 = quant.qcast %4 : tensor<4xf32> to tensor<4x!w>
  return %1, %3, %5 : tensor<?x!q>, !q, tensor<4x!w>
}
func.func @back_and_there(%x: tensor<*xf32>, %y: f32, %z: tensor<2x?xf32>) -> (tensor<*xf32>, f32, tensor<2x?xf32>) {
  %0 = quant.qcast %x : tensor<*xf32> to tensor<*x!q>
  %1 = quant.dcast %0 : tensor<*x!q> to tensor<*xf32>
  %2 = quant.qcast %y : f32 to !u
  %3 = quant.dcast %2 : !u to f32
  %4 = quant.qcast %z : tensor<2x?xf32> to tensor<2x?x!a>
  %5 = quant.dcast %4 : tensor<2x?x!a> to tensor<2x?xf32>
  return %1, %3, %5 : tensor<*xf32>, f32, tensor<2x?xf32>
}
func.func @storage(%x: tensor<?xi8>, %y: !u) -> (tensor<?xi8>, !u, tensor<?x!u>) {
  %0 = quant.scast %x : tensor<?xi8> to tensor<?x!q>
  %1 = quant.scast %0 : tensor<?x!q> to tensor<?xi8>
  %2 = quant.scast %y : !u to i8
  %3 = quant.scast %2 : i8 to !u
  %4 = quant.dcast %0 : tensor<?x!q> to tensor<?xf32>
  %5 = quant.qcast %4 : tensor<?xf32> to tensor<?x!u>
  return %1, %3, %5 : tensor<?xi8>, !u, tensor<?x!u>
}
func.func @constants() -> (tensor<4x!q>, tensor<4xf32>, tensor<4x!u>, !w) {
  %0 = arith.constant dense<[1.25, 0x7FC00000, 0xFF800000, -0.0]> : tensor<4xf32>
  %1 = quant.qcast %0 : tensor<4xf32> to tensor<4x!q>
  %2 = quant.dcast %1 : tensor<4x!q> to tensor<4xf32>
  %3 = quant.qcast %0 : tensor<4xf32> to tensor<4x!u>
  %4 = arith.constant 1.0e9 : f32
  %5 = quant.qcast %4 : f32 to !w
  return %1, %2, %3, %5 : tensor<4x!q>, tensor<4xf32>, tensor<4x!u>, !w
}
