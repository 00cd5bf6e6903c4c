func.func @main(%a: tensor<?xf32>, %b: tensor<?xi32>) -> tensor<?xf32> {
  %0 = math.fpowi %a, %b : tensor<?xf32>, tensor<?xi32>
  return %0 : tensor<?xf32>
}
