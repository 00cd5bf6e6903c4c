module {
  func.func private @main(%arg0: i32) -> i32 {
    return %arg0 : i32
  }
  func.func private @inner() {
    return
  }
  func.func @other() {
    call @inner() : () -> ()
    return
  }
}
