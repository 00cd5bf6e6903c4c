"""How `fuse-kernels` chooses a kernel for a value, makes its region, and says what stays float."""
