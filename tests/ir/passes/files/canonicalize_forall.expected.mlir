module {
  func.func private @w(index)
  func.func @constant_bounds(%arg0: tensor<8xf32>, %arg1: f32) -> tensor<8xf32> {
    %0 = scf.forall (%arg2) in (8) shared_outs(%arg3 = %arg0) -> (tensor<8xf32>) {
      %1 = tensor.extract_slice %arg3[%arg2] [1] [1] : tensor<8xf32> to tensor<1xf32>
      %2 = linalg.fill ins(%arg1 : f32) outs(%1 : tensor<1xf32>) -> tensor<1xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %2 into %arg3[%arg2] [1] [1] : tensor<1xf32> into tensor<8xf32>
      }
    }
    return %0 : tensor<8xf32>
  }
  func.func @once(%arg0: tensor<8xf32>, %arg1: tensor<1xf32>, %arg2: index) -> tensor<8xf32> {
    %0 = arith.constant 0 : index
    call @w(%0) : (index) -> ()
    %1 = tensor.insert_slice %arg1 into %arg0[0] [1] [1] : tensor<1xf32> into tensor<8xf32>
    return %1 : tensor<8xf32>
  }
  func.func @one_dimension_of_one(%arg0: tensor<8xf32>, %arg1: tensor<1xf32>, %arg2: index) -> tensor<8xf32> {
    %0 = arith.constant 0 : index
    %1 = scf.forall (%arg3) in (%arg2) shared_outs(%arg4 = %arg0) -> (tensor<8xf32>) {
      func.call @w(%0) : (index) -> ()
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %arg1 into %arg4[%arg3] [1] [1] : tensor<1xf32> into tensor<8xf32>
      }
    }
    return %1 : tensor<8xf32>
  }
  func.func @without_iterations(%arg0: tensor<8xf32>, %arg1: tensor<1xf32>, %arg2: index) -> tensor<8xf32> {
    return %arg0 : tensor<8xf32>
  }
  func.func @extents(%arg0: tensor<?xf32>, %arg1: tensor<1xf32>, %arg2: index) -> (tensor<?xf32>, index) {
    %0 = arith.constant 0 : index
    %1 = scf.forall (%arg3) in (%arg2) shared_outs(%arg4 = %arg0) -> (tensor<?xf32>) {
      %3 = tensor.dim %arg4, %0 : tensor<?xf32>
      %4 = arith.minui %3, %arg3 : index
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %arg1 into %arg4[%4] [1] [1] : tensor<1xf32> into tensor<?xf32>
      }
    }
    %2 = tensor.dim %arg0, %0 : tensor<?xf32>
    return %1, %2 : tensor<?xf32>, index
  }
  func.func @unused_result(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<1xf32>, %arg3: index) -> tensor<8xf32> {
    %0 = scf.forall (%arg4) in (%arg3) shared_outs(%arg5 = %arg1) -> (tensor<8xf32>) {
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %arg2 into %arg5[%arg4] [1] [1] : tensor<1xf32> into tensor<8xf32>
      }
    }
    return %0 : tensor<8xf32>
  }
  func.func @not_written(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<1xf32>, %arg3: index) -> (tensor<8xf32>, tensor<8xf32>) {
    %0 = scf.forall (%arg4) in (%arg3) shared_outs(%arg5 = %arg0) -> (tensor<8xf32>) {
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %arg2 into %arg5[%arg4] [1] [1] : tensor<1xf32> into tensor<8xf32>
      }
    }
    return %0, %arg1 : tensor<8xf32>, tensor<8xf32>
  }
  func.func @nested_loops(%arg0: index, %arg1: index) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    scf.parallel (%arg2, %arg3, %arg4) = (%0, %0, %1) to (%arg0, %arg1, %arg0) step (%1, %1, %1) {
      %2 = arith.addi %arg2, %arg3 : index
      func.call @w(%2) : (index) -> ()
      scf.reduce 
    }
    scf.parallel (%arg2) = (%0) to (%arg0) step (%1) {
      scf.parallel (%arg3) = (%0) to (%arg2) step (%1) {
        func.call @w(%arg3) : (index) -> ()
        scf.reduce 
      }
      scf.reduce 
    }
    scf.parallel (%arg2) = (%0) to (%arg0) step (%1) {
      func.call @w(%arg2) : (index) -> ()
      scf.parallel (%arg3) = (%0) to (%arg1) step (%1) {
        func.call @w(%arg3) : (index) -> ()
        scf.reduce 
      }
      scf.reduce 
    }
    scf.forall (%arg2) in (%arg0) {
      scf.forall (%arg3) in (%arg1) {
        func.call @w(%arg3) : (index) -> ()
      }
    }
    return
  }
  func.func @mapped(%arg0: tensor<8xf32>, %arg1: tensor<1xf32>, %arg2: index) -> tensor<8xf32> {
    %0 = arith.constant 0 : index
    %1 = scf.forall (%arg3, %arg4) in (%arg2, 1) shared_outs(%arg5 = %arg0) -> (tensor<8xf32>) {
      func.call @w(%0) : (index) -> ()
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %arg1 into %arg5[%arg3] [1] [1] : tensor<1xf32> into tensor<8xf32>
      }
    } {mapping = [#gpu.thread<x>, #gpu.thread<y>]}
    return %1 : tensor<8xf32>
  }
  func.func @mapped_without_iterations(%arg0: tensor<8xf32>, %arg1: tensor<1xf32>, %arg2: index) -> tensor<8xf32> {
    %0 = scf.forall (%arg3, %arg4) in (%arg2, 0) shared_outs(%arg5 = %arg0) -> (tensor<8xf32>) {
      func.call @w(%arg4) : (index) -> ()
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %arg1 into %arg5[%arg3] [1] [1] : tensor<1xf32> into tensor<8xf32>
      }
    } {mapping = [#gpu.thread<x>, #gpu.thread<y>]}
    return %0 : tensor<8xf32>
  }
  func.func @equal_bounds(%arg0: tensor<8xf32>, %arg1: tensor<1xf32>, %arg2: index) -> tensor<8xf32> {
    return %arg0 : tensor<8xf32>
  }
  func.func @several_outputs(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>, %arg2: tensor<1xf32>, %arg3: index) -> (tensor<8xf32>, tensor<8xf32>) {
    %0 = tensor.insert_slice %arg2 into %arg0[0] [1] [1] : tensor<1xf32> into tensor<8xf32>
    return %arg0, %0 : tensor<8xf32>, tensor<8xf32>
  }
  func.func @effects(%arg0: memref<8xf32>, %arg1: f32, %arg2: index) {
    %0 = arith.constant 0 : index
    scf.forall (%arg3) in (%arg2) {
      memref.store %arg1, %arg0[%arg3] : memref<8xf32>
    }
    memref.store %arg1, %arg0[%0] : memref<8xf32>
    scf.forall (%arg3) in (2) {
      memref.store %arg1, %arg0[%arg3] : memref<8xf32>
    }
    return
  }
}
