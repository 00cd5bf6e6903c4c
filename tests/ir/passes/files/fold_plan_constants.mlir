// fold-plan-constants{saturating}
// Of the plan of @main: not of the other function, nor of a loop that the interpreter runs.
!q = !quant.uniform<u8:f32, 0.5:128>
!s = !quant.uniform<i4:f32, 0.5>
func.func private @other() -> i32 {
  %0 = arith.constant 1 : i32
  %1 = arith.addi %0, %0 : i32
  return %1 : i32
}
func.func @main(%n: index, %b: i1) -> (tensor<2x!q>, tensor<?xf32>, tensor<2x!s>, i32, i32, i32) {
  %c = arith.constant dense<[1.0, -2.0]> : tensor<2xf32>
  %f = arith.constant 3.0e9 : f32
  %two = arith.constant 2 : index
  %0 = quant.qcast %c : tensor<2xf32> to tensor<2x!q>
  %1 = tensor.splat %f[%two] : tensor<?xf32>
  %2 = arith.addf %1, %1 : tensor<?xf32>
  %3 = quant.qcast %c : tensor<2xf32> to tensor<2x!s>
  %4 = arith.fptosi %f : f32 to i32
  %5 = scf.if %b -> i32 {
    %8 = arith.addi %4, %4 : i32
    scf.yield %8 : i32
  } else {
    %z = arith.constant 0 : i32
    %8 = arith.divsi %4, %z : i32
    scf.yield %8 : i32
  }
  %7 = affine.for %i = 0 to 3 iter_args(%a = %5) -> (i32) {
    %8 = arith.muli %4, %4 : i32
    affine.yield %8 : i32
  }
  return %0, %2, %3, %4, %5, %7 : tensor<2x!q>, tensor<?xf32>, tensor<2x!s>, i32, i32, i32
}
