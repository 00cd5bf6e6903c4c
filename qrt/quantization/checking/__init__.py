"""Rules of quantized programs, checked from the specifications of regions and the target alone.

No rule is shared with the code that chooses the parameters.
"""
