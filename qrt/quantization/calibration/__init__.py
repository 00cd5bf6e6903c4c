"""Calibration: observers record the values that a program computes, and ranges are chosen from the records.

docs/numerics.md has the rules.
"""
