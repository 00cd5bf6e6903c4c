"""Data classes that describe a model file, of any format, for its comparison with another runtime."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qrt.ir import ArrayAttr, Module, Operation, StringAttr, Value
from qrt.models.importing.node import TENSOR
from qrt.ops.core import Array

Run = Callable[[Callable[[Array], Array]], Array]
"""Applies a function, such as `numpy.abs`, to the operands and constants of one operator, runs the operator on the
results, and returns float64."""
Interval = Callable[[Run], tuple[Array, Array]]
"""Returns two arrays: the least and the greatest integer that each element of a result may be."""
Alone = Callable[[Callable[[Array], Array], Mapping[int | str, Array]], Module]
"""Returns a program of one operator, whose inputs have the shapes of the given arrays (by key). The given function is
applied to the operator's constants."""


@dataclass(frozen=True)
class Bound:
    """The largest allowed difference between a float of qrt and the float ``y`` of the other runtime.

    A difference is allowed if it is at most ``ulp`` units in the last place, or at most ``absolute + relative *
    abs(y)``. ``is_sum`` is for sums whose terms may cancel: a difference is also allowed if it is at most ``ulp`` units
    in the last place of the tensor's largest magnitude.
    """

    ulp: int = 4
    is_sum: bool = False
    relative: float = 0.0
    absolute: float = 0.0


@dataclass(frozen=True)
class Input:
    """An input of a model.

    ``dtype`` is NumPy's name. Each size in ``shape`` is an integer, the name of a dynamic dimension, or None for a
    dynamic dimension without name. ``zero_point`` is None if the input is not quantized. For an unquantized integer
    input, test data is from 0 to ``limit - 1``. No element of test data is ``excluded``, an integer that the other
    runtime rejects, such as the zero point of a divisor.
    """

    name: str
    dtype: str
    shape: tuple[int | str | None, ...]
    zero_point: int | None = None
    limit: int = 2
    excluded: int | None = None


@dataclass(frozen=True)
class ComparedTensor:
    """A result of an operator that qrt and the other runtime both compute, with the differences that are allowed.

    - ``name`` is the tensor's name in the program, ``key`` the tensor's index or name in the other runtime.
    - ``operator`` is the operator's kind and index, such as "CONV_2D 3".
    - ``bound`` is the largest allowed difference of floats.
    - ``reads`` are the keys of the operands. Both runtimes compute the result from the same operands.
    - ``alone`` is given for an operator that sums n products of floats. It returns a program with only this operator.
      Run on the magnitudes of the operands, the program returns the sum of the products' magnitudes. This sum times
      ``n * 2^-24`` bounds the rounding error. Run on ones, the program returns n.
    - ``terms`` is n for an operator such as a mean, for which the program ``alone`` does not return n from ones.
    - ``interval`` is given if the other runtime may round to a neighbouring integer. It returns the least and the
      greatest allowed integer of each element.
    - ``cast_of`` is given for a cast from float to integer if the runtimes store different integers for a NaN, or for
      an infinity of float16. It is the key of the float operand. Elements cast from these floats are not compared.
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
    """A model file to compare: its name, program, inputs, and tensors in the order in which they are computed.

    Some tensors of the file have no value in the program, because several operators were imported as one operation.
    ``inside`` is the number of these tensors.
    """

    name: str
    module: Module
    inputs: Sequence[Input]
    tensors: Sequence[ComparedTensor]
    inside: int = 0


def named_values(function: Operation) -> Mapping[str, Value]:
    """Return the values of a function that correspond to tensors of the model file, as a mapping from tensor names."""
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


def bounds_of_outputs(function: Operation, tensors: Sequence[ComparedTensor]) -> list[Bound]:
    """Return, for each result of a function, the greatest bound of the tensors from which it is computed."""
    values = named_values(function)
    bounds = {values[tensor.name]: tensor.bound for tensor in tensors if tensor.name in values}
    return [
        _greatest(bounds[value] for value in _sources(result) if value in bounds)
        for result in function.regions[0].blocks[0].operations[-1].operands
    ]


def _greatest(bounds: Iterable[Bound]) -> Bound:
    """Return the least bound that allows what `Bound`, with ``is_sum``, and each of the given bounds allow."""
    most = Bound(is_sum=True)
    for bound in bounds:
        ulp, relative, absolute = (
            max(getattr(most, name), getattr(bound, name)) for name in ("ulp", "relative", "absolute")
        )
        most = Bound(ulp, is_sum=True, relative=relative, absolute=absolute)
    return most


def _sources(result: Value) -> set[Value]:
    """Return the values from which a result is computed, with itself. Those of regions count for the regions' op."""
    reached, pending = {result}, [result]
    while pending:
        op = pending.pop().operation
        operands = [] if op is None else [value for nested in op.walk() for value in nested.operands]
        pending += [value for value in dict.fromkeys(operands) if value not in reached]
        reached.update(operands)
    return reached
