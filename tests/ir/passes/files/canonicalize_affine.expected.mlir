module {
  func.func @apply(%arg0: index, %arg1: index) -> (index, index, index, index, index) {
    %0 = arith.constant 7 : index
    %1 = arith.constant 8 : index
    %2 = affine.apply affine_map<()[s0, s1] -> (s0 + s1 * 2)>()[%arg1, %arg0]
    %3 = affine.apply affine_map<()[s0, s1] -> (s0 * 2 + s1 * 4)>()[%arg1, %arg0]
    return %1, %2, %3, %arg0, %0 : index, index, index, index, index
  }
  func.func @apply2(%arg0: index, %arg1: index) -> index {
    %0 = affine.apply affine_map<()[s0, s1] -> (s0 + s1 * 3 + s0 floordiv 2 + 4)>()[%arg1, %arg0]
    return %0 : index
  }
  func.func @dup(%arg0: index, %arg1: index) -> index {
    %0 = affine.apply affine_map<()[s0] -> (s0 * 2)>()[%arg0]
    return %0 : index
  }
  func.func @unused(%arg0: index, %arg1: index) -> index {
    %0 = affine.apply affine_map<()[s0] -> (s0 * 3)>()[%arg1]
    return %0 : index
  }
  func.func @loop(%arg0: memref<8xf32>, %arg1: index) {
    affine.for %arg2 = 0 to 8 {
      %0 = affine.load %arg0[%arg2 + 1] : memref<8xf32>
      affine.store %0, %arg0[2] : memref<8xf32>
      %1 = affine.load %arg0[%arg2 + symbol(%arg1)] : memref<8xf32>
      affine.store %1, %arg0[symbol(%arg1) + 1] : memref<8xf32>
    }
    return
  }
  func.func @ifc(%arg0: index, %arg1: f32, %arg2: memref<f32>) -> f32 {
    affine.if affine_set<() : (1 >= 0)>() {
      affine.store %arg1, %arg2[] : memref<f32>
    }
    affine.if affine_set<() : (-5 >= 0)>() {
      affine.store %arg1, %arg2[] : memref<f32>
    }
    affine.if affine_set<()[s0] : (s0 - 9 >= 0)>()[%arg0] {
      affine.store %arg1, %arg2[] : memref<f32>
    }
    %0 = affine.if affine_set<() : (-5 >= 0)>() -> f32 {
      affine.yield %arg1 : f32
    } else {
      %1 = arith.addf %arg1, %arg1 : f32
      affine.yield %1 : f32
    }
    return %0 : f32
  }
  func.func @iff(%arg0: index, %arg1: f32, %arg2: memref<f32>) {
    affine.if affine_set<() : (1 >= 0)>() {
      affine.store %arg1, %arg2[] : memref<f32>
    }
    affine.if affine_set<() : (-1 >= 0)>() {
      affine.store %arg1, %arg2[] : memref<f32>
    }
    return
  }
  func.func @forc(%arg0: index, %arg1: f32, %arg2: memref<?xf32>) {
    affine.for %arg3 = 1 to 4 {
      affine.store %arg1, %arg2[%arg3] : memref<?xf32>
    }
    affine.for %arg3 = 0 to 0 {
      affine.store %arg1, %arg2[%arg3] : memref<?xf32>
    }
    affine.for %arg3 = 0 to 1 {
      affine.store %arg1, %arg2[%arg3] : memref<?xf32>
    }
    affine.for %arg3 = 0 to affine_map<()[s0] -> (s0 + 1)>()[%arg0] {
      affine.store %arg1, %arg2[%arg3] : memref<?xf32>
    }
    return
  }
  func.func @castload(%arg0: memref<8xf32>, %arg1: index) -> f32 {
    %0 = affine.load %arg0[symbol(%arg1)] : memref<8xf32>
    affine.store %0, %arg0[symbol(%arg1) + 1] : memref<8xf32>
    return %0 : f32
  }
  func.func @mods(%arg0: index, %arg1: index) -> (index, index, index, index, index, index, index) {
    %0 = affine.apply affine_map<()[s0] -> (s0 mod 4)>()[%arg0]
    %1 = affine.apply affine_map<()[s0, s1] -> (s0 * 2 + s1 - ((s0 + s1) floordiv 4) * 4)>()[%arg0, %arg1]
    %2 = affine.apply affine_map<()[s0, s1] -> (s0 + s1 floordiv 2 + 2)>()[%arg0, %arg1]
    %3 = affine.apply affine_map<()[s0] -> (s0 * 2)>()[%arg1]
    %4 = affine.apply affine_map<()[s0, s1] -> (s0 + (s0 * 2 + s1) ceildiv 2 - (s0 floordiv 8) * 8)>()[%arg0, %arg1]
    %5 = affine.apply affine_map<()[s0, s1] -> (s0 + s1 * 4)>()[%arg1, %arg0]
    %6 = affine.apply affine_map<()[s0] -> (-s0 + 7)>()[%arg0]
    return %0, %1, %2, %3, %4, %5, %6 : index, index, index, index, index, index, index
  }
  func.func @nest(%arg0: memref<8x8xf32>) {
    affine.for %arg1 = 0 to 8 {
      affine.for %arg2 = affine_map<(d0) -> (d0 + 1)>(%arg1) to affine_map<(d0) -> (d0 * 3)>(%arg1) {
        %0 = affine.load %arg0[%arg1, %arg2 + %arg1 floordiv 2] : memref<8x8xf32>
        affine.store %0, %arg0[%arg2, %arg2 + %arg1 floordiv 2] : memref<8x8xf32>
      }
    }
    return
  }
  func.func @sums_in_order(%arg0: index, %arg1: index, %arg2: memref<?xi32>, %arg3: i32) {
    affine.for %arg4 = 0 to %arg0 {
      affine.for %arg5 = 0 to %arg1 {
        %2 = affine.apply affine_map<(d0, d1)[s0, s1] -> (d0 + d0 * s0 + s0 + s0 * s1 + d1 * s1 + s1)>(%arg4, %arg5)[%arg0, %arg1]
        memref.store %arg3, %arg2[%2] : memref<?xi32>
        %3 = affine.apply affine_map<(d0)[s0] -> (d0 + (d0 floordiv 8) * 2 + (s0 * s0) * 3 + (d0 mod 4) * s0)>(%arg4)[%arg0]
        memref.store %arg3, %arg2[%3] : memref<?xi32>
      }
    }
    %0 = affine.apply affine_map<()[s0] -> (s0 floordiv 4 + (-(s0 floordiv 4)) ceildiv 8)>()[%arg0]
    memref.store %arg3, %arg2[%0] : memref<?xi32>
    %1 = affine.apply affine_map<()[s0, s1] -> ((s0 + s1) floordiv 4 - s0 floordiv 4)>()[%arg0, %arg1]
    memref.store %arg3, %arg2[%1] : memref<?xi32>
    return
  }
  func.func @remainder_in_a_loop_without_iterations(%arg0: memref<?xi32>, %arg1: index, %arg2: i32) {
    affine.for %arg3 = 2 to -45 {
      %0 = affine.max affine_map<(d0)[s0] -> (s0, d0)>(%arg3)[%arg1]
      memref.store %arg2, %arg0[%0] : memref<?xi32>
    }
    return
  }
}
