module {
  func.func @ifconst(%arg0: i32, %arg1: memref<i32>) -> i32 {
    memref.store %arg0, %arg1[] : memref<i32>
    %0 = arith.addi %arg0, %arg0 : i32
    return %0 : i32
  }
  func.func @ifselect(%arg0: i1, %arg1: i32, %arg2: i32, %arg3: memref<i32>) -> (i32, i32) {
    %0 = arith.select %arg0, %arg1, %arg2 : i32
    %1 = scf.if %arg0 -> (i32) {
      memref.store %arg1, %arg3[] : memref<i32>
      %2 = arith.addi %arg1, %arg1 : i32
      scf.yield %2 : i32
    } else {
      scf.yield %arg1 : i32
    }
    return %1, %0 : i32, i32
  }
  func.func @ifonlyselect(%arg0: i1, %arg1: i32, %arg2: i32) -> i32 {
    %0 = arith.select %arg0, %arg1, %arg2 : i32
    %1 = arith.addi %0, %arg1 : i32
    return %1 : i32
  }
  func.func @unused(%arg0: i1, %arg1: i32, %arg2: i32, %arg3: memref<i32>) -> i32 {
    %0 = scf.if %arg0 -> (i32) {
      memref.store %arg1, %arg3[] : memref<i32>
      %1 = arith.addi %arg1, %arg1 : i32
      scf.yield %1 : i32
    } else {
      %1 = arith.muli %arg1, %arg2 : i32
      scf.yield %1 : i32
    }
    return %0 : i32
  }
  func.func @emptyelse(%arg0: i1, %arg1: i32, %arg2: memref<i32>) {
    scf.if %arg0 {
      memref.store %arg1, %arg2[] : memref<i32>
    }
    return
  }
  func.func @emptythen(%arg0: i1, %arg1: i32, %arg2: memref<i32>) {
    scf.if %arg0 {
    } else {
      memref.store %arg1, %arg2[] : memref<i32>
    }
    return
  }
  func.func @nested(%arg0: i1, %arg1: i1, %arg2: i32, %arg3: memref<i32>) {
    %0 = arith.andi %arg0, %arg1 : i1
    scf.if %0 {
      memref.store %arg2, %arg3[] : memref<i32>
    }
    return
  }
  func.func @condprop(%arg0: i1, %arg1: i32, %arg2: memref<i1>) {
    %0 = arith.constant false
    %1 = arith.constant true
    scf.if %arg0 {
      memref.store %1, %arg2[] : memref<i1>
    } else {
      memref.store %0, %arg2[] : memref<i1>
    }
    return
  }
  func.func @ifbool(%arg0: i1) -> (i1, i1) {
    %0 = arith.constant true
    %1 = arith.xori %arg0, %0 : i1
    return %arg0, %1 : i1, i1
  }
  func.func @fortrips(%arg0: i32, %arg1: memref<10xi32>) -> (i32, i32) {
    %0 = arith.constant 0 : index
    memref.store %arg0, %arg1[%0] : memref<10xi32>
    %1 = arith.addi %arg0, %arg0 : i32
    return %arg0, %1 : i32, i32
  }
  func.func @foriter(%arg0: index, %arg1: i32, %arg2: i32, %arg3: memref<10xi32>) -> (i32, i32, i32) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = scf.for %arg4 = %0 to %arg0 step %1 iter_args(%arg5 = %arg1) -> (i32) {
      memref.store %arg5, %arg3[%arg4] : memref<10xi32>
      %3 = arith.addi %arg5, %arg1 : i32
      scf.yield %3 : i32
    }
    return %2, %arg1, %arg2 : i32, i32, i32
  }
  func.func @fordead(%arg0: index, %arg1: i32) {
    return
  }
  func.func @forsame(%arg0: index, %arg1: i32, %arg2: memref<10xi32>) -> i32 {
    return %arg1 : i32
  }
  func.func @forconst(%arg0: index, %arg1: i32, %arg2: i32) -> i32 {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = scf.for %arg3 = %0 to %arg0 step %1 iter_args(%arg4 = %arg1) -> (i32) {
      scf.yield %arg2 : i32
    }
    return %2 : i32
  }
  func.func @while1(%arg0: i32, %arg1: memref<i32>) -> i32 {
    %0 = arith.constant false
    %1 = scf.while (%arg2 = %arg0) : (i32) -> i32 {
      %2 = arith.addi %arg2, %arg2 : i32
      scf.condition(%0) %2 : i32
    } do {
    ^bb0(%arg2: i32):
      memref.store %arg2, %arg1[] : memref<i32>
      scf.yield %arg2 : i32
    }
    return %1 : i32
  }
  func.func @parallel(%arg0: index, %arg1: memref<10x10xi32>, %arg2: i32) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    scf.parallel (%arg3) = (%0) to (%arg0) step (%1) {
      memref.store %arg2, %arg1[%0, %arg3] : memref<10x10xi32>
      scf.reduce 
    }
    memref.store %arg2, %arg1[%0, %0] : memref<10x10xi32>
    return
  }
  func.func @affinefor(%arg0: index, %arg1: memref<10xi32>, %arg2: i32) -> i32 {
    affine.for %arg3 = 0 to 0 {
      affine.store %arg2, %arg1[%arg3] : memref<10xi32>
    }
    affine.for %arg3 = 0 to 1 {
      affine.store %arg2, %arg1[%arg3] : memref<10xi32>
    }
    return %arg2 : i32
  }
  func.func @execute(%arg0: i32) -> i32 {
    %0 = arith.addi %arg0, %arg0 : i32
    return %0 : i32
  }
  func.func @iswitch(%arg0: i32, %arg1: memref<i32>) -> i32 {
    %0 = arith.addi %arg0, %arg0 : i32
    return %0 : i32
  }
  func.func @pr(%arg0: f32, %arg1: index) -> f32 {
    %0 = arith.addf %arg0, %arg0 : f32
    return %0 : f32
  }
  func.func @pr2(%arg0: f32, %arg1: index, %arg2: memref<8xf32>) -> (f32, f32) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2:2 = scf.parallel (%arg3) = (%0) to (%arg1) step (%1) init (%arg0, %arg0) -> (f32, f32) {
      %3 = memref.load %arg2[%0] : memref<8xf32>
      scf.reduce(%3, %arg0 : f32, f32) {
      ^bb0(%arg4: f32, %arg5: f32):
        %4 = arith.addf %arg4, %arg5 : f32
        scf.reduce.return %4 : f32
      }, {
      ^bb0(%arg4: f32, %arg5: f32):
        %4 = arith.mulf %arg4, %arg5 : f32
        scf.reduce.return %4 : f32
      }
    }
    return %2#0, %2#1 : f32, f32
  }
  func.func @pr3(%arg0: f32, %arg1: index, %arg2: memref<8xf32>) -> (f32, f32) {
    %0 = arith.constant 0 : index
    %1 = memref.load %arg2[%0] : memref<8xf32>
    %2 = arith.addf %arg0, %1 : f32
    %3 = arith.addf %arg0, %arg0 : f32
    return %2, %3 : f32, f32
  }
  func.func @ifif(%arg0: i1, %arg1: i1, %arg2: i32, %arg3: i32) -> i32 {
    %0 = arith.andi %arg0, %arg1 : i1
    %1 = scf.if %0 -> (i32) {
      %2 = arith.addi %arg2, %arg3 : i32
      scf.yield %2 : i32
    } else {
      scf.yield %arg3 : i32
    }
    return %1 : i32
  }
  func.func @ifif2(%arg0: i1, %arg1: i1, %arg2: i32, %arg3: i32) -> i32 {
    %0 = scf.if %arg0 -> (i32) {
      %1 = scf.if %arg1 -> (i32) {
        %2 = arith.addi %arg2, %arg3 : i32
        scf.yield %2 : i32
      } else {
        scf.yield %arg2 : i32
      }
      scf.yield %1 : i32
    } else {
      scf.yield %arg3 : i32
    }
    return %0 : i32
  }
  func.func @ifif3(%arg0: i1, %arg1: i1, %arg2: i32, %arg3: i32, %arg4: memref<i32>) -> (i32, i32) {
    %0 = arith.andi %arg0, %arg1 : i1
    %1 = arith.select %arg0, %arg2, %arg3 : i32
    %2 = scf.if %0 -> (i32) {
      memref.store %arg2, %arg4[] : memref<i32>
      %3 = memref.load %arg4[] : memref<i32>
      scf.yield %3 : i32
    } else {
      scf.yield %arg3 : i32
    }
    return %2, %1 : i32, i32
  }
}
