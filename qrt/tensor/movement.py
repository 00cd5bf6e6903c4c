"""QuantTensors moved: reshaped, transposed, padded, joined. ``qrt.ops`` says the shapes, docs/numerics.md the rules."""

from collections.abc import Sequence

import numpy as np

from qrt.errors import QuantTypeError, worded
from qrt.numerics import RequantName
from qrt.tensor.arrays import items
from qrt.tensor.binding import EagerCall, bind, eager, require_tensor
from qrt.tensor.docstrings import complete_docstring
from qrt.tensor.quant_tensor import QuantTensor
from qrt.types import UniformType


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
