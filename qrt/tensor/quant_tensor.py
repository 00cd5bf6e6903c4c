"""QuantTensor: storage and a quantized type, with NumPy's protocols. The operators + - * @ call op families.

Storage of 1, 2 or 4 bits is packed (low element first, rows padded to a byte); storage of any other width is in the
next larger integer dtype.
"""

from collections.abc import Callable
from math import prod
from typing import Any, SupportsIndex, overload

import numpy as np
import numpy.typing as npt

from qrt.errors import QuantTypeError, QuantValueError, check_signatures, require, shown
from qrt.ops.core import Array, Shape, check_bounds, storage_dtype
from qrt.ops.indexing import indexed_element
from qrt.ops.movement import reshaped_element, transposed_element
from qrt.ops.requant import max_magnitude
from qrt.tensor import calls
from qrt.tensor.arrays import aligned_copy, as_storage, cast, integers, native_floats, require_uniform
from qrt.tensor.binding import EagerCall, bind, bind_arrays, eager
from qrt.tensor.calls import Tensor, set_tensor_class
from qrt.tensor.html import tensor_html
from qrt.tensor.numpy_errors import NUMPY_ERRORS, from_numpy
from qrt.tensor.protocol.elements import assign, stored
from qrt.tensor.protocol.methods import Methods, Operators, by_ufunc
from qrt.tensor.protocol.table import answer
from qrt.tensor.protocol.written import written_operator
from qrt.tensor.storage import is_packed, pack, ready, unpack
from qrt.types import UniformType, check_integrity

_I32_END = 1 << 31
tensor_of: Callable[[Array, UniformType, Shape], "QuantTensor"] = calls.tensor_of


@eager
def _of_two(name: str, a: Tensor, b: Tensor) -> EagerCall[Any]:
    return bind_sum(name, a, b) if name in ("add", "sub") else bind(name, (a, b), {}, None, None)


