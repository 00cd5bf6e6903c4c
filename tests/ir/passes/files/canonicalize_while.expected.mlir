module {
  func.func private @u()
  func.func private @c() -> i1
  func.func private @w(i32)
  func.func @condition_forwarded(%arg0: i1, %arg1: i32) -> (i32, i1) {
    %0 = arith.constant 1 : i32
    %1:2 = scf.while (%arg2 = %arg1) : (i32) -> (i32, i1) {
      func.call @u() : () -> ()
      %2 = arith.trunci %arg2 : i32 to i1
      scf.condition(%2) %arg2, %2 : i32, i1
    } do {
    ^bb0(%arg2: i32, %arg3: i1):
      %2 = arith.addi %arg2, %0 : i32
      scf.yield %2 : i32
    }
    return %1#0, %1#1 : i32, i1
  }
  func.func @runs_once(%arg0: i32) -> i32 {
    %0 = arith.constant false
    %1 = scf.while (%arg1 = %arg0) : (i32) -> i32 {
      %2 = arith.addi %arg1, %arg1 : i32
      scf.condition(%0) %2 : i32
    } do {
    ^bb0(%arg1: i32):
      scf.yield %arg1 : i32
    }
    return %1 : i32
  }
  func.func @unchanged_carried(%arg0: i32, %arg1: i32, %arg2: i32) -> (i32, i32, i32) {
    %0 = scf.while (%arg3 = %arg2) : (i32) -> i32 {
      %1 = func.call @c() : () -> i1
      scf.condition(%1) %arg3 : i32
    } do {
    ^bb0(%arg3: i32):
      %1 = arith.addi %arg1, %arg3 : i32
      scf.yield %1 : i32
    }
    return %arg0, %arg1, %0 : i32, i32, i32
  }
  func.func @repeated_and_unused(%arg0: i32, %arg1: i32) -> i32 {
    %0 = scf.while (%arg2 = %arg1) : (i32) -> i32 {
      %1 = func.call @c() : () -> i1
      %2 = arith.addi %arg2, %arg2 : i32
      scf.condition(%1) %2 : i32
    } do {
    ^bb0(%arg2: i32):
      %1 = arith.addi %arg2, %arg2 : i32
      scf.yield %1 : i32
    }
    return %0 : i32
  }
  func.func @unused_forwarded(%arg0: i32, %arg1: i32) -> i32 {
    %0 = scf.while (%arg2 = %arg0, %arg3 = %arg1) : (i32, i32) -> i32 {
      %1 = func.call @c() : () -> i1
      %2 = arith.addi %arg3, %arg2 : i32
      scf.condition(%1) %2 : i32
    } do {
    ^bb0(%arg2: i32):
      %1 = arith.addi %arg2, %arg2 : i32
      scf.yield %arg2, %1 : i32, i32
    }
    return %0 : i32
  }
  func.func @comparisons(%arg0: i32, %arg1: i32) -> (i32, i1, i1) {
    %0 = arith.constant 1 : i32
    %1:3 = scf.while (%arg2 = %arg0) : (i32) -> (i32, i1, i1) {
      %2 = arith.cmpi slt, %arg2, %arg1 : i32
      %3 = arith.cmpi sge, %arg2, %arg1 : i32
      scf.condition(%2) %arg2, %3, %2 : i32, i1, i1
    } do {
    ^bb0(%arg2: i32, %arg3: i1, %arg4: i1):
      %2 = arith.addi %arg2, %0 : i32
      scf.yield %2 : i32
    }
    return %1#0, %1#1, %1#2 : i32, i1, i1
  }
  func.func @if_moved_down(%arg0: i32, %arg1: i32) -> i32 {
    %0:3 = scf.while (%arg2 = %arg0) : (i32) -> (i32, i32, i32) {
      %1 = func.call @c() : () -> i1
      %2 = arith.addi %arg2, %arg1 : i32
      %3 = arith.addi %arg2, %arg0 : i32
      scf.condition(%1) %2, %arg2, %3 : i32, i32, i32
    } do {
    ^bb0(%arg2: i32, %arg3: i32, %arg4: i32):
      func.call @w(%arg4) : (i32) -> ()
      %1 = arith.addi %arg2, %arg3 : i32
      scf.yield %1 : i32
    }
    return %0#0 : i32
  }
  func.func @if_with_results_moved_down(%arg0: i32, %arg1: i32) -> i32 {
    %0 = scf.while (%arg2 = %arg0) : (i32) -> i32 {
      %1 = func.call @c() : () -> i1
      scf.condition(%1) %arg2 : i32
    } do {
    ^bb0(%arg2: i32):
      func.call @w(%arg2) : (i32) -> ()
      %1 = arith.muli %arg2, %arg2 : i32
      scf.yield %1 : i32
    }
    return %arg1 : i32
  }
  func.func @forwarded_from_outside(%arg0: i32, %arg1: i32) -> (i32, i32) {
    %0 = scf.while (%arg2 = %arg1) : (i32) -> i32 {
      %1 = func.call @c() : () -> i1
      scf.condition(%1) %arg2 : i32
    } do {
    ^bb0(%arg2: i32):
      %1 = arith.addi %arg1, %arg2 : i32
      scf.yield %1 : i32
    }
    return %arg1, %0 : i32, i32
  }
  func.func @nothing_carried() {
    scf.while : () -> () {
      %0 = func.call @c() : () -> i1
      scf.condition(%0)
    } do {
      scf.yield
    }
    return
  }
  func.func @in_another_order(%arg0: i32, %arg1: i32) -> (i32, i32) {
    %0 = scf.while (%arg2 = %arg0) : (i32) -> i32 {
      %1 = func.call @c() : () -> i1
      scf.condition(%1) %arg2 : i32
    } do {
    ^bb0(%arg2: i32):
      %1 = arith.addi %arg1, %arg2 : i32
      scf.yield %1 : i32
    }
    return %arg1, %0 : i32, i32
  }
  func.func @ends_as_it_began(%arg0: i32) {
    %0 = scf.while (%arg1 = %arg0) : (i32) -> i32 {
      %1 = func.call @c() : () -> i1
      %2 = arith.addi %arg1, %arg0 : i32
      scf.condition(%1) %2 : i32
    } do {
    ^bb0(%arg1: i32):
      scf.yield %arg1 : i32
    }
    return
  }
}
