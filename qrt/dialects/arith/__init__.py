"""`arith`: constants, and the element-wise ops that lowered casts and kernels are made of."""

FILES = {"constant": "constant"}
"""The ops of each file but `ops`: nearly every program has constants."""
