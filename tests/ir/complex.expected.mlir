module {
  func.func @complex(%arg0: complex<f32>, %arg1: f32, %arg2: f64) -> complex<f32> {
    %0 = complex.add %arg0, %arg0 fastmath<nnan> : complex<f32>
    %1 = complex.sub %arg0, %arg0 : complex<f32>
    %2 = complex.mul %0, %1 : complex<f32>
    %3 = complex.div %2, %0 {note} : complex<f32>
    %4 = complex.create %arg1, %arg1 : complex<f32>
    %5 = complex.re %4 : complex<f32>
    %6 = complex.im %4 fastmath<fast> : complex<f32>
    %7 = complex.create %arg2, %arg2 {note} : complex<f64>
    return %3 : complex<f32>
  }
}
