"""Calibration: observers find the ranges of values in data (docs/numerics.md), and records keep them."""
