"""Checks that the types of all regions' operands and results obey the rules of a target.

The checks read only the specifications of the regions and the target. They share no code with the passes that choose
the types, so that a mistake of these passes is noticed.
"""
