"""Lowering of `quant.qcast` and `quant.dcast`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from qrt.errors import QuantTypeError
from qrt.ir import Builder, Module, Operation, Value
from qrt.ir.core.constraints import with_element
from qrt.ir.dialects.quant.ops import element_of
from qrt.ir.passes.elementwise import INDEX, ChannelEmitter, Emitter
from qrt.ir.passes.lower_quant_ops.cast_arithmetic import Rules, dequantize, quantize
from qrt.ir.passes.options import option
from qrt.ops import family_of
from qrt.ops.casts import QCAST
from qrt.types import TensorType, Type, UniformType

_RULE = QCAST.declaration
_CASTS = ("quant.qcast", "quant.dcast", "quant.cast")
_EXTENTS = TensorType((None,), INDEX)
Emit = Callable[[Emitter], Value]


def _rule_option(name: str, text: str) -> Any:
    return option(_RULE.defaults[name], text, _RULE.choices[name])


@dataclass(frozen=True)
class LowerQuantOps:
    """Replaces quant.qcast and quant.dcast by ops of arith, math, tensor, linalg and shape, and by quant.scast.

    Lowers `"quant.cast"` in the same way.

    `rounding`, `zero-point` and `scale` apply to qcasts that do not have the attribute of that name. With
    `rounding=toward_zero saturating=false` the emitted operations are exactly upstream's, and values out of range are
    undefined. Preserves every value, also NaN and infinities; with `saturating=false` only those within range.

    `strict_upstream` follows upstream in two more cases, for comparison with mlir-opt. Two casts, from a type and back
    to that type, are removed, although that changes values. Zero points are truncated to the storage type.
    """

    rounding: str = _rule_option("rounding", "how qcasts round that do not say it")
    zero_point: str = _rule_option("zero_point", "whether the zero point is added before or after rounding")
    scale: str = _rule_option("scale", "what a qcast does with the scale")
    saturating: bool = option(True, "clamp values out of range, which are undefined without")
    strict_upstream: bool = option(False, "drop casts and cut zero points as upstream does: values change")

    UPSTREAM: ClassVar[Mapping[str, Any]] = {
        "rounding": "toward_zero",
        "saturating": False,
        "strict_upstream": True,
    }

    def __post_init__(self) -> None:
        for name, choices in _RULE.choices.items():
            if getattr(self, name) not in choices:
                option = name.replace("_", "-")
                raise QuantTypeError(f"{option} must be one of {', '.join(choices)}, got {getattr(self, name)!r}")

    def run(self, module: Module) -> None:
        casts = [op for op in module.operation.walk() if op.name in _CASTS]
        folds = {cast: _inverse(cast) for cast in casts} if self.strict_upstream else {}
        replaced: dict[Value, Value] = {}
        for cast in casts:
            folded = folds.get(cast)
            try:
                value = self._lower(cast) if folded is None else replaced.get(folded, folded)
            except QuantTypeError as error:
                raise cast.op_error(f"cannot be lowered: {error}") from None
            replaced[cast.results[0]] = value
            cast.results[0].replace_all_uses(value)
        for cast in casts:
            cast.erase()

    def _lower(self, cast: Operation) -> Value:
        builder = Builder(cast)
        x, result = cast.operands[0], cast.results[0].type
        if _is_quantizing(cast):
            t = _uniform(result)
            rules = self._rules(cast)
            stored = _lower(builder, x, t, lambda emitter: quantize(emitter, t, rules))
            return builder.value("quant.scast", (stored,), result)
        t = _uniform(x.type)
        stored = builder.value("quant.scast", (x,), with_element(x.type, t.storage_type))
        return _lower(builder, stored, t, lambda emitter: dequantize(emitter, t, self.strict_upstream))

    def _rules(self, cast: Operation) -> Rules:
        """Return the arithmetic of a qcast from its attributes; options of the pass replace missing attributes."""
        options = {name: getattr(self, name) for name in _RULE.choices}
        return Rules(**(options | QCAST.given_attributes(cast.attributes)), saturating=self.saturating)


def _is_quantizing(cast: Operation) -> bool:
    """Return True for a cast from floats to a quantized type: a qcast, or a `"quant.cast"` of floats."""
    return family_of(cast) is QCAST


def _uniform(type: Type) -> UniformType:
    element = element_of(type)
    if not isinstance(element, UniformType):
        raise QuantTypeError(f"{element} has no storage type")
    if isinstance(type, TensorType) and type.encoding is not None:
        raise QuantTypeError(f"tensor types with an encoding are not supported, got {type}")
    if not element.is_storage_castable:
        raise QuantTypeError(f"the storage type must be an integer, got {element.storage_type} in {element}")
    return element


def _inverse(cast: Operation) -> Value | None:
    """Return `x` if `cast` is the outer cast of `cast(cast(x))` and its result has the type of `x`; else None.

    Upstream's conversion driver removes such pairs of casts.
    """
    source = cast.operands[0].operation
    if source is None or source.name not in _CASTS or _is_quantizing(source) == _is_quantizing(cast):
        return None
    if source.operands[0].type is not cast.results[0].type:
        return None
    return source.operands[0]


# -- containers -------------------------------------------------------------------------------------------------------


def _lower(builder: Builder, x: Value, t: UniformType, emit: Emit) -> Value:
    if isinstance(x.type, TensorType) and x.type.shape is None:
        return _lower_unranked(builder, x, t, emit)
    return _lower_ranked(builder, x, t, emit)


def _lower_ranked(builder: Builder, x: Value, t: UniformType, emit: Emit, axis: int | None = None) -> Value:
    """Lower a cast of a scalar or ranked tensor, whose arithmetic `emit` emits; `axis` may replace `t`'s axis."""
    emitter = Emitter(builder, x) if t.is_per_layer else ChannelEmitter(builder, x, t, axis)
    return emitter.finish(emit(emitter))


def _lower_unranked(builder: Builder, x: Value, t: UniformType, emit: Emit) -> Value:
    """Lower a cast of an unranked tensor by reshaping it, and reshape the result back.

    The reshaped tensor has rank 1, or for a per-axis type rank 3 with the channels in the middle.
    """
    assert isinstance(x.type, TensorType)
    extents = builder.value("shape.shape_of", (x,), _EXTENTS)
    sizes = [_count(builder, extents)] if t.axis is None else _around_axis(builder, extents, t.axis, len(t.scales))
    shape = (None,) if t.axis is None else (None, len(t.scales), None)
    flat_shape = builder.value("tensor.from_elements", sizes, TensorType((len(sizes),), INDEX))
    flat = builder.value("tensor.reshape", (x, flat_shape), TensorType(shape, x.type.element))
    y = _lower_ranked(builder, flat, t, emit, axis=1)
    return builder.value("tensor.reshape", (y, extents), TensorType(None, element_of(y.type)))


def _around_axis(builder: Builder, extents: Value, axis: int, channels: int) -> list[Value]:
    """Return index values: (product of the extents before the axis, number of channels, product of those after it)."""
    before, after = (builder.constant(i, INDEX) for i in (axis, axis + 1))
    head = builder.emit("shape.split_at", (extents, before), (_EXTENTS, _EXTENTS)).results[0]
    left = _count(builder, head)
    tail = builder.emit("shape.split_at", (extents, after), (_EXTENTS, _EXTENTS)).results[1]
    right = _count(builder, tail)
    return [left, builder.constant(channels, INDEX), right]


def _count(builder: Builder, extents: Value) -> Value:
    return builder.value("shape.num_elements", (extents,), INDEX)
