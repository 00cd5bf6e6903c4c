module {
  func.func @castcast(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<?xf32>) {
    %0 = tensor.cast %arg0 : tensor<4xf32> to tensor<?xf32>
    return %arg0, %0 : tensor<4xf32>, tensor<?xf32>
  }
  func.func @whole(%arg0: tensor<4x5xf32>, %arg1: tensor<4x5xf32>, %arg2: tensor<?xf32>, %arg3: index) -> (tensor<4x5xf32>, tensor<4x5xf32>, tensor<?xf32>, tensor<?xf32>) {
    %0 = tensor.extract_slice %arg2[0] [%arg3] [1] : tensor<?xf32> to tensor<?xf32>
    return %arg0, %arg1, %0, %arg2 : tensor<4x5xf32>, tensor<4x5xf32>, tensor<?xf32>, tensor<?xf32>
  }
  func.func @emptyslice() -> tensor<2x2xf32> {
    %0 = tensor.empty() : tensor<4x4xf32>
    %1 = tensor.extract_slice %0[0, 0] [2, 2] [1, 1] : tensor<4x4xf32> to tensor<2x2xf32>
    return %1 : tensor<2x2xf32>
  }
  func.func @constins() -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = arith.constant dense<1.000000e+00> : tensor<4xf32>
    %1 = arith.constant dense<1.000000e+00> : tensor<2xf32>
    %2 = arith.constant dense<2.000000e+00> : tensor<2xf32>
    %3 = tensor.insert_slice %1 into %0[1] [2] [1] : tensor<2xf32> into tensor<4xf32>
    %4 = tensor.insert_slice %2 into %0[1] [2] [1] : tensor<2xf32> into tensor<4xf32>
    return %3, %4 : tensor<4xf32>, tensor<4xf32>
  }
  func.func @slicestatic(%arg0: tensor<?x?xf32>, %arg1: index) -> tensor<?x?xf32> {
    %0 = tensor.extract_slice %arg0[0, %arg1] [4, %arg1] [1, 1] : tensor<?x?xf32> to tensor<4x?xf32>
    %1 = tensor.cast %0 : tensor<4x?xf32> to tensor<?x?xf32>
    return %1 : tensor<?x?xf32>
  }
  func.func @slicestatic2(%arg0: tensor<?x?xf32>, %arg1: index) -> tensor<?xf32> {
    %0 = tensor.extract_slice %arg0[0, %arg1] [4, 1] [1, 1] : tensor<?x?xf32> to tensor<4xf32>
    %1 = tensor.cast %0 : tensor<4xf32> to tensor<?xf32>
    return %1 : tensor<?xf32>
  }
  func.func @insstatic(%arg0: tensor<?x?xf32>, %arg1: tensor<?x?xf32>, %arg2: index) -> tensor<?x?xf32> {
    %0 = tensor.cast %arg0 : tensor<?x?xf32> to tensor<4x?xf32>
    %1 = tensor.insert_slice %0 into %arg1[0, %arg2] [4, %arg2] [1, 1] : tensor<4x?xf32> into tensor<?x?xf32>
    return %1 : tensor<?x?xf32>
  }
  func.func @slicecast(%arg0: tensor<8x8xf32>, %arg1: index) -> (tensor<4x?xf32>, tensor<4x4xf32>) {
    %0 = tensor.extract_slice %arg0[0, %arg1] [4, %arg1] [1, 1] : tensor<8x8xf32> to tensor<4x?xf32>
    %1 = tensor.extract_slice %arg0[0, %arg1] [4, 4] [1, 1] : tensor<8x8xf32> to tensor<4x4xf32>
    return %0, %1 : tensor<4x?xf32>, tensor<4x4xf32>
  }
  func.func @slicecast2(%arg0: tensor<?x8xf32>, %arg1: index) -> tensor<4x4xf32> {
    %0 = tensor.cast %arg0 : tensor<?x8xf32> to tensor<8x?xf32>
    %1 = tensor.extract_slice %0[0, %arg1] [4, 4] [1, 1] : tensor<8x?xf32> to tensor<4x4xf32>
    return %1 : tensor<4x4xf32>
  }
  func.func @castofslice(%arg0: tensor<8x8xf32>, %arg1: index) -> tensor<4x4xf32> {
    %0 = tensor.extract_slice %arg0[0, %arg1] [4, 4] [1, 1] : tensor<8x8xf32> to tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
  func.func @inscast(%arg0: tensor<4x4xf32>, %arg1: tensor<8x8xf32>, %arg2: index) -> (tensor<?x?xf32>, tensor<8x8xf32>) {
    %0 = tensor.insert_slice %arg0 into %arg1[0, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<8x8xf32>
    %1 = tensor.cast %0 : tensor<8x8xf32> to tensor<?x?xf32>
    %2 = tensor.insert_slice %arg0 into %arg1[0, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<8x8xf32>
    return %1, %2 : tensor<?x?xf32>, tensor<8x8xf32>
  }
  func.func @sliceofslice(%arg0: tensor<8x8xf32>, %arg1: index) -> tensor<2x2xf32> {
    %0 = tensor.extract_slice %arg0[1, %arg1] [4, 4] [1, 1] : tensor<8x8xf32> to tensor<4x4xf32>
    %1 = tensor.extract_slice %0[1, 1] [2, 2] [1, 1] : tensor<4x4xf32> to tensor<2x2xf32>
    return %1 : tensor<2x2xf32>
  }
  func.func @sliceofins(%arg0: tensor<4x4xf32>, %arg1: tensor<8x8xf32>) -> tensor<4x4xf32> {
    return %arg0 : tensor<4x4xf32>
  }
  func.func @insins(%arg0: tensor<4x4xf32>, %arg1: tensor<4x4xf32>, %arg2: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %0 = tensor.insert_slice %arg1 into %arg2[1, 1] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
  func.func @pad0(%arg0: tensor<4x4xf32>, %arg1: f32) -> tensor<4x4xf32> {
    return %arg0 : tensor<4x4xf32>
  }
  func.func @pad0n(%arg0: tensor<4x4xf32>, %arg1: f32) -> tensor<4x4xf32> {
    %0 = tensor.pad %arg0 nofold low[0, 0] high[0, 0] {
    ^bb0(%arg2: index, %arg3: index):
      tensor.yield %arg1 : f32
    } : tensor<4x4xf32> to tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
  func.func @pad0d(%arg0: tensor<4x?xf32>, %arg1: f32) -> tensor<?x?xf32> {
    %0 = tensor.cast %arg0 : tensor<4x?xf32> to tensor<?x?xf32>
    return %0 : tensor<?x?xf32>
  }
  func.func @padstatic(%arg0: tensor<4x4xf32>, %arg1: f32, %arg2: index) -> tensor<?x?xf32> {
    %0 = tensor.pad %arg0 low[2, 0] high[0, %arg2] {
    ^bb0(%arg3: index, %arg4: index):
      tensor.yield %arg1 : f32
    } : tensor<4x4xf32> to tensor<6x?xf32>
    %1 = tensor.cast %0 : tensor<6x?xf32> to tensor<?x?xf32>
    return %1 : tensor<?x?xf32>
  }
  func.func @padcast(%arg0: tensor<4x4xf32>, %arg1: f32, %arg2: index) -> tensor<?x?xf32> {
    %0 = tensor.pad %arg0 low[2, 0] high[0, %arg2] {
    ^bb0(%arg3: index, %arg4: index):
      tensor.yield %arg1 : f32
    } : tensor<4x4xf32> to tensor<6x?xf32>
    %1 = tensor.cast %0 : tensor<6x?xf32> to tensor<?x?xf32>
    return %1 : tensor<?x?xf32>
  }
  func.func @padcasted(%arg0: tensor<4x4xf32>, %arg1: f32, %arg2: index) -> tensor<4x8xf32> {
    %0 = tensor.pad %arg0 low[0, 0] high[0, %arg2] {
    ^bb0(%arg3: index, %arg4: index):
      tensor.yield %arg1 : f32
    } : tensor<4x4xf32> to tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
  func.func @slicesplat(%arg0: f32, %arg1: index) -> (tensor<2xf32>, tensor<?xf32>, tensor<4xf32>) {
    %0 = tensor.splat %arg0 : tensor<4xf32>
    %1 = tensor.extract_slice %0[0] [2] [1] : tensor<4xf32> to tensor<2xf32>
    %2 = tensor.extract_slice %0[0] [%arg1] [1] : tensor<4xf32> to tensor<?xf32>
    return %1, %2, %0 : tensor<2xf32>, tensor<?xf32>, tensor<4xf32>
  }
  func.func @rrslice(%arg0: tensor<8x8xf32>, %arg1: index) -> (tensor<?xf32>, index) {
    %0 = arith.constant 0 : index
    %1 = tensor.extract_slice %arg0[0, %arg1] [1, %arg1] [1, 1] : tensor<8x8xf32> to tensor<?xf32>
    %2 = tensor.dim %1, %0 : tensor<?xf32>
    return %1, %2 : tensor<?xf32>, index
  }
  func.func @oob(%arg0: tensor<8x8xf32>, %arg1: index) -> tensor<?x?xf32> {
    %0 = arith.constant 9 : index
    %1 = tensor.extract_slice %arg0[0, 0] [%0, %arg1] [1, 1] : tensor<8x8xf32> to tensor<?x?xf32>
    return %1 : tensor<?x?xf32>
  }
  func.func @negsize(%arg0: tensor<?x8xf32>, %arg1: index) -> tensor<?x?xf32> {
    %0 = arith.constant -9 : index
    %1 = tensor.extract_slice %arg0[0, 0] [%0, %arg1] [1, 1] : tensor<?x8xf32> to tensor<?x?xf32>
    return %1 : tensor<?x?xf32>
  }
  func.func @negoff(%arg0: tensor<?x8xf32>, %arg1: index) -> tensor<?x?xf32> {
    %0 = arith.constant -9 : index
    %1 = tensor.extract_slice %arg0[%0, 0] [%arg1, %arg1] [0, -9] : tensor<?x8xf32> to tensor<?x?xf32>
    return %1 : tensor<?x?xf32>
  }
  func.func @castslicedown(%arg0: tensor<8x8xf32>, %arg1: index) -> tensor<?x?xf32> {
    %0 = tensor.extract_slice %arg0[0, 0] [4, 4] [1, 1] : tensor<8x8xf32> to tensor<4x4xf32>
    %1 = tensor.cast %0 : tensor<4x4xf32> to tensor<?x?xf32>
    return %1 : tensor<?x?xf32>
  }
  func.func @castslicemix(%arg0: tensor<8x8xf32>, %arg1: index) -> tensor<?x4xf32> {
    %0 = tensor.extract_slice %arg0[0, 0] [4, %arg1] [1, 1] : tensor<8x8xf32> to tensor<4x?xf32>
    %1 = tensor.cast %0 : tensor<4x?xf32> to tensor<?x4xf32>
    return %1 : tensor<?x4xf32>
  }
  func.func @rrins(%arg0: tensor<?xf32>, %arg1: tensor<8x8xf32>, %arg2: index) -> tensor<8x8xf32> {
    %0 = tensor.cast %arg0 : tensor<?xf32> to tensor<4xf32>
    %1 = tensor.insert_slice %0 into %arg1[0, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x8xf32>
    return %1 : tensor<8x8xf32>
  }
  func.func @rrinscast(%arg0: tensor<4xf32>, %arg1: tensor<8x8xf32>, %arg2: index) -> tensor<8x8xf32> {
    %0 = tensor.insert_slice %arg0 into %arg1[0, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
  func.func @inssrc(%arg0: tensor<?x?xf32>, %arg1: tensor<8x8xf32>, %arg2: index) -> tensor<8x8xf32> {
    %0 = tensor.cast %arg0 : tensor<?x?xf32> to tensor<4x?xf32>
    %1 = tensor.insert_slice %0 into %arg1[0, 0] [4, %arg2] [1, 1] : tensor<4x?xf32> into tensor<8x8xf32>
    return %1 : tensor<8x8xf32>
  }
  func.func @inspar(%arg0: tensor<?x?xf32>, %arg1: tensor<8x8xf32>, %arg2: index) -> tensor<8x8xf32> {
    %0 = scf.forall (%arg3) in (8) shared_outs(%arg4 = %arg1) -> (tensor<8x8xf32>) {
      %1 = tensor.cast %arg0 : tensor<?x?xf32> to tensor<4x?xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %1 into %arg4[0, 0] [4, %arg2] [1, 1] : tensor<4x?xf32> into tensor<8x8xf32>
      }
    }
    return %0 : tensor<8x8xf32>
  }
  func.func @padconst(%arg0: tensor<4x?xf32>, %arg1: f32, %arg2: index) -> tensor<?x?xf32> {
    %0 = arith.constant 2 : index
    %1 = tensor.pad %arg0 low[%arg2, 0] high[%0, %arg2] {
    ^bb0(%arg3: index, %arg4: index):
      tensor.yield %arg1 : f32
    } : tensor<4x?xf32> to tensor<?x?xf32>
    return %1 : tensor<?x?xf32>
  }
  func.func @slicefull(%arg0: tensor<?x4xf32>) -> tensor<?x4xf32> {
    %0 = arith.constant 0 : index
    %1 = tensor.dim %arg0, %0 : tensor<?x4xf32>
    %2 = tensor.extract_slice %arg0[0, 0] [%1, 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
    return %2 : tensor<?x4xf32>
  }
  func.func @insfull(%arg0: tensor<?x4xf32>, %arg1: tensor<?x4xf32>) -> tensor<?x4xf32> {
    %0 = arith.constant 0 : index
    %1 = tensor.dim %arg0, %0 : tensor<?x4xf32>
    %2 = tensor.insert_slice %arg1 into %arg0[0, 0] [%1, 4] [1, 1] : tensor<?x4xf32> into tensor<?x4xf32>
    return %2 : tensor<?x4xf32>
  }
  func.func @p1(%arg0: tensor<4x4x?xf32>, %arg1: f32, %arg2: index) -> tensor<?x?x?xf32> {
    %0 = tensor.pad %arg0 low[3, 2, 3] high[2, %arg2, 2] {
    ^bb0(%arg3: index, %arg4: index, %arg5: index):
      tensor.yield %arg1 : f32
    } : tensor<4x4x?xf32> to tensor<9x?x?xf32>
    %1 = tensor.cast %0 : tensor<9x?x?xf32> to tensor<?x?x?xf32>
    return %1 : tensor<?x?x?xf32>
  }
  func.func @p2(%arg0: tensor<?x4xf32>, %arg1: f32, %arg2: index) -> tensor<?x6xf32> {
    %0 = arith.constant 2 : index
    %1 = tensor.pad %arg0 low[%0, 1] high[%0, 1] {
    ^bb0(%arg3: index, %arg4: index):
      tensor.yield %arg1 : f32
    } : tensor<?x4xf32> to tensor<?x6xf32>
    return %1 : tensor<?x6xf32>
  }
  func.func @pp(%arg0: tensor<4xf32>) -> tensor<8xf32> {
    %0 = arith.constant 1.000000e+00 : f32
    %1 = tensor.pad %arg0 low[1] high[3] {
    ^bb0(%arg1: index):
      tensor.yield %0 : f32
    } : tensor<4xf32> to tensor<8xf32>
    return %1 : tensor<8xf32>
  }
  func.func @pp2(%arg0: tensor<4xf32>, %arg1: f32) -> tensor<8xf32> {
    %0 = tensor.pad %arg0 low[1] high[3] {
    ^bb0(%arg2: index):
      tensor.yield %arg1 : f32
    } : tensor<4xf32> to tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
