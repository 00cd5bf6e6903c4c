func.func @f(%a: index, %x: f32, %p: i1, %i: i32) -> f32 {
  cf.assert %p, "mess\"age"
  cf.switch %i : i32, [ default: ^bb1(%x : f32), 42: ^bb1(%x : f32), -3: ^bb2 ]
^bb1(%n: f32):
  cf.cond_br %p, ^bb1(%n : f32), ^bb2 {branch_weights = array<i32: 1, 2>}
^bb2:
  cf.cond_br %p weights([3, 4]), ^bb3(%x, %p : f32, i1), ^bb4
^bb3(%g: f32, %h: i1):
  cf.br ^bb5(%g : f32) {foo}
^bb5(%hh: f32):
  cf.switch %i : i32, [ default: ^bb4 ]
^bb4:
  return %x : f32
}
