"""The export of a region as a `qrt` operation, whose operands and results have the types decided for the ports."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qrt.errors import QuantTypeError
from qrt.ir import Builder, Value, attribute
from qrt.ir.constants import write_constant
from qrt.ir.core.constraints import element_of
from qrt.ir.core.traits import have_compatible_shapes
from qrt.ir.dialects.quant.region import RegionOp
from qrt.ops import FAMILIES
from qrt.ops.clamp import stored_bounds
from qrt.quantization.export.casts import Casts
from qrt.quantization.export.ports import FLOAT_MATMUL, inputs, outputs
from qrt.quantization.forms import KernelForm
from qrt.types import TensorType, Type, UniformType

Tabulate = Callable[[RegionOp, int, UniformType, UniformType], Any]
"""A function that returns the table of a `lookup`: the region's result for every storage value of one operand.

The operand is given by its number, and storage values ascend. The body must not read the values of other operands.
"""


@dataclass
class Kernels:
    """A builder of the `qrt` operations of an export, which adds each one to ``casts.operations``."""

    casts: Casts
    tabulate: Tabulate

    def emit(
        self,
        builder: Builder,
        family: str,
        operands: Sequence[Value],
        attributes: Mapping[str, Any],
        declared: TensorType | None,
    ) -> Value:
        """Emit a `qrt` operation of an op family, and return its result.

        The result has the type ``declared``, or for None the type that the family infers. Raises QuantTypeError if the
        family does not accept the operands.
        """
        rule = FAMILIES[family]
        types = tuple(_tensor(value) for value in operands)
        given = {name: value for name, value in attributes.items() if value is not None}
        type = rule.resolve(types, rule.complete(given), declared)
        if declared is not None:
            if not have_compatible_shapes((type, declared)):
                raise QuantTypeError(f"{family}: the body yields shape {declared.shape}, but the op {type.shape}")
            type = declared
        ir_attributes = {name: attribute(value) for name, value in given.items()}
        operation = builder.emit(f"qrt.{family}", operands, (type,), ir_attributes)
        self.casts.operations.append(operation)
        return operation.results[0]

    def requantized(self, builder: Builder, value: Value, element: UniformType) -> Value:
        """Return a quantized value requantized to the type ``element``, unless that is its type already."""
        if element_of(value.type) is element:
            return value
        return self.emit(builder, "requantize", (value,), {}, _tensor(value).with_(element=element))

    def region(self, region: RegionOp, form: KernelForm) -> Value:
        """Emit the `qrt` operations for a region whose body ``form`` describes, and return the quantized result.

        The result of a `float_matmul` is a float.
        """
        builder = Builder(region)
        if family_of(region, form) == FLOAT_MATMUL:
            return self._float_matmul(builder, region, form)
        (out,) = outputs(region)
        assert isinstance(out.spec, UniformType)  # the caller exports regions with float ports elsewhere
        operands = []
        for operand in form.operands:
            port = inputs(region)[operand.number]
            assert isinstance(port.spec, UniformType)
            operands.append(self.casts.stored(port.value, port.spec, operand.permutation))
        if FAMILIES[form.family].traits.tables:
            return self._lookup(builder, region, form.operands[0].number, operands[0], out.spec)
        declared = _tensor(out.value).with_(element=out.spec)
        if _is_requantized_first(form, out.spec):
            operands = [self.requantized(builder, value, out.spec) for value in operands]
        kept_element = kept_type(form, tuple(map(_tensor, operands)), declared)
        if kept_element is not None:
            declared = declared.with_(element=kept_element)
        value = self.emit(builder, form.family, operands, form.attributes, declared)
        return self.clamped(builder, self.requantized(builder, value, out.spec), form)

    def clamped(self, builder: Builder, value: Value, form: KernelForm) -> Value:
        """Clamp a quantized value to the bounds of the form, if its type has values beyond these bounds."""
        element = element_of(value.type)
        assert isinstance(element, UniformType)
        bounds = {"min": form.low, "max": form.high}
        if form.low is None and form.high is None:
            return value
        low, high = stored_bounds(element, bounds)
        if (low == element.storage_min).all() and (high == element.storage_max).all():
            return value
        return self.emit(builder, "clamp", (value,), bounds, None)

    def _lookup(self, builder: Builder, region: RegionOp, number: int, x: Value, out: UniformType) -> Value:
        element = element_of(x.type)
        assert isinstance(element, UniformType)
        if element.storage_width > 8 or not (element.is_per_layer and out.is_per_layer):
            raise QuantTypeError(
                f"lookup: a table needs a per-layer input with storage of at most 8 bits, got {element.shown()}"
            )
        table = np.asarray(self.tabulate(region, number, element, out))
        entries = write_constant(builder, table, TensorType(table.shape, out))[-1]
        return self.emit(builder, "lookup", (x, entries), {}, None)

    def _float_matmul(self, builder: Builder, region: RegionOp, form: KernelForm) -> Value:
        operands = []
        for operand in form.operands:
            port = inputs(region)[operand.number]
            if isinstance(port.spec, UniformType) and operand is form.operands[1]:
                operands.append(self.casts.stored(port.value, port.spec, operand.permutation))
            elif operand.permutation is None:
                operands.append(self.casts.rounded(port, port.value))
            else:
                raise QuantTypeError(f"float_matmul: {port.name} is transposed in the body, and stays float")
        (out,) = outputs(region)
        value = self.emit(builder, FLOAT_MATMUL, operands, form.attributes, _tensor(out.value))
        for bound, name in ((form.low, "arith.maximumf"), (form.high, "arith.minimumf")):
            if bound is not None:
                value = builder.value(name, (value, _splat(builder, bound, value)), value.type)
        return self.casts.rounded(out, value)


def family_of(region: RegionOp, form: KernelForm) -> str:
    """Return the name of the op family that export writes for a region.

    This is the family of the form, unless the region's kernel names the family for floats times quantized weights.
    """
    named = region.kernel
    return named if named and named == FAMILIES[form.family].traits.of_floats else form.family


def _is_requantized_first(form: KernelForm, out: UniformType) -> bool:
    """Return True if the operands must be requantized to the result's type before the operation, not after it.

    The operand's own type could be too coarse or too narrow for the clamp bounds or the padding value of the operation.
    """
    if form.family == "pad":
        return out.is_per_layer or (out.axis is not None and form.attributes["padding"][out.axis] == (0, 0))
    return FAMILIES[form.family].traits.bounds is not None


def kept_type(form: KernelForm, types: tuple[TensorType, ...], declared: TensorType) -> Type | None:
    """Return the result's element type if the family copies elements unchanged, as `reshape` does; otherwise None."""
    rule = FAMILIES[form.family]
    given = {name: value for name, value in form.attributes.items() if value is not None}
    return rule.kept_type(types, rule.complete(given), declared)


def _tensor(value: Value) -> TensorType:
    if not isinstance(value.type, TensorType):
        raise QuantTypeError(f"kernels need tensors, got {value.type}")
    return value.type


def _splat(builder: Builder, number: float, like: Value) -> Value:
    type = _tensor(like)
    if type.shape is None or None in type.shape:
        raise QuantTypeError(f"float_matmul: a result of type {type} is not clamped, because its shape is dynamic")
    return builder.constant(number, type)
