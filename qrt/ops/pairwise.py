"""Element-wise maximum, minimum, div and squared_difference of two per-layer operands, with NumPy's broadcasting.

For ``maximum`` and ``minimum`` both operands and the result have one type. ``div`` takes storage of at most 16 bits,
``squared_difference`` of at most 8. For pairs of bytes ``numerics`` computes a table of all results, in which kernels
and lowered programs look results up; wider quotients are computed for each element. ``div`` has TFLite's rule, and a
rule that rounds to the nearest quotient, which quantization uses.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

import qrt.kernels as kernels
import qrt.numerics as numerics
from qrt._ext.kernels import bind_pair
from qrt.ops.accumulate import check_expressed
from qrt.ops.binary import broadcast_shape
from qrt.ops.checks import check_per_layer, required_element
from qrt.ops.core import (
    Array,
    Attributes,
    Constants,
    KernelCall,
    OpFamily,
    Types,
    checked_result,
    container,
    fail,
    quantized,
    static_shape,
    storage_dtype,
    uniform,
)
from qrt.ops.declare import KEPT, Attribute, Declaration, Operand, Traits
from qrt.ops.requant import check_choice
from qrt.types import TensorType, UniformType

Three = tuple[UniformType, UniformType, UniformType]
"""The types of both operands and of the result."""
_EXTREMES = {"maximum": np.maximum, "minimum": np.minimum}
NEAREST = "float64_away"
_QUOTIENTS = ("gemmlowp", NEAREST)


def _operands(op: str, types: Types) -> tuple[UniformType, UniformType]:
    a, b = (quantized(t, op, name) for t, name in zip(types, "ab", strict=True))
    check_per_layer(op, types, "'a'", a)
    check_per_layer(op, types, "'b'", b)
    return a, b


def _infer_extreme(op: str, types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    a, b = _operands(op, types)
    if a != b:
        fail(op, f"'a' and 'b' must have the same type, got {a} and {b}", types)
    return checked_result(op, broadcast_shape(op, types), a)


def _extreme(op: str, arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    a, b = (q.astype(np.int64) for q in arrays)
    return np.asarray(_EXTREMES[op](a, b))


def _bind_extreme(
    op: str, types: Types, result: TensorType, attributes: Attributes, constants: Constants
) -> KernelCall | None:
    stored = container(uniform(types[0]))
    return _bind(op, types, {"a": stored, "b": stored, "out": stored})


def _bind(kind: str, types: Types, arguments: dict[str, Any]) -> KernelCall:
    a, b = (static_shape(t, kind) for t in types)
    return bind_pair(isa=kernels.active(), kind=kind, a_shape=a, b_shape=b, **arguments)


def _infer_computed(op: str, types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    if "requant" in attributes:
        check_choice(op, attributes["requant"], _QUOTIENTS)
    a, b = _operands(op, types)
    for what, t in (("a", a), ("b", b)):
        if t.storage_width > _MOST_BITS[op]:
            fail(op, f"{what!r} must have storage of at most {_MOST_BITS[op]} bits, got {t}", types)
    element = required_element(op, result)
    check_per_layer(op, types, "the result", element)
    check_expressed(op, a, b, element)
    if attributes.get("requant") == "gemmlowp":
        _check_multiplier(op, types, (a, b, element))
    return checked_result(op, broadcast_shape(op, types), element)


def _check_multiplier(op: str, types: Types, t: Three) -> None:
    """Raise QuantTypeError unless the multiplier of quotients, formed in float32, is one of the rule fixed_double."""
    with np.errstate(all="ignore"):
        multiplier = np.float32(t[0].scale) / (np.float32(t[1].scale) * np.float32(t[2].scale))
    if not multiplier < 2.0**30:
        fail(op, f"scale of 'a' / (scale of 'b' * scale of the result) must be below 2**30, got {multiplier}", types)


def _quotient(a: Array, b: Array, t: Three, attributes: Attributes) -> Array:
    x, y, element = t
    bounds = element.storage_min, element.storage_max
    rule = numerics.nearest_quotient if attributes["requant"] == NEAREST else numerics.quotient
    return rule(a, b, x.scale, y.scale, element.scale, element.zero_point, *bounds)


def _squared_difference(a: Array, b: Array, t: Three, attributes: Attributes) -> Array:
    x, y, element = t
    bounds = element.storage_min, element.storage_max
    return numerics.squared_difference(a, b, x.scale, y.scale, element.scale, element.zero_point, *bounds)


Compute = Callable[[Array, Array, Three, Attributes], Array]
"""A function that returns storage of the result, given both operands' storage minus zero points."""
_COMPUTED: dict[str, Compute] = {"div": _quotient, "squared_difference": _squared_difference}
_MOST_BITS = {"div": 16, "squared_difference": 8}


