"""Functions that write into a tensor: tensors of its type, or real numbers, quantized. Into an array they write the
values of a tensor."""

from typing import Any

import numpy as np

from qrt.errors import QuantValueError, shown
from qrt.tensor.protocol.assignment import write
from qrt.tensor.protocol.elements import no_tensor, truth
from qrt.tensor.protocol.table import implements


@implements(np.copyto, kind="moves")
def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """Writes a tensor or numbers, where a condition holds; into an array, the values of a tensor."""
    held = truth(where)
    write(dst, src, lambda array, values: np.copyto(array, values, casting, where=held))


@implements(np.put, kind="moves")
def put(a: Any, ind: Any, v: Any, mode: Any = "raise") -> None:
    """Writes at positions in one line."""
    no_tensor(ind, "ind")
    if mode not in ("raise", "wrap", "clip"):  # NumPy's own refusal is a SystemError
        raise QuantValueError(f"mode must be 'raise', 'wrap' or 'clip', got {shown(mode)}")
    write(a, v, lambda array, values: np.put(array, ind, values, mode))


@implements(np.place, kind="moves")
def place(arr: Any, mask: Any, vals: Any) -> None:
    """Writes values one after the other where a mask holds."""
    held = truth(mask)
    write(arr, vals, lambda array, values: np.place(array, held, values))


@implements(np.putmask, kind="moves")
def putmask(a: Any, mask: Any, values: Any) -> None:
    """Writes the values at their own positions where a mask holds."""
    held = truth(mask)
    write(a, values, lambda array, given: np.putmask(array, held, given))


@implements(np.put_along_axis, kind="moves")
def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    """Writes at positions that differ from line to line along an axis."""
    no_tensor(indices, "indices")
    write(arr, values, lambda array, given: np.put_along_axis(array, indices, given, axis))


@implements(np.fill_diagonal, kind="moves")
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Writes along the main diagonal."""
    write(a, val, lambda array, values: np.fill_diagonal(array, values, wrap))
