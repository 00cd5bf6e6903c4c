func.func private @printMemrefF32(memref<*xf32>) attributes { llvm.emit_c_interface }
func.func private @printMemrefF64(memref<*xf64>) attributes { llvm.emit_c_interface }
func.func private @printMemrefF16(memref<*xf16>) attributes { llvm.emit_c_interface }
func.func private @printMemrefBF16(memref<*xbf16>) attributes { llvm.emit_c_interface }
func.func private @printMemrefI8(memref<*xi8>) attributes { llvm.emit_c_interface }
func.func private @printMemrefShapeI8(memref<*xi8>) attributes { llvm.emit_c_interface }
func.func private @printMemref1dI8(memref<?xi8>) attributes { llvm.emit_c_interface }
func.func private @rtclock() -> f64
func.func private @printMemrefI16(memref<*xi16>) attributes { llvm.emit_c_interface }
func.func private @printMemrefI32(memref<*xi32>) attributes { llvm.emit_c_interface }
func.func private @printMemrefI64(memref<*xi64>) attributes { llvm.emit_c_interface }
func.func private @printMemrefInd(memref<*xindex>) attributes { llvm.emit_c_interface }
func.func private @printMemrefShapeF32(memref<*xf32>) attributes { llvm.emit_c_interface }
func.func private @printMemref0dF32(memref<f32>) attributes { llvm.emit_c_interface }
func.func private @printMemref1dF32(memref<?xf32>) attributes { llvm.emit_c_interface }
func.func private @printMemref1dInd(memref<?xindex>) attributes { llvm.emit_c_interface }
func.func private @printMemref2dF32(memref<?x?xf32>) attributes { llvm.emit_c_interface }
func.func private @printI64(i64)
func.func private @printU64(i64)
func.func private @printF32(f32)
func.func private @printF64(f64)
func.func private @printOpen()
func.func private @printComma()
func.func private @printClose()
func.func private @printNewline()
memref.global "private" constant @thirds : memref<2x3xf32> = dense<[[0.0, 0.333333333, 0.6666667], [1.0, 1.3333333, 1.6666666]]>
memref.global "private" constant @doubles : memref<8xf64> = dense<[0.1, 1.0e-10, 123456789.125, 0x7FF0000000000000, 0xFFF0000000000000, -0.0, 100000.0, 1000000.0]>
memref.global "private" constant @halves : memref<3x1xf16> = dense<[[1.0e-7], [65504.0], [-0.5]]>
memref.global "private" constant @brains : memref<1x3xbf16> = dense<[[1.01, 2.0, 3.0e38]]>
memref.global "private" constant @bytes : memref<2x2xi8> = dense<[[65, 66], [48, 126]]>
memref.global "private" constant @shorts : memref<2xi16> = dense<[-32768, 7]>
memref.global "private" constant @words : memref<1x2x2xi32> = dense<[[[-7, 8], [9, 10]]]>
memref.global "private" constant @longs : memref<2x2x2xi64> = dense<-9000000000>
memref.global "private" constant @indices : memref<2xindex> = dense<[-5, 2]>
memref.global "private" constant @one : memref<f32> = dense<1.0e10>
func.func @main() {
  %a = memref.get_global @thirds : memref<2x3xf32>
  %ua = memref.cast %a : memref<2x3xf32> to memref<*xf32>
  call @printMemrefF32(%ua) : (memref<*xf32>) -> ()
  call @printMemrefShapeF32(%ua) : (memref<*xf32>) -> ()
  %ra = memref.cast %a : memref<2x3xf32> to memref<?x?xf32>
  call @printMemref2dF32(%ra) : (memref<?x?xf32>) -> ()
  %s = memref.subview %a[0, 1] [2, 2] [1, 1] : memref<2x3xf32> to memref<2x2xf32, strided<[3, 1], offset: 1>>
  %us = memref.cast %s : memref<2x2xf32, strided<[3, 1], offset: 1>> to memref<*xf32>
  call @printMemrefF32(%us) : (memref<*xf32>) -> ()
  %b = memref.get_global @doubles : memref<8xf64>
  %ub = memref.cast %b : memref<8xf64> to memref<*xf64>
  call @printMemrefF64(%ub) : (memref<*xf64>) -> ()
  %c = memref.get_global @halves : memref<3x1xf16>
  %uc = memref.cast %c : memref<3x1xf16> to memref<*xf16>
  call @printMemrefF16(%uc) : (memref<*xf16>) -> ()
  %d = memref.get_global @brains : memref<1x3xbf16>
  %ud = memref.cast %d : memref<1x3xbf16> to memref<*xbf16>
  call @printMemrefBF16(%ud) : (memref<*xbf16>) -> ()
  %e = memref.get_global @shorts : memref<2xi16>
  %ue = memref.cast %e : memref<2xi16> to memref<*xi16>
  call @printMemrefI16(%ue) : (memref<*xi16>) -> ()
  %f = memref.get_global @words : memref<1x2x2xi32>
  %uf = memref.cast %f : memref<1x2x2xi32> to memref<*xi32>
  call @printMemrefI32(%uf) : (memref<*xi32>) -> ()
  %g = memref.get_global @longs : memref<2x2x2xi64>
  %ug = memref.cast %g : memref<2x2x2xi64> to memref<*xi64>
  call @printMemrefI64(%ug) : (memref<*xi64>) -> ()
  %h = memref.get_global @indices : memref<2xindex>
  %uh = memref.cast %h : memref<2xindex> to memref<*xindex>
  call @printMemrefInd(%uh) : (memref<*xindex>) -> ()
  %rh = memref.cast %h : memref<2xindex> to memref<?xindex>
  call @printMemref1dInd(%rh) : (memref<?xindex>) -> ()
  %i = memref.get_global @one : memref<f32>
  %ui = memref.cast %i : memref<f32> to memref<*xf32>
  call @printMemrefF32(%ui) : (memref<*xf32>) -> ()
  call @printMemref0dF32(%i) : (memref<f32>) -> ()
  %t = memref.alloca() : memref<1xf32>
  %c0 = arith.constant 0 : index
  %big = arith.constant 1.0e10 : f32
  memref.store %big, %t[%c0] : memref<1xf32>
  %rt = memref.cast %t : memref<1xf32> to memref<?xf32>
  call @printMemref1dF32(%rt) : (memref<?xf32>) -> ()
  %n = arith.constant -9000000000 : i64
  %v = arith.constant 123456789.125 : f64
  call @printOpen() : () -> ()
  call @printI64(%n) : (i64) -> ()
  call @printComma() : () -> ()
  call @printU64(%n) : (i64) -> ()
  call @printComma() : () -> ()
  call @printF32(%big) : (f32) -> ()
  call @printComma() : () -> ()
  call @printF64(%v) : (f64) -> ()
  call @printClose() : () -> ()
  call @printNewline() : () -> ()
  %bytes = memref.get_global @bytes : memref<2x2xi8>
  %ubytes = memref.cast %bytes : memref<2x2xi8> to memref<*xi8>
  call @printMemrefI8(%ubytes) : (memref<*xi8>) -> ()
  call @printMemrefShapeI8(%ubytes) : (memref<*xi8>) -> ()
  %flat = memref.collapse_shape %bytes [[0, 1]] : memref<2x2xi8> into memref<4xi8>
  %row = memref.cast %flat : memref<4xi8> to memref<?xi8>
  call @printMemref1dI8(%row) : (memref<?xi8>) -> ()
  %before = call @rtclock() : () -> f64
  %after = call @rtclock() : () -> f64
  %passed = arith.subf %after, %before : f64
  %zero = arith.constant 0.0 : f64
  %went = arith.maximumf %passed, %zero : f64
  %is = arith.cmpf oeq, %passed, %went : f64
  %one64 = arith.extui %is : i1 to i64
  call @printI64(%one64) : (i64) -> ()
  return
}
