"""The declaration of an op family: its operands, its attributes, and where the type of its result comes from. The op of
the dialect (``qrt.dialects.qrt``), the attributes of a call with their defaults, the row of
docs/reference/dialects/qrt.md and the check of the public function's signature all follow from it. Loads neither NumPy
nor kernels.

>>> slope = Attribute("slope", "number", 0.25, positional=True)
>>> leaky = Declaration("leaky_relu", operands=(Operand("q"),), attributes=(slope,), result=KEPT)
>>> leaky.op, leaky.defaults
('qrt.leaky_relu', {'slope': 0.25})
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

Kind = Literal["choice", "integer", "number", "boolean", "axes", "pair", "pairs"]
"""The kinds of attributes: one of ``choices``, a number, a truth value, a list of axes, a pair of integers for height
and width, or a pair (before, after) for each dimension.
"""

REQUIRED: Final = ...
"""The default of a parameter without one."""
SAME: Final = object()


@dataclass(frozen=True)
class Operand:
    """``note`` describes the operand in the documents. ``size`` is "?" for an operand that may be left out, and "*" for
    any number of them.
    """

    name: str
    note: str = ""
    size: Literal["", "?", "*"] = ""


BIAS: Final = Operand("bias", size="?")


@dataclass(frozen=True)
class Attribute:
    """``note`` stands in the documents in place of the default. The public function takes an attribute by keyword,
    unless the attribute is ``positional``. Its default is the op's, unless ``given`` is another one; REQUIRED means
    that there is none. The public function lacks an attribute that is not ``public``.
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
    """``parameter`` is the parameter of the public function that gives the type; "" if the type follows from the
    operands. ``keeps_type`` says whether the element type is that of the first operand, whose parameters follow their
    axes.
    """

    note: str
    parameter: str = ""
    required: bool = False
    keeps_type: bool = False


DECLARED: Final = Result("as declared", "out_type")
"""An exact type, or that of the operand, unless another one is said."""
KEPT: Final = Result("of the operand's type", keeps_type=True)
FOLLOWING: Final = Result("of the operand's type; channels follow their axis", keeps_type=True)


@dataclass(frozen=True)
class Declaration:
    """``results`` names the values that the op gives, in IR; a family has one unless it says otherwise. ``view`` says
    whether the public function returns a view of its operand; it then takes no ``out``. A family that is not
    ``public`` has no public function: programs have its op, and arrays compute it by other names. ``article`` is the
    name of a second op, which articles on lowering write.
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

    @property
    def op(self) -> str:
        """The name in IR."""
        return f"{self.dialect}.{self.name}"

    @property
    def ops(self) -> tuple[str, ...]:
        """Every name in IR."""
        return (self.op, self.article) if self.article else (self.op,)

    @cached_property
    def defaults(self) -> Mapping[str, Any]:
        return {attribute.name: attribute.default for attribute in self.attributes}

    @cached_property
    def choices(self) -> Mapping[str, tuple[str, ...]]:
        return {attribute.name: attribute.choices for attribute in self.attributes if attribute.choices}

    @cached_property
    def least(self) -> int:
        """The number of operands that must be there."""
        return sum(operand.size != "?" for operand in self.operands)

    def operand_name(self, index: int) -> str:
        """What an operand is called, by its place in a call: `bias`, or `tensors[2]` of any number."""
        first = len(self.operands) - 1
        if self.is_variadic and index >= first:
            return f"{self.operands[first].name}[{index - first}]"
        return self.operands[index].name

    @property
    def is_variadic(self) -> bool:
        return self.operands[-1].size == "*"
