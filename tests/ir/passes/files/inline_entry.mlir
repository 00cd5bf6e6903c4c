// inline{entry=main canonicalize=false remove-unused=false}
// Only calls that the plan of @main makes are inlined, whatever is marked; one in a loop that is not planned stays, and
// so does one of a function with several blocks.
func.func private @twice(%x: i32) -> i32 attributes {no_inline} {
  %0 = func.call @once(%x) : (i32) -> i32
  %1 = func.call @once(%0) : (i32) -> i32
  return %1 : i32
}
func.func private @once(%x: i32) -> i32 {
  %c = arith.constant 1 : i32
  %0 = arith.addi %x, %c : i32
  return %0 : i32
}
func.func private @blocks(%x: i32) -> i32 {
  cf.br ^bb1(%x : i32)
^bb1(%0: i32):
  return %0 : i32
}
func.func private @unused() {
  return
}
func.func @other(%x: i32) -> i32 {
  %0 = func.call @once(%x) : (i32) -> i32
  return %0 : i32
}
func.func @main(%x: i32, %c: i1, %n: index) -> (i32, i32) {
  %0 = func.call @twice(%x) {no_inline} : (i32) -> i32
  %1 = scf.if %c -> i32 {
    %4 = func.call @once(%0) : (i32) -> i32
    scf.yield %4 : i32
  } else {
    scf.yield %0 : i32
  }
  %2 = affine.for %i = 0 to 3 iter_args(%a = %1) -> (i32) {
    %4 = func.call @once(%a) : (i32) -> i32
    affine.yield %4 : i32
  }
  %3 = func.call @blocks(%2) : (i32) -> i32
  return %2, %3 : i32, i32
}