def _three(types: Types, result: TensorType) -> Three:
    return uniform(types[0]), uniform(types[1]), uniform(result)


def _reference(op: str, arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    t = _three(types, result)
    a, b = (q.astype(np.int64) - own.zero_point for q, own in zip(arrays, t, strict=False))
    return _COMPUTED[op](a, b, t, attributes)


def is_tabulated(a: UniformType, b: UniformType) -> bool:
    """Return True if both operands have at most 8 bits, so that a table has the results of all pairs of them."""
    return max(a.storage_width, b.storage_width) <= 8


def table_of_pairs(op: str, types: Types, result: TensorType, attributes: Attributes) -> Array:
    """Return the storage of the result for each pair of bytes, as a read-only array [byte of a, byte of b].

    Bytes outside of a type's storage bounds, which no value has, are treated as the nearest bound.
    """
    return _table(op, _three(types, result), tuple(attributes.items()))


@lru_cache(maxsize=8)
def _table(op: str, t: Three, attributes: tuple[tuple[str, Any], ...]) -> Array:
    sides = []
    for own in t[:2]:
        q = np.arange(256, dtype=np.uint8).astype(storage_dtype(own))
        sides.append(np.clip(q.astype(np.int64), own.storage_min, own.storage_max) - own.zero_point)
    table = _COMPUTED[op](sides[0][:, None], sides[1][None, :], t, dict(attributes)).astype(storage_dtype(t[2]))
    table.flags.writeable = False
    return table


def _bind_table(
    op: str, types: Types, result: TensorType, attributes: Attributes, constants: Constants
) -> KernelCall | None:
    if not is_tabulated(*_three(types, result)[:2]):
        return None
    a, b, element = map(container, _three(types, result))
    table = table_of_pairs(op, types, result, attributes)
    return _bind("table", types, {"a": a, "b": b, "out": element, "table": table})


def _computed(op: str, attributes: tuple[Attribute, ...], traits: Traits) -> OpFamily:
    operands = (Operand("a", f"at most {_MOST_BITS[op]} bits"), Operand("b", "broadcast"))
    return OpFamily(
        Declaration(op, operands=operands, attributes=attributes, public=False),
        infer=partial(_infer_computed, op),
        reference=partial(_reference, op),
        bind=partial(_bind_table, op),
        traits=traits,
    )


FAMILIES = (
    *(
        OpFamily(
            Declaration(op, operands=(Operand("a"), Operand("b", "broadcast")), result=KEPT, public=False),
            infer=partial(_infer_extreme, op),
            reference=partial(_extreme, op),
            bind=partial(_bind_extreme, op),
            traits=Traits(is_elementwise=True, float_op=f"arith.{op}f", constraint="same_scale"),
        )
        for op in _EXTREMES
    ),
    _computed(
        "div",
        (Attribute("requant", "choice", "gemmlowp", _QUOTIENTS),),
        Traits(
            is_elementwise=True,
            float_op="arith.divf",
            float_attributes={"requant": NEAREST},
            constraint="free",
            operand_bits=16,
            ends_in_clamp=True,
        ),
    ),
    _computed("squared_difference", (), Traits(is_elementwise=True)),
)
