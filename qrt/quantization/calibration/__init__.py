"""Calibration: a float program runs on data, observers record its values, and ranges are chosen from the records.

docs/numerics.md defines how a range is chosen.
"""