def _operator(name: str, ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    """Return a binary operator: the op family ``name`` if both operands are tensors, else NumPy's ``ufunc``."""
    return lambda a, b: _of_two(name, a, b) if isinstance(b, Tensor) else by_ufunc(ufunc, a, b)


@check_signatures
class QuantTensor(Operators, Tensor, Methods["QuantTensor"]):
    """An n-dimensional array of quantized values.

    ``storage`` holds integers within the type's storage bounds; their values are ``(storage - zero_point) * scale``.
    Slicing, transposing and reshaping keep the channels of a per-axis type; ``np.asarray(q)`` gives the expressed
    values; ``@``, ``+``, ``-`` and ``*`` are ``qrt.matmul``, ``add``, ``sub`` and ``mul``. Multiplication and division
    by a number other than 0 change the scales; ``+`` and ``-`` accept the number 0 only. Comparisons (``==``, ``<``,
    ...) compare the values that ``np.asarray`` gives, exactly and element by element.

    Parameters
    ----------
    storage : array_like of int
        Of any shape and integer dtype; it is copied.
    type : UniformType or str
        The type of the elements.

    Raises
    ------
    QuantTypeError
        If the storage is not integers, is out of bounds, or has a shape that does not fit the type's channels.

    Examples
    --------
    >>> import qrt
    >>> q = qrt.quantize([[0.0, 0.5], [1.0, -1.5]], qrt.UniformType("i8", "f32", 0.5, 3))
    >>> q.storage.tolist(), q.shape
    ([[3, 4], [5, 0]], (2, 2))
    >>> np.asarray(q)[1].tolist()
    [1.0, -1.5]
    """

    __slots__ = ("__weakref__",)
    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]

    type: UniformType

    def __init__(self, storage: npt.ArrayLike, type: UniformType | str) -> None:
        type = require_uniform(type, "QuantTensor: 'type'")
        array = as_storage(storage)
        if array.dtype.kind not in "iu":
            instead = ": qrt.quantize(storage, type) quantizes floats" if array.dtype.kind == "f" else ""
            raise QuantTypeError(f"QuantTensor: 'storage' must be integers, got dtype {array.dtype}{instead}")
        check_integrity(type, array.shape)
        check_bounds(array, type)
        self._fill(pack(aligned_copy(array, storage_dtype(type)), type), type, array.shape)

    @property
    def shape(self) -> Shape:
        """The size of each dimension."""
        return self._shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self._shape)

    @property
    def nbytes(self) -> int:
        """The number of bytes of the (packed) storage."""
        return self._data.nbytes

    @property
    def scales(self) -> Array:
        """The scales as float64: of shape () per layer, (channels,) per axis, and one per block for sub-channel."""
        return self.type.scale_array

    @property
    def zero_points(self) -> Array:
        """The zero points as int64, of the shape of ``scales``."""
        return self.type.zero_point_array

    @property
    def storage(self) -> Array:
        """The integers, unpacked and read-only: a copy if the width is 1, 2 or 4, else a view."""
        view = unpack(self._data, self.type, self._shape) if is_packed(self.type) else self._data.view()
        view.flags.writeable = False
        return view

    @property
    def packed(self) -> Array:
        """The bytes of the storage, read-only uint8.

        Widths 1, 2 and 4 have the low element first and rows padded to a byte; others are little-endian integers.
        """
        if is_packed(self.type):
            view = self._data.view()
        else:
            view = np.ascontiguousarray(self._data).reshape(self._shape or (1,)).view(np.uint8)
        view.flags.writeable = False
        return view

    @property
    def T(self) -> "QuantTensor":  # noqa: N802 - NumPy's name
        """The axes in reverse order."""
        return self.transpose()

    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return answer(function, args, kwargs)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.get("out")
        if isinstance(out, tuple) and len(out) == 1:
            kwargs["out"] = out[0]
        return answer(ufunc if method == "__call__" else (ufunc, method), inputs, kwargs)

    def dequantize(self) -> Array:
        """Return the expressed values (``quant.dcast``), an array of the expressed type's dtype."""
        return _dequantized(self)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        """Return the expressed values for NumPy. Raise ValueError for ``copy=False``."""
        if copy is False:
            raise ValueError("a quantized tensor cannot be dequantized without a copy")
        return self.dequantize() if dtype is None else self.astype(dtype)

    def __dlpack__(self, **options: Any) -> Any:
        """Return the expressed values, as ``np.asarray`` gives them, for ``np.from_dlpack`` or ``torch.from_dlpack``.

        For the integers, pass ``q.storage``, which is an array itself.
        """
        if options.get("copy") is False:
            raise BufferError("a quantized tensor cannot be dequantized without a copy: give q.storage instead")
        return native_floats(self.dequantize()).__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # the CPU, by DLPack's enumeration

    def _repr_html_(self) -> str:
        """Return the type, a histogram and the values as HTML, for notebooks."""
        return tensor_html(self.type, self._shape, self._shown_values()[0])

    @overload
    def astype(self, type: UniformType) -> "QuantTensor": ...
    @overload
    def astype(self, type: Any) -> Any: ...
    def astype(self, type: Any) -> Any:
        """Convert to another quantized type (a tensor), or to a NumPy dtype (an array).

        Parameters
        ----------
        type : UniformType or str or dtype
            A quantized type or its text gives a tensor: by the default rule of ``requantize``, or, if the type has
            another expressed type, by ``quantize`` of the values. A float dtype gives the values as an array.

        Returns
        -------
        QuantTensor or ndarray
            A copy of the same shape.

        Raises
        ------
        QuantTypeError
            If ``type`` is an integer dtype or not a type, or its channels do not fit the shape.

        Examples
        --------
        >>> import qrt
        >>> q = qrt.quantize([1.0, 2.5], "!quant.uniform<i8:f32, 0.5>")
        >>> q.astype("!quant.uniform<i8:f32, 0.25>").storage.tolist(), q.astype(np.float64).tolist()
        ([4, 10], [1.0, 2.5])
        """
        return cast(self, type)

    def copy(self) -> "QuantTensor":
        """Return a tensor with a copy of the storage."""
        return tensor_of(self._data.copy(), self.type, self._shape)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> "QuantTensor":
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (np.ascontiguousarray(self._data).reshape(self._data.shape), self.type, self._shape)

    def equals(self, other: object) -> bool:
        """Return True if ``other`` is a tensor of the same type, shape and storage. ``np.array_equal`` compares values.

        >>> import qrt
        >>> q = qrt.quantize([1.0, 2.5], "!quant.uniform<i8:f32, 0.5>")
        >>> q.equals(q.copy()), q.equals(q.astype("!quant.uniform<i8:f32, 0.25>"))
        (True, False)
        """
        return (
            isinstance(other, QuantTensor)
            and self.type == other.type
            and self._shape == other._shape
            and bool(np.array_equal(self.storage, other.storage))
        )

    def __len__(self) -> int:
        if not self._shape:
            raise QuantTypeError("a tensor of rank 0 has no length")
        return self._shape[0]

    def __repr__(self) -> str:
        values, label = self._shown_values()
        head = f"{self.__class__.__name__}({label}"
        shown = np.array2string(values, separator=", ", prefix=head, threshold=100)
        return f"{head}{shown}, type={self.type.shown()})"

    def _shown_values(self) -> tuple[Array, str]:
        """Return the values and an empty label, or the storage and its label if NumPy has no dtype for the values."""
        try:
            return self.dequantize(), ""
        except QuantTypeError:  # f80 and f128
            return self.storage, "storage="

    def __getitem__(self, key: Any, /) -> "QuantTensor":
        """Select elements by the rules of an ndarray, and return them as a tensor.

        Slices, ``...``, None, and integers for some of the axes give a view, unless bits are packed. Any other index
        gives a copy.

        Channels of a per-axis type are selected with the elements of their axis; an integer there gives that channel's
        type. Raises IndexError where NumPy does, and ``QuantTypeError`` if channels would mix along an axis, or blocks
        would be cut.
        """
        source = stored(self)
        try:
            data = source[key]
        except NUMPY_ERRORS as error:
            raise from_numpy(error) from None
        return wrap_storage(data, indexed_element(self.type, self._shape, key), source)

    def __setitem__(self, key: Any, value: Any, /) -> None:
        """Write a tensor of the selected elements' type, or real numbers, which are quantized by the default rule.

        Raises ValueError if the storage is read-only: a packed tensor, a broadcast view, or a part of packed bits.
        """
        assign(self, key, value)

    def transpose(self, *axes: Any) -> "QuantTensor":
        """Permute the axes to the given order (separate integers or one sequence), or reverse them.

        A per-axis type follows its channels. Raises ``QuantTypeError`` unless each axis is given once.
        """
        source, order = stored(self), _axes(axes, self.ndim)
        return wrap_storage(source.transpose(order), transposed_element(self.type, order), source)

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> "QuantTensor":
        """Reshape the tensor.

        The channel axis of a per-axis type must remain one axis, else a ``QuantTypeError`` is raised.
        """
        source, wanted = stored(self), _integers_of(shape, "reshape: the shape")
        if not isinstance(order, str) or order not in ("C", "F", "A"):
            raise QuantValueError(f"reshape: 'order' must be 'C', 'F' or 'A', got {shown(order)}")
        if order == "F" or (order == "A" and source.flags.fnc):
            return self.T.reshape(wanted[::-1], copy=copy).T
        try:
            data = source.reshape(wanted)
        except (ValueError, OverflowError) as error:
            message = (
                f"reshape: the result must have as many elements as {self.tensor_type}, got the shape {shown(wanted)}"
            )
            raise QuantValueError(message) from error
        if copy is False and (is_packed(self.type) or not np.may_share_memory(data, source)):
            raise QuantValueError(
                f"reshape: {self.tensor_type} cannot have the shape {data.shape} without a copy, as copy=False requires"
            )
        result = wrap_storage(data, reshaped_element(self.type, self._shape, data.shape), source)
        return result.copy() if copy else result

    __matmul__ = _operator("matmul", np.matmul)
    __add__ = _operator("add", np.add)
    __sub__ = _operator("sub", np.subtract)
    __mul__ = _operator("mul", np.multiply)


