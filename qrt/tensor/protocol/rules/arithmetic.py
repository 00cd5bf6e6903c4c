"""Implementations of NumPy's arithmetic functions, such as ``np.add`` and ``np.multiply``, for tensors.

An operation on two tensors runs an op family. The product or quotient of a tensor and a number keeps the tensor's
storage and changes its scales.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from qrt.errors import QuantTypeError, shown
from qrt.ops.requant import max_magnitude
from qrt.tensor.casts import quantize
from qrt.tensor.float_results import in_floats
from qrt.tensor.functions import add, mul, sub
from qrt.tensor.products import matmul
from qrt.tensor.protocol.elements import exact_number
from qrt.tensor.protocol.exact import (
    GIVE_VALUES,
    I32_END,
    Units,
    centred,
    finish,
    refuse_others,
    require_tensors,
    result_type,
)
from qrt.tensor.protocol.results import into
from qrt.tensor.protocol.rules.signs import negative
from qrt.tensor.protocol.table import enter, implements
from qrt.tensor.protocol.written import nondefault_options, written_call, written_operands, written_operator
from qrt.tensor.quant_tensor import QuantTensor, tensor_of
from qrt.types import UniformType


def _binary(ufunc: np.ufunc, sign: str, family: Any, with_number: Any) -> Callable[..., Any]:
    """Return the implementation, for tensors, of a ufunc with the operator ``sign``.

    If both operands are tensors, the implementation calls ``family``, the public function of an op family, with the
    result type ``dtype``. If one is a number, it calls ``with_number``. For all other operands it gives floats.
    """

    def rule(a: Any, b: Any, /, *, out: Any = None, dtype: Any = None, **others: Any) -> Any:
        if family is not None and isinstance(a, QuantTensor) and isinstance(b, QuantTensor):
            refuse_others(others)
            wanted = result_type(dtype)
            if isinstance(wanted, np.dtype):
                raise QuantTypeError(f"'dtype' must be a !quant.uniform type, got {wanted}")
            return family(a, b, out_type=wanted, out=out)
        result = with_number(a, b) if with_number and not others and dtype is None else None
        return _in_floats(ufunc, sign, a, b, out, dtype, others) if result is None else into(out, result)

    return rule


def _tensor_and_number(a: Any, b: Any) -> tuple[Any, Any]:
    return (a, b) if isinstance(a, QuantTensor) else (b, a)


def _plus(a: Any, b: Any) -> QuantTensor | None:
    q, x = _tensor_and_number(a, b)
    return q.copy() if isinstance(q, QuantTensor) and _is_zero(x) else None


def _minus(a: Any, b: Any) -> QuantTensor | None:
    q = _plus(a, b)
    return q if q is None or isinstance(a, QuantTensor) else negative(q)


def _times(a: Any, b: Any) -> QuantTensor | None:
    q, x = _tensor_and_number(a, b)
    return _scaled(q, factor) if isinstance(q, QuantTensor) and (factor := exact_number(x)) else None


def _over(a: Any, b: Any) -> QuantTensor | None:
    return _scaled(a, 1 / factor) if isinstance(a, QuantTensor) and (factor := exact_number(b)) else None


def _is_zero(x: Any) -> bool:
    """Return True for a real number equal to 0, which may be a bool or an array of rank 0."""
    number = x[()] if isinstance(x, np.ndarray) and x.ndim == 0 else x
    return not number if isinstance(number, (bool, np.bool_)) else exact_number(number) == 0


def _in_floats(ufunc: np.ufunc, sign: str, a: Any, b: Any, out: Any, dtype: Any, others: dict[str, Any]) -> Any:
    """Return the result in floats if `float_results` allows it; else raise an error that says what to write instead."""
    name, given = f"np.{ufunc.__name__}", nondefault_options(out=out, dtype=dtype, **others)

    def hint() -> str:
        if given:
            return written_call(name, (a, b), given)
        if sign == "@" and type(a) is np.ndarray and a.dtype == np.float32 and _is_float_matrix(b):
            return "qrt.float_matmul(x, q)"
        floats = written_operator(sign, a, b)
        return _hint_of_sum(sign, a, b, floats) if sign in "+-" else floats

    return in_floats(name, ufunc, (a, b), given, hint)


def _hint_of_sum(sign: str, a: Any, b: Any, floats: str) -> str:
    """Return advice for a sum of a tensor and numbers: quantize the numbers, if that is exact.

    If quantizing would round the numbers, the advice also offers ``floats``, the sum in floats. If quantizing would
    clamp them, the advice is only ``floats``.
    """
    q, x = (a, b) if isinstance(a, QuantTensor) else (b, a)
    if not isinstance(q, QuantTensor) or not _has_numbers_near(q, x):
        return floats
    first, second = written_operands(a, b, word="{}")
    own, number = (first, second) if q is a else (second, first)
    quantized = f"qrt.quantize({number}, {own}.type)"
    summed = f"{own} {sign} {quantized}" if q is a else f"{quantized} {sign} {own}"
    is_exact = np.array_equal(np.asarray(quantize(x, q.type), np.float64), np.asarray(x, np.float64))
    return summed if is_exact else f"{floats}, or {summed}, which rounds {number}"


def _has_numbers_near(q: QuantTensor, x: Any) -> bool:
    """Return True if sums of tensors of ``q``'s type are exact, and quantizing ``x`` to the type clamps no number."""
    t, numbers = q.type, np.asarray(x)
    if t.is_sub_channel or 2 * max_magnitude(t) >= I32_END or numbers.dtype.kind not in "iuf":
        return False
    if not t.is_per_layer and numbers.shape != q.shape:
        return False
    low = max((t.storage_min - z - 0.5) * s for s, z in zip(t.scales, t.zero_points, strict=True))
    high = min((t.storage_max - z + 0.5) * s for s, z in zip(t.scales, t.zero_points, strict=True))
    return bool(((numbers >= low) & (numbers <= high)).all())


