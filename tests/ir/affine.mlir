#set = affine_set<(d0)[s0] : (d0 - 1 >= 0, -d0 + s0 >= 0)>
func.func @f(%n: index, %k: index, %x: f32, %m: memref<?x?xf32>, %v: memref<?xf32>) -> f32 {
  affine.for %i = 0 to 10 { }
  affine.for %i = 0 to %n step 2 { affine.store %x, %m[%i, %i * 2 + symbol(%n) - 1] : memref<?x?xf32> }
  affine.for %i = %n to %k { }
  affine.for %i = affine_map<(d0)[s0] -> (d0 + s0)>(%n)[%k] to affine_map<(d0) -> (d0 * 2)>(%n) { }
  affine.for %i = max affine_map<(d0) -> (d0, 4)>(%n) to min affine_map<(d0)[s0] -> (d0, s0, 8)>(%n)[%k] step 4 { } {foo}
  %r:2 = affine.for %i = 0 to 4 iter_args(%u = %x, %w = %n) -> (f32, index) { affine.yield %u, %w : f32, index }
  affine.for %i = 0 to 10 {
    affine.for %j = affine_map<(d0) -> (d0)>(%i) to affine_map<(d0)[s0] -> (s0 + d0)>(%i)[%n] {
      %a = affine.load %m[%i, %j] : memref<?x?xf32>
      %b = affine.apply affine_map<(d0, d1)[s0] -> (d0 * 2 + d1 floordiv 4 + s0)>(%i, %j)[%n]
      %c = affine.min affine_map<(d0)[s0] -> (d0, s0 - 1)>(%i)[%n]
      %d = affine.max affine_map<(d0) -> (d0, 5)>(%i)
      affine.if #set(%i)[%n] { affine.store %a, %v[%i] : memref<?xf32> }
      affine.if affine_set<(d0, d1) : (d0 - d1 == 0)>(%i, %j) { } else { affine.store %a, %v[symbol(%n)] : memref<?xf32> }
      %e = affine.if #set(%i)[%n] -> f32 { affine.yield %x : f32 } else { affine.yield %a : f32 }
      %z = affine.load %v[0] : memref<?xf32>
      %zz = affine.load %v[%i mod 2 + %j floordiv 3 - 4] {tag} : memref<?xf32>
    }
  }
  affine.for %i = -1 to affine_map<()[s0] -> (s0 - 1)>()[%n] { }
  affine.for %i = 0 to affine_map<()[s0] -> (s0)>()[%n] { }
  affine.for %i = 0 to affine_map<() -> (7)>() { }
  affine.for %i = 0 to affine_map<(d0) -> (d0)>(%n) { }
  affine.for %i = 0 to min affine_map<() -> (7, 8)>() { }
  return %x : f32
}
func.func @parallel(%n: index, %m: memref<?x?xf32>, %x: f32) -> f32 {
  affine.parallel (%i) = (0) to (10) {
  }
  affine.parallel () = () to () {
  }
  affine.parallel (%i, %j) = (0, %n) to (10, symbol(%n) * 2) step (1, 2) {
    affine.store %x, %m[%i, %j] : memref<?x?xf32>
    affine.parallel (%k) = (max(%i, %j - 1, 0)) to (min(%n, %i + symbol(%n))) {
      %0 = affine.load %m[%k, %i] : memref<?x?xf32>
      affine.yield
    } {note}
  }
  %r:2 = affine.parallel (%i, %j) = (0, 0) to (%n, min(%n, 4)) step (1, 2) reduce ("addf", "maximumf") -> (f32, f32) {
    affine.yield %x, %x : f32, f32
  }
  return %r#0 : f32
}
