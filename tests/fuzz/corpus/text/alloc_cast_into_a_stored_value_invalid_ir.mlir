func.func @f(%h: memref<memref<?xi8>>) { %c = arith.constant 5 : index %0 = memref.alloc(%c) : memref<?xi8> memref.store %0, %h[] : memref<memref<?xi8>> return }
