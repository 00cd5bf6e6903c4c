// linalg ops with forms of their own, in the forms people write.
#rows = affine_map<(m, n, k) -> (k)>
#columns = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>

func.func @generic(%a: tensor<2x3xf32>, %b: memref<3xf32>, %c: memref<f32>, %s: f32) -> (tensor<2x3xf32>, tensor<2x3xindex>) {
  %e = tensor.empty() : tensor<2x3xindex>
  %0:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> ()>, #id, #id], iterator_types = ["parallel", "parallel"], doc = "two"}
      ins(%s : f32) outs(%a, %e : tensor<2x3xf32>, tensor<2x3xindex>) attrs = {note = 1 : i32} {
  ^bb0(%x: f32, %y: f32, %z: index):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    linalg.yield %x, %j : f32, index
  } -> (tensor<2x3xf32>, tensor<2x3xindex>)
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%b : memref<3xf32>) outs(%c : memref<f32>) {
  ^bb0(%x: f32, %y: f32):
    %sum = arith.addf %y, %x : f32
    linalg.yield %sum : f32
  }
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xindex>
}

func.func @forms(%a: tensor<2x3xf32>, %b: tensor<2xf32>, %m: memref<2x3xf32>, %i: tensor<2x3xi32>) {
  %0 = linalg.map ins(%a : tensor<2x3xf32>) outs(%a : tensor<2x3xf32>) {note} (%x: f32, %y: f32) {
    %t = arith.addf %x, %x : f32
    linalg.yield %t : f32
  }
  %1 = linalg.map { arith.addf {fastmath = #arith.fastmath<fast>} } ins(%a, %0 : tensor<2x3xf32>, tensor<2x3xf32>) outs(%a : tensor<2x3xf32>)
  linalg.map { math.absf } ins(%m : memref<2x3xf32>) outs(%m : memref<2x3xf32>)
  %2 = linalg.reduce ins(%a : tensor<2x3xf32>) outs(%b : tensor<2xf32>) dimensions = [1] (%x: f32, %y: f32) {
    %t = arith.subf %x, %y : f32
    linalg.yield %t : f32
  }
  %3 = linalg.reduce { arith.mulf } ins(%a : tensor<2x3xf32>) outs(%b : tensor<2xf32>) dimensions = [1] {note}
  %4 = tensor.empty() : tensor<3x2xf32>
  %5 = linalg.transpose ins(%a : tensor<2x3xf32>) outs(%4 : tensor<3x2xf32>) permutation = [1, 0]
  %6 = linalg.broadcast ins(%b : tensor<2xf32>) outs(%a : tensor<2x3xf32>) dimensions = [1]
  linalg.transpose ins(%m : memref<2x3xf32>) outs(%m : memref<2x3xf32>) permutation = [0, 1]
  %7 = linalg.map { arith.addi {overflowFlags = #arith.overflow<none>} } ins(%i, %i : tensor<2x3xi32>, tensor<2x3xi32>) outs(%i : tensor<2x3xi32>)
  return
}

func.func @maps(%a: tensor<4xi8>, %b: tensor<4x3xi8>, %c: tensor<2x3xi32>, %x: tensor<2x3xf32>, %s: f32) {
  %0 = linalg.matmul indexing_maps = [#rows, #columns, #out] {cast = #linalg.type_fn<cast_unsigned>, note}
      ins(%a, %b : tensor<4xi8>, tensor<4x3xi8>) outs(%c : tensor<2x3xi32>) -> tensor<2x3xi32>
  %1 = linalg.contract indexing_maps = [#rows, #columns, #out] ins(%a, %b : tensor<4xi8>, tensor<4x3xi8>) outs(%c : tensor<2x3xi32>) -> tensor<2x3xi32>
  %2 = linalg.elementwise kind=#linalg.elementwise_kind<add> {note} ins(%x, %x : tensor<2x3xf32>, tensor<2x3xf32>) outs(%x : tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = linalg.elementwise kind=#linalg.elementwise_kind<mul> indexing_maps = [affine_map<(d0, d1) -> ()>, #id, #id]
      ins(%s, %x : f32, tensor<2x3xf32>) outs(%x : tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = linalg.copy {cast = #linalg.type_fn<cast_unsigned>} ins(%c : tensor<2x3xi32>) outs(%x : tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = linalg.add ins(%x, %s : tensor<2x3xf32>, f32) outs(%x : tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
