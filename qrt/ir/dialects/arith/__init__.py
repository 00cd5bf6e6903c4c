"""`arith`: constants, and the element-wise ops that lowered casts and kernels are made of."""
