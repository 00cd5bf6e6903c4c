module {
  func.func private @use(tensor<?xf32>)
  func.func @written(%arg0: tensor<4xf32>, %arg1: index, %arg2: f32, %arg3: index) -> tensor<?xf32> {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = scf.for %arg4 = %0 to %arg1 step %1 iter_args(%arg5 = %arg0) -> (tensor<4xf32>) {
      %4 = tensor.cast %arg5 : tensor<4xf32> to tensor<?xf32>
      func.call @use(%4) : (tensor<?xf32>) -> ()
      %5 = tensor.insert %arg2 into %arg5[%arg3] : tensor<4xf32>
      scf.yield %5 : tensor<4xf32>
    }
    %3 = tensor.cast %2 : tensor<4xf32> to tensor<?xf32>
    return %3 : tensor<?xf32>
  }
  func.func @in_another_loop(%arg0: tensor<4xf32>, %arg1: index, %arg2: f32, %arg3: i1) -> (tensor<?xf32>, index) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2:2 = scf.for %arg4 = %0 to %arg1 step %1 iter_args(%arg5 = %arg0, %arg6 = %0) -> (tensor<4xf32>, index) {
      %4 = scf.for %arg7 = %0 to %arg4 step %1 iter_args(%arg8 = %arg5) -> (tensor<4xf32>) {
        %6 = tensor.insert %arg2 into %arg8[%arg7] : tensor<4xf32>
        %7 = tensor.cast %6 : tensor<4xf32> to tensor<?xf32>
        %8 = scf.if %arg3 -> (tensor<?xf32>) {
          %10 = linalg.fill ins(%arg2 : f32) outs(%6 : tensor<4xf32>) -> tensor<4xf32>
          %11 = tensor.cast %10 : tensor<4xf32> to tensor<?xf32>
          scf.yield %11 : tensor<?xf32>
        } else {
          scf.yield %7 : tensor<?xf32>
        }
        %9 = tensor.cast %8 : tensor<?xf32> to tensor<4xf32>
        scf.yield %9 : tensor<4xf32>
      }
      %5 = arith.addi %arg6, %arg4 : index
      scf.yield %4, %5 : tensor<4xf32>, index
    }
    %3 = tensor.cast %2#0 : tensor<4xf32> to tensor<?xf32>
    return %3, %2#1 : tensor<?xf32>, index
  }
  func.func @read_twice(%arg0: tensor<4xf32>, %arg1: index, %arg2: f32) -> tensor<?xf32> {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = tensor.cast %arg0 : tensor<4xf32> to tensor<?xf32>
    %3 = scf.for %arg3 = %0 to %arg1 step %1 iter_args(%arg4 = %2) -> (tensor<?xf32>) {
      %4 = tensor.insert %arg2 into %arg4[%arg3] : tensor<?xf32>
      scf.yield %4 : tensor<?xf32>
    }
    call @use(%3) : (tensor<?xf32>) -> ()
    return %3 : tensor<?xf32>
  }
  func.func @outputs(%arg0: tensor<4xf32>, %arg1: index, %arg2: tensor<1xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
    %0:2 = scf.forall (%arg3) in (%arg1) shared_outs(%arg4 = %arg0, %arg5 = %arg0) -> (tensor<4xf32>, tensor<4xf32>) {
      %3 = tensor.cast %arg5 : tensor<4xf32> to tensor<?xf32>
      func.call @use(%3) : (tensor<?xf32>) -> ()
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %arg2 into %arg4[%arg3] [1] [1] : tensor<1xf32> into tensor<4xf32>
        tensor.parallel_insert_slice %arg2 into %arg5[%arg3] [1] [1] : tensor<1xf32> into tensor<4xf32>
      }
    }
    %1 = tensor.cast %0#0 : tensor<4xf32> to tensor<?xf32>
    %2 = tensor.cast %0#1 : tensor<4xf32> to tensor<?xf32>
    return %1, %2 : tensor<?xf32>, tensor<?xf32>
  }
  func.func @blocks(%arg0: i1, %arg1: i1, %arg2: i32, %arg3: memref<i32>) -> i32 {
    memref.store %arg2, %arg3[] : memref<i32>
    cf.cond_br %arg0, ^bb2(%arg2 : i32), ^bb1
  ^bb1:  // pred: ^bb0
    memref.store %arg2, %arg3[] : memref<i32>
    %0 = arith.addi %arg2, %arg2 : i32
    cf.br ^bb2(%0 : i32)
  ^bb2(%1: i32):  // 2 preds: ^bb0, ^bb1
    scf.if %arg1 {
      scf.execute_region {
        cf.cond_br %arg0, ^bb1, ^bb2
      ^bb1:  // pred: ^bb0
        memref.store %arg2, %arg3[] : memref<i32>
        scf.yield
      ^bb2:  // pred: ^bb0
        memref.store %1, %arg3[] : memref<i32>
        scf.yield
      }
    }
    %2 = arith.muli %1, %arg2 : i32
    return %2 : i32
  }
  func.func @kept(%arg0: i1, %arg1: i32, %arg2: memref<i32>) {
    scf.execute_region no_inline {
      cf.cond_br %arg0, ^bb1, ^bb2
    ^bb1:  // pred: ^bb0
      memref.store %arg1, %arg2[] : memref<i32>
      scf.yield
    ^bb2:  // pred: ^bb0
      scf.yield
    }
    return
  }
}
