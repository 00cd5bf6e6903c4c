"""Two targets from outside qrt: an NPU with channels-first kernels, and a DSP with accumulators of 16 bits."""
