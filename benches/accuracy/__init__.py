"""Accuracy of quantized networks: three networks are trained, quantized on training data and compared with floats on
held-out data. `make accuracy` writes docs/accuracy.md.

Architectures, seeds, splits and the versions of the data are fixed in these files. Training gives the same bits on
every machine, as examples/digits/network.py explains.
"""
