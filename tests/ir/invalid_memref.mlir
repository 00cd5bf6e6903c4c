// expected-error@+1:62 {{'memref.load' op incorrect number of indices for load, expected 2 but got 1}}
func.func @f(%a: index, %x: f32, %m: memref<4x4xf32>) { %0 = memref.load %m[%a] : memref<4x4xf32> return }
// -----
// expected-error@+1:57 {{'memref.store' op failed to verify that type of 'value' matches element type of 'memref'}}
func.func @f(%a: index, %x: i32, %m: memref<4x4xf32>) { "memref.store"(%x, %m, %a, %a) : (i32, memref<4x4xf32>, index, index) -> () return }
// -----
// expected-error@+1:57 {{'memref.store' op store index operand count not equal to memref rank}}
func.func @f(%a: index, %x: f32, %m: memref<4x4xf32>) { memref.store %x, %m[%a] : memref<4x4xf32> return }
// -----
// expected-error@+1:62 {{'memref.load' op failed to verify that result type matches element type of 'memref'}}
func.func @f(%a: index, %x: f32, %m: memref<4x4xf32>) { %0 = "memref.load"(%m, %a, %a) : (memref<4x4xf32>, index, index) -> i32 return }
// -----
// expected-error@+1:32 {{'memref.alloc' op incorrect number of dynamic sizes, has 1, expected 0}}
func.func @f(%a: index) { %0 = memref.alloc(%a) : memref<4xf32> return }
// -----
// expected-error@+1:32 {{'memref.alloc' op incorrect number of dynamic sizes, has 0, expected 1}}
func.func @f(%a: index) { %0 = memref.alloc() : memref<?xf32> return }
// -----
// expected-error@+1:32 {{'memref.alloc' op symbol operand count does not equal memref symbol count: expected 0, got 1}}
func.func @f(%a: index) { %0 = memref.alloc()[%a] : memref<4xf32> return }
// -----
// expected-error@+1:32 {{'memref.alloc' op result #0 must be memref of any type values, but got 'memref<*xf32>'}}
func.func @f(%a: index) { %0 = memref.alloc() : memref<*xf32> return }
// -----
// expected-error@+1:32 {{'memref.alloc' op attribute 'alignment' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive and whose value is a power of two > 0}}
func.func @f(%a: index) { %0 = memref.alloc() {alignment = -1 : i64} : memref<4xf32> return }
// -----
// expected-error@+1:62 {{use of value '%m' expects different type than prior uses: 'memref<4xi32>' vs 'memref<4xf32>'}}
func.func @f(%a: index, %m: memref<4xf32>) { memref.copy %m, %m : memref<4xf32> to memref<4xi32> return }
// -----
// expected-error@+1:65 {{'memref.copy' op requires the same shape for all operands}}
func.func @f(%a: index, %m: memref<4xf32>, %n: memref<5xf32>) { memref.copy %m, %n : memref<4xf32> to memref<5xf32> return }
// -----
// expected-error@+1:65 {{'memref.copy' op requires the same element type for all operands}}
func.func @f(%a: index, %m: memref<4xf32>, %n: memref<4xi32>) { memref.copy %m, %n : memref<4xf32> to memref<4xi32> return }
// -----
// expected-error@+1:51 {{'memref.cast' op operand type 'memref<4xf32>' and result type 'memref<5xf32>' are cast incompatible}}
func.func @f(%a: index, %m: memref<4xf32>) { %0 = memref.cast %m : memref<4xf32> to memref<5xf32> return }
// -----
// expected-error@+1:51 {{'memref.cast' op operand type 'memref<*xf32>' and result type 'memref<*xf32>' are cast incompatible}}
func.func @f(%a: index, %m: memref<*xf32>) { %0 = memref.cast %m : memref<*xf32> to memref<*xf32> return }
// -----
// expected-error@+1:51 {{'memref.cast' op operand type 'memref<4xf32>' and result type 'memref<4xf32, strided<[2]>>' are cast incompatible}}
func.func @f(%a: index, %m: memref<4xf32>) { %0 = memref.cast %m : memref<4xf32> to memref<4xf32, strided<[2]>> return }
// -----
// expected-error@+1:51 {{'memref.cast' op operand type 'memref<4xf32>' and result type 'memref<4xf32, 1>' are cast incompatible}}
func.func @f(%a: index, %m: memref<4xf32>) { %0 = memref.cast %m : memref<4xf32> to memref<4xf32, 1> return }
// -----
// expected-error@+1:69 {{'memref.dim' op operand #0 must be unranked.memref of any type values or non-0-ranked.memref of any type values, but got 'memref<f32>'}}
func.func @f(%a: index, %m: memref<f32>) { %0 = memref.dim %m, %a : memref<f32> return }
// -----
// expected-error@+1:42 {{expected result type to be 'memref<4x4xf32, strided<[8, 1]>>' or a rank-reduced version. (mismatch of result layout), but got 'memref<4x4xf32>'}}
func.func @f(%m: memref<8x8xf32>) { %0 = memref.subview %m[0, 0] [4, 4] [1, 1] : memref<8x8xf32> to memref<4x4xf32> return }
// -----
// expected-error@+1:42 {{expected mixed offsets rank to match mixed sizes rank (2 vs 1) so the rank of the result type is well-formed.}}
func.func @f(%m: memref<8x8xf32>) { %0 = memref.subview %m[0, 0] [4] [1, 1] : memref<8x8xf32> to memref<4x4xf32> return }
// -----
// expected-error@+1:42 {{offset 1 is out-of-bounds: 10 >= 8}}
func.func @f(%m: memref<8x8xf32>) { %0 = memref.subview %m[0, 10] [4, 4] [1, 1] : memref<8x8xf32> to memref<4x4xf32, strided<[8, 1], offset: 10>> return }
// -----
// expected-error@+1:42 {{slice along dimension 1 runs out-of-bounds: 9 >= 8}}
func.func @f(%m: memref<8x8xf32>) { %0 = memref.subview %m[0, 6] [4, 4] [1, 1] : memref<8x8xf32> to memref<4x4xf32, strided<[8, 1], offset: 6>> return }
// -----
// expected-error@+1:42 {{expected result type to be 'memref<4x4xf32, strided<[8, 1], offset: 1>>' or a rank-reduced version. (mismatch of result layout), but got 'memref<4x4xf32, strided<[8, 1], offset: 2>>'}}
func.func @f(%m: memref<8x8xf32>) { %0 = memref.subview %m[0, 1] [4, 4] [1, 1] : memref<8x8xf32> to memref<4x4xf32, strided<[8, 1], offset: 2>> return }
// -----
// expected-error@+1:42 {{expected result element type to be 'f32', but got 'memref<4x4xi32, strided<[8, 1], offset: 1>>'}}
func.func @f(%m: memref<8x8xf32>) { %0 = memref.subview %m[0, 1] [4, 4] [1, 1] : memref<8x8xf32> to memref<4x4xi32, strided<[8, 1], offset: 1>> return }
// -----
// expected-error@+1:42 {{expected result type to be 'memref<4x4xf32, strided<[8, 1], offset: 1>>' or a rank-reduced version. (mismatch of result sizes), but got 'memref<4x5xf32, strided<[8, 1], offset: 1>>'}}
func.func @f(%m: memref<8x8xf32>) { %0 = memref.subview %m[0, 1] [4, 4] [1, 1] : memref<8x8xf32> to memref<4x5xf32, strided<[8, 1], offset: 1>> return }
// -----
// expected-error@+1:42 {{expected result type to be 'memref<4x4xf32, strided<[8, 1], offset: 1>>' or a rank-reduced version. (mismatch of result sizes), but got 'memref<4xf32, strided<[8], offset: 1>>'}}
func.func @f(%m: memref<8x8xf32>) { %0 = memref.subview %m[0, 1] [4, 4] [1, 1] : memref<8x8xf32> to memref<4xf32, strided<[8], offset: 1>> return }
// -----
// expected-error@+1:42 {{expected result type to be 'memref<1x4xf32, strided<[8, 1], offset: 1>>' or a rank-reduced version. (mismatch of result layout), but got 'memref<4xf32, strided<[2], offset: 1>>'}}
func.func @f(%m: memref<8x8xf32>) { %0 = memref.subview %m[0, 1] [1, 4] [1, 1] : memref<8x8xf32> to memref<4xf32, strided<[2], offset: 1>> return }
// -----
// expected-error@+1:42 {{expected result type with size = 10 instead of 11 in dim = 0}}
func.func @f(%m: memref<8x8xf32>) { %0 = memref.reinterpret_cast %m to offset: [0], sizes: [10], strides: [1] : memref<8x8xf32> to memref<11xf32> return }
// -----
// expected-error@+1:42 {{expected result type with offset = 1 instead of 0}}
func.func @f(%m: memref<8x8xf32>) { %0 = memref.reinterpret_cast %m to offset: [1], sizes: [10], strides: [1] : memref<8x8xf32> to memref<10xf32> return }
// -----
// expected-error@+1:42 {{expected result type with stride = 2 instead of 1 in dim = 0}}
func.func @f(%m: memref<8x8xf32>) { %0 = memref.reinterpret_cast %m to offset: [0], sizes: [10], strides: [2] : memref<8x8xf32> to memref<10xf32, strided<[1]>> return }
// -----
// expected-error@+1:42 {{different element types specified for source type 'memref<8x8xf32>' and result memref type 'memref<10xi32>'}}
func.func @f(%m: memref<8x8xf32>) { %0 = memref.reinterpret_cast %m to offset: [0], sizes: [10], strides: [1] : memref<8x8xf32> to memref<10xi32> return }
// -----
// expected-error@+1:42 {{'memref.expand_shape' op collapsed dim size (8) must equal reassociation group size (6)}}
func.func @f(%m: memref<8x8xf32>) { %0 = memref.expand_shape %m [[0, 1], [2]] output_shape [2, 3, 8] : memref<8x8xf32> into memref<2x3x8xf32> return }
// -----
// expected-error@+1:42 {{'memref.expand_shape' op invalid number of reassociation groups: found 1, expected 2}}
func.func @f(%m: memref<8x8xf32>) { %0 = memref.expand_shape %m [[0, 1]] output_shape [2, 4] : memref<8x8xf32> into memref<2x4xf32> return }
// -----
// expected-error@+1:42 {{'memref.expand_shape' op expected expanded type to be 'memref<2x4x8xf32>' but found 'memref<2x4x8xf32, strided<[1, 1, 1]>>'}}
func.func @f(%m: memref<8x8xf32>) { %0 = memref.expand_shape %m [[0, 1], [2]] output_shape [2, 4, 8] : memref<8x8xf32> into memref<2x4x8xf32, strided<[1, 1, 1]>> return }
// -----
// expected-error@+1:42 {{'memref.collapse_shape' op collapsed dim size (65) must equal reassociation group size (64)}}
func.func @f(%m: memref<8x8xf32>) { %0 = memref.collapse_shape %m [[0, 1]] : memref<8x8xf32> into memref<65xf32> return }
// -----
// expected-error@+1:42 {{'memref.collapse_shape' op reassociation indices must be contiguous}}
func.func @f(%m: memref<8x8xf32>) { %0 = memref.collapse_shape %m [[0], [0, 1]] : memref<8x8xf32> into memref<8x8xf32> return }
// -----
// expected-error@+1:60 {{'memref.collapse_shape' op invalid source layout map or collapsing non-contiguous dims}}
func.func @f(%m: memref<8x8xf32, strided<[16, 1]>>) { %0 = memref.collapse_shape %m [[0, 1]] : memref<8x8xf32, strided<[16, 1]>> into memref<64xf32> return }
// -----
// expected-error@+1:42 {{'memref.transpose' op result type 'memref<8x8xf32>' is not equivalent to the canonical transposed input type 'memref<8x8xf32, strided<[1, 8]>>'}}
func.func @f(%m: memref<8x8xf32>) { %0 = memref.transpose %m (i, j) -> (j, i) : memref<8x8xf32> to memref<8x8xf32> return }
// -----
// expected-error@+1:40 {{'memref.transpose' op result type 'memref<8xf32>' is not equivalent to the canonical transposed input type 'memref<8xf32, strided<[1]>>'}}
func.func @f(%m: memref<8xf32>) { %0 = memref.transpose %m (i) -> (i) : memref<8xf32> to memref<8xf32> return }
// -----
// expected-error@+1:45 {{'memref.transpose' op result type 'memref<8x8xf32, strided<[1, 8]>>' is not equivalent to the canonical transposed input type 'memref<8x8xf32, strided<[1, 8]>, 1>'}}
func.func @f(%m: memref<8x8xf32, 1>) { %0 = memref.transpose %m (i, j) -> (j, i) : memref<8x8xf32, 1> to memref<8x8xf32, strided<[1, 8]>> return }
// -----
// expected-error@+1:42 {{'memref.transpose' op expected a permutation map}}
func.func @f(%m: memref<8x8xf32>) { %0 = memref.transpose %m (i, j) -> (i, i) : memref<8x8xf32> to memref<8x8xf32> return }
// -----
// expected-error@+1:23 {{'memref.get_global' op 'nope' does not reference a valid global memref}}
func.func @f() { %0 = memref.get_global @nope : memref<4xf32> return }
// -----
memref.global "private" @g : memref<4xf32>
// expected-error@+1:23 {{'memref.get_global' op result type 'memref<5xf32>' does not match type 'memref<4xf32>' of the global memref @g}}
func.func @f() { %0 = memref.get_global @g : memref<5xf32> return }
// -----
// expected-error@+1:56 {{expected an operation}}
memref.global "private" @g : memref<4xf32> = dense<1.0> : tensor<5xf32>
// -----
// expected-error@+1:1 {{type should be static shaped memref, but got 'memref<?xf32>'}}
memref.global "private" @g : memref<?xf32>
// -----
// expected-error@+1:1 {{type should be static shaped memref, but got 'f32'}}
memref.global "private" @g : f32
// -----
// expected-error@+1:46 {{expected 'dense' to begin an initial value}}
memref.global "private" @g : memref<4xf32> = 5 : i32
// -----
// expected-error@+1:1 {{'memref.global' op initial value element expected to be of type 'f32', but was of type 'i32'}}
"memref.global"() <{sym_name = "g", type = memref<4xf32>, initial_value = dense<1> : tensor<4xi32>}> : () -> ()
// -----
// expected-error@+1:1 {{'memref.global' op initial value shape expected to be 4 but was 5}}
"memref.global"() <{sym_name = "g", type = memref<4xf32>, initial_value = dense<1.0> : tensor<5xf32>}> : () -> ()
// -----
// expected-error@+1:63 {{'memref.reshape' op length of shape operand differs from the result's memref rank}}
func.func @f(%m: memref<4x4xf32>, %s: memref<2xindex>) { %0 = memref.reshape %m(%s) : (memref<4x4xf32>, memref<2xindex>) -> memref<?xf32> return }
// -----
// expected-error@+1:63 {{'memref.reshape' op cannot use shape operand with dynamic length to reshape to statically-ranked memref type}}
func.func @f(%m: memref<4x4xf32>, %s: memref<?xindex>) { %0 = memref.reshape %m(%s) : (memref<4x4xf32>, memref<?xindex>) -> memref<?xf32> return }
// -----
// expected-error@+1:63 {{'memref.reshape' op element types of source and destination memref types should be the same}}
func.func @f(%m: memref<4x4xf32>, %s: memref<2xindex>) { %0 = memref.reshape %m(%s) : (memref<4x4xf32>, memref<2xindex>) -> memref<?x?xi32> return }
// -----
// expected-error@+1:80 {{'memref.reshape' op source memref type should have identity affine map}}
func.func @f(%m: memref<4x4xf32, strided<[8, 1]>>, %s: memref<2xindex>) { %0 = memref.reshape %m(%s) : (memref<4x4xf32, strided<[8, 1]>>, memref<2xindex>) -> memref<?x?xf32> return }
// -----
// expected-error@+1:42 {{'memref.memory_space_cast' op operand type 'memref<4x4xf32>' and result type 'memref<4x5xf32, 1>' are cast incompatible}}
func.func @f(%m: memref<4x4xf32>) { %0 = memref.memory_space_cast %m : memref<4x4xf32> to memref<4x5xf32, 1> return }
// -----
// expected-error@+1:42 {{'memref.assume_alignment' op alignment must be power of 2}}
func.func @f(%m: memref<4x4xf32>) { %0 = memref.assume_alignment %m, 3 : memref<4x4xf32> return }
// -----
// expected-error@+1:42 {{'memref.assume_alignment' op attribute 'alignment' failed to satisfy constraint: 32-bit signless integer attribute whose value is positive}}
func.func @f(%m: memref<4x4xf32>) { %0 = memref.assume_alignment %m, 0 : memref<4x4xf32> return }
// -----
// expected-error@+1:50 {{'memref.view' op incorrect number of dynamic sizes, has 0, expected 1}}
func.func @f(%a: index, %m: memref<4xi8>) { %0 = memref.view %m[%a][] : memref<4xi8> to memref<?xf32> return }
// -----
// expected-error@+1:51 {{'memref.view' op operand #0 must be 1D memref of 8-bit signless integer values, but got 'memref<4xi32>'}}
func.func @f(%a: index, %m: memref<4xi32>) { %0 = memref.view %m[%a][] : memref<4xi32> to memref<1xf32> return }
// -----
// expected-error@+1:66 {{'memref.dealloc' op operand #0 must be ranked or unranked memref of any type values, but got 'index'}}
func.func @f(%a: index, %m: memref<4xi32>) { memref.dealloc %a : index return }
// -----
// expected-error@+1:32 {{'memref.alloca_scope' op along control flow edge from Operation memref.alloca_scope.return to parent: region branch point has 0 operands, but region successor needs 1 inputs}}
func.func @f(%a: index) { %0 = memref.alloca_scope -> (f32) { memref.alloca_scope.return } return }
// -----
// expected-error@+1:42 {{expected offsets to be non-negative, but got -1}}
func.func @f(%m: memref<?x?xf32>) { %0 = memref.subview %m[0, -1] [4, 4] [1, 1] : memref<?x?xf32> to memref<4x4xf32, strided<[?, 1], offset: -1>> return }
// -----
// expected-error@+1:42 {{expected sizes to be non-negative, but got -4}}
func.func @f(%m: memref<?x?xf32>) { %0 = memref.subview %m[0, 1] [4, -4] [1, 1] : memref<?x?xf32> to memref<4x4xf32, strided<[?, 1], offset: 1>> return }
// -----
// expected-error@+1:92 {{'memref.extract_strided_metadata' op operand #0 must be strided memref of any type values, but got 'memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>>'}}
func.func @f(%m: memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>>) { %b, %o, %s:2, %t:2 = memref.extract_strided_metadata %m : memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>> -> memref<f32>, index, index, index, index, index return }
// -----
// expected-error@+1:104 {{'memref.extract_strided_metadata' op operand #0 must be strided memref of any type values, but got 'memref<4x4xf32, affine_map<(d0, d1) -> (d0 + d1 floordiv 2)>>'}}
func.func @f(%m: memref<4x4xf32, affine_map<(d0, d1) -> (d0 + d1 floordiv 2)>>) { %b, %o, %s:2, %t:2 = memref.extract_strided_metadata %m : memref<4x4xf32, affine_map<(d0, d1) -> (d0 + d1 floordiv 2)>> -> memref<f32>, index, index, index, index, index return }
// -----
// expected-error@+1:113 {{'memref.extract_strided_metadata' op operand #0 must be strided memref of any type values, but got 'memref<4x4xf32, affine_map<(d0, d1)[s0] -> (d0 + s0 floordiv 2 + d1)>>'}}
func.func @f(%m: memref<4x4xf32, affine_map<(d0, d1)[s0] -> (d0 + s0 floordiv 2 + d1)>>) { %b, %o, %s:2, %t:2 = memref.extract_strided_metadata %m : memref<4x4xf32, affine_map<(d0, d1)[s0] -> (d0 + s0 floordiv 2 + d1)>> -> memref<f32>, index, index, index, index, index return }
