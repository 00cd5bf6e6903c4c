module {
  func.func private @use(index, f32, index, index, index, index, index, index, index, memref<?x1xf32, strided<[?, 1]>>, memref<?xf32>, memref<4xf32>, memref<f32>, f32, f32, f32, f32, tensor<?xf32>, f32)
  func.func @loops(%arg0: index, %arg1: index, %arg2: f32, %arg3: memref<?xf32>, %arg4: i1) -> f32 {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = arith.constant 7 : index
    %3 = arith.addi %arg0, %arg1 : index
    %4 = arith.divsi %arg0, %2 : index
    %5 = arith.addf %arg2, %arg2 : f32
    %6 = arith.muli %arg0, %arg1 : index
    %7 = scf.if %arg4 -> (f32) {
      %8 = arith.mulf %5, %5 : f32
      scf.yield %8 : f32
    } else {
      scf.yield %arg2 : f32
    }
    scf.for %arg5 = %0 to %arg0 step %1 {
      %8 = arith.addi %3, %arg5 : index
      %9 = memref.load %arg3[%arg0] : memref<?xf32>
      %10 = arith.divsi %arg0, %arg1 : index
      memref.store %5, %arg3[%8] : memref<?xf32>
      %11 = arith.muli %6, %arg5 : index
      scf.for %arg6 = %0 to %3 step %1 {
        memref.store %arg2, %arg3[%11] : memref<?xf32>
      }
      %12 = memref.alloc(%arg0) : memref<?xf32>
      memref.store %arg2, %12[%10] : memref<?xf32>
      memref.store %arg2, %12[%4] : memref<?xf32>
      scf.if %arg4 {
        %13 = arith.mulf %5, %5 : f32
        memref.store %13, %arg3[%arg5] : memref<?xf32>
      }
      memref.store %7, %arg3[%arg5] : memref<?xf32>
    }
    return %arg2 : f32
  }
  func.func @affine_loops(%arg0: index, %arg1: f32, %arg2: memref<?x?xf32>) {
    %0 = affine.apply affine_map<(d0) -> (d0 + 1)>(%arg0)
    %1 = arith.addf %arg1, %arg1 : f32
    affine.for %arg3 = 0 to 10 {
      %2 = affine.apply affine_map<(d0) -> (d0 * 2)>(%arg3)
      %3 = arith.addi %0, %2 : index
      affine.for %arg4 = 0 to %arg0 {
        %4 = memref.dim %arg2, %arg0 : memref<?x?xf32>
        %5 = arith.addi %3, %4 : index
        memref.store %1, %arg2[%5, %arg4] : memref<?x?xf32>
      }
    }
    return
  }
  func.func @inner_loops(%arg0: index, %arg1: f32, %arg2: memref<?xf32>, %arg3: i1) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = arith.andi %arg3, %arg3 : i1
    %3 = arith.addf %arg1, %arg1 : f32
    scf.while : () -> () {
      scf.condition(%2)
    } do {
      memref.store %3, %arg2[%0] : memref<?xf32>
      scf.yield
    }
    %4 = arith.mulf %arg1, %arg1 : f32
    scf.parallel (%arg4) = (%0) to (%arg0) step (%1) {
      memref.store %4, %arg2[%arg4] : memref<?xf32>
      scf.reduce 
    }
    affine.for %arg4 = 0 to 10 {
      affine.if affine_set<(d0) : (d0 - 2 >= 0)>(%arg0) {
        %9 = arith.mulf %arg1, %arg1 : f32
        affine.store %9, %arg2[%arg4] : memref<?xf32>
      }
    }
    %5 = affine.for %arg4 = 0 to 4 iter_args(%arg5 = %arg1) -> (f32) {
      %9 = arith.addf %arg5, %arg1 : f32
      affine.yield %9 : f32
    }
    affine.for %arg4 = 0 to 10 {
      affine.store %5, %arg2[%arg4] : memref<?xf32>
    }
    %6 = scf.for %arg4 = %0 to %arg0 step %1 iter_args(%arg5 = %arg1) -> (f32) {
      %9 = arith.addf %arg5, %arg1 : f32
      scf.yield %9 : f32
    }
    scf.for %arg4 = %0 to %arg0 step %1 {
      memref.store %6, %arg2[%arg4] : memref<?xf32>
    }
    %7 = arith.constant 4 : index
    %8 = scf.for %arg4 = %0 to %7 step %1 iter_args(%arg5 = %arg1) -> (f32) {
      %9 = arith.addf %arg5, %arg1 : f32
      scf.yield %9 : f32
    }
    scf.for %arg4 = %0 to %arg0 step %1 {
      memref.store %8, %arg2[%arg4] : memref<?xf32>
    }
    return
  }
  func.func @tensors(%arg0: index, %arg1: tensor<?xf32>, %arg2: tensor<4xi8>, %arg3: i1) -> tensor<?xf32> {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = tensor.extract %arg1[%0] : tensor<?xf32>
    %3 = tensor.empty(%arg0) : tensor<?xf32>
    %4 = tensor.dim %arg1, %0 : tensor<?xf32>
    %5 = scf.for %arg4 = %0 to %arg0 step %1 iter_args(%arg5 = %arg1) -> (tensor<?xf32>) {
      %6 = scf.execute_region -> index {
        %11 = arith.addi %arg0, %arg0 : index
        scf.yield %11 : index
      }
      %7 = scf.index_switch %arg0 -> index 
      case 1 {
        scf.yield %arg0 : index
      }
      default {
        scf.yield %4 : index
      }
      %8 = tensor.insert %2 into %arg5[%7] : tensor<?xf32>
      %9 = tensor.insert %2 into %8[%6] : tensor<?xf32>
      %10 = tensor.insert %2 into %3[%6] : tensor<?xf32>
      scf.yield %9 : tensor<?xf32>
    }
    return %5 : tensor<?xf32>
  }
  func.func @speculation(%arg0: index, %arg1: f32, %arg2: memref<?x?xf32>, %arg3: tensor<?xf32>, %arg4: i1, %arg5: memref<*xf32>) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = arith.constant 2 : index
    %3 = affine.if affine_set<(d0) : (d0 - 2 >= 0)>(%arg0) -> f32 {
      %12 = arith.mulf %arg1, %arg1 : f32
      affine.yield %12 : f32
    } else {
      affine.yield %arg1 : f32
    }
    %4 = memref.dim %arg2, %1 : memref<?x?xf32>
    %5 = tensor.dim %arg3, %0 : tensor<?xf32>
    %6 = memref.rank %arg5 : memref<*xf32>
    %7 = memref.subview %arg2[0, 0] [%arg0, 1] [1, 1] : memref<?x?xf32> to memref<?x1xf32, strided<[?, 1]>>
    %8 = memref.cast %arg5 : memref<*xf32> to memref<?xf32>
    %9 = memref.reinterpret_cast %arg2 to offset: [0], sizes: [4], strides: [1] : memref<?x?xf32> to memref<4xf32>
    %10:6 = memref.extract_strided_metadata %arg2 : memref<?x?xf32> -> memref<f32>, index, index, index, index, index
    affine.for %arg6 = 0 to 10 {
      %12 = memref.dim %arg2, %2 : memref<?x?xf32>
      %13 = memref.dim %arg2, %arg0 : memref<?x?xf32>
      %14 = tensor.dim %arg3, %1 : tensor<?xf32>
      %15 = memref.dim %arg5, %0 : memref<*xf32>
      %16 = scf.while (%arg7 = %arg1) : (f32) -> f32 {
        scf.condition(%arg4) %arg7 : f32
      } do {
      ^bb0(%arg7: f32):
        scf.yield %arg7 : f32
      }
      %17 = scf.for %arg7 = %0 to %arg0 step %2 iter_args(%arg8 = %arg1) -> (f32) {
        scf.yield %arg8 : f32
      }
      %18 = affine.for %arg7 = 0 to 10 step 2 iter_args(%arg8 = %arg1) -> (f32) {
        affine.yield %arg8 : f32
      }
      %19 = scf.parallel (%arg7) = (%0) to (%arg0) step (%1) init (%arg1) -> f32 {
        scf.reduce(%arg1 : f32) {
        ^bb0(%arg8: f32, %arg9: f32):
          scf.reduce.return %arg8 : f32
        }
      }
      %20 = scf.forall (%arg7) in (4) shared_outs(%arg8 = %arg3) -> (tensor<?xf32>) {
        scf.forall.in_parallel {
        ^bb0:
        }
      }
      %21 = scf.for %arg7 = %0 to %arg0 step %1 iter_args(%arg8 = %arg1) -> (f32) {
        %23 = memref.dim %arg2, %2 : memref<?x?xf32>
        scf.yield %arg8 : f32
      }
      %22 = memref.alloca_scope  -> (f32) {
        memref.alloca_scope.return %arg1 : f32
      }
      func.call @use(%arg6, %3, %4, %12, %13, %14, %5, %15, %6, %7, %8, %9, %10#0, %16, %17, %18, %19, %20, %21) : (index, f32, index, index, index, index, index, index, index, memref<?x1xf32, strided<[?, 1]>>, memref<?xf32>, memref<4xf32>, memref<f32>, f32, f32, f32, f32, tensor<?xf32>, f32) -> ()
    }
    %11 = arith.mulf %arg1, %arg1 : f32
    scf.forall (%arg6) in (4) {
      memref.store %11, %arg2[%arg6, %arg6] : memref<?x?xf32>
    }
    return
  }
  func.func @poison(%arg0: index, %arg1: i32, %arg2: f32, %arg3: memref<i32>) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = arith.floordivsi %arg1, %arg1 : i32
    %3 = arith.remsi %2, %arg1 : i32
    %4 = arith.shli %3, %arg1 : i32
    %5 = arith.shrui %4, %arg1 exact : i32
    %6 = arith.addi %5, %arg1 overflow<nsw> : i32
    %7 = arith.fptosi %arg2 : f32 to i32
    %8 = math.ipowi %6, %7 : i32
    scf.for %arg4 = %0 to %arg0 step %1 {
      %9 = arith.divsi %arg1, %arg1 : i32
      %10 = arith.ceildivui %arg1, %arg1 : i32
      memref.store %8, %arg3[] : memref<i32>
      memref.store %9, %arg3[] : memref<i32>
      memref.store %10, %arg3[] : memref<i32>
    }
    return
  }
}
