"""Dense elements: constants backed by NumPy arrays, from `dense<...>` text and back, and `dense_resource` blobs."""

import math
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrt.errors import ParseError, QuantTypeError
from qrt.ir.core.attributes import Attribute, FloatAttr, IntegerAttr, integer_range, quote, spell_elements
from qrt.text import Scanner, Source
from qrt.types import ComplexType, FloatType, IndexType, IntegerType, TensorType, Type, VectorType

Array = NDArray[Any]
ShapedType = TensorType | VectorType

MAX_RANK = 64
MAX_BYTES = (1 << 63) - 1
"""The limits of NumPy's arrays, which hold for views of one element too."""

HEX_ABOVE = 100
"""Constants of more elements than this print as a hex string, as upstream's do."""

_MAX_ITEMSIZE = 16
_FAST_ABOVE = 512  # characters; below, checking token by token is as fast
_FLOAT_DTYPES: dict[str, Any] = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
_COMMENT = re.compile(r"//[^\n]*")
_ELEMENT = r"(?:true|false|(?:-[ \t]*+)?+(?:0x[0-9a-fA-F]++|\d++(?:\.\d*+(?:[eE][-+]?\d++)?+)?+))"
_PAIR = re.compile(rf"\(\s*({_ELEMENT})\s*,\s*({_ELEMENT})\s*\)", re.ASCII)
_ELEMENT_RE = re.compile(rf"//[^\n]*+|({_ELEMENT})", re.ASCII)
_TOKEN = re.compile(
    r"[ \t\r\n]*+(?://[^\n]*+[ \t\r\n]*+)*+"
    rf"(?:(\[)|(\])|(,)|({_ELEMENT}(?:[ \t\r\n]*+,[ \t\r\n]*+{_ELEMENT})*+)|$|(.))",
    re.ASCII | re.DOTALL,
)
_SHAPE_OF = bytes.maketrans(b"123456789E", b"000000000e")
_UNBRACKETED = bytes.maketrans(b"[]", b"  ")
_SPACES = b" \t\r\n"
_BEFORE_OPEN, _AFTER_CLOSE = (ord("["), ord(",")), (ord("]"), ord(","))


@lru_cache(maxsize=256)
def storage_dtype(element: Type) -> np.dtype[Any]:
    """The dtype a dense constant of `element` is kept in: the smallest integer of its signedness (signless counts as
    signed), bool for i1, the float itself for f16, f32 and f64, and bit patterns for every other float."""
    if not is_backed(element):
        raise QuantTypeError(f"dense elements of {element} are not supported")
    if isinstance(element, IntegerType):
        if element.width == 1 and element.is_signless:
            return np.dtype(np.bool_)
        bits = max(8, 1 << (element.width - 1).bit_length())
        return np.dtype(f"{'u' if element.signedness == 'unsigned' else ''}int{bits}")
    if isinstance(element, FloatType):
        if element.name in _FLOAT_DTYPES:
            dtype: np.dtype[Any] = np.dtype(_FLOAT_DTYPES[element.name])
            return dtype
        bits = 8 if element.width <= 8 else 16 if element.width == 16 else 32
        return np.dtype(f"uint{bits}")
    return np.dtype(np.int64)


def is_backed(element: Type) -> bool:
    """Whether constants of `element` are arrays; those of other types are kept as text."""
    if isinstance(element, IntegerType):
        return 1 <= element.width <= 64
    return isinstance(element, IndexType) or (isinstance(element, FloatType) and element.width <= 64)


def is_wide(element: Type) -> bool:
    """Whether `element` is a number of more bits than an array holds."""
    return isinstance(element, IntegerType | FloatType) and element.width > 64


@lru_cache(maxsize=256)
def static_shape(type: Type) -> tuple[int, ...]:
    """The shape of a dense constant's type; QuantTypeError unless it is a tensor or vector of static shape that an
    array can have."""
    if not isinstance(type, ShapedType):
        raise QuantTypeError(f"elements literal must be of a shaped type, not {type}")
    if type.shape is None or None in type.shape:
        raise QuantTypeError(f"elements literal type must have static shape, not {type}")
    shape: tuple[int, ...] = type.shape  # type: ignore[assignment]  # no None is left
    itemsize = storage_dtype(type.element).itemsize if is_backed(type.element) and 0 not in shape else None
    check_extent(type, itemsize)
    return shape


