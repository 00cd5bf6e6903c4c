"""The IR: MLIR text in and out, values, operations, attributes, and verification."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qrt.execute.passes import register_pass, run_passes
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
    from qrt.ir.module import Module
    from qrt.ir.text.dense import DenseElementsAttr, DenseResourceAttr
    from qrt.ir.text.parser import parse

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

_HOMES = {
    "qrt.execute.passes": "register_pass run_passes",
    "qrt.ir.builder": "Builder",
    "qrt.ir.core.attributes": "ArrayAttr Attribute DenseArrayAttr DictAttr FloatAttr IntegerAttr LocationAttr "
    "OpaqueAttr StringAttr SymbolRefAttr TypeAttr UnitAttr attribute",
    "qrt.ir.core.comparison": "equal",
    "qrt.ir.core.define": "Definition",
    "qrt.ir.core.operations": "Block Operation Region Value",
    "qrt.ir.core.registry": "register_dialect",
    "qrt.ir.core.traits": "Trait",
    "qrt.ir.module": "Module",
    "qrt.ir.text.dense": "DenseElementsAttr DenseResourceAttr",
    "qrt.ir.text.parser": "parse",
}
"""The modules that hold the public names: a program that is built and run needs few of them, and no parser."""
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'qrt.ir' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
