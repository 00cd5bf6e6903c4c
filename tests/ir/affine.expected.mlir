module {
  func.func @f(%arg0: index, %arg1: index, %arg2: f32, %arg3: memref<?x?xf32>, %arg4: memref<?xf32>) -> f32 {
    affine.for %arg5 = 0 to 10 {
    }
    affine.for %arg5 = 0 to %arg0 step 2 {
      affine.store %arg2, %arg3[%arg5, %arg5 * 2 + symbol(%arg0) - 1] : memref<?x?xf32>
    }
    affine.for %arg5 = %arg0 to %arg1 {
    }
    affine.for %arg5 = affine_map<(d0)[s0] -> (d0 + s0)>(%arg0)[%arg1] to affine_map<(d0) -> (d0 * 2)>(%arg0) {
    }
    affine.for %arg5 = max affine_map<(d0) -> (d0, 4)>(%arg0) to min affine_map<(d0)[s0] -> (d0, s0, 8)>(%arg0)[%arg1] step 4 {
    } {foo}
    %0:2 = affine.for %arg5 = 0 to 4 iter_args(%arg6 = %arg2, %arg7 = %arg0) -> (f32, index) {
      affine.yield %arg6, %arg7 : f32, index
    }
    affine.for %arg5 = 0 to 10 {
      affine.for %arg6 = affine_map<(d0) -> (d0)>(%arg5) to affine_map<(d0)[s0] -> (d0 + s0)>(%arg5)[%arg0] {
        %1 = affine.load %arg3[%arg5, %arg6] : memref<?x?xf32>
        %2 = affine.apply affine_map<(d0, d1)[s0] -> (d0 * 2 + d1 floordiv 4 + s0)>(%arg5, %arg6)[%arg0]
        %3 = affine.min affine_map<(d0)[s0] -> (d0, s0 - 1)>(%arg5)[%arg0]
        %4 = affine.max affine_map<(d0) -> (d0, 5)>(%arg5)
        affine.if affine_set<(d0)[s0] : (d0 - 1 >= 0, -d0 + s0 >= 0)>(%arg5)[%arg0] {
          affine.store %1, %arg4[%arg5] : memref<?xf32>
        }
        affine.if affine_set<(d0, d1) : (d0 - d1 == 0)>(%arg5, %arg6) {
        } else {
          affine.store %1, %arg4[symbol(%arg0)] : memref<?xf32>
        }
        %5 = affine.if affine_set<(d0)[s0] : (d0 - 1 >= 0, -d0 + s0 >= 0)>(%arg5)[%arg0] -> f32 {
          affine.yield %arg2 : f32
        } else {
          affine.yield %1 : f32
        }
        %6 = affine.load %arg4[0] : memref<?xf32>
        %7 = affine.load %arg4[%arg5 mod 2 + %arg6 floordiv 3 - 4] {tag} : memref<?xf32>
      }
    }
    affine.for %arg5 = -1 to affine_map<()[s0] -> (s0 - 1)>()[%arg0] {
    }
    affine.for %arg5 = 0 to %arg0 {
    }
    affine.for %arg5 = 0 to 7 {
    }
    affine.for %arg5 = 0 to affine_map<(d0) -> (d0)>(%arg0) {
    }
    affine.for %arg5 = 0 to min affine_map<() -> (7, 8)>() {
    }
    return %arg2 : f32
  }
  func.func @parallel(%arg0: index, %arg1: memref<?x?xf32>, %arg2: f32) -> f32 {
    affine.parallel (%arg3) = (0) to (10) {
    }
    affine.parallel () = () to () {
    }
    affine.parallel (%arg3, %arg4) = (0, %arg0) to (10, symbol(%arg0) * 2) step (1, 2) {
      affine.store %arg2, %arg1[%arg3, %arg4] : memref<?x?xf32>
      affine.parallel (%arg5) = (max(%arg3, %arg4 - 1, 0)) to (min(%arg0, %arg0 + %arg3)) {
        %1 = affine.load %arg1[%arg5, %arg3] : memref<?x?xf32>
      } {note}
    }
    %0:2 = affine.parallel (%arg3, %arg4) = (0, 0) to (%arg0, min(%arg0, 4)) step (1, 2) reduce ("addf", "maximumf") -> (f32, f32) {
      affine.yield %arg2, %arg2 : f32, f32
    }
    return %0#0 : f32
  }
}
