"""The op families, on plain storage arrays and types. Knows neither QuantTensor nor IR.

>>> sorted(FAMILIES)[:3]
['add', 'argmax', 'argmin']
"""

from importlib import import_module
from pkgutil import iter_modules

from qrt.ops.core import OpFamily

FAMILIES: dict[str, OpFamily] = {
    family.name: family
    for found in iter_modules(__path__)
    if not found.ispkg
    for family in getattr(import_module(f"{__name__}.{found.name}"), "FAMILIES", ())
}
"""The families by name: each module of this package lists its own in ``FAMILIES``."""

__all__ = ["FAMILIES", "OpFamily"]
