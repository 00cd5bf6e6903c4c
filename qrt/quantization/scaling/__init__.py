"""The passes `fold-scales` and `equalize-scales`.

The first moves constant factors and addends of channels into weights and biases. The second moves factors from the
weights of one product to the weights of the next.
"""
