func.func @complex(%a: complex<f32>, %x: f32, %y: f64) -> complex<f32> {
  %0 = complex.add %a, %a fastmath<nnan> : complex<f32>
  %1 = complex.sub %a, %a : complex<f32>
  %2 = complex.mul %0, %1 fastmath<none> : complex<f32>
  %3 = complex.div %2, %0 {note} : complex<f32>
  %4 = complex.create %x, %x : complex<f32>
  %5 = complex.re %4 : complex<f32>
  %6 = complex.im %4 fastmath<fast> : complex<f32>
  %7 = complex.create %y, %y {note} : complex<f64>
  return %3 : complex<f32>
}
