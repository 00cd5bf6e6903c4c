// pipeline: constant-fold
func.func @f() -> i64 {
  %0 = arith.constant 3 : i32
  %1 = arith.extui %0 : i32 to i64
  return %1 : i64
}
