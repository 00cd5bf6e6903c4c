"""Tensors whose sizes follow from those of others."""

import numpy as np

from qrt.formats.onnx.exporting.group import Group
from qrt.formats.onnx.exporting.registry import writer
from qrt.ir import Value
from qrt.ir.core.matching import constant_of
from qrt.passes.quantization.forms.elements import splat_of


@writer("tensor.splat")
def splat(group: Group) -> None:
    """ConstantOfShape, of sizes by Shape, Gather and Concat."""
    number = _number(group.op.operands[0])
    if number is None:
        group.refuse("an element that is computed")
    sizes = iter(group.op.operands[1:])
    parts = [
        _size(group, next(sizes)) if size is None else group.integers([size], "size") for size in group.result().shape
    ]
    shape = group.node("Concat", *parts, is_part=True, axis=0) if len(parts) != 1 else parts[0]
    if not parts:
        group.refuse("a tensor without axes")
    group.set_stored(group.node("ConstantOfShape", shape, value=np.array([number], np.float32)))


def _number(value: Value) -> float | None:
    """The float32 that a scalar is known to be."""
    if getattr(value.type, "name", "") != "f32":
        return None
    found = splat_of(value)
    source = value.operation
    if found is None and source is not None and source.name == "tensor.extract":
        return splat_of(source.operands[0])
    return found


def _size(group: Group, value: Value) -> str:
    """A list of one size, which is that of a tensor along an axis."""
    source = value.operation
    if source is None or source.name != "tensor.dim":
        group.refuse("a size that is computed")
    axis = constant_of(source.operands[1])
    held = group.graph.held(source.operands[0])
    at = getattr(axis, "value", None)
    if not isinstance(at, int) or not 0 <= at < held.rank:
        group.refuse("a size along an axis that is computed")
    name = group.graph.tensor(held, held.canonical, f"{group.name}/source")
    return group.node("Gather", group.node("Shape", name, is_part=True), group.integers([at], "axis"), is_part=True)
