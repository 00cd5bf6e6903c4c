"""Parser of the text in `dense<...>`: by NumPy if the text is large and plain decimal, else element by element."""

import math
import re
import warnings
from collections.abc import Iterator

import numpy as np

from qrt.errors import ParseError, QuantTypeError
from qrt.ir.core.attributes import integer_range, spell_elements
from qrt.ir.text.dense import (
    FLOAT_DTYPES,
    Array,
    DenseElementsAttr,
    KeptElementsAttr,
    ShapedType,
    array_of_bytes,
    is_wide,
    nested,
    static_shape,
    storage_dtype,
    wrapped,
)
from qrt.types import ComplexType, FloatType, IntegerType, Type
from qrt.types.scanner import Scanner, Source

_INT64_MAX = (1 << 63) - 1
_I1, _UI64 = IntegerType(1), IntegerType(64, "unsigned")
_FAST_ABOVE = 512  # characters; below, checking token by token is as fast
_COMMENT = re.compile(r"//[^\n]*")
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"')
_ELEMENT = r"(?:true|false|(?:-[ \t]*+)?+(?:0x[0-9a-fA-F]++|\d++(?:\.\d*+(?:[eE][-+]?\d++)?+)?+))"
_PAIR = re.compile(rf"\(\s*({_ELEMENT})\s*,\s*({_ELEMENT})\s*\)", re.ASCII)
_ELEMENT_RE = re.compile(rf"//[^\n]*+|({_ELEMENT})", re.ASCII)
_TOKEN = re.compile(
    r"[ \t\r\n\0]*+(?://[^\n]*+[ \t\r\n\0]*+)*+"
    rf"(?:(\[)|(\])|(,)|({_ELEMENT}(?:[ \t\r\n\0]*+,[ \t\r\n\0]*+{_ELEMENT})*+)|$|(.))",
    re.ASCII | re.DOTALL,
)
_SHAPE_OF = bytes.maketrans(b"123456789E", b"000000000e")
_UNBRACKETED = bytes.maketrans(b"[]", b"  ")
_SPACES = b" \t\r\n\0"
_BEFORE_OPEN, _AFTER_CLOSE = (ord("["), ord(",")), (ord("]"), ord(","))


