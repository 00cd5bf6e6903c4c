"""From data to types: how ranges are found in values (docs/numerics_choices.md), and what devices store
(docs/reference/targets.md)."""

from qrt.quantization.targets.model import Target

__all__ = ["Target"]
