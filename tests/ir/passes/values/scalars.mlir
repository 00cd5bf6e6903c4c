func.func @bits(%x: f32, %v: vector<2xf64>) -> (i32, vector<2xi64>) {
  %0 = arith.bitcast %x : f32 to i32
  %1 = arith.bitcast %0 : i32 to f32
  %2 = arith.bitcast %1 : f32 to i32
  %3 = arith.bitcast %v : vector<2xf64> to vector<2xi64>
  %4 = arith.bitcast %3 : vector<2xi64> to vector<2xf64>
  %5 = arith.bitcast %4 : vector<2xf64> to vector<2xi64>
  return %2, %5 : i32, vector<2xi64>
}
func.func @bits_of_several_types(%x: f16) -> bf16 {
  %0 = arith.bitcast %x : f16 to i16
  %1 = arith.bitcast %0 : i16 to bf16
  return %1 : bf16
}
func.func @low_halves(%x: i64, %y: i64, %a: i8, %b: i8) -> (i64, i8, i8) {
  %0:2 = arith.mului_extended %x, %y : i64
  %1:2 = arith.mulsi_extended %a, %b : i8
  %2:2 = arith.addui_extended %a, %b : i8, i1
  return %0#0, %1#0, %2#0 : i64, i8, i8
}
func.func @products_with_constants(%x: i64, %a: i8, %v: vector<2xi16>) -> (i64, i64, i8, i8, vector<2xi16>, vector<2xi16>, i64, i64) {
  %z = arith.constant 0 : i64
  %zero = arith.constant 0 : i8
  %one = arith.constant dense<1> : vector<2xi16>
  %u = arith.constant 1 : i64
  %0:2 = arith.mulsi_extended %x, %z : i64
  %1:2 = arith.mului_extended %a, %zero : i8
  %2:2 = arith.mulsi_extended %v, %one : vector<2xi16>
  %3:2 = arith.mului_extended %x, %u : i64
  return %0#0, %0#1, %1#0, %1#1, %2#0, %2#1, %3#0, %3#1 : i64, i64, i8, i8, vector<2xi16>, vector<2xi16>, i64, i64
}
func.func @bitwise_of_extensions(%a: i8, %b: i8) -> (i32, i32, i32, i32, i32, i32) {
  %0 = arith.extsi %a : i8 to i32
  %1 = arith.extsi %b : i8 to i32
  %2 = arith.extui %a : i8 to i32
  %3 = arith.extui %b : i8 to i32
  %4 = arith.andi %0, %1 : i32
  %5 = arith.ori %0, %1 : i32
  %6 = arith.xori %0, %1 : i32
  %7 = arith.andi %2, %3 : i32
  %8 = arith.ori %2, %3 : i32
  %9 = arith.xori %2, %3 : i32
  return %4, %5, %6, %7, %8, %9 : i32, i32, i32, i32, i32, i32
}
func.func @bounds(%a: i8, %b: i64) -> (i8, i8, i8, i8, i64, i64, i64, i64) {
  %0 = arith.constant 127 : i8
  %1 = arith.constant -128 : i8
  %2 = arith.constant -1 : i64
  %3 = arith.constant 0 : i64
  %4 = arith.minsi %a, %0 : i8
  %5 = arith.minsi %a, %1 : i8
  %6 = arith.maxsi %a, %0 : i8
  %7 = arith.maxsi %a, %1 : i8
  %8 = arith.minui %b, %2 : i64
  %9 = arith.minui %b, %3 : i64
  %10 = arith.maxui %b, %2 : i64
  %11 = arith.maxui %b, %3 : i64
  return %4, %5, %6, %7, %8, %9, %10, %11 : i8, i8, i8, i8, i64, i64, i64, i64
}
func.func @powers() -> (i32, i64) {
  %0 = arith.constant -3 : i32
  %1 = arith.constant 5 : i32
  %2 = arith.constant 2 : i64
  %3 = arith.constant 63 : i64
  %4 = math.ipowi %0, %1 : i32
  %5 = math.ipowi %2, %3 : i64
  return %4, %5 : i32, i64
}
func.func @chain(%x: index) -> (index, index, index) {
  %0 = arith.index_castui %x : index to i8
  %1 = arith.index_castui %0 : i8 to index
  %2 = arith.index_castui %1 : index to i64
  %3 = arith.index_castui %2 : i64 to index
  %4 = arith.index_cast %x : index to i32
  %5 = arith.index_cast %4 : i32 to index
  %6 = arith.index_cast %x : index to i8
  %7 = arith.index_castui %6 : i8 to index
  return %3, %5, %7 : index, index, index
}
func.func @narrowed(%x: i16, %y: i16) -> (i8, i8) {
  %0 = arith.extui %x : i16 to i32
  %1 = arith.trunci %0 : i32 to i8
  %2 = arith.extsi %y : i16 to i32
  %3 = arith.trunci %2 : i32 to i8
  return %1, %3 : i8, i8
}
func.func @classes() -> (i1, i1, i1, i1, i1, i1) {
  %0 = arith.constant 0x7F800000 : f32
  %1 = arith.constant 0x7FC00000 : f32
  %2 = arith.constant 1.0e-45 : f32
  %3 = math.isinf %0 : f32
  %4 = math.isinf %1 : f32
  %5 = math.isnan %1 : f32
  %6 = math.isfinite %0 : f32
  %7 = math.isnormal %2 : f32
  %8 = math.isfinite %2 : f32
  return %3, %4, %5, %6, %7, %8 : i1, i1, i1, i1, i1, i1
}
func.func @twice_the_same(%x: f32, %y: i8) -> (f32, f32, f32, f32, i8, i8) {
  %0 = arith.maxnumf %x, %x : f32
  %1 = arith.minnumf %x, %x : f32
  %2 = arith.maximumf %x, %x : f32
  %3 = arith.minimumf %x, %x : f32
  %4 = arith.maxui %y, %y : i8
  %5 = arith.minui %y, %y : i8
  return %0, %1, %2, %3, %4, %5 : f32, f32, f32, f32, i8, i8
}
func.func @beside_a_nan(%x: f32) -> (f32, f32) {
  %n = arith.constant 0x7FC00000 : f32
  %0 = arith.maxnumf %x, %n : f32
  %1 = arith.minnumf %x, %n : f32
  return %0, %1 : f32, f32
}
func.func @by_one(%x: i8, %y: index) -> (i8, i8, i8, i8, i8, i8, index) {
  %0 = arith.constant 1 : i8
  %1 = arith.constant 1 : index
  %2 = arith.divsi %x, %0 : i8
  %3 = arith.divui %x, %0 : i8
  %4 = arith.ceildivsi %x, %0 : i8
  %5 = arith.ceildivui %x, %0 : i8
  %6 = arith.floordivsi %x, %0 : i8
  %7 = arith.remsi %x, %0 : i8
  %8 = arith.remui %y, %1 : index
  return %2, %3, %4, %5, %6, %7, %8 : i8, i8, i8, i8, i8, i8, index
}
func.func @bits_by_one(%x: i1) -> (i1, i1, i1) {
  %0 = arith.constant true
  %1 = arith.divui %x, %0 : i1
  %2 = arith.remui %x, %0 : i1
  %3 = arith.remsi %2, %0 : i1
  return %1, %2, %3 : i1, i1, i1
}
func.func @shifted_by_nothing(%x: i8) -> (i8, i8, i8) {
  %0 = arith.constant 0 : i8
  %1 = arith.shli %x, %0 : i8
  %2 = arith.shrsi %x, %0 : i8
  %3 = arith.shrui %x, %0 : i8
  return %1, %2, %3 : i8, i8, i8
}
func.func @undefined_constants(%x: i1) -> i1 {
  %0 = arith.constant true
  %1 = arith.remsi %0, %0 : i1
  %2 = arith.xori %1, %x : i1
  return %2 : i1
}
func.func @greatest(%n: index, %p: index) -> (index, index) {
  %c3 = arith.constant 3 : index
  %0 = affine.max affine_map<(d0, d1, d2)[s0] -> (d1, d1, s0 * 3, d0)>(%n, %p, %n)[%c3]
  %1 = affine.min affine_map<(d0, d1, d2)[s0] -> (d1, d1, s0 * 3, d0)>(%n, %p, %n)[%c3]
  return %0, %1 : index, index
}
func.func @least_of_constants() -> (index, index) {
  %c3 = arith.constant 3 : index
  %c7 = arith.constant -7 : index
  %0 = affine.max affine_map<(d0)[s0] -> (d0, s0 * 3, d0 mod 5)>(%c7)[%c3]
  %1 = affine.min affine_map<(d0)[s0] -> (d0, s0 * 3, d0 floordiv 5)>(%c7)[%c3]
  return %0, %1 : index, index
}
func.func @greatest_of_greatest(%n: index, %p: index) -> (index, index) {
  %0 = affine.max affine_map<(d0) -> (9, d0 * 8)>(%n)
  %1 = affine.max affine_map<(d0, d1) -> (d1, d0)>(%0, %p)
  %2 = affine.min affine_map<(d0) -> (9, d0 * 8)>(%n)
  %3 = affine.min affine_map<(d0, d1) -> (d1, d0)>(%2, %p)
  return %1, %3 : index, index
}
func.func @float_constants() -> (f32, f32, f32, f32, f32, f32, f32, f64, f16) {
  %a = arith.constant -0.0 : f32
  %b = arith.constant 0.0 : f32
  %c = arith.constant 2.5 : f32
  %d = arith.constant -1.0e-40 : f32
  %e = arith.constant 2.5 : f64
  %g = arith.constant 65504.0 : f16
  %0 = arith.minnumf %a, %b : f32
  %1 = arith.maxnumf %a, %b : f32
  %2 = math.trunc %d : f32
  %3 = math.round %c : f32
  %4 = math.roundeven %c : f32
  %5 = math.ceil %d : f32
  %6 = math.floor %d : f32
  %7 = math.trunc %e : f64
  %8 = arith.addf %g, %g : f16
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : f32, f32, f32, f32, f32, f32, f32, f64, f16
}
func.func @integer_constants() -> (i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8) {
  %a = arith.constant -100 : i8
  %b = arith.constant 3 : i8
  %0 = arith.addi %a, %b : i8
  %1 = arith.subi %a, %b : i8
  %2 = arith.muli %a, %b : i8
  %3 = arith.andi %a, %b : i8
  %4 = arith.ori %a, %b : i8
  %5 = arith.xori %a, %b : i8
  %6 = arith.divsi %a, %b : i8
  %7 = arith.divui %a, %b : i8
  %8 = arith.ceildivsi %a, %b : i8
  %9 = arith.ceildivui %a, %b : i8
  %10 = arith.floordivsi %a, %b : i8
  %11 = arith.remsi %a, %b : i8
  %12 = arith.remui %a, %b : i8
  %13 = arith.shli %a, %b : i8
  %14 = arith.shrsi %a, %b : i8
  %15 = arith.shrui %a, %b : i8
  %16 = arith.maxsi %a, %b : i8
  %17 = arith.minsi %a, %b : i8
  %18 = arith.maxui %a, %b : i8
  %19 = arith.minui %a, %b : i8
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19 : i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8
}
func.func @vectors_of_constants() -> (vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>) {
  %a = arith.constant dense<[-0.0, 0x7FC00000]> : vector<2xf32>
  %b = arith.constant dense<[0.0, 2.5]> : vector<2xf32>
  %0 = arith.addf %a, %b : vector<2xf32>
  %1 = arith.subf %a, %b : vector<2xf32>
  %2 = arith.mulf %a, %b : vector<2xf32>
  %3 = arith.divf %a, %b : vector<2xf32>
  %4 = arith.remf %a, %b : vector<2xf32>
  %5 = arith.maximumf %a, %b : vector<2xf32>
  %6 = arith.minimumf %a, %b : vector<2xf32>
  %7 = arith.maxnumf %a, %b : vector<2xf32>
  %8 = arith.minnumf %a, %b : vector<2xf32>
  %9 = arith.negf %a : vector<2xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>, vector<2xf32>
}
func.func @bits_twice(%x: i8) -> (i8, i8, i8, i8) {
  %0 = arith.ori %x, %x : i8
  %1 = arith.andi %x, %x : i8
  %2 = arith.minsi %x, %x : i8
  %3 = arith.maxsi %x, %x : i8
  return %0, %1, %2, %3 : i8, i8, i8, i8
}
