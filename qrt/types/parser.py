"""Parser of types: recursive descent on a Scanner, with a cache of texts already parsed."""

import re
from collections.abc import Callable
from typing import TypeVar, overload

from qrt.errors import ParseError, QuantTypeError, require, shown
from qrt.numerics.float_text import FORMATS
from qrt.types.builtin import (
    MAX_INTEGER_WIDTH,
    ComplexType,
    FloatType,
    FunctionType,
    IndexType,
    IntegerType,
    NoneType,
    OpaqueType,
    Signedness,
    TupleType,
)
from qrt.types.core import Type, set_reader
from qrt.types.quantized import UniformType
from qrt.types.quantized_parser import QuantizedTypeParser, built
from qrt.types.scanner import Scanner, Source
from qrt.types.shaped import MAX_DIM, MemRefType, StridedLayout, TensorType, VectorType

UPSTREAM_VERSIONS = (22, 24)
"""The supported versions of upstream MLIR's syntax. Version 24 adds types of the `quant` dialect."""

_MEMO_LIMIT, _MEMO_TEXT = 4096, 4096
"""The largest number of cached types, and the longest text that is cached: together a few megabytes."""
_memo: dict[tuple[str, int], Type] = {}

_INTEGER = re.compile(r"(i|si|ui)(\d+)", re.ASCII)
_DIMS = re.compile(r"(?:(?:\?|\d{1,18}+)x)*+", re.ASCII)
_DIM = re.compile(r"[ \t\r\n\0]*(\?|\d+)[ \t\r\n\0]*", re.ASCII)
_SCALABLE_DIM = re.compile(r"[ \t\r\n\0]*+(\[?)[ \t\r\n\0]*+(\d+)[ \t\r\n\0]*(\]?)[ \t\r\n\0]*", re.ASCII)
_PER_LAYER = re.compile(
    r"!quant\.uniform<([iu]\d{1,2})(?:<(-?\d{1,10}):(-?\d{1,10})>)?:(b?f\d+),[ ]?"
    r"(\d+\.\d*(?:[eE][-+]?\d+)?)(?::(-?\d{1,18}))?>",
    re.ASCII,
)
_SIGNEDNESS: dict[str, Signedness] = {"i": "signless", "si": "signed", "ui": "unsigned"}


T = TypeVar("T", bound=Type)


@overload
def parse_type(text: str, upstream: int = 22) -> Type: ...
@overload
def parse_type(text: str, upstream: int = 22, *, kind: type[T]) -> T: ...
def parse_type(text: str, upstream: int = 22, *, kind: type[Type] = Type) -> Type:
    """Parse the MLIR text of a type.

    Parameters
    ----------
    text : str
        The text of a type.
    upstream : {22, 24}, default 22
        The version of upstream MLIR whose syntax is parsed. 24 also has float storage types and ``!quant.quantile``.
    kind : type, optional
        The class of which the type must be an instance, such as ``UniformType``. It is also the static return type.

    Returns
    -------
    Type
        An instance of ``kind``.

    Raises
    ------
    ParseError
        If the text is not a type; the message has a caret under the offending part.
    QuantTypeError
        If ``text`` is not a string, ``upstream`` is an unknown version, or the type is not a ``kind``.

    Examples
    --------
    >>> str(parse_type("tensor<2x!quant.uniform<i8<-128:127>:f32, 0.5>>"))
    'tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>'
    >>> parse_type("!quant.uniform<i8:f32, 0.5:3>", kind=UniformType).zero_point
    3
    """
    try:
        parsed = _memo.get((text, upstream))
    except TypeError:
        parsed = None  # a list, which the next line refuses, or an upstream version that is none
    if not isinstance(text, str):
        raise QuantTypeError(f"parse_type: expected text, got {shown(text)}")
    if parsed is None:
        scanner = Scanner(Source(text, "<type>"))
        parsed = TypeParser(scanner, upstream=upstream).parse()
        if not scanner.at_end():
            raise scanner.unexpected("expected the end of the type")
        if len(text) <= _MEMO_TEXT:
            if len(_memo) >= _MEMO_LIMIT:
                _memo.clear()
            _memo[text, upstream] = parsed
    if kind is Type:
        return parsed
    require(kind, type, "parse_type: 'kind'", "a class of types")
    if not isinstance(parsed, kind):
        raise QuantTypeError(f"expected a {kind.__name__}, got the {type(parsed).__name__} {parsed}")
    return parsed


set_reader(parse_type)


