"""How an op family is called, said once: its operands, its attributes, and who says the type of its result.

What is made of a declaration: the op of its dialect (``qrt.dialects.qrt``), the attributes of a call and their
defaults, the row of docs/reference/dialects/qrt.md, and what the public function's signature is checked against. Loads
neither NumPy nor kernels.

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
"""What an attribute is: one of ``choices``, a number or truth, a list of axes, one integer for height and one for
width, or two (before, after) for each dimension."""

REQUIRED: Final = ...
"""The default of a parameter without one."""
SAME: Final = object()


@dataclass(frozen=True)
class Operand:
    """``note``: what the documents say of it; ``size``: "?" where it may be left out, "*" where there is any number."""

    name: str
    note: str = ""
    size: Literal["", "?", "*"] = ""


BIAS: Final = Operand("bias", size="?")


@dataclass(frozen=True)
class Attribute:
    """``note`` is what the documents say in place of the default.

    The public function takes an attribute by keyword, unless the attribute is ``positional``. The default is the op's,
    unless ``given`` is another one; REQUIRED stands for none. An attribute that is not ``public`` is the op's alone.
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
    """``parameter``: the public function's, which says the type; "" where it follows from the operands."""

    note: str
    parameter: str = ""
    required: bool = False


DECLARED: Final = Result("as declared", "out_type")
"""An exact type, or that of the operand, unless another one is said."""
KEPT: Final = Result("of the operand's type")


@dataclass(frozen=True)
class Declaration:
    """``view``: whether the public function gives a view of its operand, and so takes no ``out``."""

    name: str
    operands: tuple[Operand, ...]
    attributes: tuple[Attribute, ...] = ()
    result: Result = DECLARED
    view: bool = False
    dialect: Literal["qrt", "quant"] = "qrt"

    @property
    def op(self) -> str:
        """The name in IR."""
        return f"{self.dialect}.{self.name}"

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
