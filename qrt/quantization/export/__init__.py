"""Export of propagated programs: regions become `qrt` operations, integer arithmetic, or float bodies between casts
(docs/reference/export.md)."""
