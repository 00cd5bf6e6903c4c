"""Normalization of sub-channel types that are equivalent to per-layer or per-axis types."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from qrt.ir import Module, Operation, TypeAttr, Value
from qrt.ir.core.folding import UPSTREAM_FOLDS
from qrt.ir.core.functions import FuncOp
from qrt.ir.passes.options import option
from qrt.ir.rewriting.rewrite import fold_at_once
from qrt.types import FunctionType, TensorType, Type, UniformType


@dataclass(frozen=True)
class NormalizeQuantTypes:
    """Converts sub-channel types to per-layer if they have one scale, to per-axis if scales differ along one axis only.

    Preserves every value. Follows upstream; types inside attributes stay as they are.

    `strict_upstream` changes values in two cases, as upstream does. A type also becomes per-axis if one block of it
    spans several positions of the axis along which its scales differ; it then has fewer scales than the axis has
    positions. Upstream also folds pairs of casts that it considers inverse, if normalization changes the types of the
    casts.
    """

    strict_upstream: bool = option(False, "normalize whatever upstream does: values change")

    UPSTREAM: ClassVar[Mapping[str, Any]] = {"strict_upstream": True}

    def run(self, module: Module) -> None:
        normal = _Normalizer(self.strict_upstream)
        replaced = fold_at_once(module.operation, UPSTREAM_FOLDS, normal.changes) if self.strict_upstream else []
        for operation in module.operation.walk():
            if isinstance(operation, FuncOp):
                kind = operation.type
                operation.attributes["function_type"] = TypeAttr(
                    FunctionType(map(normal.type, kind.inputs), map(normal.type, kind.results))
                )
            normal.values(operation.results)
            if isinstance(operation, FuncOp) or not self.strict_upstream:
                for region in operation.regions:
                    for block in region.blocks:
                        normal.values(block.arguments)
        for operation in replaced:
            operation.erase()


class _Normalizer:
    def __init__(self, strict_upstream: bool) -> None:
        self.strict_upstream = strict_upstream
        self.known: dict[Type, Type] = {}

    def changes(self, operation: Operation) -> bool:
        """Return True if normalization changes the type of an operand or a result of the operation."""
        return any(self.type(value.type) is not value.type for value in (*operation.operands, *operation.results))

    def values(self, values: list[Value]) -> None:
        for value in values:
            value.type = self.type(value.type)

    def type(self, type: Type) -> Type:
        normalized = self.known.get(type)
        if normalized is None:
            normalized = self.known[type] = self._normalized(type)
        return normalized

    def _normalized(self, type: Type) -> Type:
        if not isinstance(type, TensorType) or not isinstance(type.element, UniformType):
            return type
        element = type.element
        axes = [axis for axis, count in enumerate(element.scales_shape) if count != 1]
        if not element.is_sub_channel or len(axes) > 1:
            return type
        if not axes:
            first = {"scales": element.scales[0], "zero_points": element.zero_points[0]}
            return type.with_(element=element.with_(**first, block_sizes=None))
        if not self.strict_upstream and dict(element.block_sizes or ()).get(axes[0]) != 1:
            return type
        flat = {"scales": element.scales, "zero_points": element.zero_points}
        return type.with_(element=element.with_(**flat, axis=axes[0], block_sizes=None))
