"""Times one table of quantized workloads on every runtime that is installed, qrt among them."""
