"""Layouts (axis orders) of convolutions and pools: the pass `normalize-layouts` brings them to those of the kernels."""
