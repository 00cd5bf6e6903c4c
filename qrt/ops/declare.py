"""The declaration of an op family: its operands, its attributes, and how the type of its result is determined.

From it follow the op of the dialect (``qrt.ir.dialects.qrt``), the attributes of a call with their defaults, the row of
docs/reference/dialects/qrt.md and the check of the public function's signature. The family's traits are facts that
passes, targets and exporters read instead of listing the names of families. ``tests/ops/test_traits.py`` compares the
traits with the results of the references.

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
"""The kinds of attributes: one of ``choices``, a number, a truth value, a list of axes, a pair of integers for height
and width, or a pair (before, after) for each dimension.
"""

Constraint = Literal[
    "free", "same_scale", "fixed_scale", "sum_scale", "multiplier_scale", "multiplier_accumulator_scale"
]
"""The names of constraints between the types at the ports of a kernel."""

REQUIRED: Final = ...
"""The default of a parameter without one."""
SAME: Final = object()


@dataclass(frozen=True)
class Operand:
    """An operand of an op family.

    ``note`` describes the operand in the documentation. ``size`` is "?" for an operand that may be left out, and "*"
    for any number of operands.
    """

    name: str
    note: str = ""
    size: Literal["", "?", "*"] = ""


BIAS: Final = Operand("bias", size="?")


@dataclass(frozen=True)
class Attribute:
    """An attribute of an op family.

    ``note`` replaces the default in the documentation. The public function takes an attribute by keyword, unless it is
    ``positional``. Its default there is that of the op, unless ``given`` is another one; REQUIRED means none. The
    public function lacks attributes that are not ``public``.
    """

    name: str
    kind: Kind
    default: Any = None
    choices: tuple[str, ...] = ()
    note: str = ""
    positional: bool = False
    given: Any = SAME
    public: bool = True


@dataclass(frozen=True)
class Result:
    """The rule for the type of a result.

    ``parameter`` is the parameter of the public function that gives the type; "" if the type follows from the operands.
    ``keeps_type`` is True if the element type is that of the first operand, whose parameters follow their axes.
    """

    note: str
    parameter: str = ""
    required: bool = False
    keeps_type: bool = False


DECLARED: Final = Result("as declared", "out_type")
"""An exact type, or that of the operand, unless another one is said."""
KEPT: Final = Result("of the operand's type", keeps_type=True)
FOLLOWING: Final = Result("of the operand's type; channels follow their axis", keeps_type=True)


Order = tuple[int, ...]
"""A permutation of axes: for each axis of a transposed tensor that of the tensor before."""
Permute = Callable[[Mapping[str, Any], Order], tuple[dict[str, Any], Order]]
_Types = tuple[TensorType, ...]
_Attributes = Mapping[str, Any]


@dataclass(frozen=True)
class Weights:
    """The weights of a sum of products, which are the second operand.

    Of the first operand only the distance from its zero point matters, and its last axis has the input channels; a
    third operand is a bias at the scale of the sum. ``inputs`` and ``outputs`` are the axes of the weights along which
    input and output channels are. ``window`` has the axes of a window's height and width if the window may be padded
    more, with zero points.
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
        NumPy. The reference, applied to all values of 8 bits, makes a table.
    tables : tuple of int
        The operands that an elementwise family reads as a whole for each element.
    float_op : str
        The op on floats that quantization replaces by the elementwise family.
    float_attributes : mapping
        The attributes with which the family computes ``float_op`` to the nearest result, if they are not the defaults.
    constraint : str
        The constraint between the types at the ports of a region that the family computes (docs/reference/targets.md);
        None for a family of which quantization makes no region.
    operand_bits : int
        The most bits of an operand's storage.
    ends_in_clamp : bool
        The last step is a clamp to the bounds of the result's storage, which have no other effect.
    bounds : callable, optional
        Function of ``(type, attributes)`` that returns the least and the greatest storage of the result, for each
        parameter of the type. The family is a clamp to these and computes nothing else.
    weights : Weights, optional
        The family computes sums of products with weights.
    of_floats : str
        The family with the same computation for a first operand of floats.
    is_exact : bool
        The inferred type, if none is declared, holds every result exactly.
    kept_type : callable, optional
        Function of ``(types, attributes, declared result)`` that returns the element type of the result, for a family
        that keeps that of the first operand, with its parameters along an axis that the declared shape determines.
    is_movement : bool
        Elements of any type are moved unchanged.
    permutation : callable, optional
        Function of ``(types, attributes)`` that returns the order to which the family permutes the axes; it does
        nothing else.
    permute : callable, optional
        Function of ``(attributes, order)``, to move a transpose of the operands to ``order`` behind the op: it returns
        the attributes that change for the untransposed operands, and the order to which to transpose the result.
    scaled_axis : callable, optional
        Function of ``(attributes, axis)`` for factors along an axis of the first operand: it returns the axis of the
        result along which they are then, or None.
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
    """The declaration of an op family.

    ``results`` names the values that the op returns, in IR; by default there is one. ``view`` is True if the public
    function returns a view of its operand; it then has no ``out``. A family that is not ``public`` has no public
    function: programs have its op, and arrays compute it by other names. ``article`` is the name of a second op, which
    articles on lowering use.
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
            "least": sum(operand.size != "?" for operand in self.operands),
            "is_variadic": self.operands[-1].size == "*",
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def operand_name(self, index: int) -> str:
        """Return the name of an operand by its index in a call: `bias`, or `tensors[2]` for a variadic operand."""
        first = len(self.operands) - 1
        if self.is_variadic and index >= first:
            return f"{self.operands[first].name}[{index - first}]"
        return self.operands[index].name
