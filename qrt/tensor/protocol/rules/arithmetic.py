"""Arithmetic element by element: the op families of sums and products, and the numbers that only change scales."""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import isfinite
from numbers import Integral
from typing import Any

import numpy as np

from qrt.eager.calls import Planned
from qrt.errors import QuantTypeError, shown
from qrt.numerics.broadcasting import broadcast_shapes
from qrt.ops.requant import max_magnitude
from qrt.tensor.float_results import in_floats
from qrt.tensor.functions import add, mul, sub
from qrt.tensor.products import matmul
from qrt.tensor.protocol.elements import NUMBERS, into
from qrt.tensor.protocol.exact import (
    I32_END,
    Units,
    centred,
    finish,
    refuse_others,
    require_tensors,
    result_type,
)
from qrt.tensor.protocol.table import implements
from qrt.tensor.protocol.tables import SOME, has_table, planned
from qrt.tensor.quant_tensor import QuantTensor, tensor_of
from qrt.types import UniformType

_FAMILIES: dict[np.ufunc, Callable[..., QuantTensor]] = {np.add: add, np.subtract: sub, np.multiply: mul}
_FAMILIES[np.matmul] = matmul


def _of_tensors(ufunc: np.ufunc, a: QuantTensor, b: QuantTensor, dtype: Any, out: Any) -> QuantTensor:
    """The op family, to the type that ``dtype`` says."""
    name = f"np.{ufunc.__name__}"
    wanted = result_type(name, dtype)
    if isinstance(wanted, np.dtype):
        raise QuantTypeError(f"{name}: dtype must be a !quant.uniform type, got {wanted}")
    return _FAMILIES[ufunc](a, b, out_type=wanted, out=out)


# ----------------------------------------------------------------------------------------------------- sums, products


@implements(np.add, kind="sums")
def _add(a: Any, b: Any, /, *, out: Any = None, dtype: Any = None, **others: Any) -> Any:
    """The sum of two tensors of equal scales, as i32 of that scale."""
    if isinstance(a, QuantTensor) and isinstance(b, QuantTensor):
        refuse_others("np.add", others)
        return _of_tensors(np.add, a, b, dtype, out)
    q, x = (a, b) if isinstance(a, QuantTensor) else (b, a)
    hint = f"{_quantized_like(q, x)} + q" if _has_exact_sum(q, x) else "np.asarray(q) + x"
    return in_floats("np.add", np.add, (a, b), _given(out, dtype, others), hint)


@implements(np.subtract, kind="sums")
def _subtract(a: Any, b: Any, /, *, out: Any = None, dtype: Any = None, **others: Any) -> Any:
    """The difference of two tensors of equal scales, as i32 of that scale."""
    if isinstance(a, QuantTensor) and isinstance(b, QuantTensor):
        refuse_others("np.subtract", others)
        return _of_tensors(np.subtract, a, b, dtype, out)
    is_first = isinstance(a, QuantTensor)
    q, x = (a, b) if is_first else (b, a)
    other, own = (_quantized_like(q, x), "q") if _has_exact_sum(q, x) else ("x", "np.asarray(q)")
    hint = f"{own} - {other}" if is_first else f"{other} - {own}"
    return in_floats("np.subtract", np.subtract, (a, b), _given(out, dtype, others), hint)


def _given(out: Any, dtype: Any, others: dict[str, Any]) -> dict[str, Any]:
    """The keywords that were given."""
    return {key: value for key, value in {"out": out, "dtype": dtype, **others}.items() if value is not None}


def _has_exact_sum(q: Any, x: Any) -> bool:
    """Whether ``q`` and an ``x`` quantized to its type have an exact sum."""
    if not isinstance(q, QuantTensor) or q.type.is_sub_channel or 2 * max_magnitude(q.type) >= I32_END:
        return False
    try:
        return q.type.is_per_layer or broadcast_shapes(np.shape(x), q.shape) == q.shape
    except ValueError:
        return False


def _quantized_like(q: QuantTensor, x: Any) -> str:
    fits = q.type.is_per_layer or np.shape(x) == q.shape
    return f"qrt.quantize({'x' if fits else 'np.broadcast_to(x, q.shape)'}, q.type)"


@implements(np.matmul, np.linalg.matmul, kind="sums")
def _matmul(a: Any, b: Any, /, *, out: Any = None, dtype: Any = None, **others: Any) -> Any:
    """The product of matrices, as i32 of the product of the scales."""
    if isinstance(a, QuantTensor) and isinstance(b, QuantTensor):
        refuse_others("np.matmul", others)
        return _of_tensors(np.matmul, a, b, dtype, out)
    hint = "np.asarray(q) @ x"
    if not isinstance(a, QuantTensor):
        hint = "x @ np.asarray(q)"
        if isinstance(b, QuantTensor) and b.ndim == 2 and str(b.type.expressed_type) == "f32":
            x = "x" if getattr(a, "dtype", None) == np.float32 else "np.float32(x)"
            hint = f"qrt.float_matmul({x}, q)"
    return in_floats("np.matmul", np.matmul, (a, b), _given(out, dtype, others), hint)


# -------------------------------------------------------------------------------------------------- numbers as factors


@implements(np.multiply, kind="sums")
def _multiply(a: Any, b: Any, /, *, out: Any = None, dtype: Any = None, **others: Any) -> Any:
    """The product of two tensors, as i32 of the product of their scales; a positive number changes the scales alone."""
    if isinstance(a, QuantTensor) and isinstance(b, QuantTensor):
        refuse_others("np.multiply", others)
        return _of_tensors(np.multiply, a, b, dtype, out)
    is_first = isinstance(a, QuantTensor)
    q, x = (a, b) if is_first else (b, a)
    if isinstance(q, QuantTensor) and not others and dtype is None:
        t = _type_times(q.type, x) if type(x) in NUMBERS else scaled_type(q.type, positive(x))
        if t is not None:
            return _scaled(q, t, out)
    hint = "np.asarray(q) * x" if is_first else "x * np.asarray(q)"
    return in_floats("np.multiply", np.multiply, (a, b), _given(out, dtype, others), hint)


