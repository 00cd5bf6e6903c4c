"""Calibration: observers find the ranges of values in data (docs/numerics_choices.md), and records keep them."""
