"""Axes that an op sums or compares over, in the order of a tensor."""

from collections.abc import Sequence

from qrt.models.onnx.exporting.exported_value import Order, place
from qrt.models.onnx.exporting.group import Group


class ReductionAxes:
    """``axes`` of a value whose tensor has an order; ``order`` is the result's."""

    def __init__(self, source: Order, axes: Sequence[int], keeps: bool) -> None:
        self.source = source
        self.axes = [place(source, axis) for axis in axes]
        self.keeps = keeps
        gone = () if keeps else axes
        self.order: Order = tuple(
            None if axis is None else axis - sum(other < axis for other in gone) for axis in source if axis not in gone
        )

    @classmethod
    def of(cls, group: Group) -> "ReductionAxes":
        """The axes and the order of a group's first operand."""
        order = group.common_order()
        said = group.attributes["axes"]
        axes = range(len(order)) if said is None else [axis % len(order) for axis in said]
        return cls(order, sorted(axes), bool(group.attributes["keepdims"]))

    def node(self, group: Group, op_type: str, input_since: int) -> str:
        """The reduction; its axes are an input since an opset."""
        x = group.real(0, self.source)
        if group.opset >= input_since:
            return group.node(op_type, x, group.integers(self.axes, "axes"), keepdims=int(self.keeps))
        return group.node(op_type, x, axes=self.axes, keepdims=int(self.keeps))
