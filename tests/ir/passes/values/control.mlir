func.func private @seen_by(%x: i32) -> i1
func.func @asserted(%x: i32) -> i32 {
  %0 = arith.constant true
  cf.assert %0, "never"
  return %x : i32
}
func.func @asserted_of(%x: i32, %c: i1) -> i32 {
  cf.assert %c, "sometimes"
  return %x : i32
}
func.func @decided_before(%c: i1, %x: i32, %y: i32) -> i32 {
  cf.cond_br %c, ^a, ^b
^a:
  %0 = func.call @seen_by(%x) : (i32) -> i1
  cf.cond_br %c, ^d(%x : i32), ^d(%y : i32)
^b:
  %1 = func.call @seen_by(%y) : (i32) -> i1
  cf.cond_br %c, ^d(%x : i32), ^e
^d(%z: i32):
  return %z : i32
^e:
  %2 = arith.addi %x, %y : i32
  return %2 : i32
}
func.func @decided_by_argument(%c: i1, %x: i32, %y: i32) -> i32 {
  cf.cond_br %c, ^a, ^b
^a:
  cf.cond_br %c, ^d(%x : i32), ^b
^b:
  cf.br ^d(%y : i32)
^d(%z: i32):
  %2 = arith.addi %z, %y : i32
  return %2 : i32
}
func.func @switched_before(%f: i32, %x: i32, %y: i32) -> i32 {
  cf.switch %f : i32, [
    default: ^a,
    1: ^b,
    -1: ^c,
    127: ^c
  ]
^a:
  %0 = func.call @seen_by(%x) : (i32) -> i1
  cf.switch %f : i32, [
    default: ^d(%x : i32),
    1: ^d(%y : i32),
    2: ^e
  ]
^b:
  %1 = func.call @seen_by(%y) : (i32) -> i1
  cf.switch %f : i32, [
    default: ^d(%x : i32),
    1: ^e,
    2: ^d(%y : i32)
  ]
^c:
  %2 = func.call @seen_by(%f) : (i32) -> i1
  cf.switch %f : i32, [
    default: ^d(%x : i32),
    -1: ^e,
    127: ^d(%y : i32)
  ]
^d(%z: i32):
  return %z : i32
^e:
  %3 = arith.subi %x, %y : i32
  return %3 : i32
}
func.func @only_values(%c: i1, %x: i32, %n: index) -> (i32, i32, i32) {
  %0 = scf.if %c -> i32 {
    %t = func.call @seen_by(%x) : (i32) -> i1
    scf.yield %x : i32
  } else {
    scf.yield %x : i32
  }
  %1 = scf.index_switch %n -> i32
  case 1 {
    %t = func.call @seen_by(%x) : (i32) -> i1
    scf.yield %x : i32
  }
  default {
    scf.yield %x : i32
  }
  %2 = scf.execute_region -> i32 {
    cf.cond_br %c, ^a, ^b
  ^a:
    %t = func.call @seen_by(%x) : (i32) -> i1
    scf.yield %x : i32
  ^b:
    scf.yield %x : i32
  }
  return %0, %1, %2 : i32, i32, i32
}
func.func @equal_inputs(%c: i1, %x: i32, %y: i32, %n: index) -> (i32, i32, i32, i32, i32, i32, i32, i32) {
  %0:2 = scf.if %c -> (i32, i32) {
    %t = func.call @seen_by(%x) : (i32) -> i1
    %u = arith.extui %t : i1 to i32
    scf.yield %u, %u : i32, i32
  } else {
    scf.yield %y, %y : i32, i32
  }
  %1:2 = scf.index_switch %n -> i32, i32
  case 2 {
    %t = func.call @seen_by(%x) : (i32) -> i1
    %u = arith.extui %t : i1 to i32
    scf.yield %u, %u : i32, i32
  }
  default {
    scf.yield %y, %y : i32, i32
  }
  %2:2 = scf.execute_region -> (i32, i32) {
    cf.cond_br %c, ^a, ^b
  ^a:
    %t = func.call @seen_by(%x) : (i32) -> i1
    %u = arith.extui %t : i1 to i32
    scf.yield %u, %u : i32, i32
  ^b:
    scf.yield %y, %y : i32, i32
  }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %3:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x) -> (i32, i32) {
    %t = func.call @seen_by(%a) : (i32) -> i1
    %u = arith.extui %t : i1 to i32
    %v = arith.addi %u, %b : i32
    scf.yield %v, %v : i32, i32
  }
  return %0#0, %0#1, %1#0, %1#1, %2#0, %2#1, %3#0, %3#1 : i32, i32, i32, i32, i32, i32, i32, i32
}
func.func private @of_blocks(%c: i1, %x: i32) -> i32 {
  cf.cond_br %c, ^a(%x : i32), ^b
^a(%y: i32):
  return %y : i32
^b:
  %0 = func.call @seen_by(%x) : (i32) -> i1
  %1 = arith.addi %x, %x : i32
  return %1 : i32
}
func.func @calls_of_blocks(%c: i1, %d: i1, %x: i32) -> (i32, i32) {
  %0 = call @of_blocks(%c, %x) : (i1, i32) -> i32
  %1 = call @of_blocks(%d, %0) : (i1, i32) -> i32
  return %0, %1 : i32, i32
}
func.func private @even(%x: i32, %n: i32) -> i32 {
  %0 = arith.constant 0 : i32
  %1 = arith.cmpi sle, %n, %0 : i32
  %2 = scf.if %1 -> i32 {
    scf.yield %x : i32
  } else {
    %3 = arith.constant 1 : i32
    %4 = arith.subi %n, %3 : i32
    %5 = func.call @odd(%x, %4) : (i32, i32) -> i32
    scf.yield %5 : i32
  }
  return %2 : i32
}
func.func private @odd(%x: i32, %n: i32) -> i32 {
  %0 = arith.muli %x, %n : i32
  %1 = func.call @even(%0, %n) : (i32, i32) -> i32
  return %1 : i32
}
func.func @recursion(%x: i32) -> i32 {
  %0 = arith.constant 9 : i32
  %1 = call @even(%x, %0) : (i32, i32) -> i32
  return %1 : i32
}
func.func @stack_in_branches(%b: i1, %n: index, %m: memref<4xf32>, %f: f32) {
  %c0 = arith.constant 0 : index
  scf.if %b {
    memref.alloca_scope {
      %0 = memref.alloca(%n) : memref<?xf32>
      memref.store %f, %0[%c0] : memref<?xf32>
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      scf.for %i = %c0 to %c3 step %c1 {
        %1 = memref.alloca() : memref<1xf32>
        %2 = memref.load %1[%c0] : memref<1xf32>
        %3 = arith.addf %2, %f : f32
        memref.store %3, %1[%c0] : memref<1xf32>
        memref.store %3, %m[%i] : memref<4xf32>
      }
    }
  }
  return
}
func.func @decided_far_before(%c: i1, %d: i1, %x: i32, %y: i32, %q: memref<i1>) -> i32 {
  cf.cond_br %c, ^a(%x : i32), ^c(%x : i32)
^a(%z: i32):
  memref.store %d, %q[] : memref<i1>
  cf.br ^b(%x : i32)
^b(%u: i32):
  %0 = arith.muli %u, %y : i32
  cf.cond_br %c, ^c(%0 : i32), ^c(%y : i32)
^c(%v: i32):
  return %v : i32
}
func.func @regions_in_a_loop(%c: i1, %x: i32, %y: i32, %n: index) -> (i32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (i32, i32) {
    %1:3 = scf.execute_region -> (i32, i32, i32) {
      cf.cond_br %c, ^a, ^b
    ^a:
      %t = func.call @seen_by(%a) : (i32) -> i1
      %u = arith.extui %t : i1 to i32
      scf.yield %u, %u, %x : i32, i32, i32
    ^b:
      scf.yield %b, %b, %x : i32, i32, i32
    }
    %2 = arith.addi %1#0, %1#2 : i32
    scf.yield %2, %1#1 : i32, i32
  }
  return %0#0, %0#1 : i32, i32
}
func.func @switched_past(%f: i32, %x: i32, %y: i32) -> i32 {
  cf.switch %f : i32, [
    default: ^a,
    1: ^b,
    2: ^c
  ]
^a:
  %0 = func.call @seen_by(%x) : (i32) -> i1
  cf.br ^d(%x : i32)
^b:
  cf.br ^d(%y : i32)
^c:
  cf.br ^a
^d(%z: i32):
  return %z : i32
}
