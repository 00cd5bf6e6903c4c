"""Export of propagated programs (docs/reference/export.md).

Regions become `qrt` operations, integer arithmetic, or float bodies between casts.
"""
