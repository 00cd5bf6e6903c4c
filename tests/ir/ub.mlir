func.func @undefined(%p: i1) -> i32 attributes {test.a = #ub.poison, test.b = #ub<poison>} {
  cf.cond_br %p, ^bb1, ^bb2
^bb1:
  %0 = ub.poison : i32
  %1 = ub.poison <#ub.poison> : vector<4xf32>
  %2 = ub.poison {note} : tensor<*xf32>
  return %0 : i32
^bb2:
  ub.unreachable {note}
}
