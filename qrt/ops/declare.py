"""The declaration of an op family: its operands, its attributes, and how the type of its result is determined.

The declaration determines the op of the dialect (``qrt.ir.dialects.qrt``), the attributes of a call with their
defaults, the row of docs/reference/dialects/qrt.md and the check of the public function's signature. The family's
traits are facts that passes, targets and exporters read instead of listing the names of families.
``tests/ops/test_traits.py`` compares the traits with the results of the references.

>>> slope = Attribute("slope", "number", 0.25, positional=True)
>>> leaky = Declaration("leaky_relu", operands=(Operand("q"),), attributes=(slope,), result=KEPT)
>>> leaky.op, leaky.defaults
('qrt.leaky_relu', {'slope': 0.25})
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from qrt.types import TensorType, Type, UniformType

Kind = Literal["choice", "integer", "number", "boolean", "axes", "pair", "pairs"]
"""The kind of an attribute's values.

A value is one of ``choices``, a number, a bool, a list of axes, a pair of integers for height and width, or a pair
(before, after) for each dimension.
"""

Constraint = Literal[
    "free", "same_scale", "fixed_scale", "sum_scale", "multiplier_scale", "multiplier_accumulator_scale"
]
"""The names of constraints between the types at the ports of a kernel."""

REQUIRED: Final = ...
"""The value of `Attribute.given` for a parameter without a default."""
SAME: Final = object()


@dataclass(frozen=True)
class Operand:
    """An operand in the declaration of an op family.

    ``note`` describes the operand in the documentation. ``size`` is "" for one operand, "?" for an optional operand,
    and "*" for any number of operands.
    """

    name: str
    note: str = ""
    size: Literal["", "?", "*"] = ""


BIAS: Final = Operand("bias", size="?")


@dataclass(frozen=True)
class Attribute:
    """An attribute in the declaration of an op family.

    It is also a parameter of the family's public function if ``public``. ``default`` is the default of the IR op; the
    documentation shows ``note`` in place of it. ``given`` is the default of the public function: SAME means the default
    of the IR op, and REQUIRED means no default. The function takes the attribute only by keyword, unless the attribute
    is ``positional``.
    """

    name: str
    kind: Kind
    default: Any = None
    choices: tuple[str, ...] = ()
    note: str = ""
    positional: bool = False
    given: Any = SAME
    public: bool = True

    def read(self, value: Any) -> Any:
        """Return the value of an IR attribute as a caller of the public function would give it: arrays become tuples.

        A window's padding becomes pairs (before, after). In IR it may also be "VALID", one integer for each dimension,
        or one flat list of the pairs.
        """
        is_small = isinstance(value, np.ndarray) and value.ndim > 0 and value.size <= _MOST_NUMBERS
        if is_small and self.kind in ("pair", "pairs"):
            value = tuple(tuple(row) if isinstance(row, list) else row for row in value.tolist())
        if self.kind != "pairs" or self.default is None:
            return value
        if isinstance(value, str) and value == "VALID":
            return self.default
        if isinstance(value, tuple) and all(isinstance(v, int) and not isinstance(v, bool) for v in value):
            if len(value) == len(self.default):
                return tuple((v, v) for v in value)
            if len(value) == 2 * len(self.default):
                return tuple(zip(value[::2], value[1::2], strict=True))
        return value


_MOST_NUMBERS = 64
"""The most numbers of a pair or a padding. A splat in a program may claim a size that no memory has."""


@dataclass(frozen=True)
class Result:
    """The part of a declaration that determines the type of the family's result.

    ``parameter`` is the parameter of the public function that gives the type; "" if the type follows from the operands.
    ``keeps_type`` is True if the result has the element type of the first operand, whose scales move with their axes.
    """

    note: str
    parameter: str = ""
    required: bool = False
    keeps_type: bool = False


DECLARED: Final = Result("as declared", "out_type")
"""The declared type; without one, a type that is exact, or the type of the operand."""
KEPT: Final = Result("of the operand's type", keeps_type=True)
FOLLOWING: Final = Result("of the operand's type; channels follow their axis", keeps_type=True)


Order = tuple[int, ...]
"""A permutation of axes: for each axis of the transposed tensor, the corresponding axis of the original tensor."""
Permute = Callable[[Mapping[str, Any], Order], tuple[dict[str, Any], Order]]
_Types = tuple[TensorType, ...]
_Attributes = Mapping[str, Any]


@dataclass(frozen=True)
class Weights:
    """The axes of a family's weights: the second operand of a sum of products.

    The first operand enters as ``q - zero point``, with the input channels along its last axis. A third operand is a
    bias at the scale of the sum. ``inputs`` and ``outputs`` are the weights' axes of the input and output channels.
    ``window`` has the weights' axes of height and width if a pad with zero points before the op may become part of its
    padding; otherwise it is None.
    """

    inputs: int
    outputs: int
    window: tuple[int, int] | None = None


@dataclass(frozen=True)
class Traits:
    """Facts about a family that hold for all types and attributes that it accepts.

    Attributes
    ----------
    is_elementwise : bool
        Each element of the result is computed from the corresponding elements of the operands, which broadcast as in
        NumPy. So a lookup table can replace the op if an operand has 8 bits and the others are constant.
    tables : tuple of int
        The indices of the operands of an elementwise family that are lookup tables. Each element reads a whole table.
    float_op : str
        The name of the op on floats that quantization replaces by this elementwise family.
    float_attributes : mapping
        The attributes to use when ``float_op`` is replaced, if the defaults do not round to the nearest result.
    constraint : str
        The constraint between the types of operands and result that quantization uses for this family, such as
        ``same_scale`` (docs/reference/targets.md); None if quantization does not make ops of this family.
    operand_bits : int
        The most bits that an operand's storage may have.
    ends_in_clamp : bool
        The last step clamps to the storage bounds of the result's type, and the bounds have no other effect.
    bounds : callable, optional
        For a family that only clamps: function of ``(type, attributes)`` that returns the least and the greatest
        storage value of the result, as two arrays with an entry for each scale of the type.
    weights : Weights, optional
        For a family that computes sums of products with weights: the axes of the weights.
    of_floats : str
        The name of the family with the same computation on a first operand of floats.
    is_exact : bool
        If no result type is declared, the inferred type represents every result exactly.
    kept_type : callable, optional
        Function of ``(types, attributes, declared result)`` that returns the element type of the result. It is given
        if the result keeps the type of the first operand, and the declared shape determines the channel axis.
    is_movement : bool
        Elements of any type are moved unchanged.
    permutation : callable, optional
        For a family that only transposes: function of ``(types, attributes)`` that returns the permutation.
    permute : callable, optional
        Function of ``(attributes, order)`` that moves a transpose by ``order`` from the op's operands to its result. It
        returns (the attributes that change, the permutation of the result).
    scaled_axis : callable, optional
        Function of ``(attributes, axis)``, for a first operand that is multiplied by a factor for each index of
        ``axis``. It returns the axis of the result along which the result is multiplied by the same factors; None if
        there is none.
    """

    is_elementwise: bool = False
    tables: tuple[int, ...] = ()
    float_op: str = ""
    float_attributes: _Attributes = field(default_factory=dict)
    constraint: Constraint | None = None
    operand_bits: int = 32
    ends_in_clamp: bool = False
    bounds: Callable[[UniformType, _Attributes], tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]] | None = None
    weights: Weights | None = None
    of_floats: str = ""
    is_exact: bool = False
    kept_type: Callable[[_Types, _Attributes, TensorType], Type] | None = None
    is_movement: bool = False
    permutation: Callable[[_Types, _Attributes], Order] | None = None
    permute: Permute | None = None
    scaled_axis: Callable[[_Attributes, int], int | None] | None = None


NO_TRAITS: Final = Traits()


@dataclass(frozen=True)
class Declaration:
    """The declaration of an op family: its names, operands, attributes and results.

    ``results`` names the op's results. ``view`` is True if the public function returns a view of its operand, and
    therefore has no parameter ``out``. A family that is not ``public`` has an op in programs but no public function.
    ``article`` is a second name of the IR op, which scientific articles about lowering use; empty if there is none.
    """

    name: str
    operands: tuple[Operand, ...]
    attributes: tuple[Attribute, ...] = ()
    result: Result = DECLARED
    results: tuple[str, ...] = ("result",)
    view: bool = False
    dialect: Literal["qrt", "quant"] = "qrt"
    public: bool = True
    article: str = ""
    op: str = field(init=False)
    """The name in IR."""
    ops: tuple[str, ...] = field(init=False)
    """Every name in IR."""
    defaults: Mapping[str, Any] = field(init=False)
    choices: Mapping[str, tuple[str, ...]] = field(init=False)
    by_name: Mapping[str, Attribute] = field(init=False)
    least: int = field(init=False)
    """The number of operands that must be there."""
    is_variadic: bool = field(init=False)

    def __post_init__(self) -> None:
        op = f"{self.dialect}.{self.name}"
        derived = {
            "op": op,
            "ops": (op, self.article) if self.article else (op,),
            "defaults": {attribute.name: attribute.default for attribute in self.attributes},
            "choices": {attribute.name: attribute.choices for attribute in self.attributes if attribute.choices},
            "by_name": {attribute.name: attribute for attribute in self.attributes},
            "least": sum(operand.size != "?" for operand in self.operands),
            "is_variadic": self.operands[-1].size == "*",
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def operand_name(self, index: int) -> str:
        """Return the name of operand number ``index`` of a call: ``bias``, or ``tensors[2]`` for a variadic operand."""
        first = len(self.operands) - 1
        if self.is_variadic and index >= first:
            return f"{self.operands[first].name}[{index - first}]"
        return self.operands[index].name
