// expected-error@+1:85 {{'shape.num_elements' op result #0 must be index, but got 'i32'}}
func.func @f(%e: tensor<?xindex>) { %0 = shape.num_elements %e : tensor<?xindex> -> i32 return }
// -----
// expected-error@+1:64 {{'shape.num_elements' op operand #0 must be shape or extent tensor, but got 'tensor<?xi32>'}}
func.func @f(%e: tensor<?xi32>) { %0 = shape.num_elements %e : tensor<?xi32> -> index return }
// -----
// expected-error@+1:40 {{'shape.shape_of' op inferred type(s) 'tensor<1xindex>' are incompatible with return type(s) of operation 'tensor<2xindex>'}}
func.func @f(%t: tensor<4xf32>) { %0 = shape.shape_of %t : tensor<4xf32> -> tensor<2xindex> return }
// -----
// expected-error@+1:94 {{'shape.get_extent' op operand #1 must be index, but got 'i32'}}
func.func @f(%t: tensor<4xindex>, %i: i32) { %0 = shape.get_extent %t, %i : tensor<4xindex>, i32 -> index return }
