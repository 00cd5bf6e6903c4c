func.func private @f() attributes {m = affine_map<(d0)[s0] -> (-s0 floordiv 4, d0 floordiv -1)>}
