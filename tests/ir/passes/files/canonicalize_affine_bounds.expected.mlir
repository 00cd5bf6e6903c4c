module {
  func.func private @u()
  func.func private @v()
  func.func private @w(index)
  func.func @extrema_of_extrema(%arg0: index, %arg1: index) -> (index, index, index, index, index, index) {
    %0 = affine.min affine_map<()[s0, s1] -> (s1 + 1, s1 + 3, s0)>()[%arg1, %arg0]
    %1 = affine.max affine_map<()[s0, s1] -> (3, 5, s1, s0)>()[%arg0, %arg1]
    %2 = affine.min affine_map<()[s0, s1, s2] -> (s2 + 3, s1 + 1, s1 + 3, s0)>()[%arg1, %arg0, %0]
    %3 = affine.min affine_map<()[s0, s1, s2] -> (7, s2 + 3, s1 + 1, s1 + 3, s0)>()[%arg1, %arg0, %0]
    %4 = affine.max affine_map<()[s0] -> (3, 7, s0)>()[%2]
    return %0, %arg0, %1, %2, %3, %4 : index, index, index, index, index, index
  }
  func.func @extrema_of_repeated_operands(%arg0: index, %arg1: index) -> (index, index, index) {
    %0 = affine.min affine_map<()[s0, s1] -> (s1, s0 + 1)>()[%arg0, %arg1]
    %1 = affine.min affine_map<()[s0, s1, s2] -> (s2 * 2, s1, s0 + 1)>()[%arg0, %arg1, %0]
    %2 = affine.min affine_map<()[s0, s1, s2] -> (s2 * 2, s1, s0 + 1)>()[%arg0, %arg1, %0]
    %3 = affine.max affine_map<()[s0, s1, s2] -> (s2, s1, s0)>()[%2, %0, %arg1]
    return %1, %2, %3 : index, index, index
  }
  func.func @order_of_results(%arg0: index, %arg1: index) -> (index, index) {
    %0 = affine.min affine_map<()[s0, s1] -> (4, 5, s0 + s1)>()[%arg1, %arg0]
    %1 = affine.max affine_map<()[s0, s1] -> (s1 - 1, s1, s0 + s1 - 4, s0 + s1)>()[%arg1, %arg0]
    return %0, %1 : index, index
  }
  func.func @known_extrema(%arg0: index, %arg1: index) -> (index, index) {
    %0 = arith.constant 3 : index
    return %0, %arg0 : index, index
  }
  func.func @bounds_of_several_results(%arg0: index, %arg1: index, %arg2: memref<?xf32>, %arg3: f32) {
    affine.for %arg4 = max affine_map<()[s0, s1] -> (s1, s0, 3, s1)>()[%arg1, %arg0] to min affine_map<()[s0, s1] -> (s1, s0, 10, s1)>()[%arg1, %arg0] {
      affine.for %arg5 = affine_map<(d0) -> (d0 * 2 + 1)>(%arg4) to min affine_map<(d0)[s0] -> (d0 * 2, s0)>(%arg4)[%arg0] {
        affine.store %arg3, %arg2[%arg5] : memref<?xf32>
      }
    }
    return
  }
  func.func @constant_bounds(%arg0: index, %arg1: index, %arg2: memref<?xf32>, %arg3: f32) {
    affine.for %arg4 = 2 to 7 {
      affine.store %arg3, %arg2[%arg4] : memref<?xf32>
    }
    affine.for %arg4 = 4 to min affine_map<()[s0] -> (s0, 4)>()[%arg0] {
      affine.store %arg3, %arg2[%arg4] : memref<?xf32>
    }
    return
  }
  func.func @loops_without_work(%arg0: index, %arg1: index, %arg2: f32, %arg3: f32) -> (f32, f32, f32, f32, f32, f32, f32, f32) {
    %0 = affine.for %arg4 = 0 to %arg0 iter_args(%arg5 = %arg3) -> (f32) {
      affine.yield %arg2 : f32
    }
    %1:2 = affine.for %arg4 = 0 to 10 iter_args(%arg5 = %arg3, %arg6 = %arg2) -> (f32, f32) {
      affine.yield %arg6, %arg5 : f32, f32
    }
    %2 = affine.for %arg4 = 0 to 1 iter_args(%arg5 = %arg3) -> (f32) {
      %3 = arith.addf %arg5, %arg2 : f32
      affine.yield %3 : f32
    }
    return %arg3, %arg2, %arg3, %0, %arg3, %1#0, %1#1, %2 : f32, f32, f32, f32, f32, f32, f32, f32
  }
  func.func @conditions(%arg0: index, %arg1: index, %arg2: f32, %arg3: f32) -> (f32, f32, f32) {
    %0 = affine.for %arg4 = 0 to 1 iter_args(%arg5 = %arg3) -> (f32) {
      %3 = arith.addf %arg5, %arg2 : f32
      affine.yield %3 : f32
    }
    %1 = affine.if affine_set<()[s0] : (s0 >= 0)>()[%arg0] -> f32 {
      affine.yield %arg2 : f32
    } else {
      affine.yield %arg2 : f32
    }
    %2 = affine.if affine_set<() : (3 >= 0)>() -> f32 {
      affine.yield %arg2 : f32
    } else {
      affine.yield %arg3 : f32
    }
    return %0, %1, %2 : f32, f32, f32
  }
  func.func @decided_conditions(%arg0: index, %arg1: index, %arg2: f32, %arg3: f32) {
    affine.if affine_set<()[s0] : (s0 >= 0)>()[%arg0] {
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
    affine.if affine_set<() : (0 >= 0)>() {
      func.call @u() : () -> ()
    }
    affine.if affine_set<()[s0] : (0 >= 0, s0 >= 0)>()[%arg0] {
      func.call @u() : () -> ()
    }
    affine.if affine_set<()[s0] : (-3 == 0, s0 >= 0)>()[%arg0] {
      func.call @u() : () -> ()
    }
    affine.for %arg4 = 0 to 0 {
      func.call @u() : () -> ()
    }
    affine.for %arg4 = 3 to 4 {
      func.call @u() : () -> ()
    }
    return
  }
  func.func @products_of_symbols(%arg0: index, %arg1: index, %arg2: index) {
    %0 = affine.apply affine_map<()[s0, s1] -> ((s0 * s1) * 2)>()[%arg0, %arg1]
    %1 = affine.apply affine_map<()[s0, s1] -> (s0 * s1)>()[%arg0, %arg1]
    %2 = affine.apply affine_map<()[s0, s1, s2] -> ((s0 * s1) * s2)>()[%arg0, %arg1, %arg2]
    %3 = affine.apply affine_map<()[s0, s1] -> (s1 + s0 * (s1 floordiv 4))>()[%arg0, %arg1]
    %4 = affine.apply affine_map<()[s0, s1] -> (s0 * 2 - s0 * (s1 * 3 + 1) + 4)>()[%arg0, %arg1]
    %5 = affine.apply affine_map<()[s0, s1] -> (s0 ceildiv s1 + s0 mod s1)>()[%arg0, %arg1]
    %6 = affine.apply affine_map<()[s0, s1] -> ((((s0 * s1) * s0) * s1) * 2 + ((s0 * s1) * s1) * 2)>()[%arg0, %arg1]
    call @w(%0) : (index) -> ()
    call @w(%1) : (index) -> ()
    call @w(%2) : (index) -> ()
    call @w(%3) : (index) -> ()
    call @w(%4) : (index) -> ()
    call @w(%5) : (index) -> ()
    call @w(%6) : (index) -> ()
    return
  }
  func.func @quotients_that_loops_decide(%arg0: index, %arg1: index, %arg2: index) {
    %0 = arith.constant 0 : index
    affine.for %arg3 = 0 to 8 {
      affine.for %arg4 = 0 to %arg0 step 2 {
        %1 = affine.apply affine_map<(d0) -> (d0 mod 7)>(%arg3)
        %2 = affine.apply affine_map<(d0) -> (d0 ceildiv 8)>(%arg3)
        func.call @w(%0) : (index) -> ()
        func.call @w(%arg3) : (index) -> ()
        func.call @w(%1) : (index) -> ()
        func.call @w(%0) : (index) -> ()
        func.call @w(%2) : (index) -> ()
        func.call @w(%arg4) : (index) -> ()
      }
    }
    return
  }
  func.func @ranges_of_bounds(%arg0: index, %arg1: index) {
    affine.for %arg2 = 0 to 0 {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = max affine_map<()[s0] -> (0, s0 * 2 - (s0 floordiv 2) * 4)>()[%arg0] to 100 {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = 0 to 0 {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = max affine_map<()[s0] -> (0, s0 * 2 - ((s0 * 2 + 1) floordiv 4) * 4 + 1)>()[%arg0] to 100 {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = 0 to 0 {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = affine_map<()[s0] -> (s0 mod 4)>()[%arg0] to 100 {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = 0 to affine_map<()[s0] -> (s0 mod 4)>()[%arg0] {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = 3 to 100 {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = 0 to affine_map<()[s0] -> (s0 - ((s0 + 3) floordiv 8) * 8 + 3)>()[%arg0] {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = max affine_map<()[s0] -> (8, s0 - ((s0 + 3) floordiv 8) * 8 + 3)>()[%arg0] to 100 {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = 0 to affine_map<()[s0] -> (s0 - ((s0 + 3) floordiv 8) * 8 + 3)>()[%arg0] {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = max affine_map<()[s0] -> (7, s0 - ((s0 + 3) floordiv 8) * 8 + 3)>()[%arg0] to 100 {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = 0 to min affine_map<()[s0] -> (3, s0 - ((s0 + 3) floordiv 8) * 8 + 3)>()[%arg0] {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = max affine_map<()[s0] -> (3, s0 - ((s0 + 3) floordiv 8) * 8 + 3)>()[%arg0] to 100 {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = 0 to 0 {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = max affine_map<()[s0] -> (0, s0 - ((s0 + 3) floordiv 8) * 8 + 3)>()[%arg0] to 100 {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = 0 to min affine_map<()[s0] -> (0, s0 * 2 - (s0 floordiv 2) * 4)>()[%arg0] {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = max affine_map<()[s0] -> (0, s0 * 2 - (s0 floordiv 2) * 4)>()[%arg0] to 100 {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = 0 to affine_map<()[s0] -> (s0 * 2 - (s0 floordiv 2) * 4)>()[%arg0] {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = max affine_map<()[s0] -> (3, s0 * 2 - (s0 floordiv 2) * 4)>()[%arg0] to 100 {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = 0 to 0 {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = affine_map<()[s0, s1] -> ((s0 + s1) mod 8)>()[%arg0, %arg1] to 100 {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = 0 to affine_map<()[s0, s1] -> ((s0 + s1) mod 8)>()[%arg0, %arg1] {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = 8 to 100 {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = 0 to affine_map<()[s0] -> (s0 mod 8)>()[%arg0] {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = 8 to 100 {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = 0 to affine_map<()[s0] -> (s0 * 2 - (s0 floordiv 4) * 8)>()[%arg0] {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = max affine_map<()[s0] -> (8, s0 * 2 - (s0 floordiv 4) * 8)>()[%arg0] to 100 {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = 0 to 0 {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = affine_map<()[s0] -> ((s0 mod 4) mod 3)>()[%arg0] to 100 {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = 0 to min affine_map<()[s0] -> (0, s0 * 2 - (s0 floordiv 4) * 8)>()[%arg0] {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = max affine_map<()[s0] -> (0, s0 * 2 - (s0 floordiv 4) * 8)>()[%arg0] to 100 {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = 0 to 0 {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = max affine_map<()[s0] -> (0, s0 * 2 - (s0 floordiv 4) * 8 - ((s0 mod 4) floordiv 2) * 4)>()[%arg0] to 100 {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = 0 to 0 {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = affine_map<()[s0] -> ((s0 mod 4) floordiv 2)>()[%arg0] to 100 {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = 0 to min affine_map<()[s0, s1] -> (s0, s1, s0)>()[%arg0, %arg1] {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = max affine_map<()[s0, s1] -> (s0, s1, s0)>()[%arg0, %arg1] to 100 {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = 0 to %arg0 {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = %arg0 to 100 {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = 0 to min affine_map<()[s0] -> (s0 + (s0 floordiv 2) * 2, 0)>()[%arg0] {
      func.call @w(%arg2) : (index) -> ()
    }
    affine.for %arg2 = max affine_map<()[s0] -> (s0 + (s0 floordiv 2) * 2, 0)>()[%arg0] to 100 {
      func.call @w(%arg2) : (index) -> ()
    }
    return
  }
}
