func.func @f(%n: index) { %0 = memref.alloc(%n)[%n, %n] : memref<?xi32, strided<[?], offset: ?>> return }
