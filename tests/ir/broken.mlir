func.func @f(%x: f32) {
  %0 = quant.qcast %x : f32 to !quant.uniform<i8:f16, 1.0>
  %1 = quant.qcast %x : f32 to !quant.uniform<i8:f16, 1.0>
  return
}
module {
  func.func @g(%x: f32) {
    "t.region"() ({
      %0 = quant.qcast %x : f32 to !quant.uniform<i8:f16, 1.0>
    }) : () -> ()
    %0 = quant.qcast %x : f32 to !quant.uniform<i8:f16, 1.0>
    return
  }
  func.func private @twice()
  func.func private @twice()
}
func.func @i(%x: f32) {
  %0 = arith.addf %x, %1 : f32
  %1 = arith.addf %x, %2 : f32
  %2 = arith.addf %x, %x : f32
  return
}
func.func @i(%x: f32) {
  return
}
// -----
func.func private @f()
func.func private @f()
module {
  func.func private @g()
  func.func private @g()
}
// -----
func.func private @f()
func.func private @f()
func.func private @f()
// -----
func.func @f(%x: f32) {
  %0 = arith.addf %x, %1 : f32
  %1 = arith.addf %x, %x : f32
  %2 = quant.qcast %x : f32 to !quant.uniform<i8:f16, 1.0>
  return
}
