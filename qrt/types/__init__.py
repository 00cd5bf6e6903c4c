"""MLIR types: builtin, shaped and quantized, with the scanner and parser of their text.

- `UniformType` (`quantized.py`) is `!quant.uniform<...>`; `TensorType` (`shaped.py`), `IntegerType` and `FloatType`
  (`builtin.py`) are MLIR's builtin types. Equal types are the same object (`core.py`).
- `parse_type` (`parser.py`, `quantized_parser.py`) reads the text with a `Scanner` (`scanner.py`), which tracks source
  locations for error messages.
- Start with `quantized.py`; `quantized_parser.py` shows how a per-axis type is parsed.
- Imports `_ext`, `numerics` and the packages below them.
"""

from qrt.types.builtin import (
    ComplexType,
    FloatType,
    FunctionType,
    IndexType,
    IntegerType,
    NoneType,
    OpaqueType,
    TupleType,
)
from qrt.types.core import Type
from qrt.types.integrity import check_integrity
from qrt.types.parser import UPSTREAM_VERSIONS, TypeParser, parse_type
from qrt.types.quantile import QuantileType
from qrt.types.quantized import QuantizedType, UniformType
from qrt.types.shaped import MemRefType, StridedLayout, TensorType, VectorType, row_major
from qrt.types.storage import storage_range
from qrt.types.unmapped import AnyQuantizedType, CalibratedType, NoQuantizedType

__all__ = [
    "UPSTREAM_VERSIONS",
    "AnyQuantizedType",
    "CalibratedType",
    "ComplexType",
    "FloatType",
    "FunctionType",
    "IndexType",
    "IntegerType",
    "MemRefType",
    "NoQuantizedType",
    "NoneType",
    "OpaqueType",
    "QuantileType",
    "QuantizedType",
    "StridedLayout",
    "TensorType",
    "TupleType",
    "Type",
    "TypeParser",
    "UniformType",
    "VectorType",
    "check_integrity",
    "parse_type",
    "row_major",
    "storage_range",
]
