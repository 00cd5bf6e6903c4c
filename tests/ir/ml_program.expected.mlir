module {
  ml_program.global private mutable @state(dense<0> : tensor<4xi8>) : tensor<4xi8>
  ml_program.global public @weights(dense<[1, -2, 3, 4]> : tensor<4xi8>) : tensor<4xi8> {test.note}
  ml_program.global nested mutable @"later on" : tensor<?xf32>
  ml_program.global private @elsewhere(#ml_program.extern) : tensor<4xi8>
  ml_program.global private @typed(#ml_program.extern : tensor<4xi8>) : tensor<4xi8>
  ml_program.global private mutable @scalar(3 : i64) : i64
  ml_program.global private @other(dense<1.500000e+00> : tensor<2xf32>) : tensor<4xi8>
  ml_program.global public mutable @generic : index
  func.func @step(%arg0: tensor<4xi8>, %arg1: tensor<?xf32>) -> tensor<4xi8> {
    %0 = ml_program.global_load @state : tensor<4xi8>
    %1 = ml_program.global_load_const @weights : tensor<4xi8> {test.note}
    %2 = ml_program.global_load @"later on" : tensor<?xf32> {test.note}
    ml_program.global_store @state = %arg0 : tensor<4xi8> {test.note}
    ml_program.global_store @"later on" = %arg1 : tensor<?xf32>
    %3 = ml_program.global_load @scalar : i64
    %4 = ml_program.global_load @generic : index
    return %0 : tensor<4xi8>
  }
}
