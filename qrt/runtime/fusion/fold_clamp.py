"""Clamps become the bounds of what is stored before them."""

from dataclasses import dataclass

from qrt.errors import QuantError
from qrt.ir import Builder, Module, Operation
from qrt.ir.core.constraints import with_element
from qrt.ir.core.matching import acyclic_operations
from qrt.ir.rewriting.rewrite import replace
from qrt.ops import family_of
from qrt.runtime.fusion.families import fused, may_be, quantized, said, traits_of
from qrt.types import UniformType


@dataclass(frozen=True)
class FoldClamp:
    """Puts the bounds of a clamp into the type that the op before it yields. Preserves every value."""

    def run(self, module: Module) -> None:
        for op in acyclic_operations(module.operation):
            if traits_of(op).bounds is not None:
                _fold(op)


def _fold(clamp: Operation) -> None:
    value, t = clamp.operands[0], quantized(clamp.operands[0])
    producer = value.operation
    if t is None or producer is None or not traits_of(producer).ends_in_clamp or len(value.uses) > 1:
        return
    narrow = _narrowed(clamp, t)
    if narrow is None:
        return
    held = with_element(value.type, narrow)
    if not may_be(family_of(producer), producer.operands, said(producer), held):
        return
    builder = Builder(producer)
    made = builder.value(producer.name, producer.operands, held, fused(producer, clamp, is_last=True))
    stored = builder.value("quant.scast", (made,), with_element(value.type, t.storage_type))
    replace(clamp, [builder.value("quant.scast", (stored,), value.type)])
    producer.erase()


def _narrowed(clamp: Operation, t: UniformType) -> UniformType | None:
    """The type with the clamp's bounds, where all its channels have the same."""
    bounds = traits_of(clamp).bounds
    assert bounds is not None  # it is a clamp
    low, high = bounds(t, said(clamp))
    if low.min() != low.max() or high.min() != high.max():
        return None
    least, greatest = max(int(low[0]), t.storage_min), min(int(high[0]), t.storage_max)
    if not t.has_default_bounds or t.storage_width not in (8, 16, 32):
        return None
    try:
        return t.with_(storage_min=least, storage_max=greatest)
    except QuantError:  # a single value is no range
        return None
