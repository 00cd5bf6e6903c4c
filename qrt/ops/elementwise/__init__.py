"""What the element-wise ops of ``arith`` and ``math`` compute: one implementation, for folders and interpreter.

Values are NumPy scalars or arrays: a signless ``iN`` sign-extended in the next signed dtype, i1 a bool, index int64, a
float in `ops.core.expressed_dtype`. Rules: docs/numerics.md, "Scalar operations".
"""

from collections.abc import Mapping, Sequence
from typing import Any

from qrt.errors import QuantTypeError
from qrt.numerics.elements import Function
from qrt.ops.elementwise import comparisons, conversions, floats, integers, transcendental
from qrt.ops.elementwise.comparisons import FLOAT_PREDICATES, INTEGER_PREDICATES
from qrt.ops.elementwise.conversions import ROUNDING_MODES
from qrt.ops.elementwise.nans import with_one_nan
from qrt.ops.elementwise.signature import Binder, Signature
from qrt.types import Type

__all__ = ["BINDERS", "FLOAT_PREDICATES", "INTEGER_PREDICATES", "ROUNDING_MODES", "Function", "bind"]

BINDERS: dict[str, Binder] = {
    **dict.fromkeys(integers.OPS, integers.bind),
    **dict.fromkeys(floats.OPS, floats.bind),
    **dict.fromkeys(conversions.OPS, conversions.bind),
    **dict.fromkeys(comparisons.OPS, comparisons.bind),
    **dict.fromkeys(transcendental.NAMES, transcendental.bind),
}
"""Every op that has a meaning here."""


def bind(
    name: str,
    operands: Sequence[Type],
    results: Sequence[Type],
    attributes: Mapping[str, Any] | None = None,
    *,
    saturating: bool = False,
) -> Function:
    """The function that an op is for these element types, on NumPy scalars or broadcastable arrays of their dtypes; of
    an op with two results it returns a tuple. To be called under ``np.errstate(all="ignore")``.

    ``attributes`` are the op's as plain values: ``predicate`` and ``roundingmode`` are numbers, ``overflowFlags``
    names, ``isExact`` a bool; others (``fastmath``) change no result. ``saturating`` concerns ``fptosi`` and ``fptoui``
    alone. Raises ``QuantTypeError`` for types that do not execute; the function raises ``UndefinedError`` where the op
    is undefined.

    >>> import numpy as np
    >>> from qrt.types import IntegerType
    >>> add = bind("arith.addi", [IntegerType(4)] * 2, [IntegerType(4)])
    >>> add(np.int8(7), np.int8(1))
    np.int8(-8)
    """
    binder = BINDERS.get(name)
    if binder is None:
        raise QuantTypeError(f"{name} is no element-wise op of arith or math")
    signature = Signature(name, tuple(operands), tuple(results), attributes or {}, saturating)
    return with_one_nan(binder(signature), signature)
