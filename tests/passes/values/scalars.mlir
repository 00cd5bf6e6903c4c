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
