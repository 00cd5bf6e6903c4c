"""Dense constants: `dense<...>` backed by NumPy arrays, and `dense_resource` blobs."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrt.errors import QuantTypeError, plural
from qrt.ir.core.attributes import Attribute, FloatAttr, IntegerAttr, quote, spell_elements
from qrt.types import FloatType, IndexType, IntegerType, TensorType, Type, VectorType

Array = NDArray[Any]
ShapedType = TensorType | VectorType

MAX_RANK = 64
MAX_BYTES = (1 << 63) - 1
"""The limits of NumPy's arrays, which hold for views of one element too."""

HEX_ABOVE = 100
"""A constant of more elements than this is printed as a hex string, as upstream does."""

_ELIDED = "dense_resource<__elided__>"
_elided_above: ContextVar[int | None] = ContextVar("_elided_above", default=None)

_MAX_ITEMSIZE = 16
FLOAT_DTYPES: dict[str, Any] = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


@contextmanager
def elided_above(limit: int | None) -> Iterator[None]:
    """Within the `with` block, print constants of more than `limit` elements without their values, except splats.

    With None, print all values.
    """
    token = _elided_above.set(limit)
    try:
        yield
    finally:
        _elided_above.reset(token)


def _is_elided(count: int) -> bool:
    limit = _elided_above.get()
    return limit is not None and count > limit


@lru_cache(maxsize=256)
def storage_dtype(element: Type) -> np.dtype[Any]:
    """Return the dtype of the array of a dense constant with this element type.

    Integers use the smallest NumPy integer that is wide enough, signed for signless types; i1 uses bool. f16, f32 and
    f64 use NumPy's float; other floats are stored as bit patterns in unsigned integers.
    """
    if not is_backed(element):
        raise QuantTypeError(f"a dense constant cannot have elements of type {element}")
    if isinstance(element, IntegerType):
        if element.width == 1 and element.is_signless:
            return np.dtype(np.bool_)
        bits = max(8, 1 << (element.width - 1).bit_length())
        return np.dtype(f"{'u' if element.signedness == 'unsigned' else ''}int{bits}")
    if isinstance(element, FloatType):
        if element.name in FLOAT_DTYPES:
            dtype: np.dtype[Any] = np.dtype(FLOAT_DTYPES[element.name])
            return dtype
        bits = 8 if element.width <= 8 else 16 if element.width == 16 else 32
        return np.dtype(f"uint{bits}")
    return np.dtype(np.int64)


def is_backed(element: Type) -> bool:
    """Return True if constants of this element type are NumPy arrays; constants of other types are stored as text."""
    if isinstance(element, IntegerType):
        return 1 <= element.width <= 64
    return isinstance(element, IndexType) or (isinstance(element, FloatType) and element.width <= 64)


def is_wide(element: Type) -> bool:
    """Return True for an integer or float type of more than 64 bits."""
    return isinstance(element, IntegerType | FloatType) and element.width > 64


@lru_cache(maxsize=256)
def static_shape(type: Type) -> tuple[int, ...]:
    """Return the shape of a tensor or vector type.

    Raise QuantTypeError for any other type, a dynamic shape, or a shape that NumPy arrays cannot have.
    """
    if not isinstance(type, ShapedType):
        raise QuantTypeError(f"elements literal must be of a shaped type, not {type}")
    if type.shape is None or None in type.shape:
        raise QuantTypeError(f"elements literal type must have static shape, not {type}")
    shape: tuple[int, ...] = type.shape  # type: ignore[assignment]  # no None is left
    itemsize = storage_dtype(type.element).itemsize if is_backed(type.element) and 0 not in shape else None
    check_extent(type, itemsize)
    return shape


def check_extent(type: ShapedType, itemsize: int | None = None) -> None:
    """Raise QuantTypeError if a NumPy array of this shape has too many dimensions or bytes.

    `itemsize` is the size of an element in bytes, by default that of the largest dtype. Dynamic and empty dimensions
    count as size 1.
    """
    shape = type.shape or ()
    if len(shape) > MAX_RANK:
        raise QuantTypeError(f"an array can have at most {MAX_RANK} dimensions, but {type} has {len(shape)}")
    if (_MAX_ITEMSIZE if itemsize is None else itemsize) * math.prod(size or 1 for size in shape) > MAX_BYTES:
        raise QuantTypeError(f"an array of type {type} is too large: it has more than 2**63 - 1 bytes")


MAX_FOLDED = 1 << 20
"""The largest number of elements that folding writes out. A splat of any size is a few characters of text."""


