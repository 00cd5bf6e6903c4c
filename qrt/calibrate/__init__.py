"""From data to types: how ranges are found in values (docs/numerics_choices.md)."""
