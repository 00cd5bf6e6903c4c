"""The IR: MLIR text in and out, operations and their definitions, verification, and pipelines of passes.

- `core` has operations, attributes, definitions of ops, and the verifier. `text` has the parser and the printer.
  `rewriting` has rewrite patterns and their driver. `dialects` has one package per dialect, `passes` one file or
  folder per pass. Custom assembly forms use the parser and the printer through the protocols in `core/forms.py`.
- `Builder` (`builder.py`) creates operations at an insertion point; `Module` (`module.py`) is a program; `pipeline.py`
  finds passes by name, and runs pipelines of passes.
- Start with `core/operations.py`, then `core/define.py`.
- This package imports `ops`, `types`, `kernels` and the packages below them. `ir` and `tensor` do not import each
  other.
"""

from qrt.ir.builder import Builder
from qrt.ir.core.attributes import (
    ArrayAttr,
    Attribute,
    DenseArrayAttr,
    DictAttr,
    FloatAttr,
    IntegerAttr,
    LocationAttr,
    OpaqueAttr,
    StringAttr,
    SymbolRefAttr,
    TypeAttr,
    UnitAttr,
    attribute,
)
from qrt.ir.core.comparison import equal
from qrt.ir.core.define import Definition
from qrt.ir.core.operations import Block, Operation, Region, Value
from qrt.ir.core.registry import register_dialect
from qrt.ir.core.traits import Trait
from qrt.ir.module import Module, parse
from qrt.ir.pipeline import register_pass, run_passes
from qrt.ir.text.dense import DenseElementsAttr, DenseResourceAttr

__all__ = [
    "ArrayAttr",
    "Attribute",
    "Block",
    "Builder",
    "Definition",
    "DenseArrayAttr",
    "DenseElementsAttr",
    "DenseResourceAttr",
    "DictAttr",
    "FloatAttr",
    "IntegerAttr",
    "LocationAttr",
    "Module",
    "OpaqueAttr",
    "Operation",
    "Region",
    "StringAttr",
    "SymbolRefAttr",
    "Trait",
    "TypeAttr",
    "UnitAttr",
    "Value",
    "attribute",
    "equal",
    "parse",
    "register_dialect",
    "register_pass",
    "run_passes",
]


def __dir__() -> list[str]:
    return __all__