class DenseLiteral:
    """Unparsed text inside `dense<...>`: the type needed to parse the elements follows the closing bracket."""

    __slots__ = ("end", "scanner", "start")

    def __init__(self, scanner: Scanner) -> None:
        """Advance the scanner past the closing angle bracket, and record where the text begins and ends."""
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
            self._layout()  # raises if something inside is wrong
            raise self.scanner.error("expected '>' closing dense elements", len(text))
        return end

    @property
    def text(self) -> str:
        return self.scanner.text[self.start : self.end].rstrip()

    @property
    def bracket_shape(self) -> list[int] | None:
        """Shape of the nested square brackets; None for a literal without brackets."""
        return self._layout()[1]

    def elements(self, type: Type) -> DenseElementsAttr:
        """Parse the elements, and return the constant of type `type`. Raise ParseError at the first wrong element."""
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

    def text_elements(self, type: ShapedType) -> KeptElementsAttr:
        """Check the elements of a type that NumPy arrays cannot hold, and return the constant stored as text.

        Raises ParseError at the first wrong element.
        """
        is_number = isinstance(type.element, ComplexType) or is_wide(type.element)
        if not is_number or self.scanner.text.startswith('"', self.start):
            self._require_shape_of_strings(type)
            return KeptElementsAttr(self.text, type)
        try:
            shape = static_shape(type)
        except QuantTypeError as error:
            raise self.scanner.error(str(error), self.start, self.end) from None
        if isinstance(type.element, ComplexType):
            items, literal_shape = self._pairs(shape, type.element)
        else:
            values, literal_shape = self._values(shape, type.element)
            items = spell_elements(values, type.element)
        if len(set(items)) == 1:
            return KeptElementsAttr(items[0], type)
        return KeptElementsAttr(nested(items, literal_shape) if items else "", type)

    @property
    def has_strings(self) -> bool:
        """True if the text contains a string literal."""
        return '"' in self.text

    def _require_shape_of_strings(self, type: ShapedType) -> None:
        """Raise ParseError unless the brackets around string elements form the shape of `type`."""
        if not self.text.startswith("["):
            return
        outline = DenseLiteral(Scanner(Source(f"{_STRING.sub('0', self.text)}\n>")))
        try:
            shape = outline.bracket_shape
        except ParseError as error:
            raise self.scanner.error(error.message, self.start, self.end) from None
        if shape != list(type.shape or ()):
            message = f"inferred shape of elements literal ({shape}) does not match type ({list(type.shape or ())})"
            raise self.scanner.error(message, self.start, self.end)

    def _pairs(self, shape: tuple[int, ...], element: ComplexType) -> tuple[list[str], tuple[int, ...]]:
        """Parse complex elements `(real, imaginary)`; return their texts and the shape of the literal."""
        body = _COMMENT.sub(lambda comment: " " * len(comment[0]), self.scanner.text[self.start : self.end])
        pairs = list(_PAIR.finditer(body))
        outline = DenseLiteral(Scanner(Source(f"{_PAIR.sub('0', body)}>")))
        try:
            count, (_, literal_shape) = outline._layout()[0], outline._values(shape, _I1)
        except ParseError as error:
            raise self.scanner.error(error.message, self.start, self.end) from None
        if len(pairs) != count:
            message = f"each element of type '{element}' must be a pair in parentheses: (real, imaginary)"
            raise self.scanner.error(message, self.start, self.end)
        parts = [
            [self._value(pair[side], self.start + pair.start(side), element.element) for side in (1, 2)]
            for pair in pairs
        ]
        return [f"({','.join(spell_elements(part, element.element))})" for part in parts], literal_shape

    def _from_hex(self, type: ShapedType) -> Array:
        data = self.scanner.bytes_of_hex(self.text[1:-1], self.start, self.end)
        try:
            return array_of_bytes(data, type)
        except QuantTypeError as error:
            raise self.scanner.error(str(error), self.start, self.end) from None

    def _fast(self, shape: tuple[int, ...], element: Type) -> Array | None:
        """Parse a plain decimal literal with NumPy; return None for any other literal, also for an invalid one."""
        length = self.end - self.start
        if (
            max(shape, default=0) > length or math.prod(shape) > length
        ):  # the text has less than a digit for each element
            return None
        body = _COMMENT.sub("", self.scanner.text[self.start : self.end])
        if not body.isascii():
            return None
        values = _decimal(body.encode(), shape, isinstance(element, FloatType))
        if values is None:
            return None
        if isinstance(element, FloatType) and element.name not in FLOAT_DTYPES:
            distinct, inverse = np.unique(values.view(np.uint64), return_inverse=True)  # as bits: -0.0 is not 0.0
            patterns = [element.format.encode_float(value) for value in distinct.view(np.float64).tolist()]
            return np.array(patterns, storage_dtype(element))[inverse]
        if isinstance(element, FloatType):
            with np.errstate(over="ignore"):  # upstream rounds the double too: 1.0e40 is infinite as f32
                return values.astype(storage_dtype(element))
        low, high = integer_range(element)
        if int(values.min()) < max(low, -_INT64_MAX) or int(values.max()) > min(high, _INT64_MAX - 1):
            return None  # NumPy saturates to the ends of int64, so those are read the slow way
        return wrapped(values, element) if isinstance(element, IntegerType) else values

    def _checked(self, shape: tuple[int, ...], element: Type) -> Array:
        """Parse a literal of any form element by element. Raise ParseError at the first wrong element."""
        values, literal_shape = self._values(shape, element)
        dtype = storage_dtype(element)
        if isinstance(element, FloatType):
            return np.fromiter(values, f"u{dtype.itemsize}").view(dtype).reshape(literal_shape)
        wide = np.fromiter(values, np.uint64 if element is _UI64 else np.int64)
        wide = wrapped(wide, element) if isinstance(element, IntegerType) and element is not _UI64 else wide
        return wide.reshape(literal_shape)

    def _values(self, shape: tuple[int, ...], element: Type) -> tuple[Iterator[int], tuple[int, ...]]:
        """Return (iterator over integers or float bit patterns, shape of the literal: `()` for a splat).

        Raise ParseError if the literal's brackets do not form `shape`.
        """
        count, literal_shape = self._layout()
        if literal_shape is not None and literal_shape != list(shape):
            message = f"inferred shape of elements literal ({literal_shape}) does not match type ({list(shape)})"
            raise self.scanner.error(message, self.start, self.end)
        if not count and 0 not in shape:
            raise self.scanner.error("expected element literal of primitive type", self.end)
        matches = _ELEMENT_RE.finditer(self.scanner.text, self.start, self.end)
        values = (self._value(match[1], match.start(1), element) for match in matches if match[1] is not None)
        return values, shape if literal_shape is not None or not count else ()

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
        """Return the number of elements, and the shape that the brackets form (None without brackets)."""
        text, position = self.scanner.text, self.start
        end = getattr(self, "end", len(text))
        elements = 0
        sizes: list[int | None] = []  # per depth, once a list of that depth is complete
        counts: list[int] = []  # of the open lists
        leaf_depth: int | None = None
        expects_item = True
        while position < end:
            match = _TOKEN.match(text, position, end)
            assert match is not None  # the last alternatives match any character
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


def _skeleton(shape: tuple[int, ...]) -> str:
    """Return the brackets and commas of a literal of this shape: `[[,],[,]]` for (2, 2)."""
    text = ""
    for size in reversed(shape):
        text = f"[{','.join([text] * size)}]" if text else f"[{',' * (size - 1)}]"
    return text


def _well_placed(form: Array) -> bool:
    """Return True if every '[' follows '[' or ',', every ']' precedes ']' or ',', and every '-' precedes a digit.

    `form` holds character codes, in which all digits are replaced by '0'.
    """
    before_open = form[np.flatnonzero(form == ord("[")) - 1]
    after_close = form[np.flatnonzero(form == ord("]")) + 1]
    after_minus = form[np.flatnonzero(form == ord("-")) + 1]
    return bool(
        np.isin(before_open, _BEFORE_OPEN).all()
        and np.isin(after_close, _AFTER_CLOSE).all()
        and (after_minus == ord("0")).all()
    )


def _decimal_row(body: bytes, count: int) -> Array | None:
    """Parse `[1, 2, 3]` with `count` integers; return None if the text has any other form.

    The brackets and the number of commas are checked here. NumPy's parser refuses two numbers, or none, between commas.
    """
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
    """Parse a plain decimal literal of this shape with NumPy, to a flat int64 or float64 array.

    Return None for any other text. Brackets and commas are checked on a copy without white space in which every digit
    is replaced by 0.
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
