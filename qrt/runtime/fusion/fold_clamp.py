"""Pass that folds clamps into the storage bounds of the op before them."""

from dataclasses import dataclass

from qrt.errors import QuantError
from qrt.ir import Builder, Module, Operation
from qrt.ir.core.constraints import with_element
from qrt.ir.core.matching import acyclic_operations
from qrt.ir.rewriting.rewrite import replace
from qrt.ops import family_of
from qrt.runtime.fusion.families import accepts, attributes_of, fused, quantized, traits_of
from qrt.types import UniformType


@dataclass(frozen=True)
class FoldClamp:
    """Folds a clamp's bounds into the result type of the op before it. Preserves every value."""

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
    clamped_type = with_element(value.type, narrow)
    if not accepts(family_of(producer), producer.operands, attributes_of(producer), clamped_type):
        return
    builder = Builder(producer)
    clamped = builder.value(producer.name, producer.operands, clamped_type, fused(producer, clamp, other_is_last=True))
    stored = builder.value("quant.scast", (clamped,), with_element(value.type, t.storage_type))
    replace(clamp, [builder.value("quant.scast", (stored,), value.type)])
    producer.erase()


def _narrowed(clamp: Operation, t: UniformType) -> UniformType | None:
    """Return type ``t`` with the clamp's bounds as its storage bounds.

    Return None if the channels have different bounds, or a type with these bounds is not supported.
    """
    bounds = traits_of(clamp).bounds
    assert bounds is not None  # it is a clamp
    low, high = bounds(t, attributes_of(clamp))
    if low.min() != low.max() or high.min() != high.max():
        return None
    least, greatest = max(int(low[0]), t.storage_min), min(int(high[0]), t.storage_max)
    if not t.has_default_bounds or t.storage_width not in (8, 16, 32):
        return None
    try:
        return t.with_(storage_min=least, storage_max=greatest)
    except QuantError:  # equal bounds are not a valid type
        return None
