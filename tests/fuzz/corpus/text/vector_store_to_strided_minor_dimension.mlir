func.func @f(%m: memref<4xf32, strided<[2]>>, %v: vector<4xf32>, %i: index) { vector.store %v, %m[%i] : memref<4xf32, strided<[2]>>, vector<4xf32> return }
