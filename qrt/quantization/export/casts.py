"""The casts that export inserts between float values and quantized types, one for each value and type."""

import numpy as np

import qrt.numerics as numerics
from qrt.errors import QuantTypeError
from qrt.ir import Builder, DenseElementsAttr, Operation, Value
from qrt.ir.constants import constant_attribute, write_constant
from qrt.ir.core.constraints import element_of, with_element
from qrt.ir.dialects.quant.region import RegionOp
from qrt.ir.rewriting.rewrite import erase_dead, replace
from qrt.ops import FAMILIES
from qrt.ops.movement import transposed_element
from qrt.quantization.annotations.region_metadata import keep_tags
from qrt.quantization.export.ports import PortOf
from qrt.quantization.forms.elements import dense_of
from qrt.types import FloatType, TensorType, Type, UniformType

Key = tuple[Value, Type, tuple[int, ...] | None]


class Casts:
    """The casts that one export inserts between float values and quantized types.

    Each value is cast to a type only once. A value that was dequantized from the same type is not quantized again.
    """

    def __init__(self) -> None:
        self.operations: list[Operation] = []  # the qrt operations of this export
        self._results: dict[Key, Value] = {}
        self._released: list[Operation] = []
        self._read: dict[Operation, None] = {}

    def stored(self, value: Value, element: UniformType, permutation: tuple[int, ...] | None = None) -> Value:
        """Return a float value quantized to the type ``element``, and then transposed if a permutation is given.

        The axis of a per-axis type is an axis of the value before the transpose.
        """
        key = value, element, permutation
        if key not in self._results:
            self._results[key] = self._stored(value, element, permutation)
        return self._results[key]

    def _stored(self, value: Value, element: UniformType, permutation: tuple[int, ...] | None) -> Value:
        if value.operation is not None:
            self._read[value.operation] = None
        constant = dense_of(value)
        if constant is not None:
            return _constant(value, constant, element, permutation)
        if permutation is not None:
            stored = self.stored(value, element)
            earlier = _permutation_of(stored)
            if earlier is not None and [earlier[axis] for axis in permutation] == [*range(len(permutation))]:
                assert stored.operation is not None  # the transpose that this one would undo
                return stored.operation.operands[0]
            transposed = Builder.after(stored).create("qrt.transpose", stored, permutation=permutation)
            self.operations.append(transposed)
            return transposed.results[0]
        source = value.operation
        if source is not None and source.name == "quant.dcast" and element_of(source.operands[0].type) is element:
            return source.operands[0]
        return Builder.after(value).value("quant.qcast", (value,), with_element(value.type, element))

    def rounded(self, port: PortOf, value: Value) -> Value:
        """Round a float value to the port's type and cast it back to its float type.

        If the port keeps the float type of the value, the value is returned unchanged.
        """
        if port.stays:
            return value
        if isinstance(port.spec, UniformType):
            stored = self.stored(value, port.spec)
            if (
                value.operation is not None
                and value.operation.name == "quant.dcast"
                and stored in value.operation.operands
            ):
                return value
            return self._expressed("quant.dcast", stored, value.type)
        source, narrow = value.operation, with_element(value.type, port.spec)
        if source is not None and source.name == "arith.extf" and source.operands[0].type is narrow:
            return value
        key = value, port.spec, None
        if key not in self._results:
            if source is not None:
                self._read[source] = None
            self._results[key] = _narrowed(value, narrow)
        return self._expressed("arith.extf", self._results[key], value.type)

    def _expressed(self, cast: str, value: Value, type: Type) -> Value:
        key = value, type, None
        if key not in self._results:
            self._results[key] = Builder.after(value).value(cast, (value,), type)
        return self._results[key]

    def release(self, region: RegionOp, values: list[Value]) -> None:
        """Replace the results of a region by the values that export computed, after dequantizing quantized ones."""
        keep_tags(region, values)
        builder = Builder(region)
        results = [
            builder.value("quant.dcast", (value,), result.type)
            if isinstance(element_of(value.type), UniformType)
            else value
            for value, result in zip(values, region.results, strict=True)
        ]
        self._released += [value.operation for value in results if value.operation is not None]
        replace(region, results)

    def finish(self) -> None:
        """Erase the casts that export made superfluous.

        A `quant.qcast` is superfluous if it quantizes a dequantized result back to the result's own type. Casts and
        constants without uses are erased, too.
        """
        for dcast in self._released:
            for user in dcast.results[0].users if dcast.name == "quant.dcast" else ():
                stored = dcast.operands[0]
                if user.name == "quant.qcast" and user.results[0].type is stored.type and not user.attributes:
                    replace(user, [stored])
        erase_dead([*self._read, *self._released])


def _permutation_of(value: Value) -> list[int] | None:
    """Return the permutation of the `qrt.transpose` that computes a value; None if another operation computes it."""
    source = value.operation
    if source is None or source.name != "qrt.transpose" or "permutation" not in source.attributes:
        return None
    return [int(axis) for axis in source.attributes["permutation"].python]


def _narrowed(value: Value, type: Type) -> Value:
    """Round a float value to a narrower type: during export if it is a constant, else by an `arith.truncf`."""
    constant, element = dense_of(value), element_of(type)
    builder = Builder.after(value)
    if constant is None or not isinstance(element, FloatType):
        return builder.value("arith.truncf", (value,), type)
    rounded = numerics.round_to_format(np.asarray(constant.python), element.name)
    return builder.constant(constant_attribute(rounded, type), type)


def _constant(
    value: Value, constant: DenseElementsAttr, element: UniformType, permutation: tuple[int, ...] | None
) -> Value:
    """Emit a quantized constant: integers that `qcast`'s reference computes, and a `quant.scast` of them."""
    assert isinstance(value.type, TensorType)
    if not element.is_storage_castable:
        raise QuantTypeError(f"{element.shown()} has storage other than signless integers")
    qcast = FAMILIES["qcast"]
    result = qcast.resolve((value.type,), qcast.complete({}), value.type.with_(element=element))
    array = qcast.reference([np.asarray(constant.python)], (value.type,), result, qcast.complete({}))
    if permutation is not None:
        array, element = array.transpose(permutation), transposed_element(element, permutation)
    return write_constant(Builder.after(value), np.asarray(array, order="C"), TensorType(array.shape, element))[-1]
