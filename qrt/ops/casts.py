"""qcast, dcast, scast, requantize: between expressed values and storage, and from one storage type to another.

``qcast`` and ``dcast`` compute as MLIR's ``quant.qcast`` and ``quant.dcast``, with the three cast attributes of
``numerics.quantize``; ``requantize`` is ``acc = q - zp`` followed by a requantization with the multiplier ``s_in /
s_out``.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from math import prod
from typing import Any, get_args

import numpy as np

import qrt.kernels as kernels
import qrt.numerics as numerics
from qrt._ext.kernels import bind_dcast, bind_qcast, bind_requantize
from qrt.errors import QuantTypeError, shown
from qrt.ops.checks import required_element
from qrt.ops.core import (
    KERNEL_FLOATS,
    Array,
    Attributes,
    Constants,
    KernelCall,
    OpFamily,
    Types,
    check_bounds,
    checked_result,
    collapsed_layout,
    container,
    element_dtype,
    expressed_dtype,
    fail,
    parameter_index,
    parameters_of,
    quantized,
    static_shape,
    storage_dtype,
    uniform,
)
from qrt.ops.declare import Attribute, Declaration, Operand, Result, Traits
from qrt.ops.lookup import bind_bytes, is_fast
from qrt.ops.requant import REQUANT, check_rule, combined_parameters, max_magnitude
from qrt.types import TensorType, UniformType, check_integrity

REQUANTIZE_RULES: tuple[str, ...] = get_args(numerics.RequantizeName)
_SAID = Result("as declared", "type", required=True)


def _check_cast_attributes(attributes: Attributes) -> None:
    for name, choices in QCAST.declaration.choices.items():
        if attributes[name] not in choices:
            raise QuantTypeError(f"qcast: {name!r} must be one of {', '.join(choices)}, got {shown(attributes[name])}")


def _infer_qcast(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    (x,) = types
    _check_cast_attributes(attributes)
    element = required_element("qcast", result)
    if x.element != element.expressed_type:
        wanted = f"elements of {element.expressed_type}, the expressed type of {element}"
        fail("qcast", f"'x' must have {wanted}, got {x.element}", types)
    if x.shape is None:
        return TensorType(None, element)
    return checked_result("qcast", x.shape, element)


def _reference_qcast(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    (x,) = arrays
    element = uniform(result)
    scale, zero_point = parameters_of(element, x.shape)
    return numerics.quantize(
        x.astype(np.float64),
        scale,
        zero_point,
        element.storage_min,
        element.storage_max,
        element.expressed_type.name,
        rounding=attributes["rounding"],
        zero_point_order=attributes["zero_point"],
        scale_form=attributes["scale"],
    )


def _cast_layout(element: UniformType, shape: tuple[int, ...]) -> dict[str, Any]:
    collapsed, block, step = collapsed_layout(element, shape)
    return {
        "shape": collapsed,
        "block": block,
        "step": step,
        "scales": numerics.round_to_format(element.scale_array.ravel(), element.expressed_type.name),
        "zero_points": element.zero_point_array.ravel(),
    }


def _bind_qcast(types: Types, result: TensorType, attributes: Attributes, constants: Constants) -> KernelCall | None:
    element = uniform(result)
    if element.expressed_type.name not in KERNEL_FLOATS:
        return None
    return bind_qcast(
        isa=kernels.active(),
        expressed=element.expressed_type.name,
        storage=container(element),
        storage_min=element.storage_min,
        storage_max=element.storage_max,
        rounding=attributes["rounding"],
        zero_point=attributes["zero_point"],
        scale=attributes["scale"],
        **_cast_layout(element, static_shape(types[0], "qcast")),
    )


def _infer_dcast(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    element = quantized(types[0], "dcast", "q")
    if result is not None and result.element != element.expressed_type:
        fail(
            "dcast",
            f"the result must have elements of {element.expressed_type}, the expressed type of 'q', got "
            f"{result.element}",
            types,
        )
    return TensorType(types[0].shape, element.expressed_type)


def _reference_dcast(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    (q,) = arrays
    element = uniform(types[0])
    scale, zero_point = parameters_of(element, q.shape)
    values = numerics.dequantize(q, scale, zero_point, element.expressed_type.name)
    return values.astype(expressed_dtype(element.expressed_type))


def _bind_dcast(types: Types, result: TensorType, attributes: Attributes, constants: Constants) -> KernelCall | None:
    element = uniform(types[0])
    if element.expressed_type.name not in KERNEL_FLOATS:
        return None
    return bind_dcast(
        isa=kernels.active(),
        expressed=element.expressed_type.name,
        storage=container(element),
        **_cast_layout(element, static_shape(types[0], "dcast")),
    )


def _infer_requantize(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    source = quantized(types[0], "requantize", "q")
    element = required_element("requantize", result)
    if source.expressed_type != element.expressed_type:
        fail(
            "requantize",
            f"the result must have the expressed type of 'q', {source.expressed_type}, got {element.expressed_type}",
            types,
        )
    if types[0].shape is None:
        return TensorType(None, element)
    check_rule("requantize", attributes["requant"], max_magnitude(source), REQUANTIZE_RULES)
    rule = attributes["requant"]
    if numerics.RULES[rule].behind and not _has_table(source, element):
        fail(
            "requantize",
            f"requant = {rule!r} needs per-layer types and storage of at most 8 bits in 'q', got {source} for 'q' "
            f"and {element} for the result",
            types,
        )
    return checked_result("requantize", types[0].shape, element)


def _parameters(
    source: UniformType, element: UniformType, shape: tuple[int, ...], rule: str
) -> tuple[numerics.RequantParameters, Array]:
    factors = [(source, parameter_index(source, shape))]
    return combined_parameters(rule, factors, element, parameter_index(element, shape))


def _reference_requantize(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    (q,) = arrays
    source, element = uniform(types[0]), uniform(result)
    _, zero_point = parameters_of(source, q.shape)
    acc = q.astype(np.int64) - zero_point

    def by(rule: str, acc: Array) -> Array:
        return numerics.requantize(acc, *_parameters(source, element, acc.shape, rule))

    rule = attributes["requant"]
    behind = numerics.RULES[rule].behind
    if not behind:
        return by(rule, acc)
    whole, flat = numerics.in_blocks(acc.size), acc.ravel()
    parts = by(rule, flat[:whole]), by(behind, flat[whole:])
    return np.concatenate(parts).reshape(acc.shape)


def _bind_requantize(
    types: Types, result: TensorType, attributes: Attributes, constants: Constants
) -> KernelCall | None:
    source, element = uniform(types[0]), uniform(result)
    shape = static_shape(types[0], "requantize")
    rule = attributes["requant"]
    if behind := numerics.RULES[rule].behind:
        tables = _table(source, element, rule), _table(source, element, behind)
        return bind_bytes(container(source), container(element), prod(shape), tables[0], tables[1], numerics.BLOCK)
    if _pays(source, element, prod(shape)):
        table = _table(source, element, rule)
        return bind_bytes(container(source), container(element), prod(shape), table)
    layout = _common_layout(source, element, shape)
    if layout is None:
        return None
    collapsed, block, step = layout
    finer = element if source.is_per_layer else source
    parameters, index = _parameters(source, element, shape, rule)
    order = np.zeros(len(finer.scales), np.int64)
    order[parameter_index(finer, shape)] = index
    zero_points = np.broadcast_to(source.zero_point_array.ravel(), order.shape)
    return bind_requantize(
        isa=kernels.active(),
        storage=container(source),
        shape=collapsed,
        block=block,
        step=step,
        zero_points=np.ascontiguousarray(zero_points),
        requant=parameters.take(order),
    )


_MANY = 256
"""The number of elements from which a lookup table is faster, which is the number of entries of the table."""


def _pays(source: UniformType, element: UniformType, size: int) -> bool:
    """Return True if a lookup table of all results is faster than computing each of ``size`` results."""
    return _has_table(source, element) and size >= _MANY and is_fast(kernels.active())


def _has_table(source: UniformType, element: UniformType) -> bool:
    return source.is_per_layer and element.is_per_layer and source.storage_width <= 8


@lru_cache(maxsize=256)
def _table(source: UniformType, element: UniformType, rule: str) -> Array:
    """Return the result of a requantization for each byte of the source's storage, in ascending order.

    Bytes outside of the storage bounds, which no tensor has, are included: the table has 256 entries.
    """
    ends = np.iinfo(storage_dtype(source))
    here, there = TensorType((256,), source), TensorType((256,), element)
    results = _reference_requantize([np.arange(ends.min, ends.max + 1)], (here,), there, {"requant": rule})
    return results.astype(storage_dtype(element))


def _common_layout(
    source: UniformType, element: UniformType, shape: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]] | None:
    """Return (shape, block, step), the parameter layout that serves both types; see `collapsed_layout`.

    The result is the layout of the type that is not per layer. Return None if neither is per layer and their layouts
    differ.
    """
    here, there = collapsed_layout(source, shape), collapsed_layout(element, shape)
    if element.is_per_layer or here == there:
        return here
    return there if source.is_per_layer else None


def signless(storage: Array, t: UniformType) -> Array:
    """Return storage reinterpreted as signed integers of the same width, sign-extended in their dtype."""
    spare = 8 * storage.dtype.itemsize - t.storage_width
    bits = storage.view(np.dtype(f"i{storage.dtype.itemsize}"))
    return np.asarray((bits << spare) >> spare) if spare else bits.copy()


def from_signless(given: Array, t: UniformType) -> Array:
    """Return integers (signed or unsigned) reinterpreted as storage of type ``t``, which has the same width.

    Raise QuantTypeError for integers that do not fit the width or the storage bounds.
    """
    if given.dtype.kind not in "iu":
        raise QuantTypeError(f"scast: 'x' must be an array of integers, got dtype {given.dtype}")
    check_integrity(t, given.shape)
    width = t.storage_width
    least, greatest = -(1 << (width - 1)), (1 << width) - 1
    if given.size and not least <= int(given.min()) <= int(given.max()) <= greatest:
        worst = int(given.min()) if int(given.min()) < least else int(given.max())
        raise QuantTypeError(
            f"scast: the integers of 'x' must be in [{least}, {greatest}], the range of the {width} bits of {t}, got "
            f"{worst}"
        )
    wide = given.astype(np.int64) & ((1 << width) - 1)
    values = np.where(wide >> (width - 1), wide - (1 << width), wide) if t.is_signed else wide
    check_bounds(values, t)
    return np.asarray(
        values, storage_dtype(t)
    )  # rank 0 needs it: NumPy's operations on an array of rank 0 return scalars


def _infer_scast(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    if result is None:
        raise QuantTypeError("scast: the result type must be a quantized type or an integer type, got none")
    stored, integer = types[0].element, result.element
    if not isinstance(stored, UniformType):
        stored, integer = integer, stored
    if not isinstance(stored, UniformType) or stored.storage_type != integer:
        fail(
            "scast",
            "one of the types of operand and result must be the storage type of the other, a quantized type, got the "
            f"result {result}",
            types,
        )
    return TensorType(types[0].shape, result.element)


def _reference_scast(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    (given,), source, target = arrays, types[0].element, result.element
    if isinstance(source, UniformType):
        return signless(given, source).astype(element_dtype(target), copy=False)
    assert isinstance(target, UniformType)  # as inferred
    return from_signless(given.view(np.int8) if given.dtype == np.bool_ else given, target)


def _scast_offset(types: Types, result: TensorType, attributes: Attributes) -> int | None:
    """Return 0 if the result of a storage cast is the operand's memory, because all bits are equal; else None."""
    source, target = types[0].element, result.element
    stored = source if isinstance(source, UniformType) else target
    assert isinstance(stored, UniformType)  # as inferred
    whole = stored.storage_width in (8, 16, 32) or (stored.is_signed and stored is source)
    return 0 if whole and (stored.has_default_bounds or stored is source) else None


