func.func @f() { affine.for %i = 1 to 9223372036854775810 { } return }