class TypeParser:
    """Parser of types at a Scanner's position, in the syntax of an upstream MLIR version.

    `alias` resolves an alias `!name`. `opaque(dialect)` returns True if types of an unknown dialect are accepted and
    kept as text. `encoding` reads a tensor's encoding, and `map_or_space` a memref's affine map or memory space; both
    return text. Raises QuantTypeError for an unknown `upstream` version.
    """

    def __init__(
        self,
        scanner: Scanner,
        alias: Callable[[str, int], Type] | None = None,
        opaque: Callable[[str], bool] | None = None,
        encoding: Callable[[], str] | None = None,
        map_or_space: Callable[[], str] | None = None,
        upstream: int = 22,
    ) -> None:
        if not isinstance(upstream, int) or upstream not in UPSTREAM_VERSIONS:
            known = ", ".join(map(str, UPSTREAM_VERSIONS))
            raise QuantTypeError(f"'upstream' must be an MLIR version, one of {known}, got {shown(upstream)}")
        self.scanner = scanner
        self._quantized = QuantizedTypeParser(scanner, upstream, self.parse_non_function)
        self.alias = alias
        self.opaque = opaque
        self.upstream = upstream
        self.encoding = encoding or (lambda: scanner.balanced("an attribute"))
        self.map_or_space = map_or_space or (lambda: scanner.balanced("an attribute", ","))

    def parse(self) -> Type:
        """Parse a type of any kind, including a function type `(...) -> ...`."""
        scanner = self.scanner
        if scanner.text.startswith("(", scanner.skip()):
            with scanner.nested():
                return self._function()
        return self.parse_non_function()

    def parse_non_function(self) -> Type:
        scanner = self.scanner
        start = scanner.skip()
        if scanner.text.startswith("!", start):
            return self._dialect_type(start)
        word = scanner.peek_word()
        scanner.pos += len(word)
        if word in _COMPOUND:
            scanner.expect("<", f" in {word} type")
            with scanner.nested():
                result: Type = _COMPOUND[word](self, start)
            scanner.expect(">", f" in {word} type")
            return result
        if word in FORMATS:
            return FloatType(word)
        if (integer := _INTEGER.fullmatch(word)) is not None:
            width = int(integer[2]) if len(integer[2]) < 12 else MAX_INTEGER_WIDTH + 1
            if width > MAX_INTEGER_WIDTH:
                raise scanner.error(f"integer bitwidth is limited to {MAX_INTEGER_WIDTH} bits", start, scanner.pos)
            return IntegerType(width, _SIGNEDNESS[integer[1]])
        if word == "index":
            return IndexType()
        if word == "none":
            return NoneType()
        scanner.pos = start
        raise scanner.error("expected a type", *((start, start + len(word)) if word else ()))

    def list_in_parentheses(self) -> list[Type]:
        return self.scanner.bracketed("()", self.parse, " in function type", " in function type")

    def results(self) -> list[Type]:
        """Parse the result types after `->`: a single type, or a list in parentheses."""
        return self.list_in_parentheses() if self.scanner.at("(") else [self.parse_non_function()]

    def _function(self) -> FunctionType:
        inputs = self.list_in_parentheses()
        self.scanner.expect("->", " in function type")
        return FunctionType(inputs, self.results())

    # -- builtin ----------------------------------------------------------------------------------------------------

    def _tensor(self, start: int) -> Type:
        shape = self._shape("tensor")
        element, at = self._element()
        encoding = None
        if self.scanner.accept(",") and not self.scanner.at(">"):
            encoding = self.encoding()
        return built(self.scanner, lambda: TensorType(shape, element, encoding), at)

    def _memref(self, start: int) -> Type:
        shape = self._shape("memref")
        element, at = self._element()
        layout: StridedLayout | str | None = None
        space: str | None = None
        while self.scanner.accept(","):
            start = self.scanner.skip()
            attribute = self.strided_layout() if self.scanner.accept_word("strided") else self.map_or_space()
            if isinstance(attribute, StridedLayout) or attribute.startswith("affine_map"):
                self._check_layout(attribute, shape, start, is_last=space is not None)
                layout = attribute
            elif space is not None:
                raise self.scanner.error("multiple memory spaces specified in memref type", start, self.scanner.pos)
            else:
                space = attribute
        return built(self.scanner, lambda: MemRefType(shape, element, layout, space), at)

    def _check_layout(
        self, layout: StridedLayout | str, shape: list[int | None] | None, start: int, is_last: bool
    ) -> None:
        error, end = self.scanner.error, self.scanner.pos
        if shape is None:
            raise error("cannot have affine map for unranked memref type", start, end)
        if is_last:
            raise error("expected memory space to be last in memref type", start, end)
        if isinstance(layout, StridedLayout):
            if len(layout.strides) != len(shape):
                raise error("expected the number of strides to match the rank", start, end)
            return
        dimensions = layout.partition("(")[2].partition(")")[0]
        count = dimensions.count(",") + 1 if dimensions else 0
        if count != len(shape):
            raise error(f"memref layout mismatch between rank and affine map: {len(shape)} != {count}", start, end)

    def strided_layout(self) -> StridedLayout:
        """Parse `<[strides], offset: n>` after the word `strided`."""
        scanner = self.scanner
        scanner.expect("<", " after 'strided'")
        strides = scanner.bracketed("[]", self._stride, " before strides", " after strides")
        offset: int | None = 0
        if scanner.accept(","):
            if not scanner.accept_word("offset"):
                raise scanner.error("expected 'offset' after strides")
            scanner.expect(":", " after 'offset'")
            offset = self._stride()
        scanner.expect(">", " closing the layout")
        return StridedLayout(tuple(strides), offset)

    def _stride(self) -> int | None:
        if self.scanner.accept("?"):
            return None
        start, what = self.scanner.skip(), "a 64-bit signed integer or '?'"
        stride = self.scanner.integer(64, what)
        if stride == -(1 << 63):  # upstream's mark of a dynamic stride
            raise self.scanner.error(f"expected {what}", start, self.scanner.pos)
        return stride

    def _vector(self, start: int) -> Type:
        scanner = self.scanner
        shape: list[int] = []
        scalable: list[bool] = []
        while (match := _SCALABLE_DIM.match(scanner.text, scanner.pos)) is not None:
            if bool(match[1]) != bool(match[3]):
                raise scanner.error("expected ']' closing a scalable dimension", match.start(2))
            shape.append(self._dim(match[2], match.start(2)))
            scalable.append(bool(match[1]))
            scanner.pos = match.end()
            self._cross("vector")
        element, _ = self._element()
        return built(self.scanner, lambda: VectorType(shape, element, scalable), start)

    def _complex(self, start: int) -> Type:
        element, at = self._element()
        return built(self.scanner, lambda: ComplexType(element), at)

    def _tuple(self, start: int) -> Type:
        return TupleType([] if self.scanner.at(">") else self.scanner.separated(self.parse))

    def _shape(self, what: str) -> list[int | None] | None:
        scanner = self.scanner
        if scanner.accept("*"):
            self._cross(what)
            return None
        plain = _DIMS.match(scanner.text, scanner.pos)
        assert plain is not None  # the pattern matches the empty string
        scanner.pos = plain.end()
        shape: list[int | None] = [None if dim == "?" else int(dim) for dim in plain[0].split("x")[:-1]]
        while (match := _DIM.match(scanner.text, scanner.pos)) is not None:
            shape.append(None if match[1] == "?" else self._dim(match[1], match.start(1)))
            scanner.pos = match.end()
            self._cross(what)
        return shape

    def _dim(self, digits: str, at: int) -> int:
        value = int(digits) if len(digits) < 30 else MAX_DIM + 1
        if value > MAX_DIM:
            raise self.scanner.error(f"invalid dimension: expected at most {MAX_DIM}", at, at + len(digits))
        return value

    def _cross(self, what: str) -> None:
        if not self.scanner.text.startswith("x", self.scanner.pos):
            raise self.scanner.error(f"expected 'x' in dimension list of {what} type")
        self.scanner.pos += 1

    def _element(self) -> tuple[Type, int]:
        at = self.scanner.skip()
        return self.parse(), at

    # -- dialect types ----------------------------------------------------------------------------------------------

    def _dialect_type(self, start: int) -> Type:
        scanner = self.scanner
        if (common := self._per_layer(start)) is not None:
            return common
        name = scanner.suffix("!", "a type name after '!'")
        dialect, _, mnemonic = name.partition(".")
        if "." not in name and scanner.text.startswith("<", scanner.pos):  # !dialect<name<...>>
            scanner.pos += 1
            if dialect == "quant":
                mnemonic = scanner.word("a type name")
                result = self._quantized.read(mnemonic, scanner.pos - len(mnemonic))
            else:
                scanner.balanced("a dialect type")
                result = self._opaque(start, scanner.pos + 1)
            scanner.expect(">", " in dialect type")
            return result
        if "." not in name:
            if self.alias is None:
                raise scanner.error(f"undefined type alias '!{name}'", start, scanner.pos)
            return self.alias(name, start)
        if dialect == "quant":
            return self._quantized.read(mnemonic, scanner.pos - len(mnemonic))
        if scanner.text.startswith("<", scanner.pos):
            scanner.pos += 1
            if not scanner.at(">"):
                scanner.balanced("a dialect type")
            scanner.expect(">", " in dialect type")
        return self._opaque(start, scanner.pos)

    def _per_layer(self, start: int) -> Type | None:
        """Parse the most common spelling of a per-layer `!quant.uniform` by one regular expression.

        Return None for any other text, which the general parser then reads or rejects.
        """
        match = _PER_LAYER.match(self.scanner.text, start)
        if match is None:
            return None
        storage, low, high, expressed, scale, zero = match.groups()
        try:
            bounds = (int(low), int(high)) if low else (None, None)
            result = UniformType(storage, expressed, float(scale), int(zero or 0), None, None, *bounds)
        except QuantTypeError:
            return None
        self.scanner.pos = match.end()
        return result

    def _opaque(self, start: int, end: int) -> Type:
        text = self.scanner.text[start:end]
        if self.opaque is None or not self.opaque(re.split(r"[.<]", text[1:], maxsplit=1)[0]):
            raise self.scanner.error(f"type '{text}' belongs to a dialect that is not registered", start, end)
        return OpaqueType(text)


_Rule = Callable[[TypeParser, int], Type]
_COMPOUND: dict[str, _Rule] = {
    "tensor": TypeParser._tensor,
    "memref": TypeParser._memref,
    "vector": TypeParser._vector,
    "complex": TypeParser._complex,
    "tuple": TypeParser._tuple,
}

__all__ = ["ParseError", "TypeParser", "parse_type"]
