"""The pass `check-quant`: the checks of `checking`, and a comparison of each region's body with its target operation.

The comparison exports regions, so this package imports `export`; `checking` does not.
"""
