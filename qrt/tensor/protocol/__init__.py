"""Implementations of NumPy's functions for QuantTensors.

`table` finds the implementation (the rule) of a function, and the modules of `rules` have the rules by subject.
"""
