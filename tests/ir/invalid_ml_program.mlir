// expected-error@+1:19 {{expected 'public', 'private', or 'nested'}}
ml_program.global mutable @v : i32
// -----
// expected-error@+1:1 {{'ml_program.global' op immutable global must have an initial value}}
ml_program.global private @v : i32
// -----
// expected-error@+1:45 {{expected ')'}}
ml_program.global private mutable @v(3 : i32 : i32
// -----
// expected-error@+1:1 {{'ml_program.global' op requires attribute 'type'}}
"ml_program.global"() {sym_name = "v", is_mutable} : () -> ()
// -----
// expected-error@+1:1 {{'ml_program.global' op attribute 'is_mutable' failed to satisfy constraint: unit attribute}}
"ml_program.global"() {sym_name = "v", type = i32, value = 3 : i64, is_mutable = 3} : () -> ()
// -----
ml_program.global private mutable @v : i32
// expected-error@+1:23 {{'ml_program.global_load' op undefined global: @w}}
func.func @f() { %0 = ml_program.global_load @w : i32 return }
// -----
// expected-error@+1:23 {{'ml_program.global_load' op undefined global: @f}}
func.func @f() { %0 = ml_program.global_load @f : i32 return }
// -----
ml_program.global private mutable @v : i32
// expected-error@+1:23 {{'ml_program.global_load' op undefined global: @v::@v}}
func.func @f() { %0 = ml_program.global_load @v::@v : i32 return }
// -----
ml_program.global private mutable @v : i32
// expected-error@+1:23 {{'ml_program.global_load' op cannot load from global typed 'i32' as 'i64'}}
func.func @f() { %0 = ml_program.global_load @v : i64 return }
// -----
ml_program.global private mutable @v : i32
// expected-error@+1:23 {{'ml_program.global_load_const' op cannot load as const from mutable global @v}}
func.func @f() { %0 = ml_program.global_load_const @v : i32 return }
// -----
ml_program.global private @c(3 : i32) : i32
// expected-error@+1:23 {{'ml_program.global_load_const' op cannot load from global typed 'i32' as 'i64'}}
func.func @f() { %0 = ml_program.global_load_const @c : i64 return }
// -----
ml_program.global private @c(3 : i32) : i32
// expected-error@+1:26 {{'ml_program.global_store' op cannot store to an immutable global @c}}
func.func @f(%x: i32) {  ml_program.global_store @c = %x : i32 return }
// -----
ml_program.global private mutable @v : i32
// expected-error@+1:25 {{'ml_program.global_store' op cannot store to a global typed 'i32' from 'i64'}}
func.func @f(%x: i64) { ml_program.global_store @v = %x : i64 return }
// -----
// expected-error@+1:25 {{'ml_program.global_store' op undefined global: @v}}
func.func @f(%x: i64) { ml_program.global_store @v = %x : i64 return }
