// attach-stats-ref
// Values of which nothing is known get keys; ports that are decided, constants, and values that have keys do not.

!t = tensor<4xf32>
!q = !quant.uniform<i8:f32, 0.5>
func.func @keys(%x: !t {qrt.name = "images"}, %y: !t, %q: tensor<4x!q>, %unused: !t) -> (!t, !t) {
  %w = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : !t
  %d = quant.dcast %q : tensor<4x!q> to !t
  %0 = quant.region (%x, %w) {
    %9 = arith.addf %x, %w : !t
    quant.return %9 : !t
  } {input_specs = [f32, f32], output_specs = [f32], kernel = "add"} : (!t, !t) -> !t
  %1 = quant.region (%0, %d) {
    %9 = arith.addf %0, %d : !t
    quant.return %9 : !t
  } {input_specs = [!quant.any<i4:f32>, f32], output_specs = [!quant.calibrated<f32<-1.0:1.0>>], kernel = "add"} : (!t, !t) -> !t
  %2 = math.exp %1 : !t
  %3 = "quant.coupled_ref"(%2) {coupledKey = "c"} : (!t) -> !t
  %4:2 = quant.region (%3, %y) {
    quant.return %3, %y : !t, !t
  } {input_specs = [f32, !quant.none<f32>], output_specs = [f32, !quant.uniform<i8:f32, 0.25>], kernel = "mine"} : (!t, !t) -> (!t, !t)
  %5 = "quant.stats_ref"(%4#0) {statsKey = "keys/exp"} : (!t) -> !t
  return %5, %4#1 : !t, !t
}

func.func @loop(%x: !t, %n: index) -> !t {
  %a = arith.constant 0 : index
  %b = arith.constant 1 : index
  %0 = scf.for %i = %a to %n step %b iter_args(%c = %x) -> !t {
    %1 = quant.region (%c) {
      %9 = math.tanh %c : !t
      quant.return %9 : !t
    } {input_specs = [f32], output_specs = [f32], kernel = "lookup"} : (!t) -> !t
    scf.yield %1 : !t
  }
  return %0 : !t
}
