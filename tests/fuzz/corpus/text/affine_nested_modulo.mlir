// pipeline: canonicalize
func.func @f(%a: index) -> index {
  %0 = affine.apply affine_map<(d0) -> (((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((d0 mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0) mod 7 + d0))>(%a)
  return %0 : index
}
