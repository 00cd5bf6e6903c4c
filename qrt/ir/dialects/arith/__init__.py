"""`arith`: constants, and the element-wise ops to which casts and kernels are lowered."""
