"""Comparison of a float program with its quantized program: the error of each value that both programs compute."""
