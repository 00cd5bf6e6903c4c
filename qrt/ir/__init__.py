"""The IR: MLIR text in and out, values, operations, attributes, and verification."""

from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from qrt import register_pass, run_passes

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


def __getattr__(name: str) -> Any:
    if name not in ("register_pass", "run_passes"):
        raise AttributeError(f"module 'qrt.ir' has no attribute {name!r}")
    import qrt  # the public face, which alone knows the passes, and loads them on first use

    return getattr(qrt, name)
