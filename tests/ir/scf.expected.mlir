module {
  func.func @f(%arg0: index, %arg1: index, %arg2: index, %arg3: f32, %arg4: memref<?xf32>, %arg5: i1, %arg6: i32) -> f32 {
    scf.for %arg7 = %arg0 to %arg1 step %arg2 {
    }
    scf.for %arg7 = %arg0 to %arg1 step %arg2 {
      memref.store %arg3, %arg4[%arg7] : memref<?xf32>
    }
    scf.for unsigned %arg7 = %arg6 to %arg6 step %arg6  : i32 {
    }
    %0:2 = scf.for %arg7 = %arg0 to %arg1 step %arg2 iter_args(%arg8 = %arg3, %arg9 = %arg5) -> (f32, i1) {
      scf.yield %arg8, %arg9 : f32, i1
    }
    scf.for %arg7 = %arg0 to %arg1 step %arg2 {
    } {foo = 1 : i64}
    scf.if %arg5 {
    }
    scf.if %arg5 {
    } else {
      memref.store %arg3, %arg4[%arg0] : memref<?xf32>
    }
    %1 = scf.if %arg5 -> (f32) {
      scf.yield %arg3 : f32
    } else {
      scf.yield %arg3 : f32
    } {bar}
    %2:2 = scf.if %arg5 -> (f32, index) {
      scf.yield %arg3, %arg0 : f32, index
    } else {
      scf.yield %arg3, %arg1 : f32, index
    }
    %3:2 = scf.while (%arg7 = %arg3, %arg8 = %arg0) : (f32, index) -> (index, f32) {
      scf.condition(%arg5) {baz} %arg8, %arg7 : index, f32
    } do {
    ^bb0(%arg7: index, %arg8: f32):
      scf.yield %arg8, %arg7 : f32, index
    }
    scf.while : () -> () {
      scf.condition(%arg5)
    } do {
      scf.yield
    }
    scf.while : () -> () {
      scf.condition(%arg5)
    } do {
      scf.yield
    } attributes {foo}
    scf.parallel (%arg7) = (%arg0) to (%arg1) step (%arg2) {
      scf.reduce 
    }
    scf.parallel (%arg7, %arg8) = (%arg0, %arg0) to (%arg1, %arg1) step (%arg2, %arg2) {
      scf.reduce 
    }
    %4 = scf.parallel (%arg7, %arg8) = (%arg0, %arg0) to (%arg1, %arg1) step (%arg2, %arg2) init (%arg3) -> f32 {
      scf.reduce(%arg3 : f32) {
      ^bb0(%arg9: f32, %arg10: f32):
        %12 = arith.addf %arg9, %arg10 : f32
        scf.reduce.return %12 : f32
      }
    }
    %5:2 = scf.parallel (%arg7) = (%arg0) to (%arg1) step (%arg2) init (%arg3, %arg0) -> (f32, index) {
      scf.reduce(%arg3, %arg7 : f32, index) {
      ^bb0(%arg8: f32, %arg9: f32):
        %12 = arith.addf %arg8, %arg9 : f32
        scf.reduce.return %12 : f32
      }, {
      ^bb0(%arg8: index, %arg9: index):
        scf.reduce.return %arg8 : index
      }
    } {tag}
    scf.forall (%arg7, %arg8) in (4, %arg1) {
    }
    scf.forall (%arg7, %arg8) in (4, %arg1) {
    } {mapping = [#gpu.block<x>, #gpu.block<y>]}
    scf.forall (%arg7) = (1) to (%arg1) step (2) {
    }
    %6 = tensor.empty() : tensor<4xf32>
    %7 = scf.forall (%arg7) in (4) shared_outs(%arg8 = %6) -> (tensor<4xf32>) {
      %12 = tensor.empty() : tensor<1xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %12 into %arg8[%arg7] [1] [1] : tensor<1xf32> into tensor<4xf32>
      }
    }
    %8 = scf.execute_region -> f32 {
      cf.br ^bb1
    ^bb1:  // pred: ^bb0
      scf.yield %arg3 : f32
    }
    scf.execute_region {
      scf.yield
    }
    scf.execute_region no_inline {
      scf.yield
    } {hey}
    %9:2 = scf.execute_region -> (f32, i1) {
      scf.yield %arg3, %arg5 : f32, i1
    }
    scf.index_switch %arg0 
    case 1 {
      scf.yield
    }
    case -5 {
      scf.yield
    }
    default {
    }
    %10 = scf.index_switch %arg0 {attr} -> f32 
    case 2 {
      scf.yield %arg3 : f32
    }
    default {
      scf.yield %arg3 : f32
    }
    %11:2 = scf.index_switch %arg0 -> f32, i1 
    default {
      scf.yield %arg3, %arg5 : f32, i1
    }
    return %arg3 : f32
  }
}
