"""Layouts of convolutions and pools: the pass `normalize-layouts`, which brings them to those that kernels have."""
