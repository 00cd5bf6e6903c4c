"""Descriptions of a model file for its comparison with another runtime: the program, its inputs and its tensors.

The classes are the same for every file format."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qrt.ir import ArrayAttr, Module, Operation, StringAttr, Value
from qrt.models.importing.node import TENSOR
from qrt.ops.core import Array

Run = Callable[[Callable[[Array], Array]], Array]
"""Runs an operator's program on the runtime's operands, changed by the given function, and returns float64."""
Interval = Callable[[Run], tuple[Array, Array]]
"""Returns the least and the greatest integer that each element may be."""
Alone = Callable[[Callable[[Array], Array], Mapping[int | str, Array]], Module]
"""Returns the program of one operator, whose inputs are operands that the runtime computed. The function changes its
constants; the arrays of the operands give their shapes."""


@dataclass(frozen=True)
class Bound:
    """The largest allowed difference of the floats of two runtimes.

    A difference is allowed if it is at most ``ulp`` units in the last place, or at most ``absolute + relative *
    abs(number)``. For a sum (``is_sum``), whose terms may cancel, it may also be ``ulp`` units in the last place of the
    greatest magnitude in the tensor.
    """

    ulp: int = 4
    is_sum: bool = False
    relative: float = 0.0
    absolute: float = 0.0


@dataclass(frozen=True)
class Input:
    """An input of a model.

    ``dtype`` is NumPy's name. A size in ``shape`` is a number, the name of a dynamic dimension, or None. ``zero_point``
    is None if the input is not quantized; an unquantized integer input takes values from 0 up to, not including,
    ``limit``."""

    name: str
    dtype: str
    shape: tuple[int | str | None, ...]
    zero_point: int | None = None
    limit: int = 2


@dataclass(frozen=True)
class ComparedTensor:
    """A result of an operator, as both runtimes compute it.

    ``name`` is its name in the program, ``key`` its key in the runtime, ``operator`` the operator's name and index, and
    ``bound`` the largest allowed difference of its floats.

    For an operator that sums n products of floats, ``alone`` returns a program of that operator. Each runtime's result
    is within ``n * 2^-24`` times the sum of the products' magnitudes of the exact result. ``interval`` is given if the
    runtime may round to other integers. ``reads`` are the keys of the operands, which both take from the runtime.
    ``terms`` is the number of terms of a mean, which its program cannot count.

    ``cast_of`` is the float operand of a cast to integers, if the two runtimes store different integers for a NaN, or
    for an infinity of float16. Such elements are listed in the format's reference page and are not compared.
    """

    name: str
    key: int | str
    operator: str
    bound: Bound = Bound()
    reads: tuple[int | str, ...] = ()
    alone: Alone | None = None
    interval: Interval | None = None
    cast_of: int | str | None = None
    terms: int | None = None


@dataclass(frozen=True, eq=False)
class ComparisonSource:
    """A file to compare: its name, program, inputs, and tensors in the order in which they are computed.

    ``inside`` is the number of further tensors inside operators that are imported as one operation."""

    name: str
    module: Module
    inputs: Sequence[Input]
    tensors: Sequence[ComparedTensor]
    inside: int = 0


def named_values(function: Operation) -> Mapping[str, Value]:
    """Return the values of a function that are tensors of the file, by tensor name."""
    values_by_name: dict[str, Value] = {}
    for op in function.regions[0].blocks[0].operations:
        names_attribute = op.attributes.get(TENSOR)
        if names_attribute is None:
            continue
        names: Iterable[Any] = names_attribute.elements if isinstance(names_attribute, ArrayAttr) else [names_attribute]
        for value, name in zip(op.results, names, strict=False):
            if isinstance(name, StringAttr) and name.value:
                values_by_name[name.value] = value
    return values_by_name
