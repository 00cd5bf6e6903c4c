"""Kernel selection for `fuse-kernels`: which operations become a region, and why others stay float."""
