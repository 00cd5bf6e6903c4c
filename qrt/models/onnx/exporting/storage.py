"""Constants and signless integers as the storage that ONNX has, whose types say the sign."""

import numpy as np

from qrt.ir import Value
from qrt.models.onnx.exporting.exported_value import ExportedValue
from qrt.ops.core import Array, storage_dtype
from qrt.types import IntegerType, UniformType


def is_unsigned(value: Value) -> bool:
    """Whether signless integers are cast to or from an unsigned storage type."""
    op = value.operation
    near = [each.results[0] for each in value.users if each.name == "quant.scast"]
    if op is not None and op.name == "quant.scast":
        near.append(op.operands[0])
    kinds = [getattr(each.type, "element", None) for each in near]
    return any(isinstance(kind, UniformType) and not kind.is_signed for kind in kinds)


def as_unsigned(array: Array, element: object) -> Array:
    """Signless integers of a type as unsigned ones of the same bits."""
    width = element.width if isinstance(element, IntegerType) else 8 * array.itemsize
    kept: Array = (array.astype(np.int64) & ((1 << width) - 1)).astype(f"u{array.itemsize}")
    return kept


def restored(array: Array, held: ExportedValue) -> Array:
    """A constant's bits as the storage of a quantized type, or as signless integers."""
    element = held.type.element
    if not isinstance(element, UniformType):
        return as_unsigned(array, element) if held.is_unsigned else array.view(np.dtype(f"i{array.itemsize}"))
    if element.is_signed:
        return array.astype(storage_dtype(element), copy=False)
    return as_unsigned(array, element.storage_type)
