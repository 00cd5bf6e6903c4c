"""Export of propagated programs: what becomes of a region's ports, and of its body
(docs/reference/export.md)."""
