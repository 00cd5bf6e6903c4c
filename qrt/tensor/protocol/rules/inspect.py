"""Functions that return properties of a tensor, or print its values."""

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np

from qrt.ops.core import Array, expressed_dtype
from qrt.tensor.protocol.elements import refuse_other_tensors, stored
from qrt.tensor.protocol.table import enter, enter_rules, implements
from qrt.tensor.quant_tensor import QuantTensor


def _with_stand_ins(function: Any, stand_in: Any) -> Callable[..., Any]:
    """Return the implementation of a NumPy function that calls NumPy with ``stand_in(q)`` in place of each tensor q."""

    def rule(*args: Any, **options: Any) -> Any:
        given = [stand_in(x) if isinstance(x, QuantTensor) else x for x in args]
        return function(*given, **{key: stand_in(x) if isinstance(x, QuantTensor) else x for key, x in options.items()})

    return rule


def _with_stand_in(function: Any, stand_in: Any) -> Callable[..., Any]:
    """Return the implementation of a NumPy function of one tensor q that calls NumPy with ``stand_in(q)`` in its place.

    The other arguments are integers, text and the like.
    """
    parameters = signature(function)
    operand = "X" if function is np.savetxt else next(iter(parameters.parameters))

    def rule(*args: Any, **options: Any) -> Any:
        given = parameters.bind(*args, **options).arguments
        refuse_other_tensors((), {name: x for name, x in given.items() if name != operand})
        return function(**{**given, operand: stand_in(given[operand])})

    return rule


def _dtype(q: QuantTensor) -> np.dtype[Any]:
    return expressed_dtype(q.type.expressed_type)


def _number(q: QuantTensor) -> Array:
    return np.empty(0, _dtype(q))


def _memory(q: QuantTensor) -> Array:
    return q._data


_ON_STAND_INS = {
    np.result_type: (_dtype, "The dtype of the values."),
    np.can_cast: (_dtype, "True if the values, as floats, can be cast to the dtype."),
    np.common_type: (_number, "The scalar type of the values."),
    np.may_share_memory: (_memory, "True if the address ranges of the storage overlap."),
    np.shares_memory: (_memory, "True if tensors share an element of storage."),
    np.min_scalar_type: (_number, "The dtype of the values."),
    np.einsum_path: (stored, "The order in which NumPy would contract operands of these shapes."),
}
_ON_STAND_IN = {
    np.shape: (stored, "As ``q.shape``."),
    np.ndim: (stored, "As ``q.ndim``."),
    np.size: (stored, "The number of elements, or the product of the sizes of some axes."),
    np.iscomplexobj: (stored, "False."),
    np.isrealobj: (stored, "True."),
    np.iscomplex: (stored, "False everywhere."),
    np.isreal: (stored, "True everywhere."),
    np.tril_indices_from: (stored, "Indices of the lower triangle of a matrix of this shape."),
    np.triu_indices_from: (stored, "Indices of the upper triangle of a matrix of this shape."),
    np.diag_indices_from: (stored, "Indices of the main diagonal of a tensor of this shape."),
    np.array2string: (np.asarray, "The values as text."),
    np.array_str: (np.asarray, "The values as text."),
    np.savetxt: (np.asarray, "Write the values as text."),
}
enter("inspects", _with_stand_ins, _ON_STAND_INS)
enter("inspects", _with_stand_in, _ON_STAND_IN)
_ASTYPE = (lambda x, dtype, /, *, copy=True, device=None: x.astype(dtype), "The values, in a float dtype.")
enter_rules("inspects", {"astype": _ASTYPE})


@implements(np.array_repr, kind="inspects")
def array_repr(arr: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None) -> str:
    """The text of ``repr(q)``."""
    refuse_other_tensors(
        (), {"max_line_width": max_line_width, "precision": precision, "suppress_small": suppress_small}
    )
    with np.printoptions(linewidth=max_line_width, precision=precision, suppress=suppress_small):
        return repr(arr)
