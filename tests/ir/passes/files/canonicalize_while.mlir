// canonicalize
func.func private @u()
func.func private @c() -> i1
func.func private @w(i32)
func.func @condition_forwarded(%c: i1, %x: i32) -> (i32, i1) {
  %0:2 = scf.while (%a = %x) : (i32) -> (i32, i1) {
    func.call @u() : () -> ()
    %d = arith.trunci %a : i32 to i1
    scf.condition(%d) %a, %d : i32, i1
  } do {
  ^bb0(%b: i32, %d: i1):
    %e = arith.extui %d : i1 to i32
    %f = arith.addi %b, %e : i32
    scf.yield %f : i32
  }
  return %0#0, %0#1 : i32, i1
}
func.func @runs_once(%x: i32) -> i32 {
  %f = arith.constant false
  %0 = scf.while (%a = %x) : (i32) -> i32 {
    %b = arith.addi %a, %a : i32
    scf.condition(%f) %b : i32
  } do {
  ^bb0(%b: i32):
    scf.yield %b : i32
  }
  return %0 : i32
}
func.func @unchanged_carried(%x: i32, %y: i32, %z: i32) -> (i32, i32, i32) {
  %0:3 = scf.while (%a = %x, %b = %y, %d = %z) : (i32, i32, i32) -> (i32, i32, i32) {
    %t = func.call @c() : () -> i1
    scf.condition(%t) %a, %b, %d : i32, i32, i32
  } do {
  ^bb0(%b0: i32, %b1: i32, %b2: i32):
    %g = arith.addi %b1, %b2 : i32
    scf.yield %b0, %y, %g : i32, i32, i32
  }
  return %0#0, %0#1, %0#2 : i32, i32, i32
}
func.func @repeated_and_unused(%x: i32, %y: i32) -> i32 {
  %0:2 = scf.while (%a = %x, %b = %y) : (i32, i32) -> (i32, i32) {
    %t = func.call @c() : () -> i1
    %g = arith.addi %b, %b : i32
    scf.condition(%t) %g, %g : i32, i32
  } do {
  ^bb0(%b0: i32, %b1: i32):
    %g = arith.addi %b1, %b0 : i32
    scf.yield %b0, %g : i32, i32
  }
  return %0#0 : i32
}
func.func @unused_forwarded(%x: i32, %y: i32) -> i32 {
  %0:2 = scf.while (%a = %x, %b = %y) : (i32, i32) -> (i32, i32) {
    %t = func.call @c() : () -> i1
    %g = arith.addi %b, %a : i32
    scf.condition(%t) %g, %a : i32, i32
  } do {
  ^bb0(%b0: i32, %b1: i32):
    %g = arith.addi %b0, %b0 : i32
    scf.yield %b0, %g : i32, i32
  }
  return %0#0 : i32
}
func.func @comparisons(%x: i32, %y: i32) -> (i32, i1, i1) {
  %0:3 = scf.while (%a = %x) : (i32) -> (i32, i1, i1) {
    %t = arith.cmpi slt, %a, %y : i32
    %s = arith.cmpi sge, %a, %y : i32
    scf.condition(%t) %a, %s, %t : i32, i1, i1
  } do {
  ^bb0(%b0: i32, %b1: i1, %b2: i1):
    %t = arith.cmpi slt, %b0, %y : i32
    %s = arith.cmpi sge, %b0, %y : i32
    %e = arith.extui %t : i1 to i32
    %h = arith.extui %s : i1 to i32
    %g = arith.addi %b0, %e : i32
    %g2 = arith.addi %g, %h : i32
    scf.yield %g2 : i32
  }
  return %0#0, %0#1, %0#2 : i32, i1, i1
}
func.func @if_moved_down(%x: i32, %y: i32) -> (i32) {
  %0:2 = scf.while (%a = %x) : (i32) -> (i32, i32) {
    %t = func.call @c() : () -> i1
    %g = arith.addi %a, %y : i32
    %h = arith.addi %a, %x : i32
    scf.if %t {
      func.call @w(%h) : (i32) -> ()
    }
    scf.condition(%t) %g, %a : i32, i32
  } do {
  ^bb0(%b0: i32, %b1: i32):
    %k = arith.addi %b0, %b1 : i32
    scf.yield %k : i32
  }
  return %0#0 : i32
}
func.func @if_with_results_moved_down(%x: i32, %y: i32) -> (i32) {
  %0 = scf.while (%a = %x) : (i32) -> i32 {
    %t = func.call @c() : () -> i1
    %g = scf.if %t -> i32 {
      func.call @w(%a) : (i32) -> ()
      %m = arith.muli %a, %a : i32
      scf.yield %m : i32
    } else {
      scf.yield %y : i32
    }
    scf.condition(%t) %g : i32
  } do {
  ^bb0(%b0: i32):
    scf.yield %b0 : i32
  }
  return %0 : i32
}
func.func @forwarded_from_outside(%x: i32, %y: i32) -> (i32, i32) {
  %0:2 = scf.while (%a = %x, %b = %y) : (i32, i32) -> (i32, i32) {
    %t = func.call @c() : () -> i1
    scf.condition(%t) %y, %b : i32, i32
  } do {
  ^bb0(%b0: i32, %b1: i32):
    %g = arith.addi %b0, %b1 : i32
    scf.yield %g, %g : i32, i32
  }
  return %0#0, %0#1 : i32, i32
}
func.func @nothing_carried() {
  scf.while : () -> () {
    %t = func.call @c() : () -> i1
    scf.condition(%t)
  } do {
    scf.yield
  }
  return
}
func.func @in_another_order(%x: i32, %y: i32) -> (i32, i32) {
  %0:2 = scf.while (%a = %x, %b = %y) : (i32, i32) -> (i32, i32) {
    %t = func.call @c() : () -> i1
    scf.condition(%t) %b, %a : i32, i32
  } do {
  ^bb0(%b0: i32, %b1: i32):
    %g = arith.addi %b0, %b1 : i32
    scf.yield %g, %b0 : i32, i32
  }
  return %0#0, %0#1 : i32, i32
}
func.func @ends_as_it_began(%n: i32) {
  %0 = scf.while (%a = %n) : (i32) -> i32 {
    %t = func.call @c() : () -> i1
    %b = arith.addi %a, %n : i32
    scf.condition(%t) %b : i32
  } do {
  ^bb0(%b: i32):
    scf.yield %b : i32
  }
  %1 = scf.while (%a = %n) : (i32) -> i32 {
    %t = arith.cmpi ne, %a, %n : i32
    scf.condition(%t) %a : i32
  } do {
  ^bb0(%b: i32):
    scf.yield %b : i32
  }
  return
}
