func.func private @f(!quant.uniform<i8:f32, 0x7FF8000000000000>)
