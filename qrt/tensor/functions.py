"""Functions on QuantTensors, each of which is one call of an op family.

``qrt.ops`` describes their shapes, and docs/numerics.md their rules. Casts are in ``casts.py``; products, convolutions
and pooling are in ``products.py``. Each function raises ``QuantTypeError``, which is a TypeError too, for an argument
that it does not accept.
"""

from collections.abc import Sequence
from typing import SupportsIndex

import numpy as np

from qrt.errors import QuantTypeError, check_signature
from qrt.numerics import MeanName, MulName, RequantizeName, RequantName, SoftmaxRule, SumName
from qrt.tensor.arrays import integers, items, require_uniform
from qrt.tensor.binding import EagerCall, bind, eager, require_tensor
from qrt.tensor.docstrings import complete_docstring
from qrt.tensor.quant_tensor import QuantTensor, bind_sum
from qrt.types import UniformType


@eager
def add(
    a: QuantTensor,
    b: QuantTensor,
    *,
    out_type: UniformType | str | None = None,
    requant: SumName = "fixed",
    out: QuantTensor | None = None,
) -> EagerCall[QuantTensor]:
    """Return the sum ``a + b``, element by element. docs/numerics_operations.md has the rules (``requant``) of sums.

    Parameters
    ----------
    out_type : UniformType or str, optional
        The type of the result. If not given, the scales must be equal, and the result is i32 of that scale. It is an
        error if values of the operands' types may have a sum that i32 cannot hold; for tensors of rank 0, only if i32
        cannot hold the sum itself.

    Examples
    --------
    >>> a = QuantTensor(np.int8([1, 2]), UniformType("i8", "f32", 0.5))
    >>> (a + a).dequantize().tolist()
    [1.0, 2.0]
    >>> add(a, a, out_type=a.type).storage.tolist()
    [2, 4]
    """
    return bind_sum("add", a, b, requant, out_type, out)


@eager
def sub(
    a: QuantTensor,
    b: QuantTensor,
    *,
    out_type: UniformType | str | None = None,
    requant: SumName = "fixed",
    out: QuantTensor | None = None,
) -> EagerCall[QuantTensor]:
    """Return the difference ``a - b``, element by element, by the rules of ``add``.

    Parameters
    ----------
    out_type : UniformType or str, optional
        The type of the result; if not given, the type that ``add`` chooses.

    Examples
    --------
    >>> a = QuantTensor(np.int8([5, 2]), UniformType("i8", "f32", 0.5))
    >>> sub(a, a[1:]).dequantize().tolist()
    [1.5, 0.0]
    """
    return bind_sum("sub", a, b, requant, out_type, out)


@eager
def mul(
    a: QuantTensor,
    b: QuantTensor,
    *,
    out_type: UniformType | str | None = None,
    requant: MulName = "fixed",
    out: QuantTensor | None = None,
) -> EagerCall[QuantTensor]:
    """Return the product ``a * b``, element by element.

    Examples
    --------
    >>> a = QuantTensor(np.int8([3, -2]), UniformType("i8", "f32", 0.5))
    >>> mul(a, a).dequantize().tolist()
    [2.25, 1.0]
    """
    return bind("mul", (a, b), {"requant": requant}, out_type, out)


@eager
def requantize(
    q: QuantTensor, type: UniformType | str, *, requant: RequantizeName = "fixed", out: QuantTensor | None = None
) -> EagerCall[QuantTensor]:
    """Convert a tensor to another quantized type.

    Parameters
    ----------
    type : UniformType or str
        The type of the result, with the expressed type of ``q``.

    Examples
    --------
    >>> q = QuantTensor(np.int8([4, -3]), UniformType("i8", "f32", 0.5))
    >>> requantize(q, UniformType("u8", "f32", 0.25, 10)).storage.tolist()
    [18, 4]
    """
    return bind("requantize", (q,), {"requant": requant}, require_uniform(type, "requantize: 'type'"), out)


@eager
def clamp(
    q: QuantTensor, min: float | None = None, max: float | None = None, *, out: QuantTensor | None = None
) -> EagerCall[QuantTensor]:
    """Clamp values to ``[min, max]``. The type is unchanged.

    Parameters
    ----------
    min, max : float, optional
        Expressed values, ``min`` not above ``max``, quantized by the default cast rule (docs/numerics.md, "Casts").
        None means no bound.

    Examples
    --------
    >>> q = QuantTensor(np.int8([-5, 5, 50]), UniformType("i8", "f32", 0.5))
    >>> clamp(q, 0, 6).storage.tolist()
    [0, 5, 12]
    """
    return bind("clamp", (q,), {"min": min, "max": max}, None, out)


