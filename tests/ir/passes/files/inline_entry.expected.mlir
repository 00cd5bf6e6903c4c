module {
  func.func private @twice(%arg0: i32) -> i32 attributes {no_inline} {
    %0 = call @once(%arg0) : (i32) -> i32
    %1 = call @once(%0) : (i32) -> i32
    return %1 : i32
  }
  func.func private @once(%arg0: i32) -> i32 {
    %0 = arith.constant 1 : i32
    %1 = arith.addi %arg0, %0 : i32
    return %1 : i32
  }
  func.func private @blocks(%arg0: i32) -> i32 {
    cf.br ^bb1(%arg0 : i32)
  ^bb1(%0: i32):  // pred: ^bb0
    return %0 : i32
  }
  func.func private @unused() {
    return
  }
  func.func @other(%arg0: i32) -> i32 {
    %0 = call @once(%arg0) : (i32) -> i32
    return %0 : i32
  }
  func.func @main(%arg0: i32, %arg1: i1, %arg2: index) -> (i32, i32) {
    %0 = arith.constant 1 : i32
    %1 = arith.addi %arg0, %0 : i32
    %2 = arith.constant 1 : i32
    %3 = arith.addi %1, %2 : i32
    %4 = scf.if %arg1 -> (i32) {
      %7 = arith.constant 1 : i32
      %8 = arith.addi %3, %7 : i32
      scf.yield %8 : i32
    } else {
      scf.yield %3 : i32
    }
    %5 = affine.for %arg3 = 0 to 3 iter_args(%arg4 = %4) -> (i32) {
      %7 = func.call @once(%arg4) : (i32) -> i32
      affine.yield %7 : i32
    }
    %6 = call @blocks(%5) : (i32) -> i32
    return %5, %6 : i32, i32
  }
}
