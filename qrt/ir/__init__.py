"""The IR: MLIR text in and out, values, operations, attributes, and verification."""

from qrt.ir.attributes import (
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
from qrt.ir.core import Block, Module, Operation, Region, Value, equal
from qrt.ir.define import Definition
from qrt.ir.dense import DenseElementsAttr, DenseResourceAttr
from qrt.ir.parser import parse
from qrt.ir.traits import Trait

__all__ = [
    "ArrayAttr",
    "Attribute",
    "Block",
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
]
