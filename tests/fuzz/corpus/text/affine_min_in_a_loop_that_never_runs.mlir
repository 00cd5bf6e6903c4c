// pipeline: canonicalize
func.func @f(%m: memref<4x4xindex>) {
  affine.for %i = 32 to 4 {
    affine.for %j = 0 to min affine_map<(d0) -> (d0 + 1, 4)>(%i) {
      %v = affine.load %m[%i, %j] : memref<4x4xindex>
      affine.store %v, %m[%j, %i] : memref<4x4xindex>
    }
  }
  return
}
