"""What whoever compares a file with another runtime asks of its importer: the program, its inputs, and the tensors that
operators make, in a form that every format of files has."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qrt.ir import ArrayAttr, Module, Operation, StringAttr, Value
from qrt.models.importing.node import TENSOR
from qrt.ops.core import Array

Run = Callable[[Callable[[Array], Array]], Array]
"""A run of an operator's program on the operands of the runtime, which are changed by a function, as float64."""
Interval = Callable[[Run], tuple[Array, Array]]
"""The least and the greatest integer that each element may be."""
Alone = Callable[[Callable[[Array], Array], Mapping[int | str, Array]], Module]
"""The program of one operator: its inputs are the operands that the runtime computed, which are given to say their
shapes, and its constants are changed by a function."""


@dataclass(frozen=True)
class Bound:
    """How far floats of two runtimes may lie apart.

    They lie ``ulp`` units in the last place apart: of the number, or of the greatest magnitude in the tensor where it
    ``is_sum``, whose terms may cancel; or else ``relative`` times the number, and ``absolute``, which is added to it.
    """

    ulp: int = 4
    is_sum: bool = False
    relative: float = 0.0
    absolute: float = 0.0


@dataclass(frozen=True)
class Input:
    """An input: ``dtype`` as NumPy calls it. A size is a number, a name that stands for one, or None. ``zero_point`` is
    None of numbers that are not quantized; of integers among them, those from 0 up to ``limit`` may be given."""

    name: str
    dtype: str
    shape: tuple[int | str | None, ...]
    zero_point: int | None = None
    limit: int = 2


@dataclass(frozen=True)
class ComparedTensor:
    """A tensor that an operator makes: its ``name`` in the program, the ``key`` by which the runtime knows it, the
    ``operator`` with its index, and how far its floats may lie apart.

    Of an operator that sums n products of floats, ``alone`` makes the program. Each runtime lies within ``n * 2^-24``
    times the sum of the products' magnitudes of the exact result. Integers that the runtime rounds otherwise have an
    ``interval``. ``reads`` are the operands that the runtime computed, which both take. A mean says its
    ``terms``, which its program does not count.

    ``cast_of`` are the floats of a cast to integers, if the two store other integers for a NaN, or for an infinity of
    float16. The page of the format says which, and such elements are not compared.
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
    """A file that is compared: its ``name``, its program, its inputs, the tensors in the order in which they are made,
    and how many more there are ``inside`` of operators that run as one."""

    name: str
    module: Module
    inputs: Sequence[Input]
    tensors: Sequence[ComparedTensor]
    inside: int = 0


def named_values(function: Operation) -> Mapping[str, Value]:
    """The values of a function that tensors of the file are, by their names."""
    found: dict[str, Value] = {}
    for op in function.regions[0].blocks[0].operations:
        said = op.attributes.get(TENSOR)
        if said is None:
            continue
        names: Iterable[Any] = said.elements if isinstance(said, ArrayAttr) else [said]
        for value, name in zip(op.results, names, strict=False):
            if isinstance(name, StringAttr) and name.value:
                found[name.value] = value
    return found
