func.func @f() { scf.forall (%i) in (-9223372036854775808) { }
  return }
