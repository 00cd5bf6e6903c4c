"""A float program beside its quantized one: the values that both have, and what is lost of them."""