def check_extent(type: ShapedType, itemsize: int | None = None) -> None:
    """Raise QuantTypeError unless arrays of the type's shape can be: of elements of `itemsize` bytes, or of any dtype.
    Dynamic dimensions count as 1, and so do empty ones, as they do to NumPy."""
    shape = type.shape or ()
    if len(shape) > MAX_RANK:
        raise QuantTypeError(f"arrays have at most {MAX_RANK} dimensions, not {len(shape)}")
    if (_MAX_ITEMSIZE if itemsize is None else itemsize) * math.prod(size or 1 for size in shape) > MAX_BYTES:
        raise QuantTypeError(f"an array of {type} has more than {MAX_BYTES} bytes")


MAX_FOLDED = 1 << 20
"""Most elements that folding writes out: a splat of any size is a few characters of text."""


class DenseElementsAttr(Attribute):
    """`dense<...> : type`, as a read-only array of the type's shape (a broadcast view for a splat) in
    `storage_dtype(element)`."""

    __slots__ = ("_hash", "array", "type")
    array: Array
    type: ShapedType

    def __init__(self, array: Array, type: ShapedType) -> None:
        shape = static_shape(type)
        array = np.asarray(array)
        if array.dtype != storage_dtype(type.element) or array.shape != shape:
            raise QuantTypeError(
                f"constant of {type} is kept as {storage_dtype(type.element)} of shape {shape}, "
                f"not {array.dtype} of shape {array.shape}"
            )
        if array.flags.writeable:
            array = array.copy()
            array.flags.writeable = False
        self.array = array
        self.type = type
        self._hash: int | None = None

    @property
    def element(self) -> Type:
        return self.type.element

    @property
    def is_splat(self) -> bool:
        bits = _bits(self.array)
        return bits.size > 0 and (_is_broadcast(bits) or bool((bits == _first(bits)).all()))

    @property
    def first(self) -> Any:
        """The first element, as the array holds it: all that a splat, whose array may pass any memory, says."""
        return _first(self.array)

    def element_at(self, index: tuple[int, ...]) -> Attribute:
        """One element, as the constant it is by itself."""
        value = self.array[index]
        if isinstance(self.element, FloatType):
            return FloatAttr(int(value.view(f"u{value.dtype.itemsize}")), self.element)
        return IntegerAttr(int(value), self.element)

    @property
    def python(self) -> Array:
        """The values: the array itself, or its floats where it holds bit patterns."""
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
        elif bits.size > HEX_ABOVE:
            body = f'"0x{element_bytes(self.array).hex().upper()}"'
        else:
            body = _nested(spell_elements(bits.ravel().tolist(), self.element), bits.shape)
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
        return f"<DenseElementsAttr {self.type}>"


class Blob:
    """The bytes of one `dense_resource` key: empty until the section at the end of the text fills it."""

    __slots__ = ("alignment", "data", "key")

    def __init__(self, key: str, data: bytes | None = None, alignment: int = 4) -> None:
        self.key = key
        self.data = data
        self.alignment = alignment


class DenseResourceAttr(Attribute):
    """`dense_resource<key> : type`."""

    __slots__ = ("blob", "type")

    def __init__(self, blob: Blob, type: ShapedType) -> None:
        static_shape(type)
        self.blob = blob
        self.type = type

    @property
    def array(self) -> Array:
        """The elements; QuantTypeError if the text had no blob of this key, or one of another size."""
        if self.blob.data is None:
            raise QuantTypeError(f"dense_resource<{self.blob.key}> has no data")
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
    """A constant of one stored value everywhere; None where the type leaves sizes open, or where no array has as many
    elements."""
    try:
        return DenseElementsAttr(np.broadcast_to(value, static_shape(type)), type)  # type: ignore[arg-type]  # it has a shape
    except QuantTypeError:
        return None


