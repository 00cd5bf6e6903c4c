"""Comparison of a float program with its quantized form: the error of each value that both programs compute."""