def _is_float_matrix(b: Any) -> bool:
    return isinstance(b, QuantTensor) and b.ndim == 2 and str(b.type.expressed_type) == "f32"


def _scaled(q: QuantTensor, factor: Fraction) -> QuantTensor:
    """Return ``factor * q``: the same storage with the scales multiplied by the factor's magnitude.

    If the factor is negative, the result is passed to `negative`.
    """
    result = tensor_of(q._data.copy(), _scaled_type(q.type, abs(factor)), q.shape)
    return negative(result) if factor < 0 else result


def _scaled_type(t: UniformType, factor: Fraction) -> UniformType:
    """Return the type with every scale multiplied by a positive factor, rounded once to a double."""
    try:
        scales = np.array([float(Fraction(scale) * factor) for scale in t.scales]).reshape(t.scales_shape)
        return t.with_(scales=scales if t.scales_shape else float(scales))
    except (OverflowError, QuantTypeError):
        raise QuantTypeError(
            f"the scale of the result would be out of the range of {t.expressed_type}: give the values as float64, "
            "np.asarray(q, np.float64)"
        ) from None


_BINARY: dict[Any, tuple[Any, ...]] = {
    np.add: (
        "+",
        add,
        _plus,
        (
            "The sum, as i32 with the scale of both tensors, which must be equal. ``x + 0`` is a copy; "
            "other numbers have no exact result."
        ),
    ),
    np.subtract: (
        "-",
        sub,
        _minus,
        (
            "The difference, as i32 with the scale of both tensors, which must be equal. ``x - 0`` is a "
            "copy; other numbers have no exact result."
        ),
    ),
    np.multiply: (
        "*",
        mul,
        _times,
        "The product, as i32 with the product of the scales. A number other than 0 changes the scales only.",
    ),
    np.divide: ("/", None, _over, "A number changes the scales; other quotients have no exact result."),
    (np.matmul, np.linalg.matmul): (
        "@",
        matmul,
        None,
        "The product of matrices, as i32 with the product of the scales.",
    ),
}
enter("sums", _binary, _BINARY)


@implements(np.square, kind="sums")
def square(x: Any, /, *, out: Any = None, dtype: Any = None, **others: Any) -> Any:
    """The squares, as an i32 tensor with the squared scale."""
    refuse_others(others)
    require_tensors(x)
    return _exact_power(x, 2, dtype, out)


@implements(np.power, kind="sums")
def power(a: Any, b: Any, /, *, out: Any = None, dtype: Any = None, **others: Any) -> Any:
    """``a ** n`` for an integer ``n`` from 1 to 64, as i32 with scale ``a.scale ** n``; other powers are not exact."""
    n = b[()] if isinstance(b, np.ndarray) and b.ndim == 0 else b
    if isinstance(a, QuantTensor) and isinstance(n, (int, np.integer)) and not isinstance(n, bool) and 1 <= n <= 64:
        refuse_others(others)
        return _exact_power(a, int(n), dtype, out)
    return _in_floats(np.power, "**", a, b, out, dtype, others)


def _exact_power(q: QuantTensor, n: int, dtype: Any = None, out: Any = None) -> Any:
    bound = max_magnitude(q.type) ** n
    if bound >= 1 << 63:
        raise QuantTypeError(f"the result may reach {shown(bound)}, which overflows 64 bits: {GIVE_VALUES}")
    has_kernel = n == 2 and bound < I32_END and q.type.is_per_layer
    integers = mul(q, q)._data if has_kernel else centred(q, bound) ** n
    return finish(integers, bound, Units.of(q.type, n), dtype, out)
