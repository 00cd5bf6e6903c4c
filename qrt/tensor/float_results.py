"""The switch that allows, warns of or forbids operations whose results are floats, similar to ``np.errstate``."""

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any, Literal, get_args

import numpy as np

from qrt.errors import QuantError, QuantTypeError, check_signature, shown
from qrt.tensor.calls import Tensor
from qrt.tensor.numpy_errors import NUMPY_ERRORS, from_numpy

Mode = Literal["allow", "warn", "raise"]
_INSIDE = ("qrt.tensor", "qrt.errors")
"""The packages whose frames are skipped, so that a warning points to the caller's line."""
_MODE: ContextVar[Mode] = ContextVar("qrt_float_results", default="raise")


@check_signature
@contextmanager
def float_results(mode: Mode) -> Iterator[None]:
    """Set the behaviour of operations without an exact quantized result within a ``with`` block.

    Such operations are ``np.exp(q)``, ``q / r``, ``q + 0.5`` and ``a @ q`` with an array of floats, for example. By
    default they are errors. The block changes that for its own thread or task. It does not change operations with an
    exact quantized result.

    Parameters
    ----------
    mode : {"allow", "warn", "raise"}
        ``"allow"`` gives the floats that NumPy gives for ``np.asarray(q)``. ``"warn"`` gives them too, and warns.
        ``"raise"`` raises a ``QuantTypeError``, whose message says what to write instead.

    Raises
    ------
    QuantTypeError
        If ``mode`` is another value.

    Examples
    --------
    >>> import qrt
    >>> q = qrt.quantize([1.0, 4.0], qrt.UniformType("i8", "f32", 0.5))
    >>> with qrt.float_results("allow"):
    ...     np.sqrt(q)
    array([1., 2.], dtype=float32)
    """
    if not isinstance(mode, str) or mode not in get_args(Mode):
        raise QuantTypeError(f'float_results: \'mode\' must be "allow", "warn" or "raise", got {shown(mode)}')
    token = _MODE.set(mode)
    try:
        yield
    finally:
        _MODE.reset(token)


def in_floats(
    name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], hint: Callable[[], str]
) -> Any:
    """Return the result of ``function`` on dequantized values; raise QuantTypeError if ``float_results`` forbids that.

    ``hint()`` returns the text of the call that the error or warning advises.
    """
    mode = _MODE.get()
    message = ""
    if mode != "allow":
        advice = advice_to_the_caller_of_numpy() or f": write {hint()}"
        message = f"{name} has no exact result as quantized values{advice}"
    if mode == "raise":
        raise QuantTypeError(f'{message}, or use qrt.float_results("allow")')
    out = kwargs.get("out")
    if any(isinstance(x, Tensor) for x in (out if isinstance(out, tuple) else (out,))):
        raise QuantTypeError(
            f"{name}: 'out' must be an array of floats, because the result has no exact quantized values, got a "
            "QuantTensor"
        )
    if mode == "warn":
        warnings.warn(message, stacklevel=_frames_inside())
    try:
        return function(*_dequantized(args), **_dequantized(dict(kwargs)))
    except QuantError:
        raise
    except NUMPY_ERRORS as error:
        raise from_numpy(error, name) from error


def advice_to_the_caller_of_numpy() -> str:
    """Return advice for an operation that NumPy called, as ``np.tri(3, k=q)`` calls ``3 - q``; else an empty text.

    The user did not write that operation. So the text advises to pass ``np.asarray(q)`` to the NumPy function.
    """
    frame: FrameType | None = sys._getframe(_frames_inside() - 1)
    caller = ""
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "numpy":
        name = frame.f_code.co_name
        caller = f"np.{name}" if hasattr(np, name) and not name.startswith("_") else "NumPy"
        frame = frame.f_back
    return caller and f", and {caller} calls it: give {caller} np.asarray(q)"


def _frames_inside() -> int:
    """Return the ``stacklevel`` with which a warning points to the code that called NumPy, or used an operator."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_INSIDE):
        frame, level = frame.f_back, level + 1
    return level


def _dequantized(given: Any) -> Any:
    """Return ``given`` with each QuantTensor replaced by its values."""
    if isinstance(given, Tensor):
        return np.asarray(given)
    if isinstance(given, dict):
        return {name: _dequantized(value) for name, value in given.items()}
    if type(given) in (tuple, list):
        return type(given)(map(_dequantized, given))
    return given
