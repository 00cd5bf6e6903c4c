// canonicalize
func.func private @use(tensor<?xf32>)
func.func @written(%t: tensor<4xf32>, %n: index, %f: f32, %k: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tensor.cast %t : tensor<4xf32> to tensor<?xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %0) -> tensor<?xf32> {
    func.call @use(%a) : (tensor<?xf32>) -> ()
    %1 = tensor.insert %f into %a[%k] : tensor<?xf32>
    scf.yield %1 : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
func.func @in_another_loop(%t: tensor<4xf32>, %n: index, %f: f32, %c: i1) -> (tensor<?xf32>, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tensor.cast %t : tensor<4xf32> to tensor<?xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %0, %b = %c0) -> (tensor<?xf32>, index) {
    %1 = scf.for %j = %c0 to %i step %c1 iter_args(%d = %a) -> tensor<?xf32> {
      %2 = tensor.insert %f into %d[%j] : tensor<?xf32>
      %3 = scf.if %c -> tensor<?xf32> {
        %4 = linalg.fill ins(%f : f32) outs(%2 : tensor<?xf32>) -> tensor<?xf32>
        scf.yield %4 : tensor<?xf32>
      } else {
        scf.yield %2 : tensor<?xf32>
      }
      scf.yield %3 : tensor<?xf32>
    }
    %5 = arith.addi %b, %i : index
    scf.yield %1, %5 : tensor<?xf32>, index
  }
  return %r#0, %r#1 : tensor<?xf32>, index
}
func.func @read_twice(%t: tensor<4xf32>, %n: index, %f: f32) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tensor.cast %t : tensor<4xf32> to tensor<?xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %0) -> tensor<?xf32> {
    %1 = tensor.insert %f into %a[%i] : tensor<?xf32>
    scf.yield %1 : tensor<?xf32>
  }
  func.call @use(%r) : (tensor<?xf32>) -> ()
  return %r : tensor<?xf32>
}
func.func @outputs(%t: tensor<4xf32>, %n: index, %p: tensor<1xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = tensor.cast %t : tensor<4xf32> to tensor<?xf32>
  %r:2 = scf.forall (%i) in (%n) shared_outs(%a = %0, %b = %0) -> (tensor<?xf32>, tensor<?xf32>) {
    func.call @use(%b) : (tensor<?xf32>) -> ()
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %p into %a[%i] [1] [1] : tensor<1xf32> into tensor<?xf32>
      tensor.parallel_insert_slice %p into %b[%i] [1] [1] : tensor<1xf32> into tensor<?xf32>
    }
  }
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xf32>
}
func.func @blocks(%c: i1, %d: i1, %x: i32, %m: memref<i32>) -> i32 {
  %0 = scf.execute_region -> i32 {
    memref.store %x, %m[] : memref<i32>
    cf.cond_br %c, ^a(%x : i32), ^b
  ^a(%y: i32):
    scf.yield %y : i32
  ^b:
    memref.store %x, %m[] : memref<i32>
    %1 = arith.addi %x, %x : i32
    scf.yield %1 : i32
  }
  %2 = scf.if %d -> i32 {
    %3 = scf.execute_region -> i32 {
      cf.cond_br %c, ^a, ^b
    ^a:
      %4 = scf.execute_region -> i32 {
        cf.cond_br %d, ^c, ^d
      ^c:
        memref.store %x, %m[] : memref<i32>
        scf.yield %x : i32
      ^d:
        scf.yield %0 : i32
      }
      scf.yield %4 : i32
    ^b:
      memref.store %0, %m[] : memref<i32>
      scf.yield %x : i32
    }
    scf.yield %3 : i32
  } else {
    scf.yield %x : i32
  }
  %5 = arith.muli %0, %2 : i32
  return %5 : i32
}
func.func @kept(%c: i1, %x: i32, %m: memref<i32>) {
  scf.execute_region no_inline {
    cf.cond_br %c, ^a, ^b
  ^a:
    memref.store %x, %m[] : memref<i32>
    scf.yield
  ^b:
    scf.yield
  }
  return
}
