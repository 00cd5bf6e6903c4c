// The ops of arith and math that lowered casts have no use for, as people write them.
func.func @integers(%a: i32, %b: i32, %v: vector<4xi8>, %t: tensor<?xi64>, %i: index) {
  %0 = arith.divsi %a, %b exact : i32
  %1 = arith.divui %a, %b {note = 1 : i32} : i32
  %2 = arith.ceildivsi %a, %b : i32
  %3 = arith.ceildivui %i, %i : index
  %4 = arith.floordivsi %v, %v : vector<4xi8>
  %5 = arith.remsi %t, %t : tensor<?xi64>
  %6 = "arith.remui"(%a, %b) : (i32, i32) -> i32
  %7 = arith.shli %a, %b overflow<nsw, nuw> : i32
  %8 = arith.shrsi %a, %b exact : i32
  %9 = "arith.shrui"(%a, %b) <{isExact}> : (i32, i32) -> i32
  %sum, %overflow = arith.addui_extended %v, %v : vector<4xi8>, vector<4xi1>
  %low, %high = arith.mulsi_extended %a, %b : i32
  %10:2 = "arith.mului_extended"(%a, %b) : (i32, i32) -> (i32, i32)
  %11 = math.absi %a : i32
  %12 = math.ctlz %i : index
  %13 = math.cttz %v : vector<4xi8>
  %14 = math.ctpop %a : i32
  %15 = math.ipowi %a, %b : i32
  return
}
func.func @conversions(%a: i32, %x: f32, %s: f8E8M0FNU, %t: tensor<2xf4E2M1FN>, %u: tensor<2xf8E8M0FNU>, %d: f64, %m: memref<3xi32>) {
  %0 = arith.bitcast %a : i32 to f32
  %1 = arith.index_castui %a : i32 to index
  %2 = arith.index_cast %m : memref<3xi32> to memref<3xindex>
  %3 = arith.bitcast %m : memref<3xi32> to memref<3xf32>
  %4 = arith.scaling_extf %t, %u fastmath<fast> : tensor<2xf4E2M1FN>, tensor<2xf8E8M0FNU> to tensor<2xf32>
  %5 = arith.scaling_truncf %x, %s downward fastmath<contract> : f32, f8E8M0FNU to f4E2M1FN
  %6 = arith.truncf %d to_nearest_away : f64 to f32
  %7 = arith.truncf %d toward_zero fastmath<nnan> {note = 1 : i32} : f64 to f16
  %8 = "arith.truncf"(%d) <{roundingmode = 2 : i32}> : (f64) -> f32
  %9 = arith.trunci %a overflow<nuw> : i32 to i8
  %10 = arith.extf %x fastmath<none> : f32 to f64
  return
}
func.func @floats(%x: f32, %y: f32, %t: tensor<?xf16>, %n: i32) {
  %0 = arith.negf %x fastmath<nsz> : f32
  %1 = arith.remf %x, %y : f32
  %2 = math.copysign %x, %y : f32
  %3 = math.fma %x, %y, %x fastmath<contract> : f32
  %4 = math.clampf %x to [%y, %x] fastmath<nnan> : f32
  %5 = "math.clampf"(%t, %t, %t) : (tensor<?xf16>, tensor<?xf16>, tensor<?xf16>) -> tensor<?xf16>
  %6 = math.sqrt %x : f32
  %7 = math.rsqrt %t : tensor<?xf16>
  %8 = math.cbrt %x : f32
  %9 = math.isfinite %x : f32
  %10 = math.isinf %t : tensor<?xf16>
  %11 = math.isnan %x {fastmath = #arith.fastmath<ninf>} : f32
  %12 = "math.isnormal"(%x) : (f32) -> i1
  %13 = math.fpowi %x, %n : f32, i32
  %sin, %cos = math.sincos %x fastmath<afn> : f32
  return
}
func.func @transcendental(%x: f32, %y: f32) {
  %0 = math.exp %x : f32
  %1 = math.exp2 %x : f32
  %2 = math.expm1 %x : f32
  %3 = math.log %x : f32
  %4 = math.log2 %x : f32
  %5 = math.log10 %x : f32
  %6 = math.log1p %x : f32
  %7 = math.sin %x : f32
  %8 = math.cos %x : f32
  %9 = math.tan %x : f32
  %10 = math.asin %x : f32
  %11 = math.acos %x : f32
  %12 = math.atan %x : f32
  %13 = math.sinh %x : f32
  %14 = math.cosh %x : f32
  %15 = math.tanh %x : f32
  %16 = math.asinh %x : f32
  %17 = math.acosh %x : f32
  %18 = math.atanh %x : f32
  %19 = math.erf %x : f32
  %20 = math.erfc %x : f32
  %21 = math.atan2 %x, %y : f32
  %22 = math.powf %x, %y fastmath<afn> : f32
  return
}