QCAST = OpFamily(
    Declaration(
        "qcast",
        operands=(Operand("x"),),
        attributes=(
            Attribute("rounding", "choice", "half_even", numerics.ROUNDINGS),
            Attribute("zero_point", "choice", "before", numerics.ZERO_POINTS),
            Attribute("scale", "choice", "divide", numerics.SCALES),
        ),
        result=_SAID,
        dialect="quant",
    ),
    infer=_infer_qcast,
    reference=_reference_qcast,
    bind=_bind_qcast,
    traits=Traits(is_elementwise=True),
)
DCAST = OpFamily(
    Declaration("dcast", operands=(Operand("q"),), result=Result("of the expressed type"), dialect="quant"),
    infer=_infer_dcast,
    reference=_reference_dcast,
    bind=_bind_dcast,
    traits=Traits(is_elementwise=True),
)
SCAST = OpFamily(
    Declaration("scast", operands=(Operand("x"),), result=replace(_SAID, required=False), view=True, dialect="quant"),
    infer=_infer_scast,
    reference=_reference_scast,
    view_offset=_scast_offset,
    traits=Traits(is_elementwise=True),
)
REQUANTIZE = OpFamily(
    Declaration(
        "requantize", operands=(Operand("q"),), attributes=(replace(REQUANT, choices=REQUANTIZE_RULES),), result=_SAID
    ),
    infer=_infer_requantize,
    reference=_reference_requantize,
    bind=_bind_requantize,
    traits=Traits(is_elementwise=True, ends_in_clamp=True),
)
FAMILIES = (QCAST, DCAST, SCAST, REQUANTIZE)
