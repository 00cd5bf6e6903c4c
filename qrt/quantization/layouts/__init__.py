"""The pass `normalize-layouts`, which gives convolutions and pools the layouts (axis orders) that kernels have."""