class DenseElementsAttr(Attribute):
    """A constant `dense<...> : type`, stored as a read-only array of dtype `storage_dtype(element)`.

    The array has the type's shape; for a splat it is a broadcast view of one element.

    Examples
    --------
    >>> str(DenseElementsAttr(np.int32([1, 2]), TensorType((2,), IntegerType(32))))
    'dense<[1, 2]> : tensor<2xi32>'
    """

    __slots__ = ("_hash", "array", "type")
    array: Array
    type: ShapedType

    def __init__(self, array: Array, type: ShapedType) -> None:
        shape = static_shape(type)
        array = np.asarray(array)
        if array.dtype != storage_dtype(type.element) or array.shape != shape:
            raise QuantTypeError(
                f"the array of a constant of type {type} must have dtype {storage_dtype(type.element)} and shape "
                f"{shape}, got dtype {array.dtype} and shape {array.shape}"
            )
        if array.flags.writeable:
            array = array.copy()
            array.flags.writeable = False
        self.array = array
        self.type = type
        self._hash: int | None = None

    @property
    def element(self) -> Type:
        """The element type."""
        return self.type.element

    @property
    def is_splat(self) -> bool:
        """True if the constant has at least one element and all elements have the same bits."""
        bits = _bits(self.array)
        return bits.size > 0 and (_is_broadcast(bits) or bool((bits == _first(bits)).all()))

    @property
    def first(self) -> Any:
        """The first element of the array, in its storage dtype.

        For a splat use this instead of a contiguous copy of the array, which may exceed the memory.
        """
        return _first(self.array)

    def element_at(self, index: tuple[int, ...]) -> Attribute:
        """Return the element at `index` as an integer or float attribute."""
        value = self.array[index]
        if isinstance(self.element, FloatType):
            return FloatAttr(int(value.view(f"u{value.dtype.itemsize}")), self.element)
        return IntegerAttr(int(value), self.element)

    @property
    def python(self) -> Array:
        """The values as an array; floats that NumPy lacks, such as bf16, are converted from bit patterns to float64."""
        if isinstance(self.element, FloatType) and self.array.dtype.kind == "u":
            decode = self.element.format.decode
            if _is_broadcast(self.array):
                return np.broadcast_to(float(decode(int(_first(self.array)))), self.array.shape)
            patterns, inverse = np.unique(self.array, return_inverse=True)
            values = np.array([float(decode(int(bits))) for bits in patterns], np.float64)
            return values[inverse].reshape(self.array.shape)
        return self.array

    def spell(self, elide: bool = False) -> str:
        bits = _bits(self.array) if isinstance(self.element, FloatType) else self.array
        if not bits.size:
            body = ""
        elif self.is_splat:
            body = spell_elements([_first(bits).item()], self.element)[0]
        elif _is_elided(bits.size):
            return f"{_ELIDED} : {self.type}"
        elif bits.size > HEX_ABOVE:
            body = f'"0x{element_bytes(self.array).hex().upper()}"'
        else:
            body = nested(spell_elements(bits.ravel().tolist(), self.element), bits.shape)
        return f"dense<{body}> : {self.type}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DenseElementsAttr) or self.type is not other.type:
            return False
        left, right = _bits(self.array), _bits(other.array)
        if _is_broadcast(left) and _is_broadcast(right):  # of any size: nothing may be allocated for it
            return bool(_first(left) == _first(right))
        return np.array_equal(left, right)

    def __hash__(self) -> int:
        if self._hash is None:
            bits = _bits(self.array)
            content = _first(bits).item() if self.is_splat else bits.tobytes()
            self._hash = hash((self.type, content))
        return self._hash

    def __repr__(self) -> str:
        return f"<DenseElementsAttr {self.type.shown()}>"


class Blob:
    """Bytes of a `dense_resource` key; `data` is None until the resource section at the end of the text is parsed."""

    __slots__ = ("alignment", "data", "key")

    def __init__(self, key: str, data: bytes | None = None, alignment: int = 4) -> None:
        self.key = key
        self.data = data
        self.alignment = alignment


class DenseResourceAttr(Attribute):
    """A constant `dense_resource<key> : type`, whose bytes are in the resource section at the end of the text.

    Examples
    --------
    >>> from qrt.ir.text.dense import Blob
    >>> weights = DenseResourceAttr(Blob("w", bytes([1, 0, 2, 0])), TensorType((2,), IntegerType(16)))
    >>> str(weights), weights.array.tolist()
    ('dense_resource<w> : tensor<2xi16>', [1, 2])
    """

    __slots__ = ("blob", "type")

    def __init__(self, blob: Blob, type: ShapedType) -> None:
        static_shape(type)
        self.blob = blob
        self.type = type

    @property
    def array(self) -> Array:
        """The elements. Raises QuantTypeError if the key has no bytes in the text, or too few or too many."""
        if self.blob.data is None:
            raise QuantTypeError(
                f"dense_resource<{self.blob.key}> has no data: its key is missing in dialect_resources at the end of "
                "the text"
            )
        return array_of_bytes(self.blob.data, self.type)

    @property
    def python(self) -> Array:
        return DenseElementsAttr(self.array, self.type).python

    def spell(self, elide: bool = False) -> str:
        key = self.blob.key
        return f"dense_resource<{key if key.replace('_', 'a').isalnum() else quote(key)}> : {self.type}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DenseResourceAttr) and (self.type, self.blob.key, self.blob.data) == (
            other.type,
            other.blob.key,
            other.blob.data,
        )

    def __hash__(self) -> int:
        return hash((self.type, self.blob.key))


