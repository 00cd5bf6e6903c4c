// pipeline: canonicalize
func.func @f(%c: ui8) {
  cf.switch %c : ui8, [default: ^bb1, -3: ^bb1, 200: ^bb1]
^bb1:
  return
}
