"""Casts of QuantTensors (``quant.qcast``, ``dcast`` and ``scast``), and quantization with types chosen from data."""

from collections.abc import Mapping
from typing import Literal, overload

import numpy as np  # noqa: F401 - for the examples
import numpy.typing as npt

from qrt.errors import QuantTypeError, check_signature
from qrt.numerics import Rounding, ScaleForm, ZeroPointOrder
from qrt.ops.casts import from_signless, signless
from qrt.ops.core import Array
from qrt.tensor import choose
from qrt.tensor.arrays import as_storage, expressed_array, native_floats, require_uniform
from qrt.tensor.binding import EagerCall, bind_arrays, eager, require_tensor
from qrt.tensor.docstrings import complete_docstring
from qrt.tensor.quant_tensor import QuantTensor, wrap_storage
from qrt.types import FloatType, UniformType, check_integrity

Method = Literal["minmax", "mse", "percentile"]
"""The methods that choose a range from values."""


@eager
def qcast(
    x: npt.ArrayLike,
    type: UniformType | str,
    *,
    rounding: Rounding = "half_even",
    zero_point: ZeroPointOrder = "before",
    scale: ScaleForm = "divide",
    out: QuantTensor | None = None,
) -> EagerCall[QuantTensor]:
    """Cast expressed values to storage: ``clamp(round(x / s + zp))`` (``quant.qcast``; docs/numerics.md, "Casts").

    Parameters
    ----------
    x : array_like
        Of any shape and of the type's expressed dtype; Python numbers and lists are converted. NaN stores the zero
        point, infinities saturate.
    type : UniformType or str
        The type of the result.
    rounding : {"half_even", "half_away", "toward_zero"}, default "half_even"
        The rounding of a value between two integers.
    zero_point : {"before", "after"}, default "before"
        The order of steps: the zero point is added before or after the rounding.
    scale : {"divide", "reciprocal"}, default "divide"
        The use of the scale: values are divided by it, or multiplied by its rounded reciprocal.

    Examples
    --------
    >>> t = UniformType("i8", "f32", 0.5, 3)
    >>> qcast(np.float32([-1, 0.2, 1000]), t).storage.tolist()
    [1, 3, 127]
    """
    rule = {"rounding": rounding, "zero_point": zero_point, "scale": scale}
    t = require_uniform(type, "qcast: 'type'")
    return _quantize(expressed_array(x, t, exact=True, what="qcast: 'x'"), t, rule, out)


@eager
def quantize(
    x: npt.ArrayLike,
    type: UniformType | str | None = None,
    *,
    out: QuantTensor | None = None,
    bits: int | None = None,
    axis: int | None = None,
    group_size: int | None = None,
    method: Method = "minmax",
    percentile: float = 99.99,
    symmetric: bool = True,
    narrow: bool = False,
    expressed: str | FloatType | npt.DTypeLike = "f32",
) -> EagerCall[QuantTensor]:
    """Quantize real numbers to a given type, or to a type that is chosen from their values.

    The values are rounded to the expressed type, and then to storage by the default rule of ``qcast``. A type is chosen
    with ``bits``; docs/numerics.md has the formulas.

    Parameters
    ----------
    x : array_like
        Real numbers of any shape and dtype. They must be finite if a type is chosen from them.
    type : UniformType or str, optional
        The type of the result. Without it, give ``bits``: the other options then control how a type is chosen, and
        ``.type`` of the result is that type.
    bits : int, optional
        The width of the signed storage, 1 to 32.
    axis : int, optional
        The axis along which each index has its own scale. Without an axis, all values share one scale. Negative axes
        count from the last.
    group_size : int, optional
        The number of neighbours along ``axis`` that share a scale; a divisor of the axis's size. Without ``axis``,
        groups lie along the first axis of a matrix, over which ``x @ w`` sums.
    method : {"minmax", "mse", "percentile"}, default "minmax"
        The range that a scale covers: all its values, the fraction of that range with the least squared error, or the
        range without a few values at the ends.
    percentile : float, default 99.99
        The percentage of the values that lie within the range of ``method="percentile"``.
    symmetric : bool, default True
        True makes zero points 0. False chooses them too, which suits values that mostly have one sign.
    narrow : bool, default False
        True leaves out the least value of the storage: -127 to 127 for 8 bits.
    expressed : str or FloatType or dtype, default "f32"
        The float type of the values.

    Raises
    ------
    QuantTypeError
        If the values are not real numbers, the shape does not fit the type's channels, an option has an unknown value,
        or a type is to be chosen from a NaN or an infinity.

    Examples
    --------
    >>> quantize([0, 1, 2], UniformType("u4", "f32", 0.25)).storage.tolist()
    [0, 4, 8]
    >>> w = quantize([[3.5, -7.0], [-1.0, 2.0]], bits=4, axis=1)
    >>> w.storage.tolist(), str(w.type)
    ([[7, -7], [-2, 2]], '!quant.uniform<i4:f32:1, {5.000000e-01,1.000000e+00}>')
    """
    if type is not None:
        options = (bits, axis, group_size, method, percentile, symmetric, narrow, expressed)
        defaults = (None, None, None, "minmax", 99.99, True, False, "f32")
        if not all(a.__class__ is b.__class__ and a == b for a, b in zip(options, defaults, strict=True)):
            raise QuantTypeError("quantize: expected either a type, or bits=... with its options, got both")
        t = require_uniform(type, "quantize: 'type'")
        return _quantize(expressed_array(x, t, what="quantize: 'x'"), t, {}, out)
    if bits is None:
        raise QuantTypeError(
            "quantize: expected a type, or bits=... to choose one from the values, as in "
            "qrt.quantize(x, bits=8), got neither"
        )
    kind = UniformType("i8", expressed, 1.0).expressed_type
    values = expressed_array(x, kind, what="quantize: 'x'")
    storage = choose.integer_storage(bits, kind, symmetric=symmetric, narrow=narrow)
    layout = choose.layout_of(values.shape, axis, group_size)
    return _quantize(values, choose.choose_type(values, storage, layout, method, percentile), {}, out).of_values()


