func.func @main(%m: memref<f32>, %v: vector<f32>) {
  vector.transfer_write %v, %m[] : vector<f32>, memref<f32>
  return
}
