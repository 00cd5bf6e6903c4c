#s = affine_set<(i) : (i - 10 >= 0)>
func.func @f(%N: index) { affine.for %i#0 = 1 to 10 { } return }