@implements(np.divide, kind="sums")
def _divide(a: Any, b: Any, /, *, out: Any = None, dtype: Any = None, **others: Any) -> Any:
    """The tensor divided by a positive number, which changes the scales alone; other quotients have no exact result."""
    if isinstance(a, QuantTensor) and not others and dtype is None:
        t = _type_over(a.type, b) if type(b) in NUMBERS else scaled_type(a.type, _inverse(positive(b)))
        if t is not None:
            return _scaled(a, t, out)
    second = "np.asarray(r)" if isinstance(a, QuantTensor) else "np.asarray(q)"
    hint = f"{'np.asarray(q)' if isinstance(a, QuantTensor) else 'x'} / {second if isinstance(b, QuantTensor) else 'x'}"
    return in_floats("np.divide", np.divide, (a, b), _given(out, dtype, others), hint)


def positive(x: Any) -> Fraction | None:
    """A finite positive number as it is; None for anything else."""
    if isinstance(x, np.ndarray) and x.ndim == 0:
        x = x[()]
    if isinstance(x, (bool, np.bool_, np.ndarray)) or (isinstance(x, float) and not isfinite(x)):
        return None
    try:
        if hasattr(x, "as_integer_ratio"):
            exact = Fraction(*map(int, x.as_integer_ratio()))
        elif isinstance(x, Integral):
            exact = Fraction(int(x))
        elif isinstance(x, np.generic) and x.dtype.type.__module__ == "ml_dtypes":
            exact = Fraction(float(x))
        else:
            return None
    except (TypeError, ValueError, OverflowError):
        return None
    return exact if exact > 0 else None


def _scaled(q: QuantTensor, t: UniformType, out: Any) -> Any:
    """The same storage in a type of other scales."""
    if out is not None:
        return into(out, tensor_of(q._data.copy(), t, q.shape))
    return Planned((q,), lambda operands: tensor_of(operands[0]._data.copy(), t, operands[0]._shape))


@lru_cache(maxsize=256)
def _type_times(t: UniformType, x: float) -> UniformType | None:
    """As ``scaled_type``, without the making of a fraction."""
    return scaled_type(t, positive(x))


@lru_cache(maxsize=256)
def _type_over(t: UniformType, x: float) -> UniformType | None:
    return scaled_type(t, _inverse(positive(x)))


def _inverse(factor: Fraction | None) -> Fraction | None:
    return None if factor is None else 1 / factor


@lru_cache(maxsize=256)
def scaled_type(t: UniformType, factor: Fraction | None) -> UniformType | None:
    """The type with every scale times ``factor``; None where a scale is no exact double, or not valid for the type."""
    if factor is None:
        return None
    exact = [Fraction(scale) * factor for scale in t.scales]
    try:
        scales = np.array([float(scale) for scale in exact]).reshape(t.scales_shape)
        made = t.with_(scales=scales if t.scales_shape else float(scales))
    except (OverflowError, QuantTypeError):
        return None
    # The scales of a sub-channel type are rounded to the expressed type.
    return made if list(map(Fraction, made.scales)) == exact else None


# -------------------------------------------------------------------------------------------------------------- powers


@implements(np.square, kind="sums")
def square(x: Any, /, *, out: Any = None, dtype: Any = None, **others: Any) -> Any:
    """The squares, as i32 of the squared scale."""
    refuse_others("np.square", others)
    require_tensors("np.square", x)
    return _power_of("np.square", x, 2, dtype, out)


@implements(np.power, kind="sums")
def power(a: Any, b: Any, /, *, out: Any = None, dtype: Any = None, **others: Any) -> Any:
    """The n-th powers for n from 1 to 64, as i32 of the scale to the power n; others have no exact result."""
    n = b[()] if isinstance(b, np.ndarray) and b.ndim == 0 else b
    if isinstance(a, QuantTensor) and isinstance(n, (int, np.integer)) and not isinstance(n, bool) and 1 <= n <= 64:
        refuse_others("np.power", others)
        return _power_of("np.power", a, int(n), dtype, out)
    hint = "np.asarray(q) ** np.asarray(r)" if isinstance(b, QuantTensor) else "np.asarray(q) ** x"
    hint = hint if isinstance(a, QuantTensor) else "x ** np.asarray(q)"
    return in_floats("np.power", np.power, (a, b), _given(out, dtype, others), hint)


def _power_of(name: str, q: QuantTensor, n: int, dtype: Any, out: Any) -> Any:
    if dtype is not None or out is not None:
        return _exact_power(q, name, n, dtype, out)
    if n == 2 and q._data.size > SOME and has_table(q.type):
        t = _exact_power(q[:0] if q.ndim else q, name, n).type
        return Planned((q,), lambda operands: tensor_of(mul(operands[0], operands[0])._data, t, operands[0]._shape))
    return planned(_exact_power, q, name, n)


def _exact_power(q: QuantTensor, name: str, n: int, dtype: Any = None, out: Any = None) -> Any:
    bound = max_magnitude(q.type) ** n
    if bound >= 1 << 63:
        raise QuantTypeError(f"{name}: the result may reach {shown(bound)}: write np.asarray(q) ** {n}")
    return finish(name, np.asarray(centred(q, bound) ** n), bound, Units.of(q.type, n), dtype, out)