@eager
def relu(q: QuantTensor, *, out: QuantTensor | None = None) -> EagerCall[QuantTensor]:
    """Replace values below 0 by 0: ``clamp`` with a minimum of 0. The type is unchanged.

    Examples
    --------
    >>> relu(QuantTensor(np.int8([-5, 5]), UniformType("i8", "f32", 0.5, 1))).storage.tolist()
    [1, 5]
    """
    require_tensor(q, "relu: q")
    return bind("clamp", (q,), {"min": 0.0, "max": None}, None, out)


@eager
def lookup(q: QuantTensor, table: QuantTensor, *, out: QuantTensor | None = None) -> EagerCall[QuantTensor]:
    """Replace each element by a value from a table of any function of one variable: ``table[q - least]``.

    Parameters
    ----------
    q : QuantTensor
        Of any shape; per layer, with storage of at most 8 bits.
    table : QuantTensor
        One value for each value of q's storage type, from the least value on; per layer. The result has its type.
        ``qrt.ops.lookup.table_of`` makes its storage.

    Examples
    --------
    >>> from qrt.ops.lookup import table_of
    >>> t = UniformType("i8", "f32", 0.25)
    >>> table = QuantTensor(table_of(abs, t, t), t)
    >>> lookup(QuantTensor(np.int8([-128, -3, 3]), t), table).storage.tolist()
    [127, 3, 3]
    """
    return bind("lookup", (q, table), {}, None, out)


@eager
def mean(
    q: QuantTensor,
    axes: int | Sequence[int] | None = None,
    *,
    keepdims: bool = False,
    out_type: UniformType | str | None = None,
    requant: MeanName = "fixed",
    out: QuantTensor | None = None,
) -> EagerCall[QuantTensor]:
    """Return the average over axes. The sum is exact.

    Parameters
    ----------
    q : QuantTensor
        Of any shape; per layer, or per axis along an axis that is not averaged over.
    axes : int or sequence of int, optional
        The axes to average over, which have at least one element; all axes if not given.
    keepdims : bool, default False
        True keeps the axes averaged over, with size 1; False drops them.
    out_type : UniformType or str, optional
        The type of the result; if not given, the type of ``q``, whose channels follow their axis.

    Returns
    -------
    QuantTensor
        Of the shape of ``q`` without the axes, or with 1 in their place.

    Examples
    --------
    >>> q = QuantTensor(np.int8([[1, 2], [3, 6]]), UniformType("i8", "f32", 0.5))
    >>> mean(q, 0).storage.tolist()
    [2, 4]
    """
    named = (axes,) if isinstance(axes, SupportsIndex) and not isinstance(axes, np.ndarray) else axes
    numbers = None if named is None else integers(named, "mean: 'axes'")
    attributes = {"axes": numbers, "keepdims": keepdims, "requant": requant}
    return bind("mean", (q,), attributes, out_type, out)


@eager
def softmax(
    q: QuantTensor,
    out_type: UniformType | str,
    *,
    axis: int = -1,
    beta: float = 1.0,
    requant: SoftmaxRule = "table_int32",
    out: QuantTensor | None = None,
) -> EagerCall[QuantTensor]:
    """Return ``exp(beta * x)`` divided by its sum along an axis, by a table of exponentials.

    Parameters
    ----------
    q : QuantTensor
        Of at least one axis; per layer, with storage of at most 8 bits, or i16 for "table_int16".
    out_type : UniformType or str
        The type of the result; per layer.
    axis : int, default -1
        The axis of the sum.
    beta : float, default 1.0
        A positive factor of the exponents.
    requant : {"table_int32", "table_float32", "gemmlowp", "table_int16", "table_shifted"}, default "table_int32"
        The arithmetic (docs/numerics_functions.md): qrt's own, or that of LiteRT or ONNX Runtime.

    Examples
    --------
    >>> q = QuantTensor(np.int8([0, 0, 11]), UniformType("i8", "f32", 0.1))
    >>> softmax(q, UniformType("u8", "f32", 1 / 256)).storage.tolist()
    [51, 51, 154]
    """
    attributes = {"axis": axis, "beta": beta, "requant": requant}
    return bind("softmax", (q,), attributes, require_uniform(out_type, "softmax: 'out_type'"), out)


