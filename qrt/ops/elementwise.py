"""The functions of the element-wise ops of ``arith`` and ``math``, shared by constant folding and the interpreter.

Values are NumPy scalars or arrays. A signless ``iN`` is sign-extended in the smallest signed dtype that holds it. i1 is
a bool, index is int64, and a float has the dtype of `ops.core.expressed_dtype`. The functions are in `numerics`;
docs/numerics_functions.md, "arith and math", has the rules.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from qrt.errors import QuantTypeError
from qrt.numerics import comparisons, conversions, floats, integers
from qrt.numerics.comparisons import FLOAT_PREDICATES, INTEGER_PREDICATES
from qrt.numerics.conversions import ROUNDING_MODES
from qrt.numerics.elements import Function, choose
from qrt.numerics.float_text import FORMATS
from qrt.numerics.integers import Integer
from qrt.numerics.nans import with_one_nan
from qrt.numerics.transcendental import correctly_rounded
from qrt.types import FloatType, IndexType, IntegerType, Type

__all__ = ["BINDERS", "FLOAT_PREDICATES", "INTEGER_PREDICATES", "ROUNDING_MODES", "Function", "bind"]


@dataclass(frozen=True)
class Signature:
    """An op for which `bind` returns a function: its name, element types, and attributes as plain Python values."""

    name: str
    operands: tuple[Type, ...]
    results: tuple[Type, ...]
    attributes: Mapping[str, Any]
    saturating: bool

    @property
    def operand(self) -> Type:
        return self.operands[0]

    @property
    def result(self) -> Type:
        return self.results[0]


Binder = Callable[[Signature], Function]
Element = Callable[[Type], Integer | str]
"""A function that returns a type in the form that `numerics` takes: an `Integer`, or the name of a float format."""


@lru_cache(maxsize=128)
def integer(t: Type) -> Integer:
    """Return the format (width and dtype) of a signless integer type or index.

    Raise ``QuantTypeError`` for types without integer arithmetic here, such as i128.
    """
    if isinstance(t, IndexType):
        return Integer(64, np.dtype(np.int64))
    if not isinstance(t, IntegerType) or not t.is_signless or not 1 <= t.width <= 64:
        raise QuantTypeError(
            f"values of type {t} cannot be computed: the type must be an integer type from i1 to i64, or index"
        )
    return Integer(t.width, np.dtype(f"i{next(bits for bits in (8, 16, 32, 64) if t.width <= bits) // 8}"))


def float_format(t: Type) -> str:
    """Return the name of a float type, such as `f32`. Raise QuantTypeError for any other type."""
    if not isinstance(t, FloatType):
        raise QuantTypeError(f"expected a float type, got {t}")
    return t.name


def arithmetic_format(t: Type) -> str:
    """Return the name of a float type, such as `f32`.

    Raise QuantTypeError for any other type, and for a float type without a zero (f8E8M0FNU), which has no arithmetic.
    """
    form = float_format(t)
    if not FORMATS[form].has_zero:
        raise QuantTypeError(f"arithmetic of type {t} is not supported: the type has no zero and no negative numbers")
    return form


def _mode(signature: Signature) -> str:
    return conversions.ROUNDING_MODES[signature.attributes.get("roundingmode", 0)]


def _promises(signature: Signature) -> frozenset[str]:
    exact = ["exact"] if signature.attributes.get("isExact") else []
    return frozenset([*signature.attributes.get("overflowFlags", ()), *exact])


def _transcendental(s: Signature) -> Function:
    exponent = integer(s.operands[1]) if s.name == "math.fpowi" else None
    return correctly_rounded.bind(s.name, arithmetic_format(s.operand), exponent)


def _converted(function: Callable[..., Function], source: Element, target: Element, **known: bool) -> Binder:
    """Return the binder of a conversion op: a function that takes the op's signature and returns its implementation.

    The binder calls ``function`` with the formats of the operand and the result, which ``source`` and ``target``
    return for their types.
    """
    return lambda s: function(source(s.operand), target(s.result), **known)


def _compared_floats(s: Signature) -> Function:
    float_format(s.operand)
    return comparisons.of_floats(s.attributes["predicate"])


def _bitcast(s: Signature) -> Function:
    if s.operand is s.result:
        return lambda x: x
    source, target = (t.name if isinstance(t, FloatType) else integer(t) for t in (s.operand, s.result))
    return conversions.bitcast(source, target)


BINDERS: dict[str, Binder] = {
    **dict.fromkeys(integers.OPS, lambda s: integers.bind(s.name, integer(s.operand), _promises(s))),
    **dict.fromkeys(floats.OPS, lambda s: floats.OPS[s.name](arithmetic_format(s.operand))),
    **dict.fromkeys(comparisons.CLASSES, lambda s: comparisons.CLASSES[s.name](float_format(s.operand))),
    **dict.fromkeys(correctly_rounded.NAMES, _transcendental),
    "arith.cmpi": lambda s: comparisons.of_integers(s.attributes["predicate"], integer(s.operand)),
    "arith.cmpf": _compared_floats,
    "arith.select": lambda s: choose,
    **dict.fromkeys(
        ("arith.extf", "arith.truncf"),
        lambda s: conversions.between_floats(float_format(s.operand), float_format(s.result), _mode(s)),
    ),
    "arith.scaling_extf": lambda s: conversions.scaling_extf(*map(float_format, (*s.operands, s.result))),
    "arith.scaling_truncf": lambda s: conversions.scaling_truncf(_mode(s), *map(float_format, (*s.operands, s.result))),
    "arith.sitofp": _converted(conversions.int_to_float, integer, float_format, signed=True),
    "arith.uitofp": _converted(conversions.int_to_float, integer, float_format, signed=False),
    "arith.fptosi": lambda s: conversions.float_to_int(float_format(s.operand), integer(s.result), True, s.saturating),
    "arith.fptoui": lambda s: conversions.float_to_int(float_format(s.operand), integer(s.result), False, s.saturating),
    "arith.extsi": _converted(conversions.extension, integer, integer, signed=True),
    "arith.extui": _converted(conversions.extension, integer, integer, signed=False),
    "arith.trunci": lambda s: conversions.truncation(integer(s.operand), integer(s.result), _promises(s)),
    "arith.index_cast": _converted(conversions.index_cast, integer, integer, signed=True),
    "arith.index_castui": _converted(conversions.index_cast, integer, integer, signed=False),
    "arith.bitcast": _bitcast,
}
"""The function that binds an op, by the name of the op."""


def bind(
    name: str,
    operands: Sequence[Type],
    results: Sequence[Type],
    attributes: Mapping[str, Any] | None = None,
    *,
    saturating: bool = False,
) -> Function:
    """Return the function that computes an op of ``arith`` or ``math`` for these element types.

    The function takes NumPy scalars or broadcastable arrays of the types' dtypes, and returns a tuple if the op has two
    results. Call it under ``np.errstate(all="ignore")``. It raises ``UndefinedError`` for operands for which the op is
    undefined.

    ``attributes`` are the op's attributes as plain values: ``predicate`` and ``roundingmode`` are numbers,
    ``overflowFlags`` names, ``isExact`` a bool; others (``fastmath``) change no result. With ``saturating``, ``fptosi``
    and ``fptoui`` convert a float out of range to the nearest integer instead of raising ``UndefinedError``. Raises
    ``QuantTypeError`` for types on which the op is not implemented.

    >>> import numpy as np
    >>> from qrt.types import IntegerType
    >>> add = bind("arith.addi", [IntegerType(4)] * 2, [IntegerType(4)])
    >>> add(np.int8(7), np.int8(1))
    np.int8(-8)
    """
    binder = BINDERS.get(name)
    if binder is None:
        raise QuantTypeError(f"{name} is not an element-wise op of arith or math")
    signature = Signature(name, tuple(operands), tuple(results), attributes or {}, saturating)
    function, result = binder(signature), signature.result
    return with_one_nan(function, name, result.name) if isinstance(result, FloatType) else function
