"""Pass that folds requantizations between signed and unsigned bytes into neighbouring ops."""

from dataclasses import dataclass

import numpy as np

from qrt.ir import Builder, Module, Operation
from qrt.ir.core.matching import acyclic_operations
from qrt.ir.rewriting.rewrite import erase_dead, replace
from qrt.numerics import RULES, SUM_RULES
from qrt.ops import family_of
from qrt.ops.core import element_dtype
from qrt.runtime.fusion.families import accepts, attributes_of, fused, quantized, traits_of
from qrt.types import TensorType, UniformType

_AFTER_ROUNDING = frozenset(
    [name for name, rule in RULES.items() if rule.zero_point == "after"]
    + [name for name, rule in SUM_RULES.items() if rule.zero_point == "after"]
)
"""The rules that add the zero point after rounding."""


@dataclass(frozen=True)
class FoldSign:
    """Removes requantizations between i8 and u8 with equal scales and zero points 128 apart. Preserves every value."""

    def run(self, module: Module) -> None:
        for op in acyclic_operations(module.operation):
            if op.name == "qrt.requantize" and _is_of_signs(op):
                _into_readers(op)
                if op.result.uses:
                    _into_producer(op)
                erase_dead([op])


def _is_of_signs(op: Operation) -> bool:
    source, target = quantized(op.operands[0]), quantized(op.result)
    if source is None or target is None or not (_is_byte(source) and _is_byte(target)):
        return False
    return _shifted(source, target) is target and _is_exact(op, source, target)


def _is_exact(op: Operation, source: UniformType, target: UniformType) -> bool:
    """Return True if the requantization ``op`` changes no real value, tested on all storage integers of ``source``.

    15 of the integers are tested twice, as the elements after the last full block of 16, because a rounding rule may
    treat these elements differently.
    """
    least, greatest = source.default_bounds
    given = np.concatenate([np.arange(least, greatest + 1), np.arange(least, least + 15)]).astype(element_dtype(source))
    types = (TensorType(given.shape, source),), (TensorType(given.shape, target),)
    family = family_of(op)
    assert family is not None  # it is a requantization
    (result,) = family.compute([given], *types, attributes_of(op))
    return bool(np.array_equal(result.astype(np.int64) - target.zero_point, given.astype(np.int64) - source.zero_point))


def _is_byte(t: UniformType) -> bool:
    return t.is_per_layer and t.storage_width == 8 and t.has_default_bounds


def _shifted(source: UniformType, target: UniformType) -> UniformType | None:
    """Return the type that represents the values of ``source`` in storage of the other signedness.

    The zero point moves by 128. Return None if ``target`` has the signedness of ``source``.
    """
    if source.is_signed == target.is_signed:
        return None
    shift = 128 if source.is_signed else -128
    return UniformType(target.storage, target.expressed_type, source.scale, source.zero_point + shift)


def _into_readers(op: Operation) -> None:
    for reader in op.result.users:
        if traits_of(reader).weights is None or reader.operands[0] is not op.result or op.result in reader.operands[1:]:
            continue
        operands = [op.operands[0], *reader.operands[1:]]
        if accepts(family_of(reader), operands, attributes_of(reader), reader.result.type):
            result = Builder(reader).value(
                reader.name, operands, reader.result.type, fused(reader, op, other_is_last=False)
            )
            replace(reader, [result])


def _into_producer(op: Operation) -> None:
    value = op.operands[0]
    producer = value.operation
    if producer is None or not traits_of(producer).ends_in_clamp or len(value.uses) > 1:
        return
    if attributes_of(producer).get("requant") not in _AFTER_ROUNDING:
        return
    if accepts(family_of(producer), producer.operands, attributes_of(producer), op.result.type):
        builder = Builder(producer)
        replace(
            op,
            [builder.value(producer.name, producer.operands, op.result.type, fused(producer, op, other_is_last=True))],
        )
        producer.erase()
