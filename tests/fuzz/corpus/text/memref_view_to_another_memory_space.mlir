func.func @f(%m: memref<2048xi8, 2>, %i: index) { %0 = memref.view %m[%i][] : memref<2048xi8, 2> to memref<4xf32, 1> return }
