"""The element types `!quant.any`, `!quant.calibrated` and `!quant.none` in signatures and casts.

They annotate floats: a tensor of such elements has float values, and its casts compute nothing.
"""

from collections.abc import Iterator

import numpy as np

from qrt.ir.builder import Builder
from qrt.ir.core.attributes import Attribute, TypeAttr
from qrt.ir.core.constraints import element_of, with_element
from qrt.ir.core.operations import Operation, Value
from qrt.ir.module import Module
from qrt.ir.rewriting.rewrite import replace
from qrt.ir.text.dense import DenseElementsAttr
from qrt.types import AnyQuantizedType, CalibratedType, FloatType, FunctionType, NoQuantizedType, TensorType, Type

ANNOTATING = (AnyQuantizedType, CalibratedType, NoQuantizedType)
"""The quantized types that do not say how values are stored."""
_CASTS = ("quant.qcast", "quant.dcast")


def has_annotating_types(module: Module) -> bool:
    """Return True if a module has element types, such as `!quant.any`, that only annotate floats."""
    return any(_is_annotating(value.type) for value in _values(module)) or any(
        _is_annotating(type)
        for function in module.functions
        for type in (*function.type.inputs, *function.type.results)
    )


def express(module: Module, *, keeps_ranges: bool = False) -> None:
    """Replace `!quant.any`, `!quant.calibrated` and `!quant.none` by the float types they annotate, and remove casts.

    The removed casts are those to and from these types. With ``keeps_ranges``, casts of `!quant.calibrated` become
    `quant.stats` with the type's range. The module stays unchanged if a `quant.scast` reads annotated values as
    integers, or if an attribute has such a type: a constant, or the type of a global variable.
    """
    casts = [op for op in module.operation.walk() if op.name in _CASTS and _annotates(op.operands[0], op.results[0])]
    for op in module.operation.walk():
        reads_storage = op.name == "quant.scast" and _annotates(op.operands[0], op.results[0])
        if reads_storage or any(_has_annotating_type(attribute) for attribute in _attributes(op)):
            return
    ranges = [_range(element_of(op.operands[0].type), element_of(op.results[0].type)) for op in casts]
    for value in _values(module):
        value.type = _expressed(value.type)
    for function in module.functions:
        type = FunctionType(map(_expressed, function.type.inputs), map(_expressed, function.type.results))
        if type is not function.type:
            function.attributes["function_type"] = TypeAttr(type)
    for cast, range_ in zip(casts, ranges, strict=True):
        value = cast.operands[0]
        if keeps_ranges and range_ is not None:
            ends = DenseElementsAttr(np.array([range_.min, range_.max]), TensorType((2,), FloatType("f64")))
            value = Builder(cast).value("quant.stats", (value,), value.type, {"layerStats": ends})
        replace(cast, [value])


def expressed(module: Module) -> Module:
    """Return a module without the element types that `express` removes: a copy if there are any, else the module."""
    if not has_annotating_types(module):
        return module
    copy = Module(module.operation.clone({}), module.upstream)
    express(copy)
    return copy


def _range(*elements: Type) -> CalibratedType | None:
    return next((element for element in elements if isinstance(element, CalibratedType)), None)


def _annotates(*values: Value) -> bool:
    return any(_is_annotating(value.type) for value in values)


def _attributes(operation: Operation) -> Iterator[Attribute]:
    """Yield the attributes of an operation, except the type of a function, which `express` replaces."""
    return (attribute for name, attribute in operation.attributes.items() if name != "function_type")


def _has_annotating_type(attribute: Attribute) -> bool:
    type = getattr(attribute, "type", None)
    return isinstance(type, Type) and _is_annotating(type)


def _is_annotating(type: Type) -> bool:
    return _expressed(type) is not type


def _expressed(type: Type) -> Type:
    element = element_of(type)
    if not isinstance(element, ANNOTATING) or element.expressed_type is None:
        return type
    return with_element(type, element.expressed_type)


def _values(module: Module) -> Iterator[Value]:
    for operation in module.operation.walk():
        yield from operation.results
        for region in operation.regions:
            for block in region.blocks:
                yield from block.arguments
