func.func @f() { %0 = memref.alloca() : memref<4xi32, #spirv.storage_class<StorageBuffer>> return }
