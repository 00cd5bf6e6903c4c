func.func @main(%x: f32, %u: memref<*xf32>) {
  memref.global @table : memref<2xf32> = dense<[1.0, 2.0]>
  memref.alloca_scope -> (f32) {
    memref.alloca_scope.return %x : f32
  }
  return
}
