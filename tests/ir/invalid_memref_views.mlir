// expected-error@+1:40 {{different memory spaces specified for base memref type 'memref<8xf32>' and subview memref type 'memref<4xf32, 1>'}}
func.func @f(%m: memref<8xf32>) { %0 = memref.subview %m[0] [4] [1] : memref<8xf32> to memref<4xf32, 1> return }
// -----
// expected-error@+1:40 {{'memref.expand_shape' op expanded rank (3) inconsistent with number of reassociation indices (2)}}
func.func @f(%m: memref<8xf32>) { %0 = memref.expand_shape %m [[0, 1]] output_shape [2, 4, 1] : memref<8xf32> into memref<2x4x1xf32> return }
// -----
// expected-error@+1:42 {{'memref.expand_shape' op has source rank 2 and result rank 1. This is not an expansion (2 > 1).}}
func.func @f(%m: memref<2x4xf32>) { %0 = memref.expand_shape %m [[0], [1]] output_shape [8] : memref<2x4xf32> into memref<8xf32> return }
// -----
// expected-error@+1:40 {{'memref.collapse_shape' op has source rank 1 and result rank 2. This is not a collapse (1 < 2).}}
func.func @f(%m: memref<8xf32>) { %0 = memref.collapse_shape %m [[0], [1]] : memref<8xf32> into memref<2x4xf32> return }
// -----
// expected-error@+1:40 {{'memref.expand_shape' op mismatch in dynamic dims in output_shape and static_output_shape: static_output_shape has 1 dynamic dims while output_shape has 0 values}}
func.func @f(%m: memref<?xf32>) { %0 = "memref.expand_shape"(%m) {reassociation = [[0, 1]], static_output_shape = array<i64: 2, -9223372036854775808>} : (memref<?xf32>) -> memref<2x?xf32> return }
// -----
// expected-error@+1:40 {{'memref.expand_shape' op expected number of static shape bounds to be equal to the output rank (2) but found 1 inputs instead}}
func.func @f(%m: memref<8xf32>) { %0 = memref.expand_shape %m [[0, 1]] output_shape [2] : memref<8xf32> into memref<2x4xf32> return }
// -----
// expected-error@+1:40 {{'memref.expand_shape' op invalid output shape provided at pos 1}}
func.func @f(%m: memref<8xf32>) { %0 = memref.expand_shape %m [[0, 1]] output_shape [2, 3] : memref<8xf32> into memref<2x4xf32> return }
// -----
// expected-error@+1:83 {{'memref.expand_shape' op invalid source layout map}}
func.func @f(%m: memref<4x4xf32, affine_map<(i, j) -> (i floordiv 2, j)>>) { %0 = memref.expand_shape %m [[0], [1, 2]] output_shape [4, 2, 2] : memref<4x4xf32, affine_map<(i, j) -> (i floordiv 2, j)>> into memref<4x2x2xf32> return }
// -----
// expected-error@+1:59 {{'memref.collapse_shape' op invalid source layout map or collapsing non-contiguous dims}}
func.func @f(%m: memref<4x4xf32, strided<[8, 1]>>) { %0 = memref.collapse_shape %m [[0, 1]] : memref<4x4xf32, strided<[8, 1]>> into memref<16xf32> return }
// -----
// expected-error@+1:40 {{'memref.expand_shape' op collapsed dim (0) must be dynamic if and only if reassociation group is dynamic}}
func.func @f(%m: memref<?xf32>) { %0 = memref.expand_shape %m [[0, 1]] output_shape [2, 4] : memref<?xf32> into memref<2x4xf32> return }
// -----
// expected-error@+1:52 {{'memref.extract_strided_metadata' op inferred type(s) 'memref<f32>', 'index', 'index', 'index' are incompatible with return type(s) of operation 'memref<1xf32>', 'index', 'index', 'index'}}
func.func @f(%m: memref<4xf32>) { %0, %1, %2, %3 = "memref.extract_strided_metadata"(%m) : (memref<4xf32>) -> (memref<1xf32>, index, index, index) return }
// -----
// expected-error@+1:64 {{unsupported map for base memref type 'memref<4xi8, strided<[2]>>'}}
func.func @f(%m: memref<4xi8, strided<[2]>>, %i: index) { %0 = memref.view %m[%i][] : memref<4xi8, strided<[2]>> to memref<1xi32> return }
// -----
// expected-error@+1:50 {{unsupported map for result memref type 'memref<1xi32, strided<[2]>>'}}
func.func @f(%m: memref<4xi8>, %i: index) { %0 = memref.view %m[%i][] : memref<4xi8> to memref<1xi32, strided<[2]>> return }
