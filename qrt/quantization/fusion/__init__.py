"""The pass `fuse-kernels`: the choice of the operations that become a region, and the reasons why others stay float."""
