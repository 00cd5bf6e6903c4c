// pipeline: lower-qrt{zero-point=in-loop to=loops}
!x = tensor<?x4x!quant.uniform<i8:f32, 0.05>>
!w = tensor<4x2x!quant.uniform<i8:f32:1, {0.01, 0.02}>>
!b = tensor<2x!quant.uniform<i32:f32:0, {0.0005, 0.001}>>
!y = tensor<?x2x!quant.uniform<i8:f32, 0.1>>
!image = tensor<!quant.uniform<i8:f32, 0.5>>
!kernel = tensor<3x!quant.uniform<i8:f32, 0.25>>
!filters = tensor<!quant.uniform<i8:f32, 0.25>>
func.func @kernels(%x: !x, %w: !w, %b: !b, %image:  !filters) {
  %0 = qrt.matmul %x, %w, %b {requant = "float32"} : (!x, !w, !b) -> !y
  %1 = qrt.add %0, %0 : (!y, !y) -> !y
  %2 = qrt.sub %1, %0 : (!y, !y) -> !y
  %18 = quant.dcast %x : !x to tensor<?x4xf32>
  %19 = qrt.float_matmul %18, %w : (tensor<?x4xf32>, !w) -> tensor<?x2xf32>
  return
}
