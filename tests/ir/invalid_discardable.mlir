// expected-error@+1:30 {{'arith.addi' op attribute 'bufferization.manual_deallocation' can be used only on ops that have an allocation and/or free side effect}}
func.func @f(%a: i32) { %0 = arith.addi %a, %a {bufferization.manual_deallocation} : i32 return }
// -----
// expected-error@+1:30 {{attribute '"bufferization.writable"' not supported as an op attribute by the bufferization dialect}}
func.func @f(%a: i32) { %0 = arith.addi %a, %a {bufferization.writable = true} : i32 return }
// -----
// expected-error@+1:30 {{attribute '"linalg.foo"' not supported by the linalg dialect}}
func.func @f(%a: i32) { %0 = arith.addi %a, %a {linalg.foo} : i32 return }
// -----
// expected-error@+1:1 {{'bufferization.writable' is expected to be a boolean attribute}}
func.func @f(%t: tensor<4xf32> {bufferization.writable = 1 : i32}) { return }
// -----
// expected-error@+1:1 {{'bufferization.writable' is invalid on external functions}}
func.func private @f(tensor<4xf32> {bufferization.writable = true})
// -----
// expected-error@+1:1 {{'bufferization.access' is expected to be a string attribute}}
func.func @f(%t: tensor<4xf32> {bufferization.access = 1 : i32}) { return }
// -----
// expected-error@+1:1 {{invalid value for 'bufferization.access'}}
func.func @f(%t: tensor<4xf32> {bufferization.access = "reads"}) { return }
// -----
// expected-error@+1:1 {{'bufferization.buffer_layout' is expected to be a memref layout attribute}}
func.func @f(%t: tensor<4xf32> {bufferization.buffer_layout = 1 : i32}) { return }
// -----
// expected-error@+1:1 {{attribute 'bufferization.buffer_layout' not supported as a region arg attribute by the bufferization dialect}}
func.func @f(%t: tensor<4xf32> {bufferization.foo}) { return }
// -----
// expected-error@+1:1 {{'bufferization.writable' is expected to be a boolean attribute}}
func.func @f(%t: tensor<4xf32> {bufferization.writable = "true"}) { return }
