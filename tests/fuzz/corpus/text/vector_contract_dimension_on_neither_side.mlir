#a = affine_map<(b0, f0, f1, c0, c1) -> (c0, b0, c1, f0)>
#b = affine_map<(b0, f0, f1, c0, c1) -> (b0, c1, c0, f1)>
#c = affine_map<(b0, f0, f1, c0, c1) -> (b0, f0, f1)>
func.func @f(%x: vector<4xi8>, %y: vector<4xi8>, %z: i8) -> i8 { %0 = vector.contract {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]} %x, %y, %z : vector<4xi8>, vector<4xi8> into i8 return %0 : i8 }
