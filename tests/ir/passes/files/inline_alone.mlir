// inline{canonicalize=false remove-unused=false}
func.func private @once(%x: i32) -> i32 {
  %c = arith.constant 0 : i32
  %0 = arith.addi %x, %c : i32
  return %0 : i32
}
func.func @main(%x: i32) -> i32 {
  %0 = func.call @once(%x) : (i32) -> i32
  %1 = func.call @once(%0) : (i32) -> i32
  return %1 : i32
}
