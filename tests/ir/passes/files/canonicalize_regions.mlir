// canonicalize
func.func @ifconst(%x: i32, %m: memref<i32>) -> i32 {
  %t = arith.constant true
  %r = scf.if %t -> i32 {
    memref.store %x, %m[] : memref<i32>
    %0 = arith.addi %x, %x : i32
    scf.yield %0 : i32
  } else {
    scf.yield %x : i32
  }
  return %r : i32
}
func.func @ifselect(%c: i1, %x: i32, %y: i32, %m: memref<i32>) -> (i32, i32) {
  %r:2 = scf.if %c -> (i32, i32) {
    memref.store %x, %m[] : memref<i32>
    %0 = arith.addi %x, %x : i32
    scf.yield %0, %x : i32, i32
  } else {
    scf.yield %x, %y : i32, i32
  }
  return %r#0, %r#1 : i32, i32
}
func.func @ifonlyselect(%c: i1, %x: i32, %y: i32) -> i32 {
  %r:2 = scf.if %c -> (i32, i32) {
    scf.yield %x, %x : i32, i32
  } else {
    scf.yield %y, %x : i32, i32
  }
  %s = arith.addi %r#0, %r#1 : i32
  return %s : i32
}
func.func @unused(%c: i1, %x: i32, %y: i32, %m: memref<i32>) -> i32 {
  %r:2 = scf.if %c -> (i32, i32) {
    memref.store %x, %m[] : memref<i32>
    %0 = arith.addi %x, %x : i32
    %1 = arith.muli %x, %x : i32
    scf.yield %0, %1 : i32, i32
  } else {
    %1 = arith.muli %x, %y : i32
    scf.yield %1, %y : i32, i32
  }
  return %r#0 : i32
}
func.func @emptyelse(%c: i1, %x: i32, %m: memref<i32>) {
  scf.if %c {
    memref.store %x, %m[] : memref<i32>
  } else {
  }
  return
}
func.func @emptythen(%c: i1, %x: i32, %m: memref<i32>) {
  scf.if %c {
  } else {
    memref.store %x, %m[] : memref<i32>
  }
  return
}
func.func @nested(%c: i1, %d: i1, %x: i32, %m: memref<i32>) {
  scf.if %c {
    scf.if %d {
      memref.store %x, %m[] : memref<i32>
    }
  }
  return
}
func.func @condprop(%c: i1, %x: i32, %m: memref<i1>) {
  scf.if %c {
    memref.store %c, %m[] : memref<i1>
  } else {
    memref.store %c, %m[] : memref<i1>
  }
  return
}
func.func @ifbool(%c: i1) -> (i1, i1) {
  %t = arith.constant true
  %f = arith.constant false
  %r:2 = scf.if %c -> (i1, i1) {
    scf.yield %t, %f : i1, i1
  } else {
    scf.yield %f, %t : i1, i1
  }
  return %r#0, %r#1 : i1, i1
}
func.func @fortrips(%x: i32, %m: memref<10xi32>) -> (i32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c4 to %c1 step %c1 iter_args(%a = %x) -> i32 {
    %n = arith.addi %a, %a : i32
    scf.yield %n : i32
  }
  %s = scf.for %i = %c0 to %c4 step %c4 iter_args(%a = %x) -> i32 {
    memref.store %a, %m[%i] : memref<10xi32>
    %n = arith.addi %a, %a : i32
    scf.yield %n : i32
  }
  return %r, %s : i32, i32
}
func.func @foriter(%n: index, %x: i32, %y: i32, %m: memref<10xi32>) -> (i32, i32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s:4 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x, %c = %y, %d = %y) -> (i32, i32, i32, i32) {
    memref.store %a, %m[%i] : memref<10xi32>
    %k = arith.addi %a, %b : i32
    scf.yield %k, %b, %y, %k : i32, i32, i32, i32
  }
  return %s#0, %s#1, %s#2 : i32, i32, i32
}
func.func @fordead(%n: index, %x: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.addi %x, %x : i32
  }
  return
}
func.func @forsame(%n: index, %x: i32, %m: memref<10xi32>) -> i32 {
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %n to %n step %c1 iter_args(%a = %x) -> i32 {
    memref.store %a, %m[%i] : memref<10xi32>
    %k = arith.addi %a, %a : i32
    scf.yield %k : i32
  }
  return %r : i32
}
func.func @forconst(%n: index, %x: i32, %y: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> i32 {
    %q = arith.muli %y, %y : i32
    scf.yield %y : i32
  }
  return %r : i32
}
func.func @while1(%x: i32, %m: memref<i32>) -> i32 {
  %f = arith.constant false
  %r = scf.while (%a = %x) : (i32) -> i32 {
    %b = arith.addi %a, %a : i32
    scf.condition(%f) %b : i32
  } do {
  ^bb0(%q: i32):
    memref.store %q, %m[] : memref<i32>
    scf.yield %q : i32
  }
  return %r : i32
}
func.func @parallel(%n: index, %m: memref<10x10xi32>, %x: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c1, %n) step (%c1, %c1) {
    memref.store %x, %m[%i, %j] : memref<10x10xi32>
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%c1, %c1) step (%c1, %c1) {
    memref.store %x, %m[%i, %j] : memref<10x10xi32>
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%c0, %n) step (%c1, %c1) {
    memref.store %x, %m[%i, %j] : memref<10x10xi32>
  }
  return
}
func.func @affinefor(%n: index, %m: memref<10xi32>, %x: i32) -> i32 {
  affine.for %i = 0 to 0 {
    affine.store %x, %m[%i] : memref<10xi32>
  }
  %r = affine.for %i = 4 to 2 iter_args(%a = %x) -> i32 {
    %k = arith.addi %a, %a : i32
    affine.yield %k : i32
  }
  affine.for %i = 0 to 1 {
    affine.store %x, %m[%i] : memref<10xi32>
  }
  affine.for %i = 0 to 10 {
  }
  return %r : i32
}
func.func @execute(%x: i32) -> i32 {
  %r = scf.execute_region -> i32 {
    %k = arith.addi %x, %x : i32
    scf.yield %k : i32
  }
  return %r : i32
}
func.func @iswitch(%x: i32, %m: memref<i32>) -> i32 {
  %c1 = arith.constant 1 : index
  %r = scf.index_switch %c1 -> i32
  case 1 {
    %k = arith.addi %x, %x : i32
    scf.yield %k : i32
  }
  default {
    scf.yield %x : i32
  }
  return %r : i32
}
func.func @pr(%f: f32, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.parallel (%i) = (%c0) to (%c1) step (%c1) init (%f) -> f32 {
    scf.reduce(%f : f32) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }
  }
  return %r : f32
}
func.func @pr2(%f: f32, %n: index, %m: memref<8xf32>) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.parallel (%i, %j) = (%c0, %c0) to (%c1, %n) step (%c1, %c1) init (%f, %f) -> (f32, f32) {
    %v = memref.load %m[%i] : memref<8xf32>
    scf.reduce(%v, %f : f32, f32) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }, {
    ^bb0(%a: f32, %b: f32):
      %s = arith.mulf %a, %b : f32
      scf.reduce.return %s : f32
    }
  }
  return %r#0, %r#1 : f32, f32
}
func.func @pr3(%f: f32, %n: index, %m: memref<8xf32>) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.parallel (%i, %j) = (%c0, %c0) to (%c0, %n) step (%c1, %c1) init (%f) -> f32 {
    %v = memref.load %m[%i] : memref<8xf32>
    scf.reduce(%v : f32) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }
  }
  %q:2 = scf.parallel (%i) = (%c0) to (%c1) step (%c1) init (%f, %f) -> (f32, f32) {
    %v = memref.load %m[%i] : memref<8xf32>
    scf.reduce(%v, %f : f32, f32) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }, {
    ^bb0(%a: f32, %b: f32):
      scf.reduce.return %b : f32
    }
  }
  %s = arith.addf %r, %q#1 : f32
  return %q#0, %s : f32, f32
}
func.func @ifif(%c: i1, %d: i1, %x: i32, %y: i32) -> i32 {
  %r = scf.if %c -> i32 {
    %s = scf.if %d -> i32 {
      %z = arith.addi %x, %y : i32
      scf.yield %z : i32
    } else {
      scf.yield %y : i32
    }
    scf.yield %s : i32
  } else {
    scf.yield %y : i32
  }
  return %r : i32
}
func.func @ifif2(%c: i1, %d: i1, %x: i32, %y: i32) -> i32 {
  %r = scf.if %c -> i32 {
    %s = scf.if %d -> i32 {
      %z = arith.addi %x, %y : i32
      scf.yield %z : i32
    } else {
      scf.yield %x : i32
    }
    scf.yield %s : i32
  } else {
    scf.yield %y : i32
  }
  return %r : i32
}
func.func @ifif3(%c: i1, %d: i1, %x: i32, %y: i32, %m: memref<i32>) -> (i32, i32) {
  %r:2 = scf.if %c -> (i32, i32) {
    %s:2 = scf.if %d -> (i32, i32) {
      memref.store %x, %m[] : memref<i32>
      %z = memref.load %m[] : memref<i32>
      scf.yield %z, %x : i32, i32
    } else {
      scf.yield %y, %y : i32, i32
    }
    scf.yield %s#0, %x : i32, i32
  } else {
    scf.yield %y, %y : i32, i32
  }
  return %r#0, %r#1 : i32, i32
}
