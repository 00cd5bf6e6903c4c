"""Canonicalization patterns of `quant`: replacement of ops that upstream does not have, and folding of casts.

Articles on lowering use `"quant.cast"`, which becomes a qcast or dcast, and `"quant.conv2d"` and `"quant.matmul"`,
which become ops of `qrt`. Their attributes `output_scale` and `output_zero_point` are dropped, which changes no value,
because the result type contains the same scale and zero point.
"""

from collections.abc import Mapping, Sequence
from functools import partial

from qrt.errors import QuantTypeError
from qrt.ir import Builder, DenseElementsAttr, DenseResourceAttr, Operation, Value
from qrt.ir.constants import constant_of_storage, is_written, known_array, write_constant
from qrt.ir.dialects.quant.ops import element_of
from qrt.ir.rewriting.constant_folder import ConstantFolder
from qrt.ir.text.dense import MAX_FOLDED
from qrt.ops import family_of
from qrt.ops.core import Array
from qrt.types import QuantizedType, TensorType, Type

_IMPLIED_BY_TYPE = ("output_scale", "output_zero_point")


def written_cast(operation: Operation, builder: Builder) -> list[Value]:
    """Replace a `"quant.cast"` by a `quant.qcast`, or by a `quant.dcast` if its operand is quantized."""
    (operand,) = operation.operands
    name = "quant.dcast" if isinstance(element_of(operand.type), QuantizedType) else "quant.qcast"
    return [builder.value(name, (operand,), operation.results[0].type, dict(operation.attributes))]


def written_kernel(operation: Operation, builder: Builder) -> list[Value]:
    """Replace `"quant.conv2d"` or `"quant.matmul"` by the `qrt` op of the same name."""
    attributes = {name: value for name, value in operation.attributes.items() if name not in _IMPLIED_BY_TYPE}
    name = operation.name.replace("quant.", "qrt.")
    return [builder.value(name, operation.operands, operation.results[0].type, attributes)]


def _fold_constant_cast(operation: Operation, builder: Builder) -> list[Value] | None:
    """Replace a `quant.qcast` or `quant.dcast` of a constant by the constant result.

    A quantized result is an `arith.constant` of its storage followed by a `quant.scast`.
    """
    return ConstantFolder(_cast, _is_written, partial(_write, builder)).constants(operation, _short_array)


def _is_written(cast: Operation) -> bool:
    return is_written(cast.results[0].type)


def _cast(cast: Operation, known: Mapping[Value, Array]) -> Sequence[Array] | None:
    source, result = _tensor(cast.operands[0].type), _tensor(cast.results[0].type)
    family = family_of(cast)
    assert family is not None  # it is a cast
    attributes = family.read(cast.attributes)
    try:
        family.resolve_all((source,), attributes, (result,))
        return family.compute([*known.values()], (source,), (result,), attributes)
    except QuantTypeError:  # such as zero points that do not fit: keep the cast, which fails when it runs
        return None


def _write(builder: Builder, cast: Operation, arrays: Sequence[Array]) -> list[Value]:
    return write_constant(builder, arrays[0], cast.results[0].type)[-1:]


def _short_array(value: Value) -> Array | None:
    """Return the array of a constant; None for a resource, and for more than MAX_FOLDED elements."""
    constant = constant_of_storage(value)
    is_long = isinstance(constant, DenseElementsAttr) and constant.array.size > MAX_FOLDED
    return None if is_long or isinstance(constant, DenseResourceAttr) else known_array(value)


def _tensor(type: Type) -> TensorType:
    return type if isinstance(type, TensorType) else TensorType((), type)


CONSTANT_CASTS = {"quant.qcast": (_fold_constant_cast,), "quant.dcast": (_fold_constant_cast,)}
