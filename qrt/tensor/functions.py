"""The functions on QuantTensors: each is one call of an op family. ``qrt.ops`` says the shapes, docs/numerics.md the
rules. Casts, and products with convolutions and pooling, have modules of their own.

Each raises ``QuantTypeError`` for an argument that it does not take, of whatever kind; that is a TypeError too."""

from collections.abc import Sequence
from typing import SupportsIndex

import numpy as np

from qrt.errors import QuantTypeError, worded
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
    """The sum ``a + b``, element by element. docs/numerics_operations.md has the rules (``requant``) of sums.

    Parameters
    ----------
    out_type : UniformType or str, optional
        The type of the result. Without it operands of equal scales give i32 of that scale, if it holds every result of
        the types; of two elements, tensors of rank 0, if it holds theirs.

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
    """The difference ``a - b``, element by element, by the rules of ``add``.

    Parameters
    ----------
    out_type : UniformType or str, optional
        The type of the result, without it that which ``add`` gives.

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
    """The product ``a * b``, element by element.

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
    """The same values in another quantized type.

    Parameters
    ----------
    type : UniformType or str
        The type of the result, which expresses the same float type as that of ``q``.

    Examples
    --------
    >>> q = QuantTensor(np.int8([4, -3]), UniformType("i8", "f32", 0.5))
    >>> requantize(q, UniformType("u8", "f32", 0.25, 10)).storage.tolist()
    [18, 4]
    """
    return bind("requantize", (q,), {"requant": requant}, require_uniform(type, "requantize: type"), out)


@eager
def clamp(
    q: QuantTensor, min: float | None = None, max: float | None = None, *, out: QuantTensor | None = None
) -> EagerCall[QuantTensor]:
    """Values clamped to ``[min, max]``. The type is kept.

    Parameters
    ----------
    min, max : float, optional
        Expressed values, of which ``min`` is the less, quantized by the default cast rule (docs/numerics.md, "Casts").
        None is no bound.

    Examples
    --------
    >>> q = QuantTensor(np.int8([-5, 5, 50]), UniformType("i8", "f32", 0.5))
    >>> clamp(q, 0, 6).storage.tolist()
    [0, 5, 12]
    """
    return bind("clamp", (q,), {"min": min, "max": max}, None, out)


@eager
def relu(q: QuantTensor, *, out: QuantTensor | None = None) -> EagerCall[QuantTensor]:
    """Values below 0 become 0: ``clamp`` with a minimum of 0. The type is kept.

    Examples
    --------
    >>> relu(QuantTensor(np.int8([-5, 5]), UniformType("i8", "f32", 0.5, 1))).storage.tolist()
    [1, 5]
    """
    require_tensor(q, "relu: q")
    return bind("clamp", (q,), {"min": 0.0, "max": None}, None, out)


@eager
def lookup(q: QuantTensor, table: QuantTensor, *, out: QuantTensor | None = None) -> EagerCall[QuantTensor]:
    """Any function of one variable, as a table: ``table[q - least]``, with the least value of q's storage type.

    Parameters
    ----------
    q : QuantTensor
        Of any shape; per layer, with storage of at most 8 bits.
    table : QuantTensor
        One value for each value of q's storage type, ascending; per layer. The result has its type.
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
    """The average over axes. The sum is exact.

    Parameters
    ----------
    q : QuantTensor
        Of any shape; per layer, or per axis along an axis that is kept.
    axes : int or sequence of int, optional
        What is averaged over, at least one element: all axes if not given.
    keepdims : bool, default False
        True keeps the axes averaged over, with size 1; False drops them.
    out_type : UniformType or str, optional
        The type of the result; that of ``q`` if not given, whose channels follow their axis.

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
    numbers = None if named is None else integers(named, "mean: axes")
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
    """``exp(beta * x)`` over its sum along an axis, by a table of exponentials (docs/numerics_functions.md).

    Parameters
    ----------
    q : QuantTensor
        Of any shape but (); per layer, with storage of at most 8 bits, or i16 for "table_int16".
    out_type : UniformType or str
        The type of the result; per layer.
    axis : int, default -1
        The axis of the sum.
    beta : float, default 1.0
        A positive factor of the exponents.
    requant : {"table_int32", "table_float32", "gemmlowp", "table_int16", "table_shifted"}, default "table_int32"
        The arithmetic (docs/numerics_functions.md): qrt's own, one of LiteRT's or ONNX Runtime's.

    Examples
    --------
    >>> q = QuantTensor(np.int8([0, 0, 11]), UniformType("i8", "f32", 0.1))
    >>> softmax(q, UniformType("u8", "f32", 1 / 256)).storage.tolist()
    [51, 51, 154]
    """
    attributes = {"axis": axis, "beta": beta, "requant": requant}
    return bind("softmax", (q,), attributes, require_uniform(out_type, "softmax: out_type"), out)


@worded
@complete_docstring
def reshape(q: QuantTensor, shape: Sequence[int]) -> QuantTensor:
    """The same elements in another shape. A per-axis type keeps its channels, along what has become of their axis.

    Parameters
    ----------
    shape : sequence of int
        The shape of the result; one size may be -1, which is then what the others leave.

    Returns
    -------
    QuantTensor
        A view of ``q`` where NumPy makes one and no bits are packed.

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


@worded
@complete_docstring
def transpose(q: QuantTensor, permutation: Sequence[int] | None = None) -> QuantTensor:
    """Axes in another order. A per-axis type follows its channels.

    Parameters
    ----------
    permutation : sequence of int, optional
        The axis of ``q`` that each axis of the result is; the reverse order if not given.

    Returns
    -------
    QuantTensor
        A view of ``q`` where no bits are packed.

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
    """Constant elements around a tensor. The type is kept.

    Parameters
    ----------
    q : QuantTensor
        Of any shape; per layer or per axis.
    padding : sequence of (before, after)
        How many elements come before and after, for each dimension; (0, 0) for the axis of channels.
    value : float, optional
        The expressed value of the elements, quantized by the default cast rule (docs/numerics.md, "Casts"); the zero
        point, which is 0, if not given.

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
        items(pair, "pad: (before, after)") if isinstance(pair, (list, np.ndarray)) else pair
        for pair in items(padding, "pad: padding")
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
    """Tensors joined along an axis.

    Parameters
    ----------
    tensors : sequence of QuantTensor
        At least one, of shapes that agree but along ``axis``; per layer or per axis.
    axis : int, default 0
        The axis that is joined. Channels along it are joined too.
    out_type : UniformType or str, optional
        The type of the result, to which operands of another are requantized. Without it all have one type, or types
        that differ in the parameters of their channels along ``axis``.

    Returns
    -------
    QuantTensor
        Of the shape of the tensors, but as long along ``axis`` as they are together.

    Examples
    --------
    >>> q = QuantTensor(np.int8([1, 2]), UniformType("i8", "f32", 0.5))
    >>> concat([q, q]).storage.tolist()
    [1, 2, 1, 2]
    """
    if isinstance(tensors, QuantTensor):
        raise QuantTypeError("concat: tensors must be a sequence of tensors, got one: give a list of them")
    attributes = {"axis": axis, "requant": requant}
    return bind("concat", items(tensors, "concat: tensors"), attributes, out_type, out)
