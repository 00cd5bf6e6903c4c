"""Comparison of a float program with its quantized form: the values that both compute, and the errors between them."""
