"""``quant.qcast``, ``quant.dcast`` and ``quant.scast`` on QuantTensors."""

from collections.abc import Mapping
from typing import overload

import numpy as np  # noqa: F401 - for the examples
import numpy.typing as npt

from qrt.eager.binding import Bound, bind_arrays, eager, require_hashable, require_tensor
from qrt.errors import QuantTypeError
from qrt.numerics import Rounding, ScaleForm, ZeroPointOrder
from qrt.ops.casts import from_signless, signless
from qrt.ops.core import Array
from qrt.tensor.arrays import as_storage, expressed_array, native_floats, require_uniform
from qrt.tensor.quant_tensor import QuantTensor
from qrt.types import UniformType, check_integrity


@eager
def qcast(
    x: npt.ArrayLike,
    type: UniformType,
    *,
    rounding: Rounding = "half_even",
    zero_point: ZeroPointOrder = "before",
    scale: ScaleForm = "divide",
    out: QuantTensor | None = None,
) -> Bound[QuantTensor]:
    """``quant.qcast``: expressed values to storage, ``clamp(round(x / s + zp))`` (docs/numerics.md, "Casts").

    Parameters
    ----------
    x : array_like
        Of any shape and of the type's expressed dtype; Python numbers and lists are converted. NaN stores the zero
        point, infinities saturate.
    type : UniformType
        The type of the result.
    rounding : {"half_even", "half_away", "toward_zero"}, default "half_even"
        How a value between two integers is rounded.
    zero_point : {"before", "after"}, default "before"
        Whether the zero point is added before or after the rounding.
    scale : {"divide", "reciprocal"}, default "divide"
        Whether values are divided by the scale or multiplied by its rounded reciprocal.
    out : QuantTensor, optional
        A tensor of the result's type and shape, which is filled and returned.

    Returns
    -------
    QuantTensor
        Of the shape of ``x``.

    Raises
    ------
    QuantTypeError
        If an array has another dtype, the shape does not fit the type's channels, or an option has another value.

    Examples
    --------
    >>> t = UniformType("i8", "f32", 0.5, 3)
    >>> qcast(np.float32([-1, 0.2, 1000]), t).storage.tolist()
    [1, 3, 127]
    """
    rule = {"rounding": rounding, "zero_point": zero_point, "scale": scale}
    values = expressed_array(x, require_uniform(type), exact=True)
    require_hashable("qcast", rule.items())
    return _quantize(values, type, rule, out)


@eager
def quantize(x: npt.ArrayLike, type: UniformType, *, out: QuantTensor | None = None) -> Bound[QuantTensor]:
    """Real values of any dtype to storage: ``qcast`` by the default rule, after rounding to the expressed type.

    Parameters
    ----------
    x : array_like
        Real numbers of any shape and dtype.
    type : UniformType
        The type of the result.
    out : QuantTensor, optional
        A tensor of the result's type and shape, which is filled and returned.

    Returns
    -------
    QuantTensor
        Of the shape of ``x``.

    Raises
    ------
    QuantTypeError
        If values are no real numbers, or the shape does not fit the type's channels.

    Examples
    --------
    >>> quantize([0, 1, 2], UniformType("u4", "f32", 0.25)).storage.tolist()
    [0, 4, 8]
    """
    values = expressed_array(x, require_uniform(type), exact=False)
    return _quantize(values, type, {}, out)


def _quantize(x: Array, type: UniformType, rule: Mapping[str, str], out: QuantTensor | None) -> Bound[QuantTensor]:
    check_integrity(type, x.shape)
    if out is not None:
        require_tensor(out, "qcast: out")
    return bind_arrays("qcast", (x,), rule, type, out, type.expressed_type)


@eager
def dcast(q: QuantTensor, *, out: Array | None = None) -> Bound[Array]:
    """``quant.dcast``: the expressed values, ``(storage - zero_point) * scale`` (docs/numerics.md, "Casts").

    Parameters
    ----------
    q : QuantTensor
        Of any shape and type.
    out : ndarray, optional
        An array of q's shape and expressed dtype, which is filled and returned.

    Returns
    -------
    ndarray
        Of q's shape and expressed dtype.

    Raises
    ------
    QuantTypeError
        If ``q`` is no QuantTensor, its expressed type is f80 or f128, or ``out`` is of another dtype or shape.

    Examples
    --------
    >>> dcast(QuantTensor(np.int8([3, 5]), UniformType("i8", "f32", 0.5, 3))).tolist()
    [0.0, 1.0]
    """
    require_tensor(q, "dcast: q")
    return bind_arrays("dcast", (q,), {}, None, out)


def values(q: QuantTensor) -> Array:
    """The expressed values in a dtype that NumPy has itself, which other libraries take by DLPack: `dcast`, with bf16
    and smaller formats as float32, which holds each of their values.

    ``q.storage`` gives the integers by DLPack, without a copy where no bits are packed.

    Parameters
    ----------
    q : QuantTensor
        Of any shape and type.

    Returns
    -------
    ndarray of float16, float32 or float64
        Of q's shape.

    Raises
    ------
    QuantTypeError
        If ``q`` is no QuantTensor, or its expressed type is f80 or f128.

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
def scast(x: npt.ArrayLike, type: UniformType) -> QuantTensor: ...
def scast(x: QuantTensor | npt.ArrayLike, type: UniformType | None = None) -> Array | QuantTensor:
    """``quant.scast``: a quantized tensor to signless integers, or integers to a quantized type. No bits are moved.

    Parameters
    ----------
    x : QuantTensor or array_like of int
        Of any shape. Integers are of the storage width, signed or unsigned: the type says how their bits read.
    type : UniformType, optional
        The type of the result. It is given with integers, and with them alone.

    Returns
    -------
    ndarray of signed int, or QuantTensor
        Of the shape of ``x``. NumPy's ``intN`` stands for signless integers.

    Raises
    ------
    QuantTypeError
        If the width or the storage bounds do not hold a value, or ``type`` is missing or too many.

    Examples
    --------
    >>> scast(QuantTensor(np.uint8([255]), UniformType("u8", "f32", 1.0))).tolist()
    [-1]
    >>> scast(np.int8([-1]), UniformType("u8", "f32", 1.0)).storage.tolist()
    [255]
    """
    if isinstance(x, QuantTensor):
        if type is not None:
            raise QuantTypeError("scast: a quantized tensor casts to integers, without a type")
        return signless(x.storage, x.type)
    if type is None:
        raise QuantTypeError("scast: integers need the quantized type to cast to")
    return QuantTensor._of(from_signless(as_storage(x), require_uniform(type)), type)
