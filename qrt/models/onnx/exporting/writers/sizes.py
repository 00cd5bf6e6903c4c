"""The export of `tensor.splat`, whose sizes may follow from the shapes of other tensors."""

import numpy as np

from qrt.ir import DenseElementsAttr, IntegerAttr, Value
from qrt.ir.core.matching import constant_of
from qrt.ir.dialects.linalg.lowering import F32
from qrt.models.onnx.exporting.group import Group
from qrt.ops.core import Array, element_dtype
from qrt.quantization.forms.elements import splat_of
from qrt.types import IntegerType


def splat(group: Group) -> None:
    """Export the operation as ConstantOfShape. Shape, Gather and Concat compute sizes known only at run time."""
    number = _number(group.op.operands[0])
    if number is None:
        group.refuse("an index that is not constant")
    sizes = iter(group.op.operands[1:])
    parts = [
        _size(group, next(sizes)) if size is None else group.integers([size], "size") for size in group.result().shape
    ]
    shape = group.node("Concat", *parts, is_part=True, axis=0) if len(parts) != 1 else parts[0]
    if not parts:
        group.refuse("a tensor without axes")
    group.set_stored(group.node("ConstantOfShape", shape, value=number))


def _number(value: Value) -> Array | None:
    """Return the value of a float32 or integer scalar of the program, or None if it is not constant."""
    element, source = value.type, value.operation
    container = source.operands[0] if source is not None and source.name == "tensor.extract" else value
    if element is F32:
        number: float | None = splat_of(container)
    elif isinstance(element, IntegerType) and element.width in (8, 16, 32, 64):
        constant = constant_of(container)
        if isinstance(constant, DenseElementsAttr):
            number = int(constant.array.reshape(-1)[0]) if constant.array.size == 1 else None
        else:
            number = constant.value if isinstance(constant, IntegerAttr) else None
    else:
        return None
    return None if number is None else np.array([number]).astype(element_dtype(element))


def _size(group: Group, value: Value) -> str:
    """Add nodes that compute a size, the result of a `tensor.dim`. Return the name of a tensor [1] with the size."""
    source = value.operation
    if source is None or source.name != "tensor.dim":
        group.refuse("a size that is not constant")
    axis = constant_of(source.operands[1])
    exported = group.graph.exported(source.operands[0])
    at = getattr(axis, "value", None)
    if not isinstance(at, int) or not 0 <= at < exported.rank:
        group.refuse("the size of an axis that is not constant")
    name = group.graph.tensor(exported, exported.canonical, f"{group.name}/source")
    return group.node("Gather", group.node("Shape", name, is_part=True), group.integers([at], "axis"), is_part=True)
