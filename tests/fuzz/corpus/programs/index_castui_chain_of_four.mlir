// values: 12; pipeline: linalg-generalize-named-ops
func.func @main(%x: index) -> index {
  %0 = arith.index_castui %x : index to i8
  %1 = arith.index_castui %0 : i8 to index
  %2 = arith.index_castui %1 : index to i64
  %3 = arith.index_castui %2 : i64 to index
  return %3 : index
}