@check_signature
@complete_docstring
def reshape(q: QuantTensor, shape: Sequence[int]) -> QuantTensor:
    """Return the same elements in another shape. A per-axis type follows its axis, which must remain one axis.

    Parameters
    ----------
    shape : sequence of int
        The shape of the result; one size may be -1, which is then computed from the others.

    Returns
    -------
    QuantTensor
        A view of ``q`` if NumPy can make one and no bits are packed; else a copy.

    Raises
    ------
    QuantTypeError
        If ``shape`` has another number of elements, or splits or merges the axis of the channels.

    Examples
    --------
    >>> q = QuantTensor(np.int8([[1, 2], [3, 4]]), UniformType("i8", "f32", [0.5, 1.0], axis=1))
    >>> reshape(q, (1, 2, 2)).type.axis
    2
    """
    require_tensor(q, "reshape: q")
    return q.reshape(shape)


@check_signature
@complete_docstring
def transpose(q: QuantTensor, permutation: Sequence[int] | None = None) -> QuantTensor:
    """Permute the axes. A per-axis type follows its channels.

    Parameters
    ----------
    permutation : sequence of int, optional
        For each axis of the result the axis of ``q``; the reverse order if not given.

    Returns
    -------
    QuantTensor
        A view of ``q``, or a copy if bits are packed.

    Examples
    --------
    >>> q = QuantTensor(np.int8([[1, 2, 3], [4, 5, 6]]), UniformType("i8", "f32", [0.5, 1.0], axis=0))
    >>> transpose(q).shape, transpose(q).type.axis
    ((3, 2), 1)
    """
    require_tensor(q, "transpose: q")
    return q.transpose(permutation)


@eager
def pad(
    q: QuantTensor,
    padding: Sequence[Sequence[int]],
    value: float | None = None,
    *,
    out: QuantTensor | None = None,
) -> EagerCall[QuantTensor]:
    """Add constant elements around a tensor. The type is unchanged.

    Parameters
    ----------
    q : QuantTensor
        Of any shape; per layer or per axis.
    padding : sequence of (before, after)
        The numbers of elements before and after, for each dimension; (0, 0) for the axis of channels.
    value : float, optional
        The expressed value of the elements, quantized by the default cast rule (docs/numerics.md, "Casts"). If not
        given, it is the zero point, whose value is 0.

    Returns
    -------
    QuantTensor
        Of the shape of ``q`` with the elements added.

    Examples
    --------
    >>> q = QuantTensor(np.int8([5, 6]), UniformType("i8", "f32", 0.5, 3))
    >>> pad(q, [(1, 2)]).storage.tolist(), pad(q, [(0, 1)], 2.0).storage.tolist()
    ([3, 5, 6, 3, 3], [5, 6, 7])
    """
    pairs = tuple(
        items(pair, "pad: a pair (before, after) of 'padding'") if isinstance(pair, (list, np.ndarray)) else pair
        for pair in items(padding, "pad: 'padding'")
    )
    return bind("pad", (q,), {"padding": pairs, "value": value}, None, out)


@eager
def concat(
    tensors: Sequence[QuantTensor],
    axis: int = 0,
    *,
    out_type: UniformType | str | None = None,
    requant: RequantName = "fixed",
    out: QuantTensor | None = None,
) -> EagerCall[QuantTensor]:
    """Join tensors along an axis.

    Parameters
    ----------
    tensors : sequence of QuantTensor
        At least one tensor, per layer or per axis. The shapes may differ along ``axis`` only.
    axis : int, default 0
        The axis to join along. Channels along it are joined too.
    out_type : UniformType or str, optional
        The type of the result, to which other operands are requantized. If not given, all operands must have one type,
        or types that differ in the parameters of their channels along ``axis`` only.

    Returns
    -------
    QuantTensor
        Of the shape of the tensors; the size along ``axis`` is the sum of theirs.

    Examples
    --------
    >>> q = QuantTensor(np.int8([1, 2]), UniformType("i8", "f32", 0.5))
    >>> concat([q, q]).storage.tolist()
    [1, 2, 1, 2]
    """
    if isinstance(tensors, QuantTensor):
        raise QuantTypeError("concat: 'tensors' must be a sequence, got a QuantTensor: give a list of tensors")
    attributes = {"axis": axis, "requant": requant}
    return bind("concat", items(tensors, "concat: 'tensors'"), attributes, out_type, out)
