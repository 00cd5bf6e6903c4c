"""Comparison of an imported model with the runtime whose arithmetic it has, tensor by tensor."""
