// pipeline: canonicalize
func.func @f(%a: f128, %b: f80) -> (f128, f80) {
  %0 = arith.constant 1.0 : f128
  %1 = arith.mulf %a, %0 : f128
  %2 = arith.constant 2.0 : f80
  %3 = arith.addf %b, %2 : f80
  %4 = arith.addf %2, %3 : f80
  return %1, %4 : f128, f80
}
