func.func @f(%a: index, %b: index) -> index {
  %0 = affine.apply affine_map<(d0)[s0] -> (s0 * s0 * 3 + (d0 mod 4) * s0 + (d0 floordiv 8) * 2 + d0)>(%a)[%b]
  return %0 : index
}