def _bits(array: Array) -> Array:
    return array.view(f"u{array.itemsize}") if array.dtype.kind in "f" else array


def _is_broadcast(array: Array) -> bool:
    """Whether one element stands for all."""
    return array.size > 0 and not any(array.strides)


def _first(array: Array) -> Any:
    """The first element (`flat` stops at 32 dimensions, and `ravel` would make a splat's view an array)."""
    return array[(0,) * array.ndim]


def _nested(items: list[str], shape: tuple[int, ...]) -> str:
    for size in reversed(shape):
        items = [f"[{', '.join(items[i : i + size])}]" for i in range(0, len(items), size)]
    return items[0]


def element_bytes(array: Array) -> bytes:
    """The elements as upstream lays them out: little endian, one per byte or more, i1 packed eight to a byte."""
    if array.dtype == np.bool_:
        return np.packbits(array.ravel(), bitorder="little").tobytes()
    return array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


@dataclass(frozen=True, slots=True)
class KeptElementsAttr(Attribute):
    """`dense<...> : type` of elements that no array holds, as text: complex numbers, strings, numbers of more than
    64 bits."""

    text: str
    type: ShapedType

    @property
    def is_splat(self) -> bool:
        return not self.text.startswith(("[", '"'))

    def spell(self, elide: bool = False) -> str:
        return f"dense<{self.text}> : {self.type}"


