// pipeline: canonicalize
func.func @f(%a: index) -> index { %0 = affine.apply affine_map<(d0) -> (d0 * 9223372036854775807)>(%a)
  %1 = affine.apply affine_map<(d0) -> (d0 * 100)>(%0)
  return %1 : index }
