func.func @f() { linalg.transpose permutation = [1, 0, 2] }
