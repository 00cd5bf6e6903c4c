module {
  func.func private @once(%arg0: i32) -> i32 {
    %0 = arith.constant 0 : i32
    %1 = arith.addi %arg0, %0 : i32
    return %1 : i32
  }
  func.func @main(%arg0: i32) -> i32 {
    %0 = arith.constant 0 : i32
    %1 = arith.addi %arg0, %0 : i32
    %2 = arith.constant 0 : i32
    %3 = arith.addi %1, %2 : i32
    return %3 : i32
  }
}
