// values: 12; pipeline: inline
func.func @main(%x: i64) -> i64 {
  %0 = arith.index_castui %x : i64 to index
  %1 = arith.index_castui %0 : index to i64
  return %1 : i64
}
