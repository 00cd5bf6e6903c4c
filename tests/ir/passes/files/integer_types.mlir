// lower-quant-ops,quant-to-integer-types
!q = !quant.uniform<i8:f32, 0.5:3>
!t = tensor<4x!q>
func.func private @id(%a: !t) -> !t {
  return %a : !t
}
func.func @f(%x: !t, %n: index, %p: i1, %m: tensor<4xi1>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%h = %x) -> (!t) {
    %u = func.call @id(%h) : (!t) -> !t
    %z = tensor.extract %u[%c0] : !t
    %e = tensor.empty() : !t
    %f = linalg.fill ins(%z : !q) outs(%e : !t) -> !t
    %s = arith.select %m, %u, %f : tensor<4xi1>, !t
    scf.yield %s : !t
  }
  %v = scf.if %p -> (!t) {
    scf.yield %r : !t
  } else {
    scf.yield %x : !t
  }
  cf.cond_br %p, ^bb1(%v : !t), ^bb2(%r : !t)
^bb1(%a: !t):
  cf.br ^bb2(%a : !t)
^bb2(%w: !t):
  %d = quant.dcast %w : !t to tensor<4xf32>
  return %d : tensor<4xf32>
}
