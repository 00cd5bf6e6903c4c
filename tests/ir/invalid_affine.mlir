// expected-error@+1:63 {{expected step to be representable as a positive signed integer}}
func.func @f(%m: memref<4xf32>) { affine.for %i = 0 to 4 step -1 { } return }
// -----
// expected-error@+1:56 {{upper loop bound affine map with multiple results requires 'min' prefix}}
func.func @f(%m: memref<4xf32>) { affine.for %i = 0 to affine_map<() -> (1, 2)>() { } return }
// -----
// expected-error@+1:103 {{'affine.yield' op parent of yield must have same number of results as the yield operands}}
func.func @f(%m: memref<4xf32>, %x: i32) { %r = affine.for %i = 0 to 4 iter_args(%u = %x) -> (i32) { } return }
// -----
// expected-error@+1:49 {{mismatch between the number of loop-carried values and results}}
func.func @f(%m: memref<4xf32>, %x: i32) { %r = affine.for %i = 0 to 4 iter_args(%u = %x) -> (i32, i32) { } return }
// -----
// expected-error@+1:64 {{use of value '%x' expects different type than prior uses: 'index' vs 'i32'}}
func.func @f(%m: memref<4xf32>, %x: i32) { %a = affine.load %m[%x] : memref<4xf32> return }
// -----
// expected-error@+1:51 {{'affine.load' op affine map num results must equal memref rank}}
func.func @f(%m: memref<4xf32>, %x: index) { %a = affine.load %m[%x, %x] : memref<4xf32> return }
// -----
// expected-error@+1:60 {{'affine.for' op operand cannot be used as a symbol}}
func.func @f(%m: memref<4xf32>) { affine.for %i = 0 to 4 { affine.for %j = 0 to affine_map<()[s0] -> (s0)>()[%i] { } } return }
// -----
// expected-error@+1:60 {{'affine.for' op operand cannot be used as a symbol}}
func.func @f(%m: memref<4xf32>) { affine.for %i = 0 to 4 { affine.for %j = 0 to %i { } } return }
// -----
// expected-error@+1:32 {{'affine.apply' op mapping must produce one value}}
func.func @f(%n: index) { %a = affine.apply affine_map<(d0) -> (d0, d0)>(%n) return }
// -----
// expected-error@+1:32 {{dimension or symbol index mismatch}}
func.func @f(%n: index) { %a = affine.apply affine_map<(d0, d1) -> (d0)>(%n) return }
// -----
// expected-error@+1:32 {{'affine.min' op affine map expect at least one result}}
func.func @f(%n: index) { %a = affine.min affine_map<(d0) -> ()>(%n) return }
// -----
// expected-error@+1:27 {{symbol operand count and integer set symbol count must match}}
func.func @f(%n: index) { affine.if affine_set<(d0)[s0] : (d0 - s0 >= 0)>(%n) { } return }
// -----
// expected-error@+1:41 {{'affine.if' op along control flow edge from parent to parent: region branch point has 0 operands, but region successor needs 1 inputs}}
func.func @f(%n: index, %x: f32) { %r = affine.if affine_set<(d0) : (d0 >= 0)>(%n) -> f32 { affine.yield %x : f32 } return }
// -----
// expected-error@+1:93 {{'affine.yield' op types mismatch between yield op and its parent}}
func.func @f(%n: index, %x: f32) { %r = affine.if affine_set<(d0) : (d0 >= 0)>(%n) -> f32 { affine.yield %n : index } else { affine.yield %x : f32 } return }
// -----
// expected-error@+1:36 {{'affine.yield' op only terminates affine.if/for/parallel regions}}
func.func @f(%n: index, %x: f32) { affine.yield return }
// -----
// expected-error@+1:68 {{use of value '%x' expects different type than prior uses: 'f32' vs 'i32'}}
func.func @f(%n: index, %x: i32, %m: memref<4xf32>) { affine.store %x, %m[%n] : memref<4xf32> return }
// -----
// expected-error@+1:55 {{'affine.store' op value to store must have the same type as memref element type}}
func.func @f(%n: index, %x: i32, %m: memref<4xf32>) { "affine.store"(%x, %m, %n) <{map = affine_map<(d0) -> (d0)>}> : (i32, memref<4xf32>, index) -> () return }
// -----
// expected-error@+1:51 {{'affine.load' op result type must match element type of memref}}
func.func @f(%n: index, %m: memref<4xf32>) { %0 = "affine.load"(%m, %n) <{map = affine_map<(d0) -> (d0)>}> : (memref<4xf32>, index) -> i32 return }
// -----
// expected-error@+1:51 {{'affine.load' op affine map num results must equal memref rank}}
func.func @f(%n: index, %m: memref<4xf32>) { %0 = "affine.load"(%m, %n) <{map = affine_map<(d0) -> (d0, d0)>}> : (memref<4xf32>, index) -> f32 return }
// -----
// expected-error@+1:51 {{'affine.load' op expects as many subscripts as affine map inputs}}
func.func @f(%n: index, %m: memref<4xf32>) { %0 = "affine.load"(%m, %n) <{map = affine_map<(d0, d1) -> (d0)>}> : (memref<4xf32>, index) -> f32 return }
// -----
// expected-error@+1:143 {{'affine.for' op operand cannot be used as a symbol}}
func.func @f(%n: i1) { scf.if %n { %c = arith.constant 1 : index %m = memref.alloc(%c) : memref<?xf32> %d = memref.dim %m, %c : memref<?xf32> affine.for %i = 0 to %d { } } return }
// -----
// expected-error@+1:107 {{'affine.load' op operand cannot be used as a dimension id}}
func.func @f(%n: index, %m: memref<4xf32>) { affine.for %i = 0 to 4 { %d = arith.addi %i, %n : index %0 = affine.load %m[%d] : memref<4xf32> } return }
// -----
// expected-error@+1:83 {{'affine.load' op operand cannot be used as a dimension id}}
func.func @f(%n: index, %m: memref<4xf32>) { scf.for %i = %n to %n step %n { %0 = affine.load %m[%i] : memref<4xf32> } return }
// -----
func.func @f(%n: index) {
  // expected-error@+1:3 {{'affine.parallel' op the number of region arguments (1) and the number of map groups for lower (2) and upper bound (1), and the number of steps (1) must all match}}
  affine.parallel (%i) = (0, 1) to (%n) { }
  return
}
// -----
func.func @f(%n: index, %c: f32) {
  // expected-error@+1:51 {{invalid reduction value: "foo"}}
  %r = affine.parallel (%i) = (0) to (%n) reduce ("foo") -> (f32) { affine.yield %c : f32 }
  return
}
// -----
func.func @f(%n: index, %c: f32) {
  // expected-error@+1:8 {{'affine.parallel' op a reduction must be specified for each output}}
  %r = affine.parallel (%i) = (0) to (%n) reduce ("addf", "mulf") -> (f32) { affine.yield %c : f32 }
  return
}
// -----
func.func @f(%n: index, %c: i32) {
  // expected-error@+1:8 {{'affine.parallel' op result type cannot match reduction attribute}}
  %r = affine.parallel (%i) = (0) to (%n) reduce ("maxs") -> (i32) { affine.yield %c : i32 }
  return
}
// -----
func.func @f(%n: index, %c: f32) {
  // expected-error@+1:70 {{'affine.yield' op parent of yield must have same number of results as the yield operands}}
  %r = affine.parallel (%i) = (0) to (%n) reduce ("addf") -> (f32) { affine.yield }
  return
}
// -----
func.func @f(%n: index) {
  scf.for %i = %n to %n step %n {
    // expected-error@+1:5 {{'affine.parallel' op operand cannot be used as a dimension id}}
    affine.parallel (%j) = (%i) to (%n) { }
  }
  return
}
