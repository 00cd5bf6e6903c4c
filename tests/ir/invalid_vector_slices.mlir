// expected-error@+1:42 {{'vector.extract_strided_slice' op expected offsets, sizes and strides attributes of same size}}
func.func @f(%v: vector<4x8xf32>) { %0 = vector.extract_strided_slice %v {offsets = [2], sizes = [2, 4], strides = [1]} : vector<4x8xf32> to vector<2x8xf32> return }
// -----
// expected-error@+1:40 {{'vector.extract_strided_slice' op expected offsets attribute of rank no greater than vector rank}}
func.func @f(%v: vector<4xf32>) { %0 = vector.extract_strided_slice %v {offsets = [2, 0], sizes = [2, 1], strides = [1, 1]} : vector<4xf32> to vector<2x1xf32> return }
// -----
// expected-error@+1:42 {{'vector.extract_strided_slice' op expected offsets dimension 0 to be confined to [0, 4)}}
func.func @f(%v: vector<4x8xf32>) { %0 = vector.extract_strided_slice %v {offsets = [-1], sizes = [2], strides = [1]} : vector<4x8xf32> to vector<2x8xf32> return }
// -----
// expected-error@+1:42 {{'vector.extract_strided_slice' op expected sizes dimension 0 to be confined to [1, 5)}}
func.func @f(%v: vector<4x8xf32>) { %0 = vector.extract_strided_slice %v {offsets = [0], sizes = [0], strides = [1]} : vector<4x8xf32> to vector<2x8xf32> return }
// -----
// expected-error@+1:42 {{'vector.extract_strided_slice' op expected strides to be confined to [1, 2)}}
func.func @f(%v: vector<4x8xf32>) { %0 = vector.extract_strided_slice %v {offsets = [0], sizes = [2], strides = [2]} : vector<4x8xf32> to vector<2x8xf32> return }
// -----
// expected-error@+1:42 {{'vector.extract_strided_slice' op expected sum(offsets, sizes) dimension 0 to be confined to [1, 5)}}
func.func @f(%v: vector<4x8xf32>) { %0 = vector.extract_strided_slice %v {offsets = [3], sizes = [2], strides = [1]} : vector<4x8xf32> to vector<2x8xf32> return }
// -----
// expected-error@+1:42 {{'vector.extract_strided_slice' op expected result type to be 'vector<2x8xf32>'}}
func.func @f(%v: vector<4x8xf32>) { %0 = vector.extract_strided_slice %v {offsets = [2], sizes = [2], strides = [1]} : vector<4x8xf32> to vector<3x8xf32> return }
// -----
// expected-error@+1:42 {{'vector.extract_strided_slice' op expected size at idx=0 to match the corresponding base size from the input vector (2 vs 4)}}
func.func @f(%v: vector<[4]xf32>) { %0 = vector.extract_strided_slice %v {offsets = [0], sizes = [2], strides = [1]} : vector<[4]xf32> to vector<[2]xf32> return }
// -----
// expected-error@+1:59 {{'vector.insert_strided_slice' op failed to verify that operand #0 and result have same element type}}
func.func @f(%p: vector<2xf16>, %v: vector<4xf32>) { %0 = vector.insert_strided_slice %p, %v {offsets = [0], strides = [1]} : vector<2xf16> into vector<4xf32> return }
// -----
// expected-error@+1:61 {{'vector.insert_strided_slice' op expected offsets of same size as destination vector rank}}
func.func @f(%p: vector<2xf32>, %v: vector<4x4xf32>) { %0 = vector.insert_strided_slice %p, %v {offsets = [0], strides = [1]} : vector<2xf32> into vector<4x4xf32> return }
// -----
// expected-error@+1:61 {{'vector.insert_strided_slice' op expected strides of same size as source vector rank}}
func.func @f(%p: vector<2xf32>, %v: vector<4x4xf32>) { %0 = vector.insert_strided_slice %p, %v {offsets = [0, 0], strides = [1, 1]} : vector<2xf32> into vector<4x4xf32> return }
// -----
// expected-error@+1:61 {{'vector.insert_strided_slice' op expected source rank to be no greater than destination rank}}
func.func @f(%p: vector<2x2xf32>, %v: vector<4xf32>) { %0 = vector.insert_strided_slice %p, %v {offsets = [0], strides = [1, 1]} : vector<2x2xf32> into vector<4xf32> return }
// -----
// expected-error@+1:61 {{'vector.insert_strided_slice' op expected offsets dimension 1 to be confined to [0, 4)}}
func.func @f(%p: vector<2xf32>, %v: vector<4x4xf32>) { %0 = vector.insert_strided_slice %p, %v {offsets = [0, 4], strides = [1]} : vector<2xf32> into vector<4x4xf32> return }
// -----
// expected-error@+1:61 {{'vector.insert_strided_slice' op expected strides to be confined to [1, 2)}}
func.func @f(%p: vector<2xf32>, %v: vector<4x4xf32>) { %0 = vector.insert_strided_slice %p, %v {offsets = [0, 0], strides = [2]} : vector<2xf32> into vector<4x4xf32> return }
// -----
// expected-error@+1:61 {{'vector.insert_strided_slice' op expected sum(offsets, source vector shape) dimension 1 to be confined to [1, 5)}}
func.func @f(%p: vector<2xf32>, %v: vector<4x4xf32>) { %0 = vector.insert_strided_slice %p, %v {offsets = [0, 3], strides = [1]} : vector<2xf32> into vector<4x4xf32> return }
// -----
// expected-error@+1:63 {{'vector.insert_strided_slice' op mismatching scalable flags (at source vector idx=0)}}
func.func @f(%p: vector<2xf32>, %v: vector<4x[4]xf32>) { %0 = vector.insert_strided_slice %p, %v {offsets = [0, 0], strides = [1]} : vector<2xf32> into vector<4x[4]xf32> return }
// -----
// expected-error@+1:65 {{'vector.insert_strided_slice' op expected size at idx=0 to match the corresponding base size from the input vector (2 vs 4)}}
func.func @f(%p: vector<[2]xf32>, %v: vector<4x[4]xf32>) { %0 = vector.insert_strided_slice %p, %v {offsets = [0, 0], strides = [1]} : vector<[2]xf32> into vector<4x[4]xf32> return }
// -----
// expected-error@+1:65 {{expected "iterator_types" array attribute}}
func.func @f(%a: vector<4xf32>, %c: f32) { %0 = vector.contract {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>]} %a, %a, %c : vector<4xf32>, vector<4xf32> into f32 return }
