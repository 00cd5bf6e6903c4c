// tensor ops, in the forms people write.
func.func @slices(%t: tensor<4x5xf32>, %d: tensor<?x?xf32>, %v: tensor<4xf32>, %i: index, %x: f32) {
  %0 = tensor.extract_slice %t[0, %i] [2, 2] [1, 1] {note} : tensor<4x5xf32> to tensor<2x2xf32>
  %1 = tensor.extract_slice %d[%i, 0] [1, %i] [1, %i] : tensor<?x?xf32> to tensor<?xf32>
  %2 = tensor.insert_slice %v into %t[0, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<4x5xf32>
  %3 = tensor.insert %x into %t[%i, %i] : tensor<4x5xf32>
  %4 = tensor.pad %t nofold low[1, %i] high[0, -2] {
  ^bb0(%a: index, %b: index):
    tensor.yield %x : f32
  } {note} : tensor<4x5xf32> to tensor<5x?xf32>
  %5 = tensor.concat dim(1) %t, %d : (tensor<4x5xf32>, tensor<?x?xf32>) -> tensor<4x?xf32>
  return
}
func.func @shapes(%t: tensor<4x6xf32>, %d: tensor<?x?xf32>, %u: tensor<*xf32>, %i: index) {
  %0 = tensor.collapse_shape %t [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  %1 = tensor.expand_shape %d [[0, 1], [2]] output_shape [%i, 2, %i] : tensor<?x?xf32> into tensor<?x2x?xf32>
  %2 = tensor.bitcast %t : tensor<4x6xf32> to tensor<?x6xi32>
  %3 = tensor.rank %u : tensor<*xf32>
  %4 = tensor.generate %i, %3 {
  ^bb0(%a: index, %b: index, %c: index):
    tensor.yield %b : index
  } {note} : tensor<?x3x?xindex>
  return
}
func.func @parallel(%t: tensor<4xf32>, %d: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = scf.forall (%i) in (8) shared_outs(%o = %d) -> (tensor<4x8xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[0, %i] [4, 1] [1, 1] : tensor<4xf32> into tensor<4x8xf32>
    }
  }
  return %0 : tensor<4x8xf32>
}