@check_signature
def bias_type(x: QuantTensor | UniformType | str, w: QuantTensor | UniformType | str) -> UniformType:
    """Return the type of a bias that products of ``x`` and ``w`` add: i32, scale ``sx * sw``, zero point 0.

    Parameters
    ----------
    x : QuantTensor or UniformType or str
        The first operand of a product, or its type; per layer.
    w : QuantTensor or UniformType or str
        The weights, or their type; per layer, or per axis along their output channels.

    Returns
    -------
    UniformType
        Per layer, or per axis 0 if the weights are per axis, since a bias is a vector.

    Raises
    ------
    QuantTypeError
        If a type is not per layer or per axis as described, if the expressed types differ, or if a product of scales is
        out of the range of float64 or of the expressed type.

    Examples
    --------
    >>> str(bias_type("!quant.uniform<i8:f32, 0.5:3>", "!quant.uniform<i8:f32:1, {0.5, 0.25}>"))
    '!quant.uniform<i32:f32:0, {2.500000e-01,1.250000e-01}>'
    """
    return choose.bias_type(
        *(
            require_uniform(t.type if isinstance(t, QuantTensor) else t, f"bias_type: {name!r}")
            for name, t in (("x", x), ("w", w))
        )
    )


def _quantize(x: Array, type: UniformType, rule: Mapping[str, str], out: QuantTensor | None) -> EagerCall[QuantTensor]:
    check_integrity(type, x.shape)
    if out is not None:
        require_tensor(out, "qcast: out")
    return bind_arrays("qcast", (x,), rule, type, out, type.expressed_type)


@eager
def dcast(q: QuantTensor, *, out: Array | None = None) -> EagerCall[Array]:
    """Return the expressed values, ``(storage - zero_point) * scale`` (``quant.dcast``; docs/numerics.md, "Casts").

    Parameters
    ----------
    q : QuantTensor
        Of any shape. Its expressed type needs a NumPy dtype, which f80 and f128 do not have.
    out : ndarray, optional
        An array of q's shape and expressed dtype, which is filled and returned.

    Returns
    -------
    ndarray
        Of q's shape and expressed dtype.

    Examples
    --------
    >>> dcast(QuantTensor(np.int8([3, 5]), UniformType("i8", "f32", 0.5, 3))).tolist()
    [0.0, 1.0]
    """
    require_tensor(q, "dcast: q")
    return bind_arrays("dcast", (q,), {}, None, out)


@check_signature
@complete_docstring
def values(q: QuantTensor) -> Array:
    """Return the expressed values in a dtype of NumPy's own, so that other libraries take them by DLPack.

    The values are those of ``dcast``; bf16 and smaller formats become float32, which is exact. To pass integers to the
    other library, give it ``q.storage``, which is a copy only if bits are packed. NumPy has neither f80 nor f128.

    Returns
    -------
    ndarray of float16, float32 or float64
        Of q's shape.

    Examples
    --------
    >>> q = quantize([1.0, 2.5], UniformType("i8", "bf16", 0.5))
    >>> np.from_dlpack(values(q))
    array([1. , 2.5], dtype=float32)
    """
    return native_floats(dcast(q))


@overload
def scast(x: QuantTensor, type: None = None) -> Array: ...
@overload
def scast(x: npt.ArrayLike, type: UniformType | str) -> QuantTensor: ...
@check_signature
def scast(x: QuantTensor | npt.ArrayLike, type: UniformType | str | None = None) -> Array | QuantTensor:
    """Cast a quantized tensor to signless integers, or back, without moving bits (``quant.scast``).

    Parameters
    ----------
    x : QuantTensor or array_like of int
        Of any shape. Integers have the storage width, signed or unsigned: the type determines how their bits are read.
    type : UniformType or str, optional
        The type of the result: required for integers, not allowed for a QuantTensor.

    Returns
    -------
    ndarray of signed int, or QuantTensor
        Of the shape of ``x``. Signless integers are NumPy's ``intN``.

    Raises
    ------
    QuantTypeError
        If a value is out of the width or the storage bounds, ``type`` is missing, or it is given with a QuantTensor.

    Examples
    --------
    >>> scast(QuantTensor(np.uint8([255]), UniformType("u8", "f32", 1.0))).tolist()
    [-1]
    >>> scast(np.int8([-1]), UniformType("u8", "f32", 1.0)).storage.tolist()
    [255]
    """
    if isinstance(x, QuantTensor):
        if type is not None:
            raise QuantTypeError(
                "scast: 'type' must not be given for a QuantTensor, which is cast to its storage integers"
            )
        return signless(x.storage, x.type)
    if type is None:
        raise QuantTypeError("scast: 'type' must be given for integers: the quantized type of the result")
    t = require_uniform(type, "scast: 'type'")
    return wrap_storage(from_signless(as_storage(x), t), t)
