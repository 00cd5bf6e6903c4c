// canonicalize
func.func private @u()
func.func private @v()
func.func private @w(index)
func.func @extrema_of_extrema(%n: index, %m: index) -> (index, index, index, index, index, index) {
  %0 = affine.apply affine_map<(d0) -> (d0 + 1)>(%n)
  %1 = affine.min affine_map<(d0)[s0] -> (d0, s0, d0 + 2)>(%0)[%m]
  %2 = affine.min affine_map<(d0) -> (d0)>(%n)
  %3 = affine.max affine_map<(d0, d1) -> (d0, d1, d0, 3, 5)>(%n, %m)
  %4 = affine.min affine_map<(d0) -> (d0, d0 + 3)>(%1)
  %5 = affine.min affine_map<(d0, d1) -> (d0, d1, 7)>(%1, %4)
  %c = arith.constant 3 : index
  %6 = affine.max affine_map<(d0, d1) -> (d0, d1, 7)>(%c, %4)
  return %1, %2, %3, %4, %5, %6 : index, index, index, index, index, index
}
func.func @extrema_of_repeated_operands(%n: index, %m: index) -> (index, index, index) {
  %1 = affine.min affine_map<(d0, d1) -> (d0 + 1, d1)>(%n, %m)
  %2 = affine.min affine_map<(d0, d1)[s0] -> (d0, d1 * 2, s0)>(%1, %1)[%1]
  %3 = affine.min affine_map<(d0, d1)[s0] -> (d0, d1, s0)>(%1, %m)[%2]
  %4 = affine.max affine_map<(d0, d1)[s0] -> (d0, d1, s0)>(%1, %m)[%3]
  return %2, %3, %4 : index, index, index
}
func.func @order_of_results(%n: index, %m: index) -> (index, index) {
  %1 = affine.min affine_map<(d0)[s0] -> (s0 + d0, d0 + s0, d0 * 0 + 4, 3 + 2)>(%n)[%m]
  %2 = affine.max affine_map<(d0)[s0] -> (d0 - 1, d0, d0 + s0, d0 + s0 - 4)>(%n)[%m]
  return %1, %2 : index, index
}
func.func @known_extrema(%n: index, %m: index) -> (index, index) {
  %1 = affine.min affine_map<() -> (4, 3)>()
  %2 = affine.max affine_map<(d0) -> (d0, d0)>(%n)
  return %1, %2 : index, index
}
func.func @bounds_of_several_results(%n: index, %m: index, %x: memref<?xf32>, %f: f32) {
  affine.for %i = max affine_map<(d0)[s0] -> (d0, s0, 0, 3, d0)>(%n)[%m] to min affine_map<(d0)[s0] -> (d0, s0, 10, d0)>(%n)[%m] {
    %0 = affine.apply affine_map<(d0) -> (d0 * 2)>(%i)
    affine.for %j = max affine_map<(d0) -> (d0 + 1, d0 + 1)>(%0) to min affine_map<(d0)[s0] -> (d0, s0)>(%0)[%n] {
      affine.store %f, %x[%j] : memref<?xf32>
    }
  }
  return
}
func.func @constant_bounds(%n: index, %m: index, %x: memref<?xf32>, %f: f32) {
  affine.for %i = max affine_map<() -> (1, 2)>() to min affine_map<() -> (7, 9)>() {
    affine.store %f, %x[%i] : memref<?xf32>
  }
  %c = arith.constant 4 : index
  affine.for %i = max affine_map<(d0) -> (d0, 2)>(%c) to min affine_map<(d0, d1) -> (d1, d0)>(%c, %n) {
    affine.store %f, %x[%i] : memref<?xf32>
  }
  return
}
func.func @loops_without_work(%n: index, %m: index, %x: f32, %f: f32) -> (f32, f32, f32, f32, f32, f32, f32, f32) {
  affine.for %i = 0 to %n {
  }
  %0 = affine.for %i = 0 to 10 iter_args(%a = %f) -> (f32) {
    affine.yield %a : f32
  }
  %1 = affine.for %i = 0 to 10 iter_args(%a = %f) -> (f32) {
    affine.yield %x : f32
  }
  %2 = affine.for %i = 0 to 0 iter_args(%a = %f) -> (f32) {
    affine.yield %x : f32
  }
  %3 = affine.for %i = 0 to %n iter_args(%a = %f) -> (f32) {
    affine.yield %x : f32
  }
  %4 = affine.for %i = 0 to %n iter_args(%a = %f) -> (f32) {
    affine.yield %a : f32
  }
  %5:2 = affine.for %i = 0 to 10 iter_args(%a = %f, %b = %x) -> (f32, f32) {
    affine.yield %b, %a : f32, f32
  }
  %6 = affine.for %i = 0 to 1 iter_args(%a = %f) -> (f32) {
    %y = arith.addf %a, %x : f32
    affine.yield %y : f32
  }
  return %0, %1, %2, %3, %4, %5#0, %5#1, %6: f32, f32, f32, f32, f32, f32, f32, f32
}
func.func @conditions(%n: index, %m: index, %x: f32, %f: f32) -> (f32, f32, f32) {
  %6 = affine.for %i = 0 to 1 iter_args(%a = %f) -> (f32) {
    %y = arith.addf %a, %x : f32
    affine.yield %y : f32
  }
  %0 = affine.if affine_set<(d0) : (d0 >= 0)>(%n) -> f32 {
    affine.yield %x : f32
  } else {
    affine.yield %x : f32
  }
  %1 = affine.if affine_set<() : (3 >= 0)>() -> f32 {
    affine.yield %x : f32
  } else {
    affine.yield %f : f32
  }
  affine.if affine_set<(d0) : (d0 >= 0)>(%n) {
  } else {
  }
  return %6, %0, %1: f32, f32, f32
}
func.func @decided_conditions(%n: index, %m: index, %x: f32, %f: f32) {
  affine.if affine_set<(d0) : (d0 >= 0)>(%n) {
  } else {
    func.call @u() : () -> ()
  }
  affine.if affine_set<() : (3 >= 0)>() {
    func.call @u() : () -> ()
  } else {
    func.call @v() : () -> ()
  }
  affine.if affine_set<() : (-3 >= 0)>() {
    func.call @u() : () -> ()
  } else {
    func.call @v() : () -> ()
  }
  affine.if affine_set<() : (-3 >= 0)>() {
    func.call @u() : () -> ()
  }
  affine.if affine_set<(d0) : (d0 - d0 >= 0)>(%n) {
    func.call @u() : () -> ()
  }
  affine.if affine_set<(d0) : (d0 - d0 >= 0, d0 >= 0)>(%n) {
    func.call @u() : () -> ()
  }
  affine.if affine_set<(d0) : (d0 - d0 - 3 == 0, d0 >= 0)>(%n) {
    func.call @u() : () -> ()
  }
  affine.for %i = 0 to 0 {
    func.call @u() : () -> ()
  }
  affine.for %i = 3 to 4 {
    func.call @u() : () -> ()
  }
  return
}
func.func @products_of_symbols(%n: index, %m: index, %o: index) {
  %0 = affine.apply affine_map<()[s0, s1] -> (s0 * s1 + s1 * s0)>()[%n, %m]
  %1 = affine.apply affine_map<()[s0, s1] -> (s1 * s0)>()[%n, %m]
  %2 = affine.apply affine_map<()[s0, s1, s2] -> (s1 * s0 * s2)>()[%n, %m, %o]
  %3 = affine.apply affine_map<()[s0, s1] -> (s1 + s0 * (s1 floordiv 4))>()[%n, %m]
  %4 = affine.apply affine_map<()[s0, s1] -> (4 + s0 * 2 - s0 * (s1 * 3 + 1))>()[%n, %m]
  %5 = affine.apply affine_map<()[s0, s1] -> (s0 ceildiv s1 + s0 mod s1)>()[%n, %m]
  %6 = affine.apply affine_map<(d0)[s0, s1] -> (d0 * s0 * s1 + d0 * s1)>(%0)[%n, %m]
  call @w(%0) : (index) -> ()
  call @w(%1) : (index) -> ()
  call @w(%2) : (index) -> ()
  call @w(%3) : (index) -> ()
  call @w(%4) : (index) -> ()
  call @w(%5) : (index) -> ()
  call @w(%6) : (index) -> ()
  return
}
func.func @quotients_that_loops_decide(%n: index, %m: index, %o: index) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to %n step 2 {
      %0 = affine.apply affine_map<(d0) -> (d0 floordiv 8)>(%i)
      %1 = affine.apply affine_map<(d0) -> (d0 mod 8)>(%i)
      %2 = affine.apply affine_map<(d0) -> (d0 mod 7)>(%i)
      %3 = affine.apply affine_map<(d0) -> (d0 mod 2)>(%j)
      %4 = affine.apply affine_map<(d0) -> (d0 ceildiv 8)>(%i)
      %5 = affine.apply affine_map<(d0, d1) -> ((d0 + d1 * 8) floordiv 8)>(%i, %j)
      func.call @w(%0) : (index) -> ()
      func.call @w(%1) : (index) -> ()
      func.call @w(%2) : (index) -> ()
      func.call @w(%3) : (index) -> ()
      func.call @w(%4) : (index) -> ()
      func.call @w(%5) : (index) -> ()
    }
  }
  return
}
func.func @ranges_of_bounds(%n: index, %m: index) {
  affine.for %i = 0 to min affine_map<()[s0, s1] -> (0, (s0 * 2) mod 4)>()[%n, %m] {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = max affine_map<()[s0, s1] -> (0, (s0 * 2) mod 4)>()[%n, %m] to 100 {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = 0 to min affine_map<()[s0, s1] -> (0, (s0*2 + 1) mod 4)>()[%n, %m] {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = max affine_map<()[s0, s1] -> (0, (s0*2 + 1) mod 4)>()[%n, %m] to 100 {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = 0 to min affine_map<()[s0, s1] -> (0, s0 mod 4)>()[%n, %m] {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = max affine_map<()[s0, s1] -> (0, s0 mod 4)>()[%n, %m] to 100 {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = 0 to min affine_map<()[s0, s1] -> (3, s0 mod 4)>()[%n, %m] {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = max affine_map<()[s0, s1] -> (3, s0 mod 4)>()[%n, %m] to 100 {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = 0 to min affine_map<()[s0, s1] -> (8, (s0+3) mod 8)>()[%n, %m] {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = max affine_map<()[s0, s1] -> (8, (s0+3) mod 8)>()[%n, %m] to 100 {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = 0 to min affine_map<()[s0, s1] -> (7, (s0+3) mod 8)>()[%n, %m] {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = max affine_map<()[s0, s1] -> (7, (s0+3) mod 8)>()[%n, %m] to 100 {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = 0 to min affine_map<()[s0, s1] -> (3, (s0+3) mod 8)>()[%n, %m] {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = max affine_map<()[s0, s1] -> (3, (s0+3) mod 8)>()[%n, %m] to 100 {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = 0 to min affine_map<()[s0, s1] -> (0, (s0+3) mod 8)>()[%n, %m] {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = max affine_map<()[s0, s1] -> (0, (s0+3) mod 8)>()[%n, %m] to 100 {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = 0 to min affine_map<()[s0, s1] -> (0, s0 * 2 - (s0 floordiv 2) * 4)>()[%n, %m] {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = max affine_map<()[s0, s1] -> (0, s0 * 2 - (s0 floordiv 2) * 4)>()[%n, %m] to 100 {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = 0 to min affine_map<()[s0, s1] -> (3, (s0*2) mod 4)>()[%n, %m] {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = max affine_map<()[s0, s1] -> (3, (s0*2) mod 4)>()[%n, %m] to 100 {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = 0 to min affine_map<()[s0, s1] -> (0, (s0 + s1) mod 8)>()[%n, %m] {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = max affine_map<()[s0, s1] -> (0, (s0 + s1) mod 8)>()[%n, %m] to 100 {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = 0 to min affine_map<()[s0, s1] -> (8, (s0 + s1) mod 8)>()[%n, %m] {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = max affine_map<()[s0, s1] -> (8, (s0 + s1) mod 8)>()[%n, %m] to 100 {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = 0 to min affine_map<()[s0, s1] -> (8, s0 mod 8)>()[%n, %m] {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = max affine_map<()[s0, s1] -> (8, s0 mod 8)>()[%n, %m] to 100 {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = 0 to min affine_map<()[s0, s1] -> (8, (s0 * 2) mod 8)>()[%n, %m] {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = max affine_map<()[s0, s1] -> (8, (s0 * 2) mod 8)>()[%n, %m] to 100 {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = 0 to min affine_map<()[s0, s1] -> (0, (s0 mod 4) mod 3)>()[%n, %m] {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = max affine_map<()[s0, s1] -> (0, (s0 mod 4) mod 3)>()[%n, %m] to 100 {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = 0 to min affine_map<()[s0, s1] -> (0, (s0 mod 4) * 2)>()[%n, %m] {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = max affine_map<()[s0, s1] -> (0, (s0 mod 4) * 2)>()[%n, %m] to 100 {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = 0 to min affine_map<()[s0, s1] -> (0, ((s0 mod 4) * 2) mod 4)>()[%n, %m] {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = max affine_map<()[s0, s1] -> (0, ((s0 mod 4) * 2) mod 4)>()[%n, %m] to 100 {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = 0 to min affine_map<()[s0, s1] -> (0, (s0 mod 4) floordiv 2)>()[%n, %m] {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = max affine_map<()[s0, s1] -> (0, (s0 mod 4) floordiv 2)>()[%n, %m] to 100 {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = 0 to min affine_map<()[s0, s1] -> (s0, s1, s0)>()[%n, %m] {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = max affine_map<()[s0, s1] -> (s0, s1, s0)>()[%n, %m] to 100 {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = 0 to min affine_map<()[s0, s1] -> (s0, s0 - s1 + s1)>()[%n, %m] {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = max affine_map<()[s0, s1] -> (s0, s0 - s1 + s1)>()[%n, %m] to 100 {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = 0 to min affine_map<()[s0, s1] -> ((s0 floordiv 2)*2 + s0, 0)>()[%n, %m] {
  func.call @w(%i) : (index) -> ()
  }
  affine.for %i = max affine_map<()[s0, s1] -> ((s0 floordiv 2)*2 + s0, 0)>()[%n, %m] to 100 {
  func.call @w(%i) : (index) -> ()
  }
  return
}
