module {
  func.func @f(%arg0: index, %arg1: f32, %arg2: i1, %arg3: i32) -> f32 {
    cf.assert %arg2, "mess\22age"
    cf.switch %arg3 : i32, [
      default: ^bb1(%arg1 : f32),
      42: ^bb1(%arg1 : f32),
      -3: ^bb2
    ]
  ^bb1(%0: f32):  // 3 preds: ^bb0, ^bb0, ^bb1
    cf.cond_br %arg2 weights([1, 2]), ^bb1(%0 : f32), ^bb2
  ^bb2:  // 2 preds: ^bb0, ^bb1
    cf.cond_br %arg2 weights([3, 4]), ^bb3(%arg1, %arg2 : f32, i1), ^bb5
  ^bb3(%1: f32, %2: i1):  // pred: ^bb2
    cf.br ^bb4(%1 : f32) {foo}
  ^bb4(%3: f32):  // pred: ^bb3
    cf.switch %arg3 : i32, [
      default: ^bb5]
  ^bb5:  // 2 preds: ^bb2, ^bb4
    return %arg1 : f32
  }
}
