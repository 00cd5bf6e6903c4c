// values: 1; pipeline: canonicalize
func.func @f(%m: memref<0xi64>) -> i64 {
  %base, %offset, %size, %stride = memref.extract_strided_metadata %m : memref<0xi64> -> memref<i64>, index, index, index
  %v = memref.load %base[] : memref<i64>
  return %v : i64
}
