func.func @f(%c: i1) {
  cf.cond_br %c weights([2147483648, 2]), ^bb1, ^bb1
^bb1:
  return
}