def array_of_bytes(data: bytes, type: ShapedType, packed_bool: bool = True) -> Array:
    """The array that `element_bytes` came from; one element's bytes are a splat."""
    shape = static_shape(type)
    dtype = storage_dtype(type.element)
    count = math.prod(shape)
    if dtype == np.bool_ and packed_bool:
        if len(data) != -(-count // 8) and len(data) != 1:
            raise QuantTypeError(f"data of {len(data)} bytes does not fill {type}")
        bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little").astype(np.bool_)
        return np.broadcast_to(bits[0], shape) if len(bits) < count else bits[:count].reshape(shape)
    if len(data) != count * dtype.itemsize and len(data) != dtype.itemsize:
        raise QuantTypeError(f"data of {len(data)} bytes does not fill {type}")
    flat = np.frombuffer(data, dtype.newbyteorder("<")).astype(dtype, copy=False)
    if isinstance(type.element, IntegerType) and dtype.itemsize * 8 != type.element.width:
        flat = _wrapped(flat, type.element)
    return flat.reshape(shape) if len(flat) == count else np.broadcast_to(flat[0], shape)


def _wrapped(values: Array, element: IntegerType) -> Array:
    """Values read modulo the element's width, in its own signedness."""
    if element.signedness == "unsigned":
        return values & values.dtype.type((1 << element.width) - 1) if element.width < 64 else values
    bits = values.dtype.itemsize * 8 - element.width
    return (values << bits) >> bits


# -- text --------------------------------------------------------------------------------------------------------------


class Literal:
    """The inside of `dense<...>`, kept until the type after it says what it means."""

    __slots__ = ("end", "scanner", "start")

    def __init__(self, scanner: Scanner) -> None:
        """Take what is between the angle brackets, and the closing one."""
        self.scanner = scanner
        self.start = scanner.skip()
        if scanner.at('"'):
            scanner.string()
            self.end = scanner.skip()
        else:
            self.end = self._closing()
        scanner.pos = self.end
        scanner.expect(">", " closing dense elements")

    def _closing(self) -> int:
        text = self.scanner.text
        end = text.find(">", self.start)
        comment = text.find("//", self.start, end)
        while 0 <= comment < end:
            newline = text.find("\n", comment)
            end = text.find(">", newline) if newline >= 0 else -1
            comment = text.find("//", newline, end) if newline >= 0 else -1
        if '"' in text[self.start : end]:  # strings, which may hold anything
            self.scanner.balanced("dense elements")
            return self.scanner.pos
        if end < 0:
            self._layout()  # says what is wrong inside, if anything is
            raise self.scanner.error("expected '>' closing dense elements", len(text))
        return end

    @property
    def text(self) -> str:
        return self.scanner.text[self.start : self.end].rstrip()

    def elements(self, type: Type) -> DenseElementsAttr:
        """The constant of `type`. Raises ParseError at the offending element."""
        scanner = self.scanner
        try:
            shape = static_shape(type)
            assert isinstance(type, ShapedType)
            dtype = storage_dtype(type.element)
        except QuantTypeError as error:
            raise scanner.error(str(error), self.start, self.end) from None
        if scanner.text.startswith('"', self.start):
            return DenseElementsAttr(self._from_hex(type), type)
        array = self._fast(shape, type.element) if self.end - self.start > _FAST_ABOVE else None
        if array is None:
            array = self._checked(shape, type.element)
        array = array.astype(dtype, copy=False) if array.dtype != dtype else array
        if array.ndim == 0 and shape:
            array = np.broadcast_to(array, shape)
        array = array.reshape(shape)
        array.flags.writeable = False
        return DenseElementsAttr(array, type)

    def kept(self, type: ShapedType) -> "KeptElementsAttr":
        """The constant of a type whose elements no array holds. Raises ParseError at the offending element."""
        is_number = isinstance(type.element, ComplexType) or is_wide(type.element)
        if not is_number or self.scanner.text.startswith('"', self.start):
            return KeptElementsAttr(self.text, type)
        try:
            shape = static_shape(type)
        except QuantTypeError as error:
            raise self.scanner.error(str(error), self.start, self.end) from None
        if isinstance(type.element, ComplexType):
            items, said = self._pairs(shape, type.element)
        else:
            values, said = self._values(shape, type.element)
            items = spell_elements(values, type.element)
        if len(set(items)) == 1:
            return KeptElementsAttr(items[0], type)
        return KeptElementsAttr(_nested(items, said) if items else "", type)

    def _pairs(self, shape: tuple[int, ...], element: ComplexType) -> tuple[list[str], tuple[int, ...]]:
        """Complex numbers, spelled, and the shape they were said in."""
        body = _COMMENT.sub(lambda comment: " " * len(comment[0]), self.scanner.text[self.start : self.end])
        pairs = list(_PAIR.finditer(body))
        outline = Literal(Scanner(Source(f"{_PAIR.sub('0', body)}>")))
        try:
            count, (_, said) = outline._layout()[0], outline._values(shape, _I1)
        except ParseError as error:
            raise self.scanner.error(error.message, self.start, self.end) from None
        if len(pairs) != count:
            message = f"elements of type '{element}' are pairs in parentheses"
            raise self.scanner.error(message, self.start, self.end)
        parts = [
            [self._value(pair[side], self.start + pair.start(side), element.element) for side in (1, 2)]
            for pair in pairs
        ]
        return [f"({','.join(spell_elements(part, element.element))})" for part in parts], said

    def _from_hex(self, type: ShapedType) -> Array:
        text = self.text[1:-1]
        try:
            if not text.startswith("0x"):
                raise ValueError
            data = bytes.fromhex(text[2:])
        except ValueError:
            message = "expected a string of hex digits, two per byte, starting with 0x"
            raise self.scanner.error(message, self.start, self.end) from None
        try:
            return array_of_bytes(data, type)
        except QuantTypeError as error:
            raise self.scanner.error(str(error), self.start, self.end) from None

    def _fast(self, shape: tuple[int, ...], element: Type) -> Array | None:
        """A large decimal literal at once, or None where it is anything less plain (errors included)."""
        length = self.end - self.start
        if max(shape, default=0) > length or math.prod(shape) > length:  # which says less than a digit per element
            return None
        body = _COMMENT.sub("", self.scanner.text[self.start : self.end])
        if not body.isascii():
            return None
        values = _decimal(body.encode(), shape, isinstance(element, FloatType))
        if values is None:
            return None
        if isinstance(element, FloatType) and element.name not in _FLOAT_DTYPES:
            distinct, inverse = np.unique(values.view(np.uint64), return_inverse=True)  # as bits: -0.0 is not 0.0
            patterns = [element.format.encode_float(value) for value in distinct.view(np.float64).tolist()]
            return np.array(patterns, storage_dtype(element))[inverse]
        if isinstance(element, FloatType):
            with np.errstate(over="ignore"):  # upstream rounds the double too: 1.0e40 is infinite as f32
                return values.astype(storage_dtype(element))
        low, high = integer_range(element)
        if int(values.min()) < max(low, -_INT64_MAX) or int(values.max()) > min(high, _INT64_MAX - 1):
            return None  # NumPy saturates to the ends of int64, so those are read the slow way
        return _wrapped(values, element) if isinstance(element, IntegerType) else values

    def _checked(self, shape: tuple[int, ...], element: Type) -> Array:
        """Any literal, element by element."""
        values, said = self._values(shape, element)
        dtype = storage_dtype(element)
        if isinstance(element, FloatType):
            return np.fromiter(values, f"u{dtype.itemsize}").view(dtype).reshape(said)
        wide = np.fromiter(values, np.uint64 if element is _UI64 else np.int64)
        wide = _wrapped(wide, element) if isinstance(element, IntegerType) and element is not _UI64 else wide
        return wide.reshape(said)

    def _values(self, shape: tuple[int, ...], element: Type) -> tuple[Iterator[int], tuple[int, ...]]:
        """The elements, and the shape they were said in: `()` for a splat."""
        count, found = self._layout()
        if found is not None and found != list(shape):
            message = f"inferred shape of elements literal ({found}) does not match type ({list(shape)})"
            raise self.scanner.error(message, self.start, self.end)
        if not count and 0 not in shape:
            raise self.scanner.error("expected element literal of primitive type", self.end)
        matches = _ELEMENT_RE.finditer(self.scanner.text, self.start, self.end)
        values = (self._value(match[1], match.start(1), element) for match in matches if match[1] is not None)
        return values, shape if found is not None or not count else ()

    def _value(self, text: str, at: int, element: Type) -> int:
        error = self.scanner.error
        digits = text.lstrip("- \t")
        negative = text.startswith("-")
        is_hex = digits.startswith("0x")
        if isinstance(element, FloatType):
            if "." in digits:
                return element.format.encode_float(-float(digits) if negative else float(digits))
            if not is_hex or negative:
                raise error("expected floating-point elements, found an integer", at, at + len(text))
            bits = int(digits, 16)
            if bits >> element.width:
                raise error(f"hexadecimal float constant out of range for {element}", at, at + len(text))
            return bits
        if digits in ("true", "false"):
            if not isinstance(element, IntegerType) or element.width != 1:
                raise error("expected i1 type for 'true' or 'false' values", at, at + len(text))
            return int(digits == "true")
        if "." in digits:
            raise error("expected integer elements, found a float", at, at + len(text))
        low, high = integer_range(element)
        value = int(digits, 16 if is_hex else 10) if len(digits) < 4000 else high + 1
        value = -value if negative else value
        if not low <= value <= high:
            raise error(f"integer constant out of range for {element}", at, at + len(text))
        if isinstance(element, IntegerType) and element.signedness != "unsigned" and element.width >= 64:
            return value if value < 1 << (element.width - 1) else value - (1 << element.width)
        return value

    def _layout(self) -> tuple[int, list[int] | None]:
        """The number of elements, and the shape their brackets say (None without brackets)."""
        text, position = self.scanner.text, self.start
        end = getattr(self, "end", len(text))
        elements = 0
        sizes: list[int | None] = []  # per depth, once a list of that depth is complete
        counts: list[int] = []  # of the open lists
        leaf_depth: int | None = None
        expects_item = True
        while position < end:
            match = _TOKEN.match(text, position, end)
            assert match is not None  # the last alternatives match anything
            opened, closed, comma, row, other = match.groups()
            at = match.start(match.lastindex or 0)
            position = match.end()
            if match.lastindex is None:
                break
            if other or (comma and (expects_item or not counts)) or (expects_item and closed and counts[-1:] != [0]):
                raise self.scanner.error("expected element literal of primitive type", at)
            if not expects_item and (opened or row):
                raise self.scanner.error("expected ',' or ']'" if counts else "expected '>'", at)
            if comma:
                expects_item = True
            elif opened:
                if len(counts) == len(sizes):
                    if leaf_depth is not None or len(sizes) > 63:
                        raise self._ragged(at)
                    sizes.append(None)
                counts.append(0)
            elif closed:
                if not counts:
                    raise self.scanner.error("expected '>'", at)
                size = counts.pop()
                if sizes[len(counts)] not in (None, size):
                    raise self._ragged(at)
                sizes[len(counts)] = size
                if counts:
                    counts[-1] += 1
                expects_item = False
            else:
                if leaf_depth not in (None, len(counts)) or len(counts) != len(sizes):
                    raise self._ragged(at)
                leaf_depth = len(counts)
                size = text.count(",", at, position) + 1
                if size > 1 and not counts:
                    raise self.scanner.error("expected '>'", text.index(",", at))
                elements += size
                if counts:
                    counts[-1] += size
                expects_item = False
        if counts or (expects_item and elements):
            raise self.scanner.error("expected ']'", end)
        return elements, [size or 0 for size in sizes] if sizes else None

    def _ragged(self, at: int) -> Exception:
        return self.scanner.error("tensor literal is invalid; ranks are not consistent between elements", at)


_INT64_MAX = (1 << 63) - 1
_I1, _UI64 = IntegerType(1), IntegerType(64, "unsigned")


def _skeleton(shape: tuple[int, ...]) -> str:
    """The brackets and commas of a literal of this shape."""
    text = ""
    for size in reversed(shape):
        text = f"[{','.join([text] * size)}]" if text else f"[{',' * (size - 1)}]"
    return text


def _well_placed(form: Array) -> bool:
    """Whether every '[' follows '[' or ',', every ']' precedes ']' or ',', and every '-' a digit."""
    before_open = form[np.flatnonzero(form == ord("[")) - 1]
    after_close = form[np.flatnonzero(form == ord("]")) + 1]
    after_minus = form[np.flatnonzero(form == ord("-")) + 1]
    return bool(
        np.isin(before_open, _BEFORE_OPEN).all()
        and np.isin(after_close, _AFTER_CLOSE).all()
        and (after_minus == ord("0")).all()
    )


def _decimal_row(body: bytes, count: int) -> Array | None:
    """The same for one row of integers. With its brackets at the ends and a comma less than numbers, NumPy's own
    reading leaves no room for anything else: it refuses two numbers, or none, between commas."""
    stripped = body.strip(_SPACES)
    if stripped.translate(None, b"-0123456789" + _SPACES) != _skeleton((count,)).encode():
        return None
    if stripped[:1] != b"[" or stripped[-1:] != b"]":
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # NumPy before 2.3 only warns of what it cannot read
        try:
            values = np.fromstring(stripped[1:-1], np.int64, sep=",")
        except (ValueError, DeprecationWarning):
            return None
    return values if len(values) == count > 0 else None


def _decimal(body: bytes, shape: tuple[int, ...], is_float: bool) -> Array | None:
    """Flat int64 or float64 values of a literal of this shape, or None where it is not plainly one.

    NumPy reads the numbers; that they stand where the grammar wants them is seen on a copy without white space, in
    which every digit is 0.
    """
    if not is_float and len(shape) == 1:
        return _decimal_row(body, shape[0])
    form = body.translate(_SHAPE_OF, _SPACES)
    numeric = b"0-+.e" if is_float else b"0-"
    if form.translate(None, numeric) != _skeleton(shape).encode():
        return None
    if not _well_placed(np.frombuffer(b",%b," % form, np.uint8)):
        return None
    count = math.prod(shape)
    if is_float and (form.count(b".") != count or any(bad in form for bad in (b",.", b"[.", b"-.", b",+", b"[+"))):
        return None
    try:
        values = np.fromstring(body.translate(_UNBRACKETED), np.float64 if is_float else np.int64, sep=",")
    except ValueError:
        return None
    return values if len(values) == count > 0 else None
