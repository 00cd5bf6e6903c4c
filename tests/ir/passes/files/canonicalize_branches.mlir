// canonicalize
func.func @condbr(%x: i32, %y: i32) -> i32 {
  %t = arith.constant true
  cf.cond_br %t, ^a(%x : i32), ^b(%y : i32)
^a(%p: i32):
  %q = arith.addi %p, %p : i32
  cf.br ^c(%q : i32)
^b(%r: i32):
  %s = arith.muli %r, %r : i32
  cf.br ^c(%s : i32)
^c(%z: i32):
  return %z : i32
}
func.func @samedest(%c: i1, %x: i32, %y: i32) -> i32 {
  cf.cond_br %c, ^a(%x : i32), ^a(%y : i32)
^a(%p: i32):
  return %p : i32
}
func.func @samedest2(%c: i1, %x: i32, %y: i32) -> i32 {
  cf.cond_br %c, ^a(%x : i32), ^a(%x : i32)
^a(%p: i32):
  return %p : i32
}
func.func @passthrough(%c: i1, %x: i32, %y: i32) -> i32 {
  cf.cond_br %c, ^a(%x : i32), ^b
^a(%p: i32):
  cf.br ^d(%p : i32)
^b:
  cf.br ^d(%y : i32)
^d(%z: i32):
  return %z : i32
}
func.func @merge(%x: i32) -> i32 {
  cf.br ^a(%x : i32)
^a(%p: i32):
  %q = arith.addi %p, %p : i32
  cf.br ^b(%q : i32)
^b(%r: i32):
  return %r : i32
}
func.func @switch(%x: i32) -> i32 {
  %c = arith.constant 5 : i32
  cf.switch %c : i32, [
    default: ^d(%x : i32),
    5: ^e(%x : i32),
    7: ^f
  ]
^d(%a: i32):
  %a1 = arith.addi %a, %a : i32
  return %a1 : i32
^e(%b: i32):
  %b1 = arith.muli %b, %b : i32
  return %b1 : i32
^f:
  return %x : i32
}
func.func @loopknown(%c: i1, %x: i32) -> i32 {
  cf.br ^h(%x : i32)
^h(%i: i32):
  %d = arith.cmpi slt, %i, %x : i32
  cf.cond_br %d, ^b, ^e
^b:
  %n = arith.addi %i, %x : i32
  cf.br ^h(%n : i32)
^e:
  return %i : i32
}
func.func @unreachable(%c: i1, %x: i32) -> i32 {
  return %x : i32
^e(%k: i32):
  cf.br ^e(%k : i32)
}
func.func @condinbranch(%c: i1, %x: i32) -> (i1, i1) {
  cf.cond_br %c, ^a, ^b
^a:
  return %c, %c : i1, i1
^b:
  return %c, %c : i1, i1
}
func.func @identical(%c: i1, %x: i32, %y: i32) -> i32 {
  cf.cond_br %c, ^a, ^b
^a:
  %0 = arith.addi %x, %y : i32
  return %0 : i32
^b:
  %1 = arith.addi %x, %y : i32
  return %1 : i32
}
func.func @unusedarg(%c: i1, %x: i32, %y: i32) -> i32 {
  cf.br ^h(%x, %y, %x : i32, i32, i32)
^h(%i: i32, %dead: i32, %same: i32):
  %d = arith.cmpi slt, %i, %same : i32
  cf.cond_br %d, ^b, ^e
^b:
  %n = arith.addi %i, %x : i32
  cf.br ^h(%n, %dead, %x : i32, i32, i32)
^e:
  return %i : i32
}
func.func @switch1(%c: i32, %x: i32) -> i32 {
  cf.switch %c : i32, [
    default: ^d(%x : i32)
  ]
^d(%a: i32):
  return %a : i32
}
func.func @switchdup(%c: i32, %x: i32) -> i32 {
  cf.switch %c : i32, [
    default: ^d(%x : i32),
    1: ^d(%x : i32),
    2: ^e
  ]
^d(%a: i32):
  return %a : i32
^e:
  return %c : i32
}
func.func @assert(%x: i32) {
  %t = arith.constant true
  cf.assert %t, "a"
  %f = arith.constant false
  cf.assert %f, "b"
  return
}
