func.func @f(%a: index, %b: index, %c: index, %x: f32, %m: memref<?xf32>, %p: i1, %i: i32) -> f32 {
  scf.for %k = %a to %b step %c { }
  scf.for %k = %a to %b step %c { memref.store %x, %m[%k] : memref<?xf32> }
  scf.for unsigned %k = %i to %i step %i : i32 { }
  %r:2 = scf.for %k = %a to %b step %c iter_args(%u = %x, %v = %p) -> (f32, i1) { scf.yield %u, %v : f32, i1 }
  scf.for %k = %a to %b step %c { } {foo = 1}
  scf.if %p { }
  scf.if %p { scf.yield } else { memref.store %x, %m[%a] : memref<?xf32> }
  %w = scf.if %p -> f32 { scf.yield %x : f32 } else { scf.yield %x : f32 } {bar}
  %w2:2 = scf.if %p -> (f32, index) { scf.yield %x, %a : f32, index } else { scf.yield %x, %b : f32, index }
  %z:2 = scf.while (%u = %x, %v = %a) : (f32, index) -> (index, f32) {
    scf.condition(%p) {baz} %v, %u : index, f32
  } do {
  ^bb0(%q: index, %t: f32):
    scf.yield %t, %q : f32, index
  }
  scf.while : () -> () { scf.condition(%p) } do { scf.yield }
  scf.while : () -> () { scf.condition(%p) } do { scf.yield } attributes {foo}
  scf.parallel (%k) = (%a) to (%b) step (%c) { }
  scf.parallel (%k, %l) = (%a, %a) to (%b, %b) step (%c, %c) { scf.reduce }
  %y = scf.parallel (%k, %l) = (%a, %a) to (%b, %b) step (%c, %c) init (%x) -> f32 {
    scf.reduce(%x : f32) { ^bb0(%l0: f32, %r0: f32): %s = arith.addf %l0, %r0 : f32  scf.reduce.return %s : f32 }
  }
  %yy:2 = scf.parallel (%k) = (%a) to (%b) step (%c) init (%x, %a) -> (f32, index) {
    scf.reduce(%x, %k : f32, index) { ^bb0(%l0: f32, %r0: f32): %s = arith.addf %l0, %r0 : f32  scf.reduce.return %s : f32 },
     { ^bb0(%l0: index, %r0: index): scf.reduce.return %l0 : index }
  } {tag}
  scf.forall (%k, %l) in (4, %b) { }
  scf.forall (%k, %l) in (4, %b) { scf.forall.in_parallel { } } {mapping = [#gpu.block<x>, #gpu.block<y>]}
  scf.forall (%k) = (1) to (%b) step (2) { }
  %t0 = tensor.empty() : tensor<4xf32>
  %t1 = scf.forall (%k) in (4) shared_outs(%o = %t0) -> (tensor<4xf32>) {
    %e = tensor.empty() : tensor<1xf32>
    scf.forall.in_parallel { tensor.parallel_insert_slice %e into %o[%k] [1] [1] : tensor<1xf32> into tensor<4xf32> }
  }
  %er = scf.execute_region -> f32 { cf.br ^bb1  ^bb1: scf.yield %x : f32 }
  scf.execute_region { scf.yield }
  scf.execute_region no_inline { scf.yield } {hey}
  %er2:2 = scf.execute_region -> (f32, i1) { scf.yield %x, %p : f32, i1 }
  scf.index_switch %a case 1 { scf.yield } case -5 { scf.yield } default { }
  %sw = scf.index_switch %a {attr} -> f32 case 2 { scf.yield %x : f32 } default { scf.yield %x : f32 }
  %sw2:2 = scf.index_switch %a -> f32, i1 default { scf.yield %x, %p : f32, i1 }
  return %x : f32
}
