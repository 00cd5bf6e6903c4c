// pipeline: strip-func-quant-types
func.func @f(%x: f32) -> !quant.uniform<si8:f32, 0.5> {
  %0 = quant.qcast %x : f32 to !quant.uniform<si8:f32, 0.5>
  return %0 : !quant.uniform<si8:f32, 0.5>
}
