"""NumPy's functions on QuantTensors: one table, and the rules by subject."""
