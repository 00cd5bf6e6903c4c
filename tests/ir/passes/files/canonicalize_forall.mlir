// canonicalize
func.func private @w(index)
func.func @constant_bounds(%x: tensor<8xf32>, %f: f32) -> (tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c1 = arith.constant 1 : index
  %r = scf.forall (%i) = (%c0) to (%c8) step (%c1) shared_outs(%o = %x) -> tensor<8xf32> {
    %e = tensor.extract_slice %o[%i] [1] [1] : tensor<8xf32> to tensor<1xf32>
    %g = linalg.fill ins(%f : f32) outs(%e : tensor<1xf32>) -> tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %g into %o[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  }
  return %r : tensor<8xf32>
}
func.func @once(%x: tensor<8xf32>, %f: tensor<1xf32>, %n: index) -> (tensor<8xf32>) {
  %c1 = arith.constant 1 : index
  %r = scf.forall (%i, %j) in (%c1, 1) shared_outs(%o = %x) -> tensor<8xf32> {
    func.call @w(%i) : (index) -> ()
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %f into %o[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  }
  return %r : tensor<8xf32>
}
func.func @one_dimension_of_one(%x: tensor<8xf32>, %f: tensor<1xf32>, %n: index) -> (tensor<8xf32>) {
  %r = scf.forall (%i, %j) in (%n, 1) shared_outs(%o = %x) -> tensor<8xf32> {
    func.call @w(%j) : (index) -> ()
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %f into %o[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  }
  return %r : tensor<8xf32>
}
func.func @without_iterations(%x: tensor<8xf32>, %f: tensor<1xf32>, %n: index) -> (tensor<8xf32>) {
  %r = scf.forall (%i, %j) in (%n, 0) shared_outs(%o = %x) -> tensor<8xf32> {
    func.call @w(%j) : (index) -> ()
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %f into %o[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  }
  return %r : tensor<8xf32>
}
func.func @extents(%x: tensor<?xf32>, %f: tensor<1xf32>, %n: index) -> (tensor<?xf32>, index) {
  %c0 = arith.constant 0 : index
  %r = scf.forall (%i) in (%n) shared_outs(%o = %x) -> tensor<?xf32> {
    %d = tensor.dim %o, %c0 : tensor<?xf32>
    %k = arith.minui %d, %i : index
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %f into %o[%k] [1] [1] : tensor<1xf32> into tensor<?xf32>
    }
  }
  %e = tensor.dim %r, %c0 : tensor<?xf32>
  return %r, %e : tensor<?xf32>, index
}
func.func @unused_result(%x: tensor<8xf32>, %y: tensor<8xf32>, %f: tensor<1xf32>, %n: index) -> (tensor<8xf32>) {
  %r:2 = scf.forall (%i) in (%n) shared_outs(%o = %x, %p = %y) -> (tensor<8xf32>, tensor<8xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %f into %o[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
      tensor.parallel_insert_slice %f into %p[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  }
  return %r#1 : tensor<8xf32>
}
func.func @not_written(%x: tensor<8xf32>, %y: tensor<8xf32>, %f: tensor<1xf32>, %n: index) -> (tensor<8xf32>, tensor<8xf32>) {
  %r:2 = scf.forall (%i) in (%n) shared_outs(%o = %x, %p = %y) -> (tensor<8xf32>, tensor<8xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %f into %o[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
}
func.func @nested_loops(%n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    scf.parallel (%j, %k) = (%c0, %c1) to (%m, %n) step (%c1, %c1) {
      %a = arith.addi %i, %j : index
      func.call @w(%a) : (index) -> ()
      scf.reduce
    }
    scf.reduce
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    scf.parallel (%j) = (%c0) to (%i) step (%c1) {
      func.call @w(%j) : (index) -> ()
      scf.reduce
    }
    scf.reduce
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    func.call @w(%i) : (index) -> ()
    scf.parallel (%j) = (%c0) to (%m) step (%c1) {
      func.call @w(%j) : (index) -> ()
      scf.reduce
    }
    scf.reduce
  }
  scf.forall (%i) in (%n) {
    scf.forall (%j) in (%m) {
      func.call @w(%j) : (index) -> ()
    }
  }
  return
}
func.func @mapped(%x: tensor<8xf32>, %f: tensor<1xf32>, %n: index) -> (tensor<8xf32>) {
  %r = scf.forall (%i, %j) in (%n, 1) shared_outs(%o = %x) -> tensor<8xf32> {
    func.call @w(%j) : (index) -> ()
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %f into %o[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  } {mapping = [#gpu.thread<x>, #gpu.thread<y>]}
  return %r : tensor<8xf32>
}
func.func @mapped_without_iterations(%x: tensor<8xf32>, %f: tensor<1xf32>, %n: index) -> (tensor<8xf32>) {
  %r = scf.forall (%i, %j) in (%n, 0) shared_outs(%o = %x) -> tensor<8xf32> {
    func.call @w(%j) : (index) -> ()
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %f into %o[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  } {mapping = [#gpu.thread<x>, #gpu.thread<y>]}
  return %r : tensor<8xf32>
}
func.func @equal_bounds(%x: tensor<8xf32>, %f: tensor<1xf32>, %n: index) -> (tensor<8xf32>) {
  %c2 = arith.constant 2 : index
  %r = scf.forall (%i, %j, %k) = (%n, 3, 0) to (%n, 7, 9) step (1, 4, %c2) shared_outs(%o = %x) -> tensor<8xf32> {
    func.call @w(%j) : (index) -> ()
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %f into %o[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  }
  return %r : tensor<8xf32>
}
func.func @several_outputs(%x: tensor<8xf32>, %y: tensor<8xf32>, %f: tensor<1xf32>, %n: index) -> (tensor<8xf32>, tensor<8xf32>) {
  %r:2 = scf.forall (%i) = (%n) to (%n) step (1) shared_outs(%o = %x, %p = %y) -> (tensor<8xf32>, tensor<8xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %f into %o[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
      tensor.parallel_insert_slice %f into %p[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  }
  %s:2 = scf.forall (%i) in (1) shared_outs(%o = %x, %p = %y) -> (tensor<8xf32>, tensor<8xf32>) {
    %e = tensor.extract_slice %o[2] [1] [1] : tensor<8xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %f into %o[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
      tensor.parallel_insert_slice %f into %p[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  }
  return %r#0, %s#0 : tensor<8xf32>, tensor<8xf32>
}
func.func @effects(%m: memref<8xf32>, %f: f32, %n: index) {
  scf.forall (%i) in (%n) {
    memref.store %f, %m[%i] : memref<8xf32>
  }
  scf.forall (%i, %j) in (1, 1) {
    memref.store %f, %m[%i] : memref<8xf32>
  }
  scf.forall (%i, %j) in (2, 1) {
    memref.store %f, %m[%i] : memref<8xf32>
  }
  scf.forall (%i, %j) in (0, 1) {
    memref.store %f, %m[%i] : memref<8xf32>
  }
  scf.forall (%i, %j) in (2, 1) {
    %z = arith.addi %i, %j : index
  }
  return
}
