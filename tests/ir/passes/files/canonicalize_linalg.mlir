// canonicalize
func.func @idgen(%a: tensor<4x?xf32>, %b: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x?xf32>) outs(%b : tensor<4x?xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}
func.func @idgencast(%a: tensor<?x4xf32>, %b: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<?x4xf32>) outs(%b : tensor<4x?xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}
func.func @unused(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a, %b, %a : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%c : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32, %o: f32):
    %s = arith.addf %x, %z : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @idmem(%a: memref<4xf32>, %b: memref<4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : memref<4xf32>) outs(%b : memref<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : memref<4xf32>) outs(%a : memref<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  linalg.copy ins(%a : memref<4xf32>) outs(%a : memref<4xf32>)
  linalg.copy ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
  return
}
func.func @zeromem(%a: memref<0xf32>, %b: memref<0xf32>) {
  linalg.copy ins(%a : memref<0xf32>) outs(%b : memref<0xf32>)
  return
}
func.func @copyt(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.copy ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @deadgen(%a: tensor<4xf32>) {
  %0 = linalg.exp ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func @fillcoll(%f: f32, %e: tensor<4x4xf32>) -> (tensor<16xf32>, tensor<2x2x4xf32>) {
  %0 = linalg.fill ins(%f : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<4x4xf32> into tensor<16xf32>
  %2 = tensor.expand_shape %0 [[0, 1], [2]] output_shape [2, 2, 4] : tensor<4x4xf32> into tensor<2x2x4xf32>
  return %1, %2 : tensor<16xf32>, tensor<2x2x4xf32>
}
func.func @fillpad(%e: tensor<4x4xf32>, %f: f32) -> (tensor<6x6xf32>) {
  %0 = linalg.fill ins(%f : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = tensor.pad %0 low[1, 1] high[1, 1] { ^bb0(%a: index, %b: index): tensor.yield %f : f32 } : tensor<4x4xf32> to tensor<6x6xf32>
  return %p : tensor<6x6xf32>
}
func.func @fillext(%e: tensor<4x4xf32>, %f: f32, %i: index) -> (f32) {
  %0 = linalg.fill ins(%f : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = tensor.extract %0[%i, %i] : tensor<4x4xf32>
  return %p : f32
}
func.func @filltr(%e: tensor<4x5xf32>, %g: tensor<5x4xf32>, %f: f32, %i: index) -> (tensor<5x4xf32>) {
  %0 = linalg.fill ins(%f : f32) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %p = linalg.transpose ins(%0 : tensor<4x5xf32>) outs(%g : tensor<5x4xf32>) permutation = [1, 0]
  return %p : tensor<5x4xf32>
}
func.func @fillcast(%e: tensor<?x5xf32>, %f: f32, %i: index) -> (tensor<4x5xf32>) {
  %0 = linalg.fill ins(%f : f32) outs(%e : tensor<?x5xf32>) -> tensor<?x5xf32>
  %1 = tensor.cast %0 : tensor<?x5xf32> to tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}
func.func @fillofcast(%e: tensor<4x5xf32>, %f: f32, %i: index) -> (tensor<?x5xf32>) {
  %1 = tensor.cast %e : tensor<4x5xf32> to tensor<?x5xf32>
  %0 = linalg.fill ins(%f : f32) outs(%1 : tensor<?x5xf32>) -> tensor<?x5xf32>
  return %0 : tensor<?x5xf32>
}
func.func @fillconcat(%e: tensor<4x5xf32>, %f: f32) -> (tensor<8x5xf32>) {
  %0 = linalg.fill ins(%f : f32) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %1 = linalg.fill ins(%f : f32) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %2 = tensor.concat dim(0) %0, %1 : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<8x5xf32>
  return %2 : tensor<8x5xf32>
}
func.func @filltwice(%e: tensor<4x5xf32>, %f: f32, %g: f32) -> (tensor<4x5xf32>) {
  %0 = linalg.fill ins(%f : f32) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %1 = linalg.fill ins(%g : f32) outs(%0 : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}
func.func @trid(%e: tensor<4x5xf32>, %g: tensor<4x5xf32>) -> (tensor<4x5xf32>) {
  %p = linalg.transpose ins(%e : tensor<4x5xf32>) outs(%g : tensor<4x5xf32>) permutation = [0, 1]
  return %p : tensor<4x5xf32>
}
func.func @trtr(%e: tensor<4x5x6xf32>, %g: tensor<5x6x4xf32>, %h: tensor<6x4x5xf32>) -> (tensor<6x4x5xf32>) {
  %p = linalg.transpose ins(%e : tensor<4x5x6xf32>) outs(%g : tensor<5x6x4xf32>) permutation = [1, 2, 0]
  %q = linalg.transpose ins(%p : tensor<5x6x4xf32>) outs(%h : tensor<6x4x5xf32>) permutation = [1, 2, 0]
  return %q : tensor<6x4x5xf32>
}
func.func @brtr(%e: tensor<4xf32>, %g: tensor<4x5xf32>, %h: tensor<5x4xf32>) -> (tensor<5x4xf32>) {
  %p = linalg.broadcast ins(%e : tensor<4xf32>) outs(%g : tensor<4x5xf32>) dimensions = [1]
  %q = linalg.transpose ins(%p : tensor<4x5xf32>) outs(%h : tensor<5x4xf32>) permutation = [1, 0]
  return %q : tensor<5x4xf32>
}
func.func @brid(%e: tensor<4xf32>, %g: tensor<4xf32>) -> (tensor<4xf32>) {
  %p = linalg.broadcast ins(%e : tensor<4xf32>) outs(%g : tensor<4xf32>) dimensions = []
  return %p : tensor<4xf32>
}
func.func @brbr(%e: tensor<4xf32>, %g: tensor<4x5xf32>, %h: tensor<3x4x5xf32>) -> (tensor<3x4x5xf32>) {
  %p = linalg.broadcast ins(%e : tensor<4xf32>) outs(%g : tensor<4x5xf32>) dimensions = [1]
  %q = linalg.broadcast ins(%p : tensor<4x5xf32>) outs(%h : tensor<3x4x5xf32>) dimensions = [0]
  return %q : tensor<3x4x5xf32>
}
func.func @idxdim(%e: tensor<1x4xindex>) -> (tensor<1x4xindex>) {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<1x4xindex>) {
  ^bb0(%y: index):
    %x = linalg.index 0 : index
    linalg.yield %x : index
  } -> tensor<1x4xindex>
  return %0 : tensor<1x4xindex>
}
func.func @genconst(%e: tensor<4xf32>) -> (tensor<4xf32>) {
  %c = arith.constant dense<1.0> : tensor<4xf32>
  %s = arith.constant 2.0 : f32
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%c, %s : tensor<4xf32>, f32) outs(%e : tensor<4xf32>) {
  ^bb0(%y: f32, %z: f32, %o: f32):
    %x = arith.addf %y, %z : f32
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @mapid(%e: tensor<4xf32>, %g: tensor<4xf32>) -> (tensor<4xf32>) {
  %0 = linalg.map ins(%e : tensor<4xf32>) outs(%g : tensor<4xf32>) (%x: f32, %o: f32) { linalg.yield %x : f32 }
  return %0 : tensor<4xf32>
}
func.func @linalgcast(%a: tensor<4x4xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c = tensor.cast %a : tensor<4x4xf32> to tensor<?x?xf32>
  %0 = linalg.matmul ins(%c, %c : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = linalg.matmul ins(%c, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%0 : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
func.func @castlinalg(%a: tensor<?x?xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%a, %a : tensor<?x?xf32>, tensor<?x?xf32>) outs(%a : tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = tensor.cast %0 : tensor<?x?xf32> to tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
func.func @brtr3(%e: tensor<4x3xf32>, %g: tensor<4x5x3xf32>, %h: tensor<3x5x4xf32>) -> (tensor<3x5x4xf32>) {
  %p = linalg.broadcast ins(%e : tensor<4x3xf32>) outs(%g : tensor<4x5x3xf32>) dimensions = [1]
  %q = linalg.transpose ins(%p : tensor<4x5x3xf32>) outs(%h : tensor<3x5x4xf32>) permutation = [2, 1, 0]
  return %q : tensor<3x5x4xf32>
}
func.func @brtr4(%e: tensor<4xf32>, %g: tensor<6x4x5xf32>, %h: tensor<5x4x6xf32>) -> (tensor<5x4x6xf32>) {
  %p = linalg.broadcast ins(%e : tensor<4xf32>) outs(%g : tensor<6x4x5xf32>) dimensions = [0, 2]
  %q = linalg.transpose ins(%p : tensor<6x4x5xf32>) outs(%h : tensor<5x4x6xf32>) permutation = [2, 1, 0]
  return %q : tensor<5x4x6xf32>
}
func.func @multi(%a: tensor<?xf32>, %b: tensor<4xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0:2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%b : tensor<4xf32>) outs(%a, %a : tensor<?xf32>, tensor<?xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.addf %x, %z : f32
    linalg.yield %s, %x : f32, f32
  } -> (tensor<?xf32>, tensor<?xf32>)
  return %0#0, %0#1 : tensor<?xf32>, tensor<?xf32>
}
func.func @conv(%a: tensor<1x8x8x3xf32>, %b: tensor<3x3x3x4xf32>, %c: tensor<1x?x?x4xf32>) -> tensor<1x?x?x4xf32> {
  %0 = linalg.conv_2d_nhwc_hwcf ins(%a, %b : tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) outs(%c : tensor<1x?x?x4xf32>) -> tensor<1x?x?x4xf32>
  return %0 : tensor<1x?x?x4xf32>
}
