module {
  func.func @integers(%arg0: i32, %arg1: i32, %arg2: vector<4xi8>, %arg3: tensor<?xi64>, %arg4: index) {
    %0 = arith.divsi %arg0, %arg1 exact : i32
    %1 = arith.divui %arg0, %arg1 {note = 1 : i32} : i32
    %2 = arith.ceildivsi %arg0, %arg1 : i32
    %3 = arith.ceildivui %arg4, %arg4 : index
    %4 = arith.floordivsi %arg2, %arg2 : vector<4xi8>
    %5 = arith.remsi %arg3, %arg3 : tensor<?xi64>
    %6 = arith.remui %arg0, %arg1 : i32
    %7 = arith.shli %arg0, %arg1 overflow<nsw, nuw> : i32
    %8 = arith.shrsi %arg0, %arg1 exact : i32
    %9 = arith.shrui %arg0, %arg1 exact : i32
    %10:2 = arith.addui_extended %arg2, %arg2 : vector<4xi8>, vector<4xi1>
    %11:2 = arith.mulsi_extended %arg0, %arg1 : i32
    %12:2 = arith.mului_extended %arg0, %arg1 : i32
    %13 = math.absi %arg0 : i32
    %14 = math.ctlz %arg4 : index
    %15 = math.cttz %arg2 : vector<4xi8>
    %16 = math.ctpop %arg0 : i32
    %17 = math.ipowi %arg0, %arg1 : i32
    return
  }
  func.func @conversions(%arg0: i32, %arg1: f32, %arg2: f8E8M0FNU, %arg3: tensor<2xf4E2M1FN>, %arg4: tensor<2xf8E8M0FNU>, %arg5: f64, %arg6: memref<3xi32>) {
    %0 = arith.bitcast %arg0 : i32 to f32
    %1 = arith.index_castui %arg0 : i32 to index
    %2 = arith.index_cast %arg6 : memref<3xi32> to memref<3xindex>
    %3 = arith.bitcast %arg6 : memref<3xi32> to memref<3xf32>
    %4 = arith.scaling_extf %arg3, %arg4 fastmath<fast> : tensor<2xf4E2M1FN>, tensor<2xf8E8M0FNU> to tensor<2xf32>
    %5 = arith.scaling_truncf %arg1, %arg2 downward fastmath<contract> : f32, f8E8M0FNU to f4E2M1FN
    %6 = arith.truncf %arg5 to_nearest_away : f64 to f32
    %7 = arith.truncf %arg5 toward_zero fastmath<nnan> {note = 1 : i32} : f64 to f16
    %8 = arith.truncf %arg5 upward : f64 to f32
    %9 = arith.trunci %arg0 overflow<nuw> : i32 to i8
    %10 = arith.extf %arg1 fastmath<none> : f32 to f64
    return
  }
  func.func @floats(%arg0: f32, %arg1: f32, %arg2: tensor<?xf16>, %arg3: i32) {
    %0 = arith.negf %arg0 fastmath<nsz> : f32
    %1 = arith.remf %arg0, %arg1 : f32
    %2 = math.copysign %arg0, %arg1 : f32
    %3 = math.fma %arg0, %arg1, %arg0 fastmath<contract> : f32
    %4 = math.clampf %arg0 to[%arg1, %arg0] fastmath<nnan> : f32
    %5 = math.clampf %arg2 to[%arg2, %arg2] : tensor<?xf16>
    %6 = math.sqrt %arg0 : f32
    %7 = math.rsqrt %arg2 : tensor<?xf16>
    %8 = math.cbrt %arg0 : f32
    %9 = math.isfinite %arg0 : f32
    %10 = math.isinf %arg2 : tensor<?xf16>
    %11 = math.isnan %arg0 {fastmath = #arith.fastmath<ninf>} : f32
    %12 = math.isnormal %arg0 : f32
    %13 = math.fpowi %arg0, %arg3 : f32, i32
    %14:2 = math.sincos %arg0 fastmath<afn> : f32
    return
  }
  func.func @transcendental(%arg0: f32, %arg1: f32) {
    %0 = math.exp %arg0 : f32
    %1 = math.exp2 %arg0 : f32
    %2 = math.expm1 %arg0 : f32
    %3 = math.log %arg0 : f32
    %4 = math.log2 %arg0 : f32
    %5 = math.log10 %arg0 : f32
    %6 = math.log1p %arg0 : f32
    %7 = math.sin %arg0 : f32
    %8 = math.cos %arg0 : f32
    %9 = math.tan %arg0 : f32
    %10 = math.asin %arg0 : f32
    %11 = math.acos %arg0 : f32
    %12 = math.atan %arg0 : f32
    %13 = math.sinh %arg0 : f32
    %14 = math.cosh %arg0 : f32
    %15 = math.tanh %arg0 : f32
    %16 = math.asinh %arg0 : f32
    %17 = math.acosh %arg0 : f32
    %18 = math.atanh %arg0 : f32
    %19 = math.erf %arg0 : f32
    %20 = math.erfc %arg0 : f32
    %21 = math.atan2 %arg0, %arg1 : f32
    %22 = math.powf %arg0, %arg1 fastmath<afn> : f32
    return
  }
}
