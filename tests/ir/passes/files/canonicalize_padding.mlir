// canonicalize
func.func @pad_of_pad(%t: tensor<4x?xf32>, %n: index, %m: index, %f: f32) -> tensor<?x?xf32> {
  %0 = tensor.pad %t low[%n, 1] high[1, %m] { ^bb0(%i: index, %j: index): tensor.yield %f : f32 } : tensor<4x?xf32> to tensor<?x?xf32>
  %1 = tensor.pad %0 low[%m, 2] high[%n, %n] { ^bb0(%i: index, %j: index): tensor.yield %f : f32 } : tensor<?x?xf32> to tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
func.func @pad_of_pad2(%t: tensor<4x6xf32>, %n: index, %m: index, %f: f32) -> tensor<?x?xf32> {
  %0 = tensor.pad %t low[%n, 1] high[1, 0] { ^bb0(%i: index, %j: index): tensor.yield %f : f32 } : tensor<4x6xf32> to tensor<?x7xf32>
  %1 = tensor.pad %0 low[%n, 2] high[0, %n] { ^bb0(%i: index, %j: index): tensor.yield %f : f32 } : tensor<?x7xf32> to tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
func.func @pad_of_pad3(%t: tensor<4x6xf32>, %n: index, %m: index, %f: f32) -> tensor<?x?xf32> {
  %c2 = arith.constant 2 : index
  %0 = tensor.pad %t low[%n, %c2] high[1, 0] { ^bb0(%i: index, %j: index): tensor.yield %f : f32 } : tensor<4x6xf32> to tensor<?x?xf32>
  %1 = tensor.pad %0 low[3, %n] high[%m, %n] { ^bb0(%i: index, %j: index): tensor.yield %f : f32 } : tensor<?x?xf32> to tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
func.func @slices(%arg0 : tensor<64x64xf32>, %sz0 : index, %sz1 : index, %pw0 : index, %pw1 : index) -> tensor<8x4xf32> {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = tensor.extract_slice %arg0[16, 0] [%sz0, 64] [1, 1] : tensor<64x64xf32> to tensor<?x64xf32>
  %1 = tensor.pad %0 low[0, 0] high[%pw0, 0] { ^bb0(%a: index, %b: index): tensor.yield %cst : f32 } : tensor<?x64xf32> to tensor<8x64xf32>
  %2 = tensor.extract_slice %1[0, 4] [8, %sz1] [1, 1] : tensor<8x64xf32> to tensor<8x?xf32>
  %3 = tensor.pad %2 low[0, 0] high[0, %pw1] { ^bb0(%a: index, %b: index): tensor.yield %cst : f32 } : tensor<8x?xf32> to tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}
func.func @slices_rr(%arg0 : tensor<1x64x64xf32>, %sz0 : index, %sz1 : index, %pw0 : index, %pw1 : index) -> tensor<8x4xf32> {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = tensor.extract_slice %arg0[0, 16, 0] [1, %sz0, 64] [1, 1, 1] : tensor<1x64x64xf32> to tensor<?x64xf32>
  %1 = tensor.pad %0 low[0, 0] high[%pw0, 0] { ^bb0(%a: index, %b: index): tensor.yield %cst : f32 } : tensor<?x64xf32> to tensor<8x64xf32>
  %2 = tensor.extract_slice %1[0, 4] [8, %sz1] [1, 1] : tensor<8x64xf32> to tensor<8x?xf32>
  %3 = tensor.pad %2 low[0, 0] high[0, %pw1] { ^bb0(%a: index, %b: index): tensor.yield %cst : f32 } : tensor<8x?xf32> to tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}
func.func @slices_off(%arg0 : tensor<64x64xf32>, %sz0 : index, %sz1 : index, %pw0 : index, %pw1 : index, %o: index) -> tensor<8x4xf32> {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = tensor.extract_slice %arg0[%o, 0] [%sz0, 64] [1, 1] : tensor<64x64xf32> to tensor<?x64xf32>
  %1 = tensor.pad %0 low[0, 0] high[%pw0, 0] { ^bb0(%a: index, %b: index): tensor.yield %cst : f32 } : tensor<?x64xf32> to tensor<8x64xf32>
  %2 = tensor.extract_slice %1[0, %o] [8, %sz1] [1, 1] : tensor<8x64xf32> to tensor<8x?xf32>
  %3 = tensor.pad %2 low[0, 0] high[0, %pw1] { ^bb0(%a: index, %b: index): tensor.yield %cst : f32 } : tensor<8x?xf32> to tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}
func.func @slices_no1(%arg0 : tensor<64x64xf32>, %sz0 : index, %sz1 : index, %pw0 : index, %pw1 : index) -> tensor<8x4xf32> {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = tensor.extract_slice %arg0[16, 0] [%sz0, 64] [1, 1] : tensor<64x64xf32> to tensor<?x64xf32>
  %1 = tensor.pad %0 low[1, 0] high[%pw0, 0] { ^bb0(%a: index, %b: index): tensor.yield %cst : f32 } : tensor<?x64xf32> to tensor<8x64xf32>
  %2 = tensor.extract_slice %1[0, 4] [8, %sz1] [1, 1] : tensor<8x64xf32> to tensor<8x?xf32>
  %3 = tensor.pad %2 low[0, 0] high[0, %pw1] { ^bb0(%a: index, %b: index): tensor.yield %cst : f32 } : tensor<8x?xf32> to tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}
func.func @slices_no2(%arg0 : tensor<64x64xf32>, %sz0 : index, %sz1 : index, %pw0 : index, %pw1 : index) -> tensor<6x4xf32> {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = tensor.extract_slice %arg0[16, 0] [%sz0, 64] [1, 1] : tensor<64x64xf32> to tensor<?x64xf32>
  %1 = tensor.pad %0 low[0, 0] high[%pw0, 0] { ^bb0(%a: index, %b: index): tensor.yield %cst : f32 } : tensor<?x64xf32> to tensor<8x64xf32>
  %2 = tensor.extract_slice %1[2, 4] [6, %sz1] [1, 1] : tensor<8x64xf32> to tensor<6x?xf32>
  %3 = tensor.pad %2 low[0, 0] high[0, %pw1] { ^bb0(%a: index, %b: index): tensor.yield %cst : f32 } : tensor<6x?xf32> to tensor<6x4xf32>
  return %3 : tensor<6x4xf32>
}
func.func @slices_static(%arg0 : tensor<64x64xf32>) -> tensor<8x4xf32> {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = tensor.extract_slice %arg0[16, 0] [5, 64] [1, 1] : tensor<64x64xf32> to tensor<5x64xf32>
  %1 = tensor.pad %0 low[0, 0] high[3, 0] { ^bb0(%a: index, %b: index): tensor.yield %cst : f32 } : tensor<5x64xf32> to tensor<8x64xf32>
  %2 = tensor.extract_slice %1[0, 4] [8, 3] [1, 1] : tensor<8x64xf32> to tensor<8x3xf32>
  %3 = tensor.pad %2 low[0, 0] high[0, 1] { ^bb0(%a: index, %b: index): tensor.yield %cst : f32 } : tensor<8x3xf32> to tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}
func.func @pad_of_fill(%n: index, %m: index, %f: f32, %t: tensor<4x?xf32>) -> (tensor<?x?xf32>, tensor<6x?xf32>) {
  %0 = linalg.fill ins(%f : f32) outs(%t : tensor<4x?xf32>) -> tensor<4x?xf32>
  %1 = tensor.pad %0 low[%n, 1] high[1, %m] { ^bb0(%i: index, %j: index): tensor.yield %f : f32 } : tensor<4x?xf32> to tensor<?x?xf32>
  %2 = tensor.pad %0 low[1, 0] high[1, 0] { ^bb0(%i: index, %j: index): tensor.yield %f : f32 } : tensor<4x?xf32> to tensor<6x?xf32>
  return %1, %2 : tensor<?x?xf32>, tensor<6x?xf32>
}
func.func @pad_of_fill2(%n: index, %m: index, %f: f32, %t: tensor<4x5xf32>) -> (tensor<?x?xf32>, tensor<6x?xf32>, tensor<?x7xf32>, tensor<7x?xf32>) {
  %c2 = arith.constant 2 : index
  %0 = linalg.fill ins(%f : f32) outs(%t : tensor<4x5xf32>) -> tensor<4x5xf32>
  %1 = tensor.pad %0 low[%n, %m] high[%n, %m] { ^bb0(%i: index, %j: index): tensor.yield %f : f32 } : tensor<4x5xf32> to tensor<?x?xf32>
  %2 = tensor.pad %0 low[1, 0] high[1, %m] { ^bb0(%i: index, %j: index): tensor.yield %f : f32 } : tensor<4x5xf32> to tensor<6x?xf32>
  %3 = tensor.pad %0 low[1, 1] high[%n, 1] { ^bb0(%i: index, %j: index): tensor.yield %f : f32 } : tensor<4x5xf32> to tensor<?x7xf32>
  %4 = tensor.pad %0 low[%n, 1] high[%n, %m] { ^bb0(%i: index, %j: index): tensor.yield %f : f32 } : tensor<4x5xf32> to tensor<7x?xf32>
  return %1, %2, %3, %4 : tensor<?x?xf32>, tensor<6x?xf32>, tensor<?x7xf32>, tensor<7x?xf32>
}
func.func @pad_of_empty(%n: index, %m: index, %f: f32) -> (tensor<?x?xf32>) {
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %0 = linalg.fill ins(%f : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = tensor.pad %0 low[%n, 2] high[0, 3] { ^bb0(%i: index, %j: index): tensor.yield %f : f32 } : tensor<?x?xf32> to tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
func.func @transpose_of_broadcast(%t: tensor<?x4xf32>, %i: tensor<?x5x4xf32>, %o: tensor<5x4x?xf32>) -> tensor<5x4x?xf32> {
  %0 = linalg.broadcast ins(%t : tensor<?x4xf32>) outs(%i : tensor<?x5x4xf32>) dimensions = [1]
  %1 = linalg.transpose ins(%0 : tensor<?x5x4xf32>) outs(%o : tensor<5x4x?xf32>) permutation = [1, 2, 0]
  return %1 : tensor<5x4x?xf32>
}
func.func @transpose_of_broadcast2(%t: tensor<?x?xf32>, %i: tensor<?x5x?xf32>, %o: tensor<5x?x?xf32>) -> tensor<5x?x?xf32> {
  %0 = linalg.broadcast ins(%t : tensor<?x?xf32>) outs(%i : tensor<?x5x?xf32>) dimensions = [1]
  %1 = linalg.transpose ins(%0 : tensor<?x5x?xf32>) outs(%o : tensor<5x?x?xf32>) permutation = [1, 2, 0]
  return %1 : tensor<5x?x?xf32>
}
func.func @transpose_of_broadcast3(%t: tensor<?x?xf32>, %i: tensor<?x5x?xf32>, %o: tensor<?x?x5xf32>) -> tensor<?x?x5xf32> {
  %0 = linalg.broadcast ins(%t : tensor<?x?xf32>) outs(%i : tensor<?x5x?xf32>) dimensions = [1]
  %1 = linalg.transpose ins(%0 : tensor<?x5x?xf32>) outs(%o : tensor<?x?x5xf32>) permutation = [0, 2, 1]
  return %1 : tensor<?x?x5xf32>
}
func.func @insert_of_pad(%t: tensor<7x9xf32>, %n: index, %f: f32, %e: tensor<8x128xf32>) -> tensor<8x128xf32> {
  %0 = linalg.fill ins(%f : f32) outs(%e : tensor<8x128xf32>) -> tensor<8x128xf32>
  %1 = tensor.pad %t low[0, 0] high[1, 3] { ^bb0(%i: index, %j: index): tensor.yield %f : f32 } : tensor<7x9xf32> to tensor<8x12xf32>
  %2 = tensor.insert_slice %1 into %0[0, 4] [8, 12] [1, 1] : tensor<8x12xf32> into tensor<8x128xf32>
  return %2 : tensor<8x128xf32>
}
func.func @insert_of_pad2(%t: tensor<7x?xf32>, %n: index, %f: f32, %e: tensor<8x?xf32>) -> tensor<8x?xf32> {
  %0 = linalg.fill ins(%f : f32) outs(%e : tensor<8x?xf32>) -> tensor<8x?xf32>
  %1 = tensor.pad %t low[1, %n] high[0, 3] { ^bb0(%i: index, %j: index): tensor.yield %f : f32 } : tensor<7x?xf32> to tensor<8x?xf32>
  %2 = tensor.insert_slice %1 into %0[0, %n] [8, %n] [1, 1] : tensor<8x?xf32> into tensor<8x?xf32>
  return %2 : tensor<8x?xf32>
}
func.func @insert_of_pad3(%t: tensor<7x?xf32>, %n: index, %f: f32, %e: tensor<8x128xf32>, %x: tensor<2x2xf32>, %y: tensor<1x3xf32>) -> (tensor<8x128xf32>, tensor<8x128xf32>, tensor<8x128xf32>) {
  %0 = linalg.fill ins(%f : f32) outs(%e : tensor<8x128xf32>) -> tensor<8x128xf32>
  %3 = tensor.insert_slice %x into %0[0, 30] [2, 2] [1, 1] : tensor<2x2xf32> into tensor<8x128xf32>
  %1 = tensor.pad %t low[1, 0] high[0, %n] { ^bb0(%i: index, %j: index): tensor.yield %f : f32 } : tensor<7x?xf32> to tensor<8x12xf32>
  %2 = tensor.insert_slice %1 into %3[0, 4] [8, 12] [1, 1] : tensor<8x12xf32> into tensor<8x128xf32>
  %4 = tensor.insert_slice %1 into %3[0, 22] [8, 12] [1, 1] : tensor<8x12xf32> into tensor<8x128xf32>
  %5 = tensor.insert_slice %y into %3[0, %n] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<8x128xf32>
  %6 = tensor.insert_slice %1 into %5[0, 4] [8, 12] [1, 1] : tensor<8x12xf32> into tensor<8x128xf32>
  return %2, %4, %6 : tensor<8x128xf32>, tensor<8x128xf32>, tensor<8x128xf32>
}
func.func @insert_of_pad4(%t: tensor<7x9xf32>, %n: index, %f: f32, %e: tensor<1x8x128xf32>, %x: tensor<2x2xf32>) -> (tensor<1x8x128xf32>) {
  %0 = linalg.fill ins(%f : f32) outs(%e : tensor<1x8x128xf32>) -> tensor<1x8x128xf32>
  %1 = tensor.pad %t low[0, 0] high[1, 3] { ^bb0(%i: index, %j: index): tensor.yield %f : f32 } : tensor<7x9xf32> to tensor<8x12xf32>
  %2 = tensor.insert_slice %1 into %0[0, 0, 4] [1, 8, 12] [1, 1, 1] : tensor<8x12xf32> into tensor<1x8x128xf32>
  return %2 : tensor<1x8x128xf32>
}
func.func @insert_of_pad5(%t: tensor<4x9xf32>, %n: index, %f: f32, %e: tensor<8x128xf32>, %x: tensor<2x2xf32>) -> (tensor<8x128xf32>, tensor<8x128xf32>, tensor<8x128xf32>) {
  %c1 = arith.constant 1 : index
  %0 = linalg.fill ins(%f : f32) outs(%e : tensor<8x128xf32>) -> tensor<8x128xf32>
  %1 = tensor.pad %t nofold low[0, 0] high[0, 3] { ^bb0(%i: index, %j: index): tensor.yield %f : f32 } : tensor<4x9xf32> to tensor<4x12xf32>
  %2 = tensor.insert_slice %1 into %0[0, 4] [4, 12] [2, 1] : tensor<4x12xf32> into tensor<8x128xf32>
  %3 = tensor.insert_slice %1 into %0[0, 4] [4, 12] [1, 1] : tensor<4x12xf32> into tensor<8x128xf32>
  %5 = tensor.pad %t low[0, 1] high[0, 2] { ^bb0(%i: index, %j: index): tensor.yield %f : f32 } : tensor<4x9xf32> to tensor<4x12xf32>
  %4 = tensor.insert_slice %5 into %0[0, 4] [4, 12] [2, 1] : tensor<4x12xf32> into tensor<8x128xf32>
  return %2, %3, %4 : tensor<8x128xf32>, tensor<8x128xf32>, tensor<8x128xf32>
}
func.func @pad_in_loop(%t: tensor<4x?xf32>, %n: index, %m: index, %f: f32) -> tensor<?x?xf32> {
  %e = tensor.empty(%n, %n) : tensor<?x?xf32>
  %r = scf.for %i = %n to %m step %n iter_args(%a = %e) -> (tensor<?x?xf32>) {
    %0 = tensor.pad %a low[%i, 1] high[1, %m] { ^bb0(%x: index, %j: index): tensor.yield %f : f32 } : tensor<?x?xf32> to tensor<?x?xf32>
    %1 = tensor.pad %0 low[%i, 1] high[1, %m] { ^bb0(%x: index, %j: index): tensor.yield %f : f32 } : tensor<?x?xf32> to tensor<?x?xf32>
    scf.yield %1 : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}
func.func @fill_in_loop(%t: tensor<4x?xf32>, %n: index, %m: index, %f: f32) -> tensor<?x?xf32> {
  %e = tensor.empty(%n, %n) : tensor<?x?xf32>
  %r = scf.for %i = %n to %m step %n iter_args(%a = %e) -> (tensor<?x?xf32>) {
    %0 = linalg.fill ins(%f : f32) outs(%a : tensor<?x?xf32>) -> tensor<?x?xf32>
    %1 = tensor.pad %0 low[%n, 1] high[1, %m] { ^bb0(%x: index, %j: index): tensor.yield %f : f32 } : tensor<?x?xf32> to tensor<?x?xf32>
    scf.yield %1 : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}
func.func @fill_by_index(%t: tensor<4x?xf32>, %n: index, %m: index, %f: f32) -> tensor<?x?xf32> {
  %e = tensor.empty(%n, %n) : tensor<?x?xf32>
  %r = scf.for %i = %n to %m step %n iter_args(%a = %e) -> (tensor<?x?xf32>) {
    %0 = linalg.fill ins(%f : f32) outs(%a : tensor<?x?xf32>) -> tensor<?x?xf32>
    %1 = tensor.pad %0 low[0, %i] high[0, 0] { ^bb0(%x: index, %j: index): tensor.yield %f : f32 } : tensor<?x?xf32> to tensor<?x?xf32>
    scf.yield %1 : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}
func.func @by_nothing_of_what_is_filled(%a: tensor<4x6xf32>, %f: f32) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %0 = linalg.fill ins(%f : f32) outs(%a : tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = tensor.pad %0 low[0, 0] high[0, 0] { ^bb0(%i: index, %j: index): tensor.yield %f : f32 } : tensor<4x6xf32> to tensor<4x6xf32>
  return %0, %1 : tensor<4x6xf32>, tensor<4x6xf32>
}
func.func @by_constants_of_nothing(%a: tensor<?x6xf32>, %f: f32) -> tensor<?x6xf32> {
  %c0 = arith.constant 0 : index
  %0 = tensor.pad %a low[%c0, 0] high[%c0, 0] { ^bb0(%i: index, %j: index): tensor.yield %f : f32 } : tensor<?x6xf32> to tensor<?x6xf32>
  return %0 : tensor<?x6xf32>
}
