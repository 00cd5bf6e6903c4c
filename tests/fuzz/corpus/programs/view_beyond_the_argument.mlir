// values: 1; pipeline: canonicalize
func.func @f(%m: memref<2xi64>) {
  %c0 = arith.constant 0 : index
  %x = arith.constant -1 : i64
  %r = memref.reinterpret_cast %m to offset: [4], sizes: [1], strides: [1] : memref<2xi64> to memref<1xi64, strided<[1], offset: 4>>
  memref.store %x, %r[%c0] : memref<1xi64, strided<[1], offset: 4>>
  return
}
