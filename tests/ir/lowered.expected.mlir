module {
  func.func @floats(%arg0: f32, %arg1: f32, %arg2: tensor<3xf32>, %arg3: i1, %arg4: tensor<3xi1>) {
    %0 = arith.addf %arg0, %arg1 fastmath<nnan,ninf> {note = 1 : i32} : f32
    %1 = arith.subf %0, %arg1 : f32
    %2 = arith.mulf %1, %arg1 : f32
    %3 = arith.divf %2, %arg1 : f32
    %4 = arith.maximumf %3, %arg1 : f32
    %5 = arith.minimumf %4, %arg1 fastmath<fast> : f32
    %6 = arith.maxnumf %5, %arg1 : f32
    %7 = arith.minnumf %6, %arg1 : f32
    %8 = math.roundeven %7 : f32
    %9 = math.round %8 : f32
    %10 = math.trunc %9 fastmath<contract> : f32
    %11 = math.floor %10 : f32
    %12 = math.ceil %11 : f32
    %13 = math.absf %12 : f32
    %14 = arith.cmpf uno, %13, %arg1 : f32
    %15 = arith.select %14, %arg0, %arg1 : f32
    %16 = arith.select %arg4, %arg2, %arg2 : tensor<3xi1>, tensor<3xf32>
    %17 = arith.select %arg3, %arg2, %16 : tensor<3xf32>
    %18 = arith.cmpf ogt, %16, %17 fastmath<fast> : tensor<3xf32>
    %19 = arith.extf %15 : f32 to f64
    %20 = arith.truncf %19 : f64 to bf16
    return
  }
  func.func @integers(%arg0: i8, %arg1: i8, %arg2: index) {
    %0 = arith.addi %arg0, %arg1 overflow<nsw, nuw> : i8
    %1 = arith.subi %0, %arg1 : i8
    %2 = arith.muli %1, %arg1 : i8
    %3 = arith.maxsi %2, %arg1 : i8
    %4 = arith.minsi %3, %arg1 : i8
    %5 = arith.maxui %4, %arg1 : i8
    %6 = arith.minui %5, %arg1 : i8
    %7 = arith.andi %6, %arg1 : i8
    %8 = arith.ori %7, %arg1 : i8
    %9 = arith.xori %8, %arg1 : i8
    %10 = arith.cmpi ult, %9, %arg1 : i8
    %11 = arith.extsi %9 : i8 to i32
    %12 = arith.extui %9 : i8 to i32
    %13 = arith.trunci %12 overflow<nsw> : i32 to i4
    %14 = arith.index_cast %arg2 : index to i64
    %15 = arith.sitofp %11 {note} : i32 to f32
    %16 = arith.uitofp %12 : i32 to f32
    %17 = arith.fptosi %15 : f32 to i8
    %18 = arith.fptoui %16 : f32 to i8
    return
  }
  func.func @tensors(%arg0: tensor<?x3xf32>, %arg1: tensor<*xf32>, %arg2: f32, %arg3: index) -> tensor<?x3xi8> {
    %0 = tensor.dim %arg0, %arg3 : tensor<?x3xf32>
    %1 = tensor.empty(%0) : tensor<?x3xi8>
    %2 = tensor.splat %arg2[%0] : tensor<?x3xf32>
    %3 = tensor.splat %arg2 : tensor<2x3xf32>
    %4 = tensor.extract %arg0[%arg3, %arg3] : tensor<?x3xf32>
    %5 = tensor.from_elements %0, %arg3 : tensor<2xindex>
    %6 = tensor.reshape %arg0(%5) : (tensor<?x3xf32>, tensor<2xindex>) -> tensor<?x?xf32>
    %7 = tensor.cast %6 : tensor<?x?xf32> to tensor<2x?xf32>
    %8 = shape.shape_of %arg1 : tensor<*xf32> -> tensor<?xindex>
    %9 = shape.num_elements %8 : tensor<?xindex> -> index
    %10:2 = "shape.split_at"(%8, %arg3) : (tensor<?xindex>, index) -> (tensor<?xindex>, tensor<?xindex>)
    %11 = arith.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]> : tensor<3xf32>
    %12 = linalg.generic {doc = "channels", indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ((d1 floordiv 2) * 2)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], library_call = "scale"} ins(%arg0, %11 : tensor<?x3xf32>, tensor<3xf32>) outs(%1 : tensor<?x3xi8>) attrs =  {note} {
    ^bb0(%arg4: f32, %arg5: f32, %arg6: i8):
      %13 = arith.divf %arg4, %arg5 : f32
      %14 = arith.fptosi %13 : f32 to i8
      linalg.yield %14 : i8
    } -> tensor<?x3xi8>
    return %12 : tensor<?x3xi8>
  }
}
