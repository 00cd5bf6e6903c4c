module {
  func.func private @use(i32)
  func.func private @all(i32, i32, i32, i32, i32, tensor<?xi32>, tensor<4xi32>, i32, f4E2M1FN, f16, memref<2xi32, strided<[1], offset: ?>>, i32, i32)
  func.func @bounds(%arg0: index, %arg1: i32, %arg2: f32, %arg3: memref<i32>) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = arith.constant 4 : index
    %3 = arith.addi %arg1, %arg1 : i32
    scf.for %arg4 = %0 to %arg0 step %1 {
      %9 = arith.muli %3, %arg1 overflow<nsw> : i32
      memref.store %9, %arg3[] : memref<i32>
    }
    %4 = arith.muli %arg1, %arg1 overflow<nsw> : i32
    %5 = arith.fptosi %arg2 : f32 to i32
    scf.for %arg4 = %0 to %2 step %1 {
      memref.store %4, %arg3[] : memref<i32>
      memref.store %5, %arg3[] : memref<i32>
    }
    scf.for %arg4 = %2 to %2 step %1 {
      %9 = arith.fptosi %arg2 : f32 to i32
      memref.store %9, %arg3[] : memref<i32>
    }
    %6 = arith.shli %arg1, %arg1 : i32
    affine.for %arg4 = 3 to 4 {
      memref.store %6, %arg3[] : memref<i32>
    }
    affine.for %arg4 = 0 to %arg0 {
      %9 = arith.shli %arg1, %arg1 : i32
      memref.store %9, %arg3[] : memref<i32>
    }
    %7 = arith.remui %arg1, %arg1 : i32
    scf.parallel (%arg4, %arg5) = (%0, %0) to (%2, %2) step (%1, %1) {
      memref.store %7, %arg3[] : memref<i32>
      scf.reduce 
    }
    scf.parallel (%arg4, %arg5) = (%0, %0) to (%2, %arg0) step (%1, %1) {
      %9 = arith.remui %arg1, %arg1 : i32
      memref.store %9, %arg3[] : memref<i32>
      scf.reduce 
    }
    %8 = math.ipowi %arg1, %arg1 : i32
    scf.forall (%arg4) in (2) {
      memref.store %8, %arg3[] : memref<i32>
    }
    scf.forall (%arg4) in (%arg0) {
      %9 = math.ipowi %arg1, %arg1 : i32
      memref.store %9, %arg3[] : memref<i32>
    }
    return
  }
  func.func @places(%arg0: index, %arg1: i32, %arg2: f32, %arg3: memref<i32>, %arg4: i1) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = arith.constant 4 : index
    %3 = arith.fptosi %arg2 : f32 to i32
    scf.while : () -> () {
      memref.store %3, %arg3[] : memref<i32>
      scf.condition(%arg4)
    } do {
      %7 = arith.subi %arg1, %arg1 overflow<nuw> : i32
      memref.store %7, %arg3[] : memref<i32>
      scf.yield
    }
    %4 = arith.fptosi %arg2 : f32 to i32
    scf.for %arg5 = %0 to %2 step %1 {
      func.call @use(%4) : (i32) -> ()
      %7 = arith.fptoui %arg2 : f32 to i32
      memref.store %7, %arg3[] : memref<i32>
    }
    %5 = arith.fptosi %arg2 : f32 to i32
    scf.for %arg5 = %0 to %2 step %1 {
      scf.for %arg6 = %0 to %arg0 step %1 {
        memref.store %arg1, %arg3[] : memref<i32>
      }
      scf.while : () -> () {
        scf.condition(%arg4)
      } do {
        scf.yield
      }
      %7 = arith.fptoui %arg2 : f32 to i32
      memref.store %5, %arg3[] : memref<i32>
      memref.store %7, %arg3[] : memref<i32>
    }
    %6 = arith.fptosi %arg2 : f32 to i32
    scf.for %arg5 = %0 to %2 step %1 {
      scf.for %arg6 = %0 to %2 step %1 {
        memref.store %6, %arg3[] : memref<i32>
      }
      scf.if %arg4 {
        %7 = arith.fptoui %arg2 : f32 to i32
        memref.store %7, %arg3[] : memref<i32>
      }
    }
    return
  }
  func.func @operations(%arg0: index, %arg1: i32, %arg2: tensor<4xi32>, %arg3: tensor<?xi32>, %arg4: memref<i32>, %arg5: f32, %arg6: memref<4xi32>, %arg7: i1) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = arith.constant 4 : index
    %3 = arith.constant 5 : i32
    %4 = tensor.extract %arg2[%1] : tensor<4xi32>
    %5 = arith.remsi %arg1, %3 : i32
    %6 = arith.addi %arg2, %arg2 : tensor<4xi32>
    %7 = arith.addi %3, %3 overflow<nsw, nuw> : i32
    %8 = arith.truncf %arg5 : f32 to f16
    %9 = scf.if %arg7 -> (i32) {
      %10 = arith.muli %arg1, %arg1 : i32
      scf.yield %10 : i32
    } else {
      scf.yield %arg1 : i32
    }
    scf.for %arg8 = %0 to %arg0 step %1 {
      %10 = tensor.extract %arg2[%2] : tensor<4xi32>
      %11 = tensor.extract %arg2[%arg0] : tensor<4xi32>
      %12 = tensor.extract %arg3[%0] : tensor<?xi32>
      %13 = arith.addi %arg3, %arg3 : tensor<?xi32>
      %14 = arith.truncf %arg5 : f32 to f4E2M1FN
      %15 = memref.subview %arg6[%arg0] [2] [1] : memref<4xi32> to memref<2xi32, strided<[1], offset: ?>>
      %16 = scf.if %arg7 -> (i32) {
        %17 = arith.muli %arg1, %arg1 overflow<nsw> : i32
        scf.yield %17 : i32
      } else {
        scf.yield %arg1 : i32
      }
      func.call @all(%4, %10, %11, %12, %5, %13, %6, %7, %14, %8, %15, %9, %16) : (i32, i32, i32, i32, i32, tensor<?xi32>, tensor<4xi32>, i32, f4E2M1FN, f16, memref<2xi32, strided<[1], offset: ?>>, i32, i32) -> ()
    }
    return
  }
}
