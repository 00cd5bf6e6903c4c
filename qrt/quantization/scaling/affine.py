"""Chains of elementwise operations that multiply or divide a tensor by constants, or add constants to it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from qrt.ir import Operation, Value
from qrt.ir.core.constraints import element_of
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.ops.core import element_dtype
from qrt.ops.elementwise import bind
from qrt.quantization.forms.elements import Axes, Elements, Expression, behind, elements_of, repeated, shape_of
from qrt.quantization.scaling.products import NotScaled, rounded
from qrt.types import FloatType

Array = npt.NDArray[Any]
Known = Callable[[Value], Array | None]
"""A function that returns the numbers of a constant value as float64; None for other values."""

_COMPUTED = frozenset({"arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.negf", "math.sqrt", "math.rsqrt"})
"""Operations that may compute constants from constants."""


@dataclass(frozen=True)
class AffineStep:
    """A multiplication or division of a tensor by constants, or an addition of constants.

    ``numbers`` are the constants. They have the rank of the tensor, and size 1 along each axis on which they do not
    depend.
    """

    kind: Literal["mul", "div", "add"]
    numbers: Array

    def channels(self, axis: int, size: int) -> Array:
        """Return the constant for each index of an axis of this size.

        Raises NotScaled if the constants differ along another axis, if one of them is not finite, or if a factor is 0.
        """
        numbers = self.numbers
        for other, count in enumerate(numbers.shape):
            if other != axis and count > 1:
                first = numbers.take([0], other)
                if not (numbers == first).all():
                    raise NotScaled(f"its values differ along axis {other}, but may differ along axis {axis} only")
                numbers = first
        if not np.isfinite(numbers).all():
            raise NotScaled("one of its values is infinite or NaN")
        if self.kind != "add" and not numbers.all():
            raise NotScaled("it multiplies or divides a channel by 0")
        return np.broadcast_to(numbers.reshape(-1), (size,))


@dataclass(frozen=True)
class Chain:
    """A sequence of affine steps that starts from ``source``, in the order in which the steps run."""

    source: Value
    steps: tuple[AffineStep, ...]


def chain_inside(value: Value, known: Known) -> Chain:
    """Return the longest chain of affine steps in a region's body that computes a value.

    ``known`` returns the numbers of a constant value as an array.
    """
    steps: list[AffineStep] = []
    while True:
        value = behind(value, [])
        last = last_steps(value, known)
        if last is None:
            return Chain(value, tuple(steps))
        value, steps = last.source, [*last.steps, *steps]


def last_steps(value: Value, known: Known) -> Chain | None:
    """Return the affine steps that the operation before a value applies; None if it computes anything else.

    An operation may have several steps in its body. ``known`` returns the numbers of a constant value as an array.
    """
    elements = elements_of(value)
    element = element_of(value.type)
    if elements is None or not isinstance(element, FloatType) or not _is_uniform(elements.operation, element):
        return None
    elements = elements.simplified()
    rank = len(shape_of(value))
    numbers = [
        _placed(operand, axes, rank, known) for operand, axes in zip(elements.inputs, elements.axes, strict=True)
    ]
    free = [number for number, array in enumerate(numbers) if array is None]
    if len(free) != 1 or not elements.is_identity(free[0]) or elements.inputs[free[0]].type is not value.type:
        return None
    reader = _Reader(elements, numbers, element)
    with np.errstate(all="ignore"):
        steps = reader.read(elements.computed)
    return Chain(elements.inputs[free[0]], tuple(steps)) if isinstance(steps, list) and steps else None


def _is_uniform(operation: Operation, element: FloatType) -> bool:
    """Return True if an operation's body computes only values of the type ``element``, apart from constants."""
    if not isinstance(operation, StructuredOp):
        return True
    inner = [op for op in operation.regions[0].blocks[0] if op.name != "arith.constant"]
    return all(result.type is element for op in inner for result in op.results)


def _placed(value: Value, axes: Axes, rank: int, known: Known) -> Array | None:
    """Return a constant operand as an array that broadcasts to the result; None if the operand is not constant.

    ``axes`` are the axes of the operand in the result. The array has the rank of the result, ``rank``.
    """
    source, axes, _ = repeated(value, axes)
    array = known(source)
    result_axes = [axis for axis in axes if axis is not None]
    if array is None or len(set(result_axes)) < len(result_axes):
        return None
    array = array.reshape([size for axis, size in zip(axes, array.shape, strict=True) if axis is not None])
    array = array.transpose(np.argsort(result_axes))
    sizes = dict(zip(sorted(result_axes), array.shape, strict=True))
    return array.reshape([sizes.get(axis, 1) for axis in range(rank)])


@dataclass(frozen=True)
class _Reader:
    """A reader of expressions with one input that is not constant, called the variable.

    For an expression of constants, ``read`` returns its value as an array. For affine steps on the variable, it returns
    the list of steps. For any other expression, it returns None.
    """

    elements: Elements
    numbers: list[Array | None]
    element: FloatType

    def read(self, expression: Expression) -> Array | list[AffineStep] | None:
        head = str(expression[0])
        if head == "input":
            numbers = self.numbers[int(str(expression[1]))]
            return [] if numbers is None else numbers
        if head == "constant":
            number = expression[1]
            return self._full(number) if isinstance(number, float) else None
        parts = [self.read(part) for part in expression[1:] if isinstance(part, tuple)]
        if any(part is None for part in parts):
            return None
        arrays = [part for part in parts if isinstance(part, np.ndarray)]
        if len(arrays) == len(parts):
            return self._computed(head, arrays)
        steps = [part for part in parts if isinstance(part, list)]
        if len(steps) != 1:
            return None
        return self._step(head, steps[0], arrays, is_first=isinstance(parts[0], list))

    def _step(
        self, name: str, before: list[AffineStep], numbers: list[Array], *, is_first: bool
    ) -> list[AffineStep] | None:
        if name == "arith.negf":
            return [*before, AffineStep("mul", self._full(-1.0))]
        if len(numbers) != 1:
            return None
        (number,) = numbers
        if name in ("arith.mulf", "arith.addf"):
            return [*before, AffineStep("mul" if name == "arith.mulf" else "add", number)]
        if name == "arith.subf":
            last = AffineStep("add", -number if is_first else number)
            return [*before, last] if is_first else [*before, AffineStep("mul", self._full(-1.0)), last]
        return [*before, AffineStep("div", number)] if name == "arith.divf" and is_first else None

    def _full(self, number: float) -> Array:
        return np.full([1] * len(shape_of(self.elements.operation.results[0])), number)

    def _computed(self, name: str, arrays: list[Array]) -> Array | None:
        """Compute an operation on constants, exactly as a run of the program does; None if it is not supported."""
        if name == "arith.truncf":
            return rounded(arrays[0], self.element)
        if name not in _COMPUTED:
            return None
        function = bind(name, [self.element] * len(arrays), [self.element])
        given = [array.astype(element_dtype(self.element)) for array in arrays]
        return np.asarray(function(*given)).astype(np.float64)
