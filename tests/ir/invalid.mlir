// Each program breaks one rule; the comment says where and how. Columns are held by test_invalid.py.

func.func @f() {
  // expected-error@+1:3 {{symbol's parent must have the SymbolTable trait}}
  func.func @g() { return }
  return
}
// -----
// expected-error@+1:14 {{result number not allowed in argument list}}
func.func @f(%x#0: i32) { return }
// -----
func.func @f(%x: f16) {
  // expected-error@+1:28 {{expected a type}}
  %0 = quant.qcast %x    : f16to !quant.uniform<i8:f16, 1.0>
  return
}
// -----
func.func @f(%x: f32) {
  // expected-error@+1:5 {{expected '=' after SSA name}}
  %0 // = arith.addf %x, %x : f32
  %1 = arith.addf %x, %x : f32
  return
}
// -----
func.func @f() {
  // expected-error@+1:3 {{custom op 'module' is unknown}}
  module { }
  return
}
// -----
// expected-error@+1:42 {{expected 'true' or 'false' values for i1 type}}
module attributes {q.a = array<i1: true, 0>} { }
// -----
// expected-error@+1:40 {{expected the number of strides to match the rank}}
module attributes {q.a = memref<4xf32, strided<[1, 2]>>} { }
// -----
// expected-error@+1:40 {{memref layout mismatch between rank and affine map: 1 != 2}}
module attributes {q.a = memref<4xf32, affine_map<(d0, d1) -> (d0)>>} { }
// -----
// expected-error@+1:40 {{cannot have affine map for unranked memref type}}
module attributes {q.a = memref<*xf32, strided<[1]>>} { }
// -----
// expected-error@+1:43 {{expected memory space to be last in memref type}}
module attributes {q.a = memref<4xf32, 1, strided<[1]>>} { }
// -----
// expected-error@+1:43 {{multiple memory spaces specified in memref type}}
module attributes {q.a = memref<4xf32, 1, 2>} { }
// -----
// expected-error@+1:40 {{unsupported memory space Attribute}}
module attributes {q.a = memref<4xf32, [1]>} { }
// -----
// expected-error@+1:41 {{expected '>' in tensor type}}
module attributes {q.a = tensor<4xf32, 1, 2>} { }
// -----
// expected-error@+1:38 {{expected floating-point elements, found an integer}}
module attributes {q.a = dense<[0.1, 1]> : tensor<2xf80>} { }
// -----

// expected-error@+1:16 {{expected ':'}}
func.func @f(%x i32) { return }
// -----
// expected-error@+1:18 {{expected a type}}
func.func @f(%x: i33x) { return }
// -----
// expected-error@+1:26 {{region entry argument '%x' is already in use}}
func.func @f(%x: i32,    %x: i32) { return }
// -----
func.func @f() {
  %0 = arith.constant 1 : i32
  // expected-error@+1:3 {{redefinition of SSA value '%0'}}
  %0 = arith.constant 2 : i32
  return
}
// -----
func.func @f() -> i32 {
  // expected-error@+1:10 {{use of undeclared SSA value name '%y'}}
  return %y : i32
}
// -----
func.func @f(%x: i32) -> i64 {
  // expected-error@+1:10 {{use of value '%x' expects different type than prior uses: 'i64' vs 'i32'}}
  return %x : i64
}
// -----
func.func @f(%x: i32) -> i64 {
  // expected-error@+1:3 {{type of return operand 0 ('i32') doesn't match function result type ('i64') in function @f}}
  return %x : i32
}
// -----
func.func @f(%x: i32) -> i32 {
  // expected-error@+1:3 {{has 0 operands, but enclosing function (@f) returns 1}}
  return
}
// -----
// expected-error@+1:1 {{empty block: expect at least a terminator}}
func.func @f() { }
// -----
func.func @f() {
  // expected-error@+1:8 {{block with no terminator, has 'arith.constant'}}
  %0 = arith.constant 1 : i32
}
// -----
func.func @f() {
  // expected-error@+1:3 {{must be the last operation in the parent block}}
  return
  return
}
// -----
func.func @f(%x: f32) {
  // expected-error@+1:20 {{operand #0 does not dominate this use}}
  %0 = quant.dcast %1 : !quant.uniform<i8:f32, 1.0> to f32
  %1 = quant.qcast %x : f32 to !quant.uniform<i8:f32, 1.0>
  return
}
// -----
// expected-error@+1:1 {{custom op 'foo.bar' is unknown}}
foo.bar
// -----
// expected-error@+1:1 {{op 'foo.bar' is unregistered}}
"foo.bar"() : () -> ()
// -----
func.func private @f()
// expected-error@+1:1 {{redefinition of symbol named 'f'}}
func.func private @f()
// -----
// expected-error@+1:1 {{symbol declaration cannot have public visibility}}
func.func @f(i32) -> i32
// -----
// expected-error@+1:1 {{can only contain attributes with dialect-prefixed names, found: 'a'}}
module attributes {a = 1} { }
// -----
func.func @f() {
  // expected-error@+1:3 {{'g' does not reference a valid function}}
  call @g() : () -> ()
  return
}
// -----
func.func @f(%x: i32) -> i32 {
  // expected-error@+1:8 {{result type mismatch at index 0: expected result type 'i32', but provided 'i64'}}
  %0 = call @f(%x) : (i32) -> i64
  return %x : i32
}
// -----
func.func @f() {
  // expected-error@+1:3 {{operation defines 1 results but was provided 2 to bind}}
  %0:2 = arith.constant 1 : i32
  return
}
// -----
func.func @f() {
  // expected-error@+1:8 {{failed to verify that all of {value, result} have same type}}
  %0 = "arith.constant"() <{value = 1 : i32}> : () -> i64
  return
}
// -----
func.func @f() {
  // expected-error@+1:8 {{requires attribute 'value'}}
  %0 = "arith.constant"() : () -> i64
  return
}
// -----
func.func @f() {
  // expected-error@+1:23 {{expected the value of a constant: an integer, a float, or elements (dense<...>)}}
  %0 = arith.constant "string"
  return
}
// -----
func.func @f() {
  // expected-error@+1:33 {{integer constant out of range for i8}}
  %0 = arith.constant dense<[1, 256]> : tensor<2xi8>
  return
}
// -----
func.func @f(%x: tensor<f32>) {
  // expected-error@+1:40 {{input and result are both scalars or both tensors with matching shape}}
  %0 = quant.qcast %x : tensor<f32> to !quant.uniform<i8:f32, 1.0>
  return
}
// -----
func.func @f(%x: tensor<2xf32>) {
  // expected-error@+1:42 {{input and result are both scalars or both tensors with matching shape}}
  %0 = quant.qcast %x : tensor<2xf32> to tensor<?x!quant.uniform<i8:f32, 1.0>>
  return
}
// -----
func.func @f(%x: tensor<2xf32>) {
  // expected-error@+1:42 {{input and result are both scalars or both tensors with matching shape}}
  %0 = quant.qcast %x : tensor<2xf32> to tensor<*x!quant.uniform<i8:f32, 1.0>>
  return
}
// -----
func.func @f(%x: f64) {
  // expected-error@+1:32 {{expressed type in quantized type expected to match float type: f32, f64}}
  %0 = quant.qcast %x : f64 to !quant.uniform<i8:f32, 1.0>
  return
}
// -----
func.func @f(%x: !quant.uniform<i8:f32, 1.0>) {
  // expected-error@+1:25 {{expressed type in quantized type expected to match float type: f32, f16}}
  %0 = quant.dcast %x : !quant.uniform<i8:f32, 1.0> to f16
  return
}
// -----
func.func @f(%x: i32) {
  // expected-error@+1:25 {{operand #0 must be scalar or tensor of floating-point, but got 'i32'}}
  %0 = quant.qcast %x : i32 to !quant.uniform<i8:f32, 1.0>
  return
}
// -----
func.func @f(%x: f32) {
  // expected-error@+1:32 {{result #0 must be scalar or tensor of quantized type, but got 'f32'}}
  %0 = quant.qcast %x : f32 to f32
  return
}
// -----
func.func @f(%x: f32) {
  // expected-error@+1:25 {{operand #0 must be scalar or tensor of quantized type, but got 'f32'}}
  %0 = quant.dcast %x : f32 to f32
  return
}
// -----
func.func @f(%x: i8) {
  // expected-error@+1:31 {{input must be integer and result must be quantized, or vice versa}}
  %0 = quant.scast %x : i8 to i8
  return
}
// -----
func.func @f(%x: i4) {
  // expected-error@+1:31 {{storage type in quantized type expected to match integer type}}
  %0 = quant.scast %x : i4 to !quant.uniform<i8:f32, 1.0>
  return
}
// -----
func.func @f(%x: ui8) {
  // expected-error@+1:25 {{operand #0 must be scalar or tensor of signless integer or quantized type, but got 'ui8'}}
  %0 = quant.scast %x : ui8 to !quant.uniform<i8:f32, 1.0>
  return
}
// -----
func.func @f(%x: f32) {
  // expected-error@+1:32 {{scalar types may not use per-axis quantization}}
  %0 = quant.qcast %x : f32 to !quant.uniform<i8:f32:0, {1.0, 2.0}>
  return
}
// -----
func.func @f(%x: f32) {
  // expected-error@+1:32 {{scalar types may not use sub-channel quantization}}
  %0 = quant.qcast %x : f32 to !quant.uniform<i8:f32:{0:1}, {1.0, 2.0}>
  return
}
// -----
func.func @f(%x: tensor<1x2xf32>) {
  // expected-error@+1:44 {{quantized dimension must be less than tensor rank}}
  %0 = quant.qcast %x : tensor<1x2xf32> to tensor<1x2x!quant.uniform<i8:f32:3, {1.0, 2.0}>>
  return
}
// -----
func.func @f(%x: tensor<?x3xi8>) {
  // expected-error@+1:43 {{quantized dimension size does not match number of scales}}
  %0 = quant.scast %x : tensor<?x3xi8> to tensor<?x3x!quant.uniform<i8:f32:1, {1.0, 2.0}>>
  return
}
// -----
func.func @f(%x: tensor<4x4x!quant.uniform<i8:f32:{0:3}, {{1.0}, {2.0}}>>) {
  // expected-error@+1:25 {{must be divisible by the corresponding block size 3}}
  %0 = quant.dcast %x : tensor<4x4x!quant.uniform<i8:f32:{0:3}, {{1.0}, {2.0}}>> to tensor<4x4xf32>
  return
}
// -----
func.func @f(%x: f32) {
  // expected-error@+1:8 {{attribute 'rounding' must be one of 'half_even', 'half_away', 'toward_zero', but is "up"}}
  %0 = quant.qcast %x {rounding = "up"} : f32 to !quant.uniform<i8:f32, 1.0>
  return
}
// -----
func.func @f(%x: f32) {
  // expected-error@+1:8 {{attribute 'zero_point' must be one of 'before', 'after', but is "between"}}
  %0 = quant.qcast %x {rounding = "half_even", zero_point = "between"} : f32 to !quant.uniform<i8:f32, 1.0>
  return
}
// -----
func.func @f(%x: f32) {
  // expected-error@+1:8 {{requires a single operand}}
  %0 = "quant.qcast"(%x, %x) : (f32, f32) -> !quant.uniform<i8:f32, 1.0>
  return
}
// -----
func.func @f(%x: f32) {
  // expected-error@+1:27 {{expected '(' in function type}}
  %0 = "quant.qcast"(%x) : f32 -> !quant.uniform<i8:f32, 1.0>
  return
}
// -----
func.func @f(%x: f32) {
  // expected-error@+1:22 {{expected ':'}}
  %0 = quant.qcast %x f32 to !quant.uniform<i8:f32, 1.0>
  return
}
// -----
func.func @f(%x: f32) {
  // expected-error@+1:29 {{expected 'to'}}
  %0 = quant.qcast %x : f32 !quant.uniform<i8:f32, 1.0>
  return
}
// -----
func.func @f(%x: f32) {
  // expected-error@+1:8 {{requires zero regions}}
  %0 = "quant.qcast"(%x) ({ }) : (f32) -> !quant.uniform<i8:f32, 1.0>
  return
}
// -----
func.func @f(%x: f32) {
  // expected-error@+1:8 {{requires 0 successors}}
  %0 = "quant.qcast"(%x)[^bb1] : (f32) -> !quant.uniform<i8:f32, 1.0>
  return
^bb1:
  return
}
// -----
func.func @f(%x: f32) {
  // expected-error@+1:3 {{requires one result}}
  "quant.qcast"(%x) : (f32) -> ()
  return
}
// -----
func.func @f(%x: tensor<2x2xf32>) {
  // expected-error@+1:8 {{must be a tensor of !quant.uniform}}
  %0 = qrt.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2x!quant.uniform<i8:f32, 1.0>>
  return
}
// -----
func.func @f(%x: !quant.uniform<i8:f32, 1.0>) {
  // expected-error@+1:24 {{'qrt.clamp' op operand #0 must be a tensor, but got '!quant.uniform<i8:f32, 1.000000e+00>'}}
  %0 = qrt.clamp %x : (!quant.uniform<i8:f32, 1.0>) -> tensor<2x!quant.uniform<i8:f32, 1.0>>
  return
}
// -----
func.func @f(%x: tensor<2x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1:66 {{'qrt.clamp' op result #0 must be a tensor, but got '!quant.uniform<i8:f32, 1.000000e+00>'}}
  %0 = qrt.clamp %x : (tensor<2x!quant.uniform<i8:f32, 1.0>>) -> !quant.uniform<i8:f32, 1.0>
  return
}
// -----
func.func @f(%x: tensor<2x3x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1:8 {{'qrt.matmul' op}}
  %0 = qrt.matmul %x, %x : (tensor<2x3x!quant.uniform<i8:f32, 1.0>>, tensor<2x3x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x2x!quant.uniform<i8:f32, 1.0>>
  return
}
// -----
func.func @f(%x: tensor<2x2x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1:114 {{result is declared as tensor<2x3x!quant}}
  %0 = qrt.matmul %x, %x : (tensor<2x2x!quant.uniform<i8:f32, 1.0>>, tensor<2x2x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x3x!quant.uniform<i8:f32, 1.0>>
  return
}
// -----
func.func @f(%x: tensor<2x2x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1:8 {{attribute 'requant' must be one of}}
  %0 = qrt.add %x, %x {requant = "exact"} : (tensor<2x2x!quant.uniform<i8:f32, 1.0>>, tensor<2x2x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x2x!quant.uniform<i8:f32, 1.0>>
  return
}
// -----
func.func @f(%x: tensor<2x2x!quant.uniform<i8:f32, 1.0>>) {
  // expected-error@+1:17 {{'qrt.requantize' has 1 operands but 2 operand types}}
  %0 =          qrt.requantize %x : (tensor<2x2x!quant.uniform<i8:f32, 1.0>>, i32) -> tensor<2x2x!quant.uniform<i8:f32, 1.0>>
  return
}
// -----
// expected-error@+1:1 {{arguments may only have dialect attributes, found: 'unit'}}
func.func private @f(i32 {unit = "a"})
// -----
// expected-error@+1:1 {{results may only have dialect attributes, found: 'b'}}
func.func private @f() -> (i32 {a.b, b})
// -----
// expected-error@+1:20 {{expected a location}}
module { } loc("a"(loc(unknown)))
// -----
// expected-error@+1:8 {{expected a symbol name}}
module @1 { }
// -----
// expected-error@+1:20 {{a line or column number must be at least 0}}
module { } loc("a":-1:2)
// -----
func.func @f(%x: !quant.uniform<si8:f32, 1.0>) {
  // expected-error@+1:25 {{storage type in quantized type expected to match integer type: !quant.uniform<si8:f32, 1.000000e+00>, i8}}
  %0 = quant.scast %x : !quant.uniform<si8:f32, 1.0> to i8
  return
}
