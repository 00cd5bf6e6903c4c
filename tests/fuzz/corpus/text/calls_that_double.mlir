// pipeline: inline
func.func private @f0() {
  call @f1() : () -> ()
  call @f1() : () -> ()
  return
}
func.func private @f1() {
  call @f2() : () -> ()
  call @f2() : () -> ()
  return
}
func.func private @f2() {
  call @f3() : () -> ()
  call @f3() : () -> ()
  return
}
func.func private @f3() {
  call @f4() : () -> ()
  call @f4() : () -> ()
  return
}
func.func private @f4() {
  call @f5() : () -> ()
  call @f5() : () -> ()
  return
}
func.func private @f5() {
  call @f6() : () -> ()
  call @f6() : () -> ()
  return
}
func.func private @f6() {
  call @f7() : () -> ()
  call @f7() : () -> ()
  return
}
func.func private @f7() {
  call @f8() : () -> ()
  call @f8() : () -> ()
  return
}
func.func private @f8() {
  call @f9() : () -> ()
  call @f9() : () -> ()
  return
}
func.func private @f9() {
  call @f10() : () -> ()
  call @f10() : () -> ()
  return
}
func.func private @f10() {
  call @f11() : () -> ()
  call @f11() : () -> ()
  return
}
func.func private @f11() {
  call @f12() : () -> ()
  call @f12() : () -> ()
  return
}
func.func private @f12() {
  call @f13() : () -> ()
  call @f13() : () -> ()
  return
}
func.func private @f13() {
  call @f14() : () -> ()
  call @f14() : () -> ()
  return
}
func.func private @f14() {
  call @f15() : () -> ()
  call @f15() : () -> ()
  return
}
func.func private @f15() {
  call @f16() : () -> ()
  call @f16() : () -> ()
  return
}
func.func private @f16() {
  call @f17() : () -> ()
  call @f17() : () -> ()
  return
}
func.func private @f17() {
  call @f18() : () -> ()
  call @f18() : () -> ()
  return
}
func.func private @f18() {
  call @f19() : () -> ()
  call @f19() : () -> ()
  return
}
func.func private @f19() {
  call @f20() : () -> ()
  call @f20() : () -> ()
  return
}
func.func private @f20() {
  call @f21() : () -> ()
  call @f21() : () -> ()
  return
}
func.func private @f21() {
  call @f22() : () -> ()
  call @f22() : () -> ()
  return
}
func.func private @f22() {
  call @f23() : () -> ()
  call @f23() : () -> ()
  return
}
func.func private @f23() {
  call @f24() : () -> ()
  call @f24() : () -> ()
  return
}
func.func private @f24() {
  call @f25() : () -> ()
  call @f25() : () -> ()
  return
}
func.func private @f25() {
  call @f26() : () -> ()
  call @f26() : () -> ()
  return
}
func.func private @f26() {
  call @f27() : () -> ()
  call @f27() : () -> ()
  return
}
func.func private @f27() {
  call @f28() : () -> ()
  call @f28() : () -> ()
  return
}
func.func private @f28() {
  call @f29() : () -> ()
  call @f29() : () -> ()
  return
}
func.func private @f29() {
  call @f30() : () -> ()
  call @f30() : () -> ()
  return
}
func.func private @f30() { return }
func.func @main() {
  call @f0() : () -> ()
  return
}
