"""Checks that the types of all regions' operands and results obey the rules of a target.

The checks read only the specifications of the regions and the target. No rule is shared with the code that chooses the
types, so that a mistake in that code is noticed.
"""