def splat(value: Any, type: Type) -> DenseElementsAttr | None:
    """Return a splat constant of type `type`; `value` is the element in its storage dtype.

    Return None if the type has dynamic sizes or is too large for an array.
    """
    try:
        return DenseElementsAttr(np.broadcast_to(value, static_shape(type)), type)  # type: ignore[arg-type]  # it has a shape
    except QuantTypeError:
        return None


def _bits(array: Array) -> Array:
    return array.view(f"u{array.itemsize}") if array.dtype.kind in "f" else array


def _is_broadcast(array: Array) -> bool:
    """Return True if an array is a broadcast view of a single element."""
    return array.size > 0 and not any(array.strides)


def _first(array: Array) -> Any:
    """Return the first element of an array.

    `array.flat` is limited to 32 dimensions, and `ravel` would copy the whole array of a splat.
    """
    return array[(0,) * array.ndim]


def nested(items: list[str], shape: tuple[int, ...]) -> str:
    for size in reversed(shape):
        items = [f"[{', '.join(items[i : i + size])}]" for i in range(0, len(items), size)]
    return items[0]


def element_bytes(array: Array) -> bytes:
    """Return the bytes of an array as in upstream MLIR's resources and hexadecimal literals.

    They are little endian, at least one byte per element; booleans are packed, eight to a byte.
    """
    if array.dtype == np.bool_:
        return np.packbits(array.ravel(), bitorder="little").tobytes()
    return array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


@dataclass(frozen=True, slots=True)
class KeptElementsAttr(Attribute):
    """A constant `dense<...> : type` stored as text, because NumPy arrays cannot hold its elements.

    The elements are complex numbers, strings, or numbers of more than 64 bits.
    """

    text: str
    type: ShapedType

    @property
    def is_splat(self) -> bool:
        return not self.text.startswith(("[", '"'))

    def spell(self, elide: bool = False) -> str:
        if not self.is_splat and _is_elided(math.prod(size or 0 for size in self.type.shape or ())):
            return f"{_ELIDED} : {self.type}"
        return f"dense<{self.text}> : {self.type}"


def array_of_bytes(data: bytes, type: ShapedType, packed_bool: bool = True) -> Array:
    """Return the array of type `type` with the bytes `data`, the inverse of `element_bytes`.

    Bytes of a single element give a splat. `packed_bool` is True if booleans are packed, eight to a byte.
    """
    shape = static_shape(type)
    dtype = storage_dtype(type.element)
    count = math.prod(shape)
    if dtype == np.bool_ and packed_bool:
        if len(data) != -(-count // 8) and len(data) != 1:
            raise QuantTypeError(_wrong_size(data, type, -(-count // 8), 1))
        bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little").astype(np.bool_)
        return np.broadcast_to(bits[0], shape) if len(bits) < count else bits[:count].reshape(shape)
    if len(data) != count * dtype.itemsize and len(data) != dtype.itemsize:
        raise QuantTypeError(_wrong_size(data, type, count * dtype.itemsize, dtype.itemsize))
    flat = np.frombuffer(data, dtype.newbyteorder("<")).astype(dtype, copy=False)
    if isinstance(type.element, IntegerType) and dtype.itemsize * 8 != type.element.width:
        flat = wrapped(flat, type.element)
    return flat.reshape(shape) if len(flat) == count else np.broadcast_to(flat[0], shape)


def _wrong_size(data: bytes, type: ShapedType, whole: int, single: int) -> str:
    return f"the data of {type} must have {plural(whole, 'byte')} (or {single} for equal elements), got {len(data):,}"


def wrapped(values: Array, element: IntegerType) -> Array:
    """Return integers reduced modulo 2**width of the element type, into the type's signed or unsigned range."""
    if element.signedness == "unsigned":
        return values & values.dtype.type((1 << element.width) - 1) if element.width < 64 else values
    bits = values.dtype.itemsize * 8 - element.width
    return (values << bits) >> bits
