"""From data to types: how ranges are found in values (docs/numerics_choices.md), and what devices store
(docs/reference/targets.md)."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qrt.calibrate.targets.model import Target

__all__ = ["Target"]


def __getattr__(name: str) -> Any:
    if name != "Target":
        raise AttributeError(f"module 'qrt.calibrate' has no attribute {name!r}")
    from qrt.calibrate.targets.model import Target  # on first use: those who read records need no targets

    return Target
