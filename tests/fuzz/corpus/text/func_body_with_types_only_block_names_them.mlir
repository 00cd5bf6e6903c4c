func.func @f(i32, i32) {
^bb0(%a: i32, %b: i32):
  return
}
