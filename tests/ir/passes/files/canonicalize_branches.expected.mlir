module {
  func.func @condbr(%arg0: i32, %arg1: i32) -> i32 {
    %0 = arith.addi %arg0, %arg0 : i32
    return %0 : i32
  }
  func.func @samedest(%arg0: i1, %arg1: i32, %arg2: i32) -> i32 {
    %0 = arith.select %arg0, %arg1, %arg2 : i32
    return %0 : i32
  }
  func.func @samedest2(%arg0: i1, %arg1: i32, %arg2: i32) -> i32 {
    return %arg1 : i32
  }
  func.func @passthrough(%arg0: i1, %arg1: i32, %arg2: i32) -> i32 {
    %0 = arith.select %arg0, %arg1, %arg2 : i32
    return %0 : i32
  }
  func.func @merge(%arg0: i32) -> i32 {
    %0 = arith.addi %arg0, %arg0 : i32
    return %0 : i32
  }
  func.func @switch(%arg0: i32) -> i32 {
    %0 = arith.muli %arg0, %arg0 : i32
    return %0 : i32
  }
  func.func @loopknown(%arg0: i1, %arg1: i32) -> i32 {
    cf.br ^bb1(%arg1 : i32)
  ^bb1(%0: i32):  // 2 preds: ^bb0, ^bb2
    %1 = arith.cmpi slt, %0, %arg1 : i32
    cf.cond_br %1, ^bb2, ^bb3
  ^bb2:  // pred: ^bb1
    %2 = arith.addi %0, %arg1 : i32
    cf.br ^bb1(%2 : i32)
  ^bb3:  // pred: ^bb1
    return %0 : i32
  }
  func.func @unreachable(%arg0: i1, %arg1: i32) -> i32 {
    return %arg1 : i32
  }
  func.func @condinbranch(%arg0: i1, %arg1: i32) -> (i1, i1) {
    %0 = arith.constant true
    %1 = arith.constant false
    cf.cond_br %arg0, ^bb1, ^bb2
  ^bb1:  // pred: ^bb0
    return %0, %0 : i1, i1
  ^bb2:  // pred: ^bb0
    return %1, %1 : i1, i1
  }
  func.func @identical(%arg0: i1, %arg1: i32, %arg2: i32) -> i32 {
    cf.cond_br %arg0, ^bb1, ^bb2
  ^bb1:  // pred: ^bb0
    %0 = arith.addi %arg1, %arg2 : i32
    return %0 : i32
  ^bb2:  // pred: ^bb0
    %1 = arith.addi %arg1, %arg2 : i32
    return %1 : i32
  }
  func.func @unusedarg(%arg0: i1, %arg1: i32, %arg2: i32) -> i32 {
    cf.br ^bb1(%arg1, %arg1 : i32, i32)
  ^bb1(%0: i32, %1: i32):  // 2 preds: ^bb0, ^bb2
    %2 = arith.cmpi slt, %0, %1 : i32
    cf.cond_br %2, ^bb2, ^bb3
  ^bb2:  // pred: ^bb1
    %3 = arith.addi %0, %arg1 : i32
    cf.br ^bb1(%3, %arg1 : i32, i32)
  ^bb3:  // pred: ^bb1
    return %0 : i32
  }
  func.func @switch1(%arg0: i32, %arg1: i32) -> i32 {
    return %arg1 : i32
  }
  func.func @switchdup(%arg0: i32, %arg1: i32) -> i32 {
    cf.switch %arg0 : i32, [
      default: ^bb1(%arg1 : i32),
      2: ^bb2
    ]
  ^bb1(%0: i32):  // pred: ^bb0
    return %0 : i32
  ^bb2:  // pred: ^bb0
    return %arg0 : i32
  }
  func.func @assert(%arg0: i32) {
    %0 = arith.constant false
    cf.assert %0, "b"
    return
  }
}
