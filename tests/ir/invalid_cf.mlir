// expected-error@+1:36 {{type mismatch for bb argument #0 of successor #0}}
func.func @f(%a: index, %x: f32) { cf.br ^bb1(%a : index) ^bb1(%k: f32): return }
// -----
// expected-error@+1:36 {{branch has 0 operands for successor #0, but target block has 1}}
func.func @f(%a: index, %x: f32) { cf.br ^bb1 ^bb1(%k: f32): return }
// -----
// expected-error@+1:47 {{use of value '%x' expects different type than prior uses: 'i1' vs 'i32'}}
func.func @f(%a: index, %x: i32) { cf.cond_br %x, ^bb1, ^bb1 ^bb1: return }
// -----
// expected-error@+1:46 {{use of value '%x' expects different type than prior uses: 'i1' vs 'i32'}}
func.func @f(%a: index, %x: i32) { cf.assert %x, "a" return }
