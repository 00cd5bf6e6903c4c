"""Runs an op on every kernel and compares each with the family's plain reference, bit for bit."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import qrt
from qrt.ops import FAMILIES
from qrt.ops.core import element_dtype, static_shape
from qrt.types import TensorType, Type, UniformType

Array = npt.NDArray[Any]


def tensor(shape: Sequence[int | None] | None, element: Type) -> TensorType:
    return TensorType(shape, element)


def infer(
    name: str, types: Sequence[TensorType], out: Type | TensorType | None = None, **attributes: Any
) -> TensorType:
    """The result type; `out` is an element type or a whole declared type."""
    family = FAMILIES[name]
    declared = out if out is None or isinstance(out, TensorType) else TensorType(None, out)
    return family.resolve(tuple(types), family.complete(attributes), declared)


def reference(
    name: str,
    arrays: Sequence[Array],
    types: Sequence[TensorType],
    out: Type | TensorType | None = None,
    **attributes: Any,
) -> tuple[Array, TensorType]:
    """(reference result, its type); storage is checked to lie within its bounds."""
    family = FAMILIES[name]
    result = infer(name, types, out, **attributes)
    value = family.reference(list(arrays), tuple(types), result, family.complete(attributes))
    assert value.shape == static_shape(result, name)
    if isinstance(result.element, UniformType) and value.size:
        assert result.element.storage_min <= value.min()
        assert value.max() <= result.element.storage_max
    return value, result


def check_kernels(
    name: str,
    arrays: Sequence[Array],
    types: Sequence[TensorType],
    out: Type | TensorType | None = None,
    constants: Iterable[Sequence[int]] = ((),),
    **attributes: Any,
) -> Array:
    """Asserts that every ISA, with each of the sets of operands held constant, equals the reference; gives that."""
    family = FAMILIES[name]
    expected, result = reference(name, arrays, types, out, **attributes)
    for isa in qrt.kernels.available():
        for fixed in constants:
            with qrt.kernels.use(isa):
                call, _ = family.call(tuple(types), result, family.complete(attributes), {i: arrays[i] for i in fixed})
                got = np.full(expected.shape, 85, element_dtype(result.element))
                call(*(a for i, a in enumerate(arrays) if i not in fixed), got)
            np.testing.assert_array_equal(
                got.astype(np.float64), expected.astype(np.float64), err_msg=f"{name} on {isa}, constants {fixed}"
            )
    return expected