set_tensor_class(QuantTensor)


@check_signatures
class PackedTensor(QuantTensor):
    """A tensor that never changes, made by ``qrt.pack``.

    Functions such as ``matmul`` and ``conv2d``, which read the tensor as their second or third operand, pack it once
    for each ISA and set of argument types. The tensor stores the latest 8 packed forms. Views and copies of the tensor
    are ordinary tensors. A pickle has the storage without the packed forms.

    Parameters
    ----------
    q : QuantTensor
        The tensor whose storage is copied.

    Examples
    --------
    >>> import qrt
    >>> t = qrt.UniformType("i8", "f32", 0.5)
    >>> w = qrt.pack(qrt.QuantTensor(np.int8([[1], [2]]), t))
    >>> w
    PackedTensor([[0.5],
                  [1. ]], type=!quant.uniform<i8:f32, 5.000000e-01>)
    >>> (qrt.QuantTensor(np.int8([[3, 4]]), t) @ w).storage.tolist()
    [[11]]
    """

    __slots__ = ()

    def __init__(self, q: QuantTensor) -> None:
        require(q, QuantTensor, "PackedTensor: 'q'", "a QuantTensor")
        self._fill(_frozen(ready(q._data)), q.type, q._shape)
        self._keep_calls()

    def __copy__(self) -> "PackedTensor":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return PackedTensor, (self.copy(),)


