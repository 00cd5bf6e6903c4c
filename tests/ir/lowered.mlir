// What lowered code is made of, as people write it.
func.func @floats(%a: f32, %b: f32, %t: tensor<3xf32>, %c: i1, %m: tensor<3xi1>) {
  %0 = arith.addf %a, %b fastmath<nnan,ninf> {note = 1 : i32} : f32
  %1 = arith.subf %0, %b : f32
  %2 = arith.mulf %1, %b : f32
  %3 = "arith.divf"(%2, %b) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
  %4 = arith.maximumf %3, %b : f32
  %5 = arith.minimumf %4, %b fastmath<fast> : f32
  %6 = arith.maxnumf %5, %b : f32
  %7 = arith.minnumf %6, %b : f32
  %8 = math.roundeven %7 : f32
  %9 = math.round %8 : f32
  %10 = math.trunc %9 fastmath<contract> : f32
  %11 = math.floor %10 : f32
  %12 = math.ceil %11 : f32
  %13 = math.absf %12 : f32
  %14 = arith.cmpf uno, %13, %b : f32
  %15 = arith.select %14, %a, %b : f32
  %16 = arith.select %m, %t, %t : tensor<3xi1>, tensor<3xf32>
  %17 = arith.select %c, %t, %16 : tensor<3xf32>
  %18 = arith.cmpf ogt, %16, %17 fastmath<fast> : tensor<3xf32>
  %19 = arith.extf %15 : f32 to f64
  %20 = arith.truncf %19 : f64 to bf16
  return
}
func.func @integers(%a: i8, %b: i8, %i: index) {
  %0 = arith.addi %a, %b overflow<nsw, nuw> : i8
  %1 = arith.subi %0, %b : i8
  %2 = arith.muli %1, %b : i8
  %3 = arith.maxsi %2, %b : i8
  %4 = arith.minsi %3, %b : i8
  %5 = arith.maxui %4, %b : i8
  %6 = arith.minui %5, %b : i8
  %7 = arith.andi %6, %b : i8
  %8 = arith.ori %7, %b : i8
  %9 = arith.xori %8, %b : i8
  %10 = arith.cmpi ult, %9, %b : i8
  %11 = arith.extsi %9 : i8 to i32
  %12 = arith.extui %9 : i8 to i32
  %13 = arith.trunci %12 overflow<nsw> : i32 to i4
  %14 = arith.index_cast %i : index to i64
  %15 = arith.sitofp %11 {note} : i32 to f32
  %16 = arith.uitofp %12 : i32 to f32
  %17 = arith.fptosi %15 : f32 to i8
  %18 = arith.fptoui %16 : f32 to i8
  return
}
func.func @tensors(%t: tensor<?x3xf32>, %u: tensor<*xf32>, %x: f32, %i: index) -> tensor<?x3xi8> {
  %0 = tensor.dim %t, %i : tensor<?x3xf32>
  %1 = tensor.empty(%0) : tensor<?x3xi8>
  %2 = tensor.splat %x[%0] : tensor<?x3xf32>
  %3 = tensor.splat %x : tensor<2x3xf32>
  %4 = tensor.extract %t[%i, %i] : tensor<?x3xf32>
  %5 = tensor.from_elements %0, %i : tensor<2xindex>
  %6 = tensor.reshape %t(%5) : (tensor<?x3xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %7 = tensor.cast %6 : tensor<?x?xf32> to tensor<2x?xf32>
  %8 = shape.shape_of %u : tensor<*xf32> -> tensor<?xindex>
  %9 = shape.num_elements %8 : tensor<?xindex> -> index
  %10:2 = "shape.split_at"(%8, %i) : (tensor<?xindex>, index) -> (tensor<?xindex>, tensor<?xindex>)
  %11 = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %12 = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j floordiv 2 * 2 - 0)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"], doc = "channels", library_call = "scale"
  } ins(%t, %11 : tensor<?x3xf32>, tensor<3xf32>) outs(%1 : tensor<?x3xi8>) attrs = {note} {
  ^bb0(%in: f32, %scale: f32, %out: i8):
    %13 = arith.divf %in, %scale : f32
    %14 = arith.fptosi %13 : f32 to i8
    linalg.yield %14 : i8
  } -> tensor<?x3xi8>
  return %12 : tensor<?x3xi8>
}
