module {
  func.func @cast3(%arg0: tensor<4x?xf32>) -> tensor<?x4xf32> {
    %0 = tensor.cast %arg0 : tensor<4x?xf32> to tensor<?x4xf32>
    return %0 : tensor<?x4xf32>
  }
  func.func @cast3b(%arg0: tensor<4x4xf32>) -> tensor<4x?xf32> {
    %0 = tensor.cast %arg0 : tensor<4x4xf32> to tensor<4x?xf32>
    return %0 : tensor<4x?xf32>
  }
  func.func @cast3c(%arg0: tensor<?x?xf32>) -> tensor<*xf32> {
    %0 = tensor.cast %arg0 : tensor<?x?xf32> to tensor<4x?xf32>
    %1 = tensor.cast %0 : tensor<4x?xf32> to tensor<?x4xf32>
    %2 = tensor.cast %1 : tensor<?x4xf32> to tensor<*xf32>
    return %2 : tensor<*xf32>
  }
  func.func @castback(%arg0: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %0 = tensor.cast %arg0 : tensor<?x?xf32> to tensor<4x4xf32>
    %1 = tensor.cast %0 : tensor<4x4xf32> to tensor<?x?xf32>
    return %1 : tensor<?x?xf32>
  }
  func.func @castup(%arg0: tensor<*xf32>) -> tensor<?x4xf32> {
    %0 = tensor.cast %arg0 : tensor<*xf32> to tensor<?x4xf32>
    return %0 : tensor<?x4xf32>
  }
  func.func @casttwounranked(%arg0: tensor<?x?xf32>) -> tensor<?x4xf32> {
    %0 = tensor.cast %arg0 : tensor<?x?xf32> to tensor<?x4xf32>
    return %0 : tensor<?x4xf32>
  }
  func.func @dimcast(%arg0: tensor<?x?xf32>) -> (index, index, index) {
    %0 = arith.constant 4 : index
    %1 = arith.constant 0 : index
    %2 = arith.constant 1 : index
    %3 = tensor.dim %arg0, %1 : tensor<?x?xf32>
    %4 = tensor.dim %arg0, %2 : tensor<?x?xf32>
    return %3, %0, %4 : index, index, index
  }
  func.func @dimcast2(%arg0: tensor<4x?xf32>) -> (index, index) {
    %0 = arith.constant 1 : index
    %1 = arith.constant 4 : index
    %2 = tensor.dim %arg0, %0 : tensor<4x?xf32>
    return %1, %2 : index, index
  }
  func.func @dimout(%arg0: tensor<4x?xf32>) -> index {
    %0 = arith.constant 2 : index
    %1 = tensor.dim %arg0, %0 : tensor<4x?xf32>
    return %1 : index
  }
  func.func @dimgen(%arg0: index, %arg1: f32) -> index {
    return %arg0 : index
  }
  func.func @empty(%arg0: index) -> tensor<?x?x?xf32> {
    %0 = arith.constant -1 : index
    %1 = tensor.empty(%arg0, %0) : tensor<4x?x?xf32>
    %2 = tensor.cast %1 : tensor<4x?x?xf32> to tensor<?x?x?xf32>
    return %2 : tensor<?x?x?xf32>
  }
  func.func @emptycast(%arg0: index) -> tensor<4x?xf32> {
    %0 = tensor.empty(%arg0) : tensor<4x?xf32>
    return %0 : tensor<4x?xf32>
  }
  func.func @emptycast2(%arg0: index) -> tensor<4x?xf32> {
    %0 = tensor.empty(%arg0) : tensor<4x?xf32>
    return %0 : tensor<4x?xf32>
  }
  func.func @emptycast3(%arg0: index) -> tensor<4x?xf32> {
    %0 = tensor.empty(%arg0) : tensor<5x?xf32>
    %1 = tensor.cast %0 : tensor<5x?xf32> to tensor<?x?xf32>
    %2 = tensor.cast %1 : tensor<?x?xf32> to tensor<4x?xf32>
    return %2 : tensor<4x?xf32>
  }
  func.func @extcast(%arg0: tensor<?xf32>, %arg1: index) -> f32 {
    %0 = tensor.extract %arg0[%arg1] : tensor<?xf32>
    return %0 : f32
  }
  func.func @extcast2(%arg0: tensor<*xf32>, %arg1: index) -> f32 {
    %0 = tensor.cast %arg0 : tensor<*xf32> to tensor<4xf32>
    %1 = tensor.extract %0[%arg1] : tensor<4xf32>
    return %1 : f32
  }
  func.func @extout(%arg0: index) -> (f32, f32) {
    %0 = arith.constant 2.000000e+00 : f32
    %1 = arith.constant 9 : index
    %2 = arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
    %3 = tensor.extract %2[%1] : tensor<2xf32>
    return %3, %0 : f32, f32
  }
  func.func @insextract(%arg0: tensor<4xf32>, %arg1: index, %arg2: index, %arg3: f32) -> (f32, f32) {
    %0 = tensor.insert %arg3 into %arg0[%arg1] : tensor<4xf32>
    %1 = tensor.extract %0[%arg1] : tensor<4xf32>
    %2 = tensor.extract %0[%arg2] : tensor<4xf32>
    return %1, %2 : f32, f32
  }
  func.func @insconst() -> tensor<2xf32> {
    %0 = arith.constant dense<1.000000e+00> : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func @splat() -> (tensor<2xf32>, tensor<2xi4>) {
    %0 = arith.constant dense<1.000000e+00> : tensor<2xf32>
    %1 = arith.constant dense<1> : tensor<2xi4>
    return %0, %1 : tensor<2xf32>, tensor<2xi4>
  }
  func.func @splatdyn(%arg0: index) -> tensor<?xf32> {
    %0 = arith.constant 1.000000e+00 : f32
    %1 = tensor.splat %0[%arg0] : tensor<?xf32>
    return %1 : tensor<?xf32>
  }
  func.func @fromel() -> (tensor<2xf32>, tensor<2x1xi4>, tensor<index>, tensor<f32>) {
    %0 = arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
    %1 = arith.constant dense<1> : tensor<2x1xi4>
    %2 = arith.constant dense<1> : tensor<index>
    %3 = arith.constant dense<1.000000e+00> : tensor<f32>
    return %0, %1, %2, %3 : tensor<2xf32>, tensor<2x1xi4>, tensor<index>, tensor<f32>
  }
  func.func @fromextract(%arg0: tensor<4xf32>, %arg1: index) -> tensor<1xf32> {
    %0 = tensor.extract %arg0[%arg1] : tensor<4xf32>
    %1 = tensor.from_elements %0 : tensor<1xf32>
    return %1 : tensor<1xf32>
  }
  func.func @fromextract0(%arg0: tensor<f32>) -> tensor<f32> {
    %0 = tensor.extract %arg0[] : tensor<f32>
    %1 = tensor.from_elements %0 : tensor<f32>
    return %1 : tensor<f32>
  }
  func.func @rank(%arg0: tensor<*xf32>, %arg1: tensor<4xf32>) -> (index, index) {
    %0 = tensor.rank %arg0 : tensor<*xf32>
    %1 = tensor.cast %arg1 : tensor<4xf32> to tensor<*xf32>
    %2 = tensor.rank %1 : tensor<*xf32>
    return %0, %2 : index, index
  }
  func.func @gen(%arg0: index) -> tensor<?x?xf32> {
    %0 = arith.constant 1.000000e+00 : f32
    %1 = tensor.generate %arg0 {
    ^bb0(%arg1: index, %arg2: index):
      tensor.yield %0 : f32
    } : tensor<4x?xf32>
    %2 = tensor.cast %1 : tensor<4x?xf32> to tensor<?x?xf32>
    return %2 : tensor<?x?xf32>
  }
  func.func @genext(%arg0: index, %arg1: index) -> index {
    %0 = arith.addi %arg1, %arg1 : index
    return %0 : index
  }
  func.func @bitcast(%arg0: tensor<4xf32>) -> tensor<4xi32> {
    %0 = tensor.bitcast %arg0 : tensor<4xf32> to tensor<4xi32>
    return %0 : tensor<4xi32>
  }
  func.func @bitcast3(%arg0: tensor<4xf32>) -> tensor<4xui32> {
    %0 = tensor.bitcast %arg0 : tensor<4xf32> to tensor<4xui32>
    return %0 : tensor<4xui32>
  }
  func.func @castconst() -> tensor<?xf32> {
    %0 = arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
    %1 = tensor.cast %0 : tensor<2xf32> to tensor<?xf32>
    return %1 : tensor<?xf32>
  }
  func.func @concat1(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> {
    return %arg0 : tensor<4x4xf32>
  }
  func.func @concat1d(%arg0: tensor<4x4xf32>) -> tensor<?x4xf32> {
    %0 = tensor.cast %arg0 : tensor<4x4xf32> to tensor<?x4xf32>
    return %0 : tensor<?x4xf32>
  }
  func.func @concat2d(%arg0: tensor<4x4xf32>, %arg1: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x4xf32>) {
    %0 = tensor.concat dim(0) %arg0, %arg0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = tensor.cast %0 : tensor<8x4xf32> to tensor<?x?xf32>
    %2 = tensor.cast %arg1 : tensor<?x?xf32> to tensor<?x4xf32>
    %3 = tensor.concat dim(0) %arg0, %2 : (tensor<4x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    return %1, %3 : tensor<?x?xf32>, tensor<?x4xf32>
  }
  func.func @concatcast(%arg0: tensor<4x4xf32>, %arg1: tensor<?x?xf32>) -> tensor<?x?xf32> {
    %0 = tensor.cast %arg0 : tensor<4x4xf32> to tensor<?x?xf32>
    %1 = tensor.concat dim(0) %0, %arg1 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    return %1 : tensor<?x?xf32>
  }
  func.func @callcast(%arg0: tensor<4xf32>) -> (tensor<?xf32>, index) {
    %0 = tensor.cast %arg0 : tensor<4xf32> to tensor<?xf32>
    %1:2 = call @callcast(%arg0) : (tensor<4xf32>) -> (tensor<?xf32>, index)
    return %0, %1#1 : tensor<?xf32>, index
  }
  func.func @insertcast(%arg0: tensor<4xf32>, %arg1: f32, %arg2: index) -> tensor<?xf32> {
    %0 = tensor.insert %arg1 into %arg0[%arg2] : tensor<4xf32>
    %1 = tensor.cast %0 : tensor<4xf32> to tensor<?xf32>
    return %1 : tensor<?xf32>
  }
  func.func @loadcast(%arg0: tensor<4xindex>, %arg1: index, %arg2: tensor<4xi32>) -> index {
    %0 = tensor.extract %arg2[%arg1] : tensor<4xi32>
    %1 = arith.index_cast %0 : i32 to index
    return %1 : index
  }
  func.func @concatd(%arg0: tensor<?x4xf32>, %arg1: tensor<?x?xf32>) -> tensor<?x4xf32> {
    %0 = tensor.concat dim(0) %arg1, %arg1 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x4xf32>
    return %0 : tensor<?x4xf32>
  }
  func.func @concatd1(%arg0: tensor<4x?xf32>, %arg1: tensor<?x4xf32>) -> tensor<?x8xf32> {
    %0 = tensor.cast %arg1 : tensor<?x4xf32> to tensor<4x4xf32>
    %1 = tensor.concat dim(1) %arg0, %0 : (tensor<4x?xf32>, tensor<4x4xf32>) -> tensor<4x?xf32>
    %2 = tensor.cast %1 : tensor<4x?xf32> to tensor<?x8xf32>
    return %2 : tensor<?x8xf32>
  }
}