def _frozen(data: Array) -> Array:
    """Return a copy in C order whose memory is a bytes object, so that NumPy cannot make it writeable."""
    return np.ndarray(data.shape, data.dtype, data.tobytes())


def _rebuild(data: Array, type: UniformType, shape: Shape) -> QuantTensor:
    return tensor_of(data, type, shape)


def wrap_storage(data: Any, t: UniformType, source: Array | None = None) -> QuantTensor:
    """Return a tensor around storage, or around a scalar of storage.

    If bits are packed and the storage is a view of a tensor's unpacked storage ``source``, the result is read-only: a
    write would not reach that tensor.
    """
    array = np.asarray(data)
    if t.block_sizes is not None:
        check_integrity(t, array.shape)
    if not is_packed(t):
        return tensor_of(array, t, array.shape)
    packed = pack(array, t)
    packed.flags.writeable = source is None or not np.may_share_memory(array, source)
    return tensor_of(packed, t, array.shape)


def bind_sum(
    name: str,
    a: Tensor,
    b: Tensor,
    requant: str = "fixed",
    out_type: UniformType | str | None = None,
    out: Tensor | None = None,
) -> EagerCall[Any]:
    """Bind ``add`` or ``sub``.

    Two tensors of rank 0 and equal scales have an exact i32 result if the result's value fits, even if the operands'
    types do not guarantee that. Python's ``sum`` needs this: it adds each element to an i32 sum.
    """
    attributes = {"requant": requant}
    is_of_elements = (
        out_type is None
        and out is None
        and all(isinstance(q, Tensor) and q._shape == () and q.type.is_per_layer for q in (a, b))
        and (a.type.scales, a.type.expressed_type) == (b.type.scales, b.type.expressed_type)
        and max_magnitude(a.type) + max_magnitude(b.type) >= _I32_END
    )
    if not is_of_elements or not isinstance(requant, str) or requant != "fixed":
        return bind(name, (a, b), attributes, out_type, out)
    first, second = (int(q.storage) - q.type.zero_point for q in (a, b))  # type: ignore[attr-defined]
    total = first + second if name == "add" else first - second
    if not -_I32_END <= total < _I32_END:
        floats = written_operator("+" if name == "add" else "-", a, b)
        raise QuantTypeError(
            f"{name}: the exact result is {total} times the scale, which overflows i32: write {floats}, "
            f"qrt.{name}(a, b, out_type=t), or for the sum of a tensor np.sum(q, dtype=np.float64)"
        )
    return bind(name, (a, b), attributes, UniformType("i32", a.type.expressed_type, a.type.scale), None).of_values()


@eager
def _dequantized(q: QuantTensor) -> EagerCall[Array]:
    return bind_arrays("dcast", (q,), {}, None, None)


def _axes(axes: tuple[Any, ...], rank: int) -> tuple[int, ...]:
    given = () if len(axes) == 1 and axes[0] is None else _integers_of(axes, "transpose: the axes")
    if not given:
        return tuple(range(rank))[::-1]
    order = tuple(axis + rank * (axis < 0) for axis in given)
    if sorted(order) != list(range(rank)):
        raise QuantValueError(f"transpose: 'axes' must have each of the {rank} axes once, got {shown(given)}")
    return order


def _integers_of(given: tuple[Any, ...], what: str) -> tuple[int, ...]:
    """Return integers that are given one by one, or as one sequence."""
    is_one = len(given) == 1 and (not isinstance(given[0], SupportsIndex) or isinstance(given[0], np.ndarray))
    return integers(given[0] if is_one else given, what)
