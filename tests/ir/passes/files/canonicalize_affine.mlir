// canonicalize
func.func @apply(%n: index, %m: index) -> (index, index, index, index, index) {
  %c4 = arith.constant 4 : index
  %0 = affine.apply affine_map<(d0) -> (d0 * 2)>(%c4)
  %1 = affine.apply affine_map<(d0)[s0] -> (d0 * 2 + s0)>(%n)[%m]
  %2 = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%1, %1)
  %3 = affine.apply affine_map<(d0) -> (d0)>(%n)
  %4 = affine.apply affine_map<() -> (7)>()
  return %0, %1, %2, %3, %4 : index, index, index, index, index
}
func.func @apply2(%n: index, %m: index) -> (index) {
  %c4 = arith.constant 4 : index
  %1 = affine.apply affine_map<(d0)[s0] -> (d0 * 2 + s0)>(%n)[%c4]
  %2 = affine.apply affine_map<(d0, d1)[s0, s1] -> (d0 + d1 floordiv 2 + s0 + s1)>(%1, %m)[%m, %n]
  return %2 : index
}
func.func @dup(%n: index, %m: index) -> (index) {
  %2 = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%n, %n)
  return %2 : index
}
func.func @unused(%n: index, %m: index) -> (index) {
  %2 = affine.apply affine_map<(d0, d1) -> (d1 * 3)>(%n, %m)
  return %2 : index
}
func.func @loop(%m: memref<8xf32>, %n: index) {
  %c2 = arith.constant 2 : index
  affine.for %i = 0 to 8 {
    %a = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)
    %v = affine.load %m[%a] : memref<8xf32>
    affine.store %v, %m[%c2] : memref<8xf32>
    %w = affine.load %m[%i + %n] : memref<8xf32>
    affine.store %w, %m[symbol(%n) + 1] : memref<8xf32>
  }
  return
}
func.func @ifc(%n: index, %f: f32, %m: memref<f32>) -> f32 {
  %c4 = arith.constant 4 : index
  affine.if affine_set<(d0) : (d0 - 3 >= 0)>(%c4) {
    affine.store %f, %m[] : memref<f32>
  } else {
  }
  affine.if affine_set<(d0) : (d0 - 9 >= 0)>(%c4) {
    affine.store %f, %m[] : memref<f32>
  }
  affine.if affine_set<(d0) : (d0 - 9 >= 0)>(%n) {
    affine.store %f, %m[] : memref<f32>
  } else {
  }
  %r = affine.if affine_set<(d0) : (d0 - 9 >= 0)>(%c4) -> f32 {
    affine.yield %f : f32
  } else {
    %g = arith.addf %f, %f : f32
    affine.yield %g : f32
  }
  return %r : f32
}
func.func @iff(%n: index, %f: f32, %m: memref<f32>) {
  affine.if affine_set<() : (1 >= 0)>() {
    affine.store %f, %m[] : memref<f32>
  }
  affine.if affine_set<() : (-1 >= 0)>() {
    affine.store %f, %m[] : memref<f32>
  }
  affine.if affine_set<(d0) : (d0 - 9 >= 0)>(%n) {
  }
  return
}
func.func @forc(%n: index, %f: f32, %m: memref<?xf32>) {
  %c4 = arith.constant 4 : index
  %c1 = arith.constant 1 : index
  affine.for %i = affine_map<(d0) -> (d0)>(%c1) to %c4 {
    affine.store %f, %m[%i] : memref<?xf32>
  }
  affine.for %i = 0 to 10 {
  }
  affine.for %i = 0 to 0 {
    affine.store %f, %m[%i] : memref<?xf32>
  }
  affine.for %i = 0 to 1 {
    affine.store %f, %m[%i] : memref<?xf32>
  }
  %a = affine.apply affine_map<(d0) -> (d0 + 1)>(%n)
  affine.for %i = 0 to %a {
    affine.store %f, %m[%i] : memref<?xf32>
  }
  return
}
func.func @castload(%m: memref<8xf32>, %n: index) -> f32 {
  %c = memref.cast %m : memref<8xf32> to memref<?xf32>
  %v = affine.load %c[symbol(%n)] : memref<?xf32>
  affine.store %v, %c[symbol(%n) + 1] : memref<?xf32>
  return %v : f32
}
func.func @mods(%n: index, %m: index) -> (index, index, index, index, index, index, index) {
  %0 = affine.apply affine_map<(d0) -> (d0 mod 4)>(%n)
  %1 = affine.apply affine_map<(d0, d1) -> ((d0 + d1) mod 4 + d0)>(%n, %m)
  %2 = affine.apply affine_map<(d0, d1) -> ((d0 * 4 + d1 * 2 + 8) floordiv 4)>(%n, %m)
  %3 = affine.apply affine_map<(d0, d1) -> ((d0 * 4 + d1 * 8) floordiv 4 - d0)>(%n, %m)
  %4 = affine.apply affine_map<(d0, d1) -> ((d0 * 4 + d1 * 2) ceildiv 4 + d0 mod 8)>(%n, %m)
  %5 = affine.apply affine_map<(d0)[s0] -> (d0 * 3 + s0 + d0)>(%n)[%m]
  %6 = affine.apply affine_map<(d0) -> (7 - d0)>(%n)
  return %0, %1, %2, %3, %4, %5, %6 : index, index, index, index, index, index, index
}
func.func @nest(%m: memref<8x8xf32>) {
  affine.for %i = 0 to 8 {
    affine.for %j = affine_map<(d0) -> (d0 + 1)>(%i) to affine_map<(d0) -> (d0 * 2 + d0)>(%i) {
      %a = affine.apply affine_map<(d0, d1) -> (d1 + d0 floordiv 2)>(%i, %j)
      %v = affine.load %m[%i, %a] : memref<8x8xf32>
      affine.store %v, %m[%j, %a] : memref<8x8xf32>
    }
  }
  return
}
func.func @sums_in_order(%n: index, %p: index, %m: memref<?xi32>, %x: i32) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %p {
      %0 = affine.apply affine_map<(d0, d1)[s0, s1] -> (s1 * s0 + d1 * s1 + s0 + d0 + d0 * s0 + s1)>(%i, %j)[%n, %p]
      memref.store %x, %m[%0] : memref<?xi32>
      %1 = affine.apply affine_map<(d0)[s0] -> (s0 * s0 * 3 + (d0 mod 4) * s0 + (d0 floordiv 8) * 2 + d0)>(%i)[%n]
      memref.store %x, %m[%1] : memref<?xi32>
    }
  }
  %2 = affine.apply affine_map<()[s0] -> ((-(s0 floordiv 4)) ceildiv 8 + s0 floordiv 4)>()[%n]
  memref.store %x, %m[%2] : memref<?xi32>
  %3 = affine.apply affine_map<()[s0] -> (s0 mod 4)>()[%n]
  %4 = affine.apply affine_map<(d0, d1) -> ((d0 + d1) floordiv 4)>(%3, %p)
  memref.store %x, %m[%4] : memref<?xi32>
  return
}
func.func @remainder_in_a_loop_without_iterations(%m: memref<?xi32>, %n: index, %x: i32) {
  affine.for %i = 2 to -45 {
    %0 = affine.max affine_map<(d0)[s0] -> (d0 mod 4, s0)>(%i)[%n]
    memref.store %x, %m[%0] : memref<?xi32>
  }
  return
}
