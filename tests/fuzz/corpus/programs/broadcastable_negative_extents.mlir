// values: 3; pipeline: canonicalize
func.func @main(%d: tensor<?xindex>) -> i1 {
  %0 = shape.is_broadcastable %d, %d : tensor<?xindex>, tensor<?xindex>
  return %0 : i1
}
