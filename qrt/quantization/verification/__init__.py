"""The pass `check-quant`: the rules of `checking`, and the comparison of region bodies with the operations of a target.

The comparison exports regions, so this part is above `export`, while the rules are below it.
"""
