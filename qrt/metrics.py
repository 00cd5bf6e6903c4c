"""Measures of the error of approximate values, such as quantized ones, relative to reference values.

Arguments are arrays, or quantized tensors, which are dequantized. Values are converted to float64. Each difference and
each product is rounded to float64, and sums are exact. Therefore the results are the same on every machine, and for
every order of the values.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.errors import QuantTypeError, check_signature, shown
from qrt.numerics.sums import exact_sum, nearest_float, require_finite, square_sum
from qrt.numerics.transcendental.correctly_rounded import bind
from qrt.tensor import QuantTensor
from qrt.tensor.arrays import as_array

__all__ = ["cosine", "max_error", "mse", "saturation", "snr"]

Values = npt.ArrayLike | QuantTensor
Array = npt.NDArray[Any]


@check_signature
def snr(reference: Values, approximation: Values) -> float:
    """Return the signal-to-noise ratio in decibels: ``10 * log10(sum(r^2) / sum((r - a)^2))``.

    A ratio that is 6 decibels higher means an error half as large.

    Parameters
    ----------
    reference, approximation : array_like or QuantTensor
        Finite real numbers of one shape.

    Returns
    -------
    float
        Infinite if no value differs; minus infinity if the reference is all zeros and a value differs.

    Raises
    ------
    QuantTypeError
        If the shapes differ, there is no value, or one is not a finite real number.

    Examples
    --------
    >>> import qrt
    >>> round(qrt.metrics.snr([1.0, -3.0], [1.0, -2.9]), 6)
    30.0
    """
    r, a = _pair("snr", reference, approximation)
    signal, noise = square_sum(r), _error_sum(r, a)
    return decibels(signal, noise)


@check_signature
def mse(reference: Values, approximation: Values) -> float:
    """Return the mean of the squared errors: ``sum((r - a)^2) / N``.

    Parameters
    ----------
    reference, approximation : array_like or QuantTensor
        Finite real numbers of one shape.

    Returns
    -------
    float

    Raises
    ------
    QuantTypeError
        If the shapes differ, there is no value, or one is not a finite real number.

    Examples
    --------
    >>> import qrt
    >>> qrt.metrics.mse([1.0, 2.0], qrt.quantize([1.0, 2.5], "!quant.uniform<i8:f32, 0.5>"))
    0.125
    """
    r, a = _pair("mse", reference, approximation)
    return nearest_float(_error_sum(r, a) / r.size)


@check_signature
def cosine(reference: Values, approximation: Values) -> float:
    """Return the cosine of the angle between two tensors: ``sum(r * a) / sqrt(sum(r^2) * sum(a^2))``.

    Parameters
    ----------
    reference, approximation : array_like or QuantTensor
        Finite real numbers of one shape.

    Returns
    -------
    float
        From -1 to 1. It is 0 if one of the two is all zeros, and 1 if both are.

    Raises
    ------
    QuantTypeError
        If the shapes differ, there is no value, or one is not a finite real number.

    Examples
    --------
    >>> import qrt
    >>> qrt.metrics.cosine([1.0, 2.0], [2.0, 4.0]), qrt.metrics.cosine([1.0, 0.0], [1.0, 1.0])
    (1.0, 0.7071067811865476)
    """
    (r, _), (a, _) = map(_scaled, _pair("cosine", reference, approximation))
    product, squares = exact_sum(r * a), exact_sum(r * r) * exact_sum(a * a)
    if not squares:
        return float(not r.any() and not a.any())
    root = math.sqrt(min(nearest_float(product * product / squares), 1.0))
    return root if product >= 0 else -root


@check_signature
def max_error(reference: Values, approximation: Values) -> float:
    """Return the largest magnitude of an error: ``max(abs(r - a))``.

    Parameters
    ----------
    reference, approximation : array_like or QuantTensor
        Finite real numbers of one shape.

    Returns
    -------
    float

    Raises
    ------
    QuantTypeError
        If the shapes differ, there is no value, or one is not a finite real number.

    Examples
    --------
    >>> import qrt
    >>> qrt.metrics.max_error([1.0, 2.0], [1.25, 1.0])
    1.0
    """
    r, a = _pair("max_error", reference, approximation)
    with np.errstate(over="ignore"):
        return float(np.abs(r - a).max())


@check_signature
def saturation(q: QuantTensor) -> float:
    """Return the share of elements whose stored integer is the least or the greatest of the type.

    Parameters
    ----------
    q : QuantTensor
        Of any type; at least one element.

    Returns
    -------
    float
        From 0 to 1.

    Raises
    ------
    QuantTypeError
        If ``q`` is not a QuantTensor, or has no element.

    Examples
    --------
    >>> import qrt
    >>> qrt.metrics.saturation(qrt.quantize([0, 1, 100, -100], "!quant.uniform<i8:f32, 0.5>"))
    0.5
    """
    if not isinstance(q, QuantTensor):
        raise QuantTypeError(f"saturation: 'q' must be a QuantTensor, got {shown(q)}")
    if not q.size:
        raise QuantTypeError(f"saturation: 'q' must have elements, got shape {q.shape}")
    stored = q.storage
    return int(np.count_nonzero((stored == q.type.storage_min) | (stored == q.type.storage_max))) / q.size


def decibels(signal: Fraction, noise: Fraction) -> float:
    """Return the ratio of two sums of squares in decibels; infinite if the second, the noise, is 0."""
    if not noise:
        return math.inf
    return 10 * float(bind("math.log10", "f64")(np.float64(nearest_float(signal / noise))))


def _pair(name: str, reference: Values, approximation: Values) -> tuple[Array, Array]:
    r, a = _values(f"{name}: 'reference'", reference), _values(f"{name}: 'approximation'", approximation)
    if r.shape != a.shape:
        raise QuantTypeError(
            f"{name}: 'reference' and 'approximation' must have the same shape, got {r.shape} and {a.shape}"
        )
    if not r.size:
        raise QuantTypeError(f"{name}: 'reference' and 'approximation' must have elements, got shape {r.shape}")
    return r, a


def _values(what: str, given: Values) -> Array:
    """Return values as a float64 array. Raise QuantTypeError, with the name ``what``, unless all are finite."""
    array = as_array(given)
    if array.dtype.kind not in "biuf" and array.dtype.type.__module__ != "ml_dtypes":
        raise QuantTypeError(f"{what} must be real numbers, got dtype {array.dtype}")
    with np.errstate(over="ignore"):
        values = array.astype(np.float64)
    require_finite(values, what)
    return values


def _scaled(values: Array) -> tuple[Array, int]:
    """Return (``values / 2**exponent``, exponent) with an exponent for which the largest magnitude is from 1/2 to 1.

    With such values, no product of two values overflows, and the square of the largest one does not underflow.
    """
    exponent = int(np.frexp(np.abs(values).max())[1])
    return np.ldexp(values, -exponent), exponent


def _error_sum(r: Array, a: Array) -> Fraction:
    """Return the exact sum of the squared errors.

    If an error overflows, the values are halved first, and the sum is multiplied by 4.
    """
    with np.errstate(over="ignore"):
        error = r - a
    return square_sum(error) if np.isfinite(error).all() else 4 * square_sum(r / 2 - a / 2)


def __dir__() -> list[str]:
    return __all__
