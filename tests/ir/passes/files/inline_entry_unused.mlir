// inline{entry=main}
// A private function into which calls are inlined is no unused one. @inner is named by a call that stays.
func.func private @main(%x: i32) -> i32 {
  %0 = func.call @outer(%x) : (i32) -> i32
  return %0 : i32
}
func.func private @outer(%x: i32) -> i32 {
  %c = arith.constant 0 : i32
  %0 = arith.addi %x, %c : i32
  return %0 : i32
}
func.func private @inner() {
  return
}
func.func @other() {
  func.call @inner() : () -> ()
  return
}
