// loop-invariant-code-motion{strict-upstream}
module {
  func.func private @use(index, f32, index, index, index, index, index, index, index, memref<?x1xf32, strided<[?, 1]>>, memref<?xf32>, memref<4xf32>, memref<f32>, f32, f32, f32, f32, tensor<?xf32>, f32)
  func.func @loops(%arg0: index, %arg1: index, %arg2: f32, %arg3: memref<?xf32>, %arg4: i1) -> f32 {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    scf.for %arg5 = %0 to %arg0 step %1 {
      %2 = arith.constant 7 : index
      %3 = arith.addi %arg0, %arg1 : index
      %4 = arith.addi %3, %arg5 : index
      %5 = memref.load %arg3[%arg0] : memref<?xf32>
      %6 = arith.divsi %arg0, %arg1 : index
      %7 = arith.divsi %arg0, %2 : index
      %8 = arith.addf %arg2, %arg2 : f32
      memref.store %8, %arg3[%4] : memref<?xf32>
      scf.for %arg6 = %0 to %3 step %1 {
        %11 = arith.muli %arg0, %arg1 : index
        %12 = arith.muli %11, %arg5 : index
        memref.store %arg2, %arg3[%12] : memref<?xf32>
      }
      %9 = memref.alloc(%arg0) : memref<?xf32>
      memref.store %arg2, %9[%6] : memref<?xf32>
      memref.store %arg2, %9[%7] : memref<?xf32>
      scf.if %arg4 {
        %11 = arith.mulf %8, %8 : f32
        memref.store %11, %arg3[%arg5] : memref<?xf32>
      }
      %10 = scf.if %arg4 -> (f32) {
        %11 = arith.mulf %8, %8 : f32
        scf.yield %11 : f32
      } else {
        scf.yield %arg2 : f32
      }
      memref.store %10, %arg3[%arg5] : memref<?xf32>
    }
    return %arg2 : f32
  }
  func.func @affine_loops(%arg0: index, %arg1: f32, %arg2: memref<?x?xf32>) {
    affine.for %arg3 = 0 to 10 {
      affine.for %arg4 = 0 to %arg0 {
        %0 = affine.apply affine_map<(d0) -> (d0 + 1)>(%arg0)
        %1 = affine.apply affine_map<(d0) -> (d0 * 2)>(%arg3)
        %2 = arith.addf %arg1, %arg1 : f32
        %3 = arith.addi %0, %1 : index
        %4 = memref.dim %arg2, %arg0 : memref<?x?xf32>
        %5 = arith.addi %3, %4 : index
        memref.store %2, %arg2[%5, %arg4] : memref<?x?xf32>
      }
    }
    return
  }
  func.func @inner_loops(%arg0: index, %arg1: f32, %arg2: memref<?xf32>, %arg3: i1) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    scf.while : () -> () {
      %3 = arith.andi %arg3, %arg3 : i1
      scf.condition(%3)
    } do {
      %3 = arith.addf %arg1, %arg1 : f32
      memref.store %3, %arg2[%0] : memref<?xf32>
      scf.yield
    }
    scf.parallel (%arg4) = (%0) to (%arg0) step (%1) {
      %3 = arith.mulf %arg1, %arg1 : f32
      memref.store %3, %arg2[%arg4] : memref<?xf32>
      scf.reduce 
    }
    affine.for %arg4 = 0 to 10 {
      affine.if affine_set<(d0) : (d0 - 2 >= 0)>(%arg0) {
        %3 = arith.mulf %arg1, %arg1 : f32
        affine.store %3, %arg2[%arg4] : memref<?xf32>
      }
    }
    affine.for %arg4 = 0 to 10 {
      %3 = affine.for %arg5 = 0 to 4 iter_args(%arg6 = %arg1) -> (f32) {
        %4 = arith.addf %arg6, %arg1 : f32
        affine.yield %4 : f32
      }
      affine.store %3, %arg2[%arg4] : memref<?xf32>
    }
    scf.for %arg4 = %0 to %arg0 step %1 {
      %3 = scf.for %arg5 = %0 to %arg0 step %1 iter_args(%arg6 = %arg1) -> (f32) {
        %4 = arith.addf %arg6, %arg1 : f32
        scf.yield %4 : f32
      }
      memref.store %3, %arg2[%arg4] : memref<?xf32>
    }
    %2 = arith.constant 4 : index
    scf.for %arg4 = %0 to %arg0 step %1 {
      %3 = scf.for %arg5 = %0 to %2 step %1 iter_args(%arg6 = %arg1) -> (f32) {
        %4 = arith.addf %arg6, %arg1 : f32
        scf.yield %4 : f32
      }
      memref.store %3, %arg2[%arg4] : memref<?xf32>
    }
    return
  }
  func.func @tensors(%arg0: index, %arg1: tensor<?xf32>, %arg2: tensor<4xi8>, %arg3: i1) -> tensor<?xf32> {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = scf.for %arg4 = %0 to %arg0 step %1 iter_args(%arg5 = %arg1) -> (tensor<?xf32>) {
      %3 = tensor.extract %arg1[%0] : tensor<?xf32>
      %4 = tensor.empty(%arg0) : tensor<?xf32>
      %5 = tensor.dim %arg1, %0 : tensor<?xf32>
      %6 = scf.execute_region -> index {
        %11 = arith.addi %arg0, %arg0 : index
        scf.yield %11 : index
      }
      %7 = scf.index_switch %arg0 -> index 
      case 1 {
        scf.yield %arg0 : index
      }
      default {
        scf.yield %5 : index
      }
      %8 = tensor.insert %3 into %arg5[%7] : tensor<?xf32>
      %9 = tensor.insert %3 into %8[%6] : tensor<?xf32>
      %10 = tensor.insert %3 into %4[%6] : tensor<?xf32>
      scf.yield %9 : tensor<?xf32>
    }
    return %2 : tensor<?xf32>
  }
  func.func @speculation(%arg0: index, %arg1: f32, %arg2: memref<?x?xf32>, %arg3: tensor<?xf32>, %arg4: i1, %arg5: memref<*xf32>) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = arith.constant 2 : index
    affine.for %arg6 = 0 to 10 {
      %3 = affine.if affine_set<(d0) : (d0 - 2 >= 0)>(%arg0) -> f32 {
        %22 = arith.mulf %arg1, %arg1 : f32
        affine.yield %22 : f32
      } else {
        affine.yield %arg1 : f32
      }
      %4 = memref.dim %arg2, %1 : memref<?x?xf32>
      %5 = memref.dim %arg2, %2 : memref<?x?xf32>
      %6 = memref.dim %arg2, %arg0 : memref<?x?xf32>
      %7 = tensor.dim %arg3, %1 : tensor<?xf32>
      %8 = tensor.dim %arg3, %0 : tensor<?xf32>
      %9 = memref.dim %arg5, %0 : memref<*xf32>
      %10 = memref.rank %arg5 : memref<*xf32>
      %11 = memref.subview %arg2[0, 0] [%arg0, 1] [1, 1] : memref<?x?xf32> to memref<?x1xf32, strided<[?, 1]>>
      %12 = memref.cast %arg5 : memref<*xf32> to memref<?xf32>
      %13 = memref.reinterpret_cast %arg2 to offset: [0], sizes: [4], strides: [1] : memref<?x?xf32> to memref<4xf32>
      %14:6 = memref.extract_strided_metadata %arg2 : memref<?x?xf32> -> memref<f32>, index, index, index, index, index
      %15 = scf.while (%arg7 = %arg1) : (f32) -> f32 {
        scf.condition(%arg4) %arg7 : f32
      } do {
      ^bb0(%arg7: f32):
        scf.yield %arg7 : f32
      }
      %16 = scf.for %arg7 = %0 to %arg0 step %2 iter_args(%arg8 = %arg1) -> (f32) {
        scf.yield %arg8 : f32
      }
      %17 = affine.for %arg7 = 0 to 10 step 2 iter_args(%arg8 = %arg1) -> (f32) {
        affine.yield %arg8 : f32
      }
      %18 = scf.parallel (%arg7) = (%0) to (%arg0) step (%1) init (%arg1) -> f32 {
        scf.reduce(%arg1 : f32) {
        ^bb0(%arg8: f32, %arg9: f32):
          scf.reduce.return %arg8 : f32
        }
      }
      %19 = scf.forall (%arg7) in (4) shared_outs(%arg8 = %arg3) -> (tensor<?xf32>) {
        scf.forall.in_parallel {
        ^bb0:
        }
      }
      %20 = scf.for %arg7 = %0 to %arg0 step %1 iter_args(%arg8 = %arg1) -> (f32) {
        %22 = memref.dim %arg2, %2 : memref<?x?xf32>
        scf.yield %arg8 : f32
      }
      %21 = memref.alloca_scope  -> (f32) {
        memref.alloca_scope.return %arg1 : f32
      }
      func.call @use(%arg6, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14#0, %15, %16, %17, %18, %19, %20) : (index, f32, index, index, index, index, index, index, index, memref<?x1xf32, strided<[?, 1]>>, memref<?xf32>, memref<4xf32>, memref<f32>, f32, f32, f32, f32, tensor<?xf32>, f32) -> ()
    }
    scf.forall (%arg6) in (4) {
      %3 = arith.mulf %arg1, %arg1 : f32
      memref.store %3, %arg2[%arg6, %arg6] : memref<?x?xf32>
    }
    return
  }
  func.func @poison(%arg0: index, %arg1: i32, %arg2: f32, %arg3: memref<i32>) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    scf.for %arg4 = %0 to %arg0 step %1 {
      %2 = arith.floordivsi %arg1, %arg1 : i32
      %3 = arith.divsi %arg1, %arg1 : i32
      %4 = arith.ceildivui %arg1, %arg1 : i32
      %5 = arith.remsi %2, %arg1 : i32
      %6 = arith.shli %5, %arg1 : i32
      %7 = arith.shrui %6, %arg1 exact : i32
      %8 = arith.addi %7, %arg1 overflow<nsw> : i32
      %9 = arith.fptosi %arg2 : f32 to i32
      %10 = math.ipowi %8, %9 : i32
      memref.store %10, %arg3[] : memref<i32>
      memref.store %3, %arg3[] : memref<i32>
      memref.store %4, %arg3[] : memref<i32>
    }
    return
  }
}
