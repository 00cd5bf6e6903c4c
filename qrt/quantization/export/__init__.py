"""The replacement of the regions of a propagated program by operations that run (docs/reference/export.md).

A region (`quant.region`) becomes `qrt` operations, integer arithmetic, or its float body between casts.
"""
