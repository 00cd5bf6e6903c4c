func.func @f() -> tensor<2xindex> { %0 = "shape.const_shape"() {shape = dense<[1, 2, 3]> : tensor<3xindex>} : () -> tensor<2xindex> return %0 : tensor<2xindex> }
