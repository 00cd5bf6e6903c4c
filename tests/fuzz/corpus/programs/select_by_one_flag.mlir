// values: 3; pipeline: canonicalize
func.func @f(%p: i1, %a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.select %p, %a, %b : tensor<?xf32>
  return %0 : tensor<?xf32>
}
