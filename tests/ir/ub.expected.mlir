module {
  func.func @undefined(%arg0: i1) -> i32 attributes {test.a = #ub.poison, test.b = #ub.poison} {
    cf.cond_br %arg0, ^bb1, ^bb2
  ^bb1:  // pred: ^bb0
    %0 = ub.poison : i32
    %1 = ub.poison : vector<4xf32>
    %2 = ub.poison {note} : tensor<*xf32>
    return %0 : i32
  ^bb2:  // pred: ^bb0
    ub.unreachable {note}
  }
}
