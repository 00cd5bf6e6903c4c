"""Plots of quantized tensors by matplotlib, which ``pip install "qrt[report]"`` installs."""

from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.errors import QuantTypeError, check_signature, require
from qrt.extras import extra
from qrt.ops.core import Array
from qrt.tensor import QuantTensor
from qrt.tensor.arrays import as_array, native_floats

__all__ = ["error", "histogram"]


@check_signature
def histogram(q: QuantTensor, *, bins: int = 64, ax: Any = None) -> Any:
    """Draw a histogram of a tensor's values, with two vertical lines at the least and the greatest value of its type.

    For a per-axis or sub-channel type, the lines are at the least and the greatest value over all of its scales.

    Parameters
    ----------
    q : QuantTensor
        Of any shape and type.
    bins : int, default 64
        The number of bars.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on; new ones if not given.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    QuantTypeError
        If ``q`` is not a QuantTensor.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import qrt
    >>> q = qrt.quantize(np.linspace(-1, 1, 100), qrt.UniformType("i8", "f32", 0.01))
    >>> histogram(q).get_xlabel()
    'value'
    """
    require(q, QuantTensor, "plot.histogram: 'q'", "a QuantTensor")
    axes = _axes(ax)
    axes.hist(_finite(q), bins=bins, color="steelblue")
    low = np.min((q.type.storage_min - q.zero_points) * q.scales)
    high = np.max((q.type.storage_max - q.zero_points) * q.scales)
    for edge in (low, high):
        axes.axvline(edge, color="firebrick", linestyle="--")
    axes.set(xlabel="value", ylabel="elements", title=repr(q.type))
    return axes


@check_signature
def error(reference: npt.ArrayLike, q: QuantTensor | npt.ArrayLike, *, ax: Any = None) -> Any:
    """Draw the error of each element as a point at x = ``reference``, y = ``q - reference``.

    Parameters
    ----------
    reference : array_like
        The real values.
    q : QuantTensor or array_like
        The quantized or approximate values, of the same shape.
    ax : matplotlib.axes.Axes, optional
        The axes to draw on; new ones if not given.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    QuantTypeError
        If the shapes differ, or a value is not a real number.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import qrt
    >>> x = np.linspace(-1, 1, 100)
    >>> error(x, qrt.quantize(x, qrt.UniformType("i8", "f32", 0.01))).get_ylabel()
    'error'
    """
    exact, approximate = _values(reference, "plot.error: 'reference'"), _values(q, "plot.error: 'q'")
    if exact.shape != approximate.shape:
        raise QuantTypeError(
            f"plot.error: 'reference' and 'q' must have the same shape, got {exact.shape} and {approximate.shape}"
        )
    axes = _axes(ax)
    axes.plot(exact.reshape(-1), (approximate - exact).reshape(-1), ".", markersize=2, color="steelblue")
    axes.set(xlabel="reference", ylabel="error")
    return axes


def _axes(ax: Any) -> Any:
    return extra("matplotlib.pyplot", "report").subplots()[1] if ax is None else ax


def _values(x: Any, what: str) -> Array:
    values = x.dequantize() if isinstance(x, QuantTensor) else as_array(x)
    if values.dtype.kind not in "biuf" and values.dtype.type.__module__ != "ml_dtypes":
        raise QuantTypeError(f"{what} must be real numbers, got dtype {values.dtype}")
    return native_floats(values).astype(np.float64)


def _finite(q: QuantTensor) -> Array:
    values = _values(q, "plot.histogram: q").reshape(-1)
    return values[np.isfinite(values)]


def __dir__() -> list[str]:
    return __all__
