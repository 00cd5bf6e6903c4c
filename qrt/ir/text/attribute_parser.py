"""Parser of attributes, locations and aliases."""

import re
from collections.abc import Callable

from qrt.errors import ParseError, QuantTypeError
from qrt.ir.core.affine import AffineMapAttr
from qrt.ir.core.attributes import (
    FALSE,
    TRUE,
    UNIT,
    ArrayAttr,
    Attribute,
    DenseArrayAttr,
    DictAttr,
    FloatAttr,
    IntegerAttr,
    LocationAttr,
    OpaqueAttr,
    StringAttr,
    SymbolRefAttr,
    TypeAttr,
    integer_range,
    quote,
)
from qrt.ir.text.affine_parser import parse_affine_map, parse_affine_set
from qrt.ir.text.dense import Blob, DenseResourceAttr, is_backed
from qrt.ir.text.dense_literal import DenseLiteral
from qrt.ir.text.dialect_attributes import is_of_known_dialect, parse_dialect_attribute, read_as_text
from qrt.ir.text.sparse import SparseLiteral
from qrt.types import FloatType, IntegerType, QuantizedType, TensorType, Type, TypeParser, VectorType
from qrt.types.scanner import Scanner, Source, pattern

_ALIAS_DEFINITION = re.compile(r"^[ \t]*([#!])((?:\d+|[a-zA-Z$._-][\w$.-]*))[ \t]*=", re.ASCII | re.MULTILINE)
_SYMBOL = pattern(r"@([a-zA-Z_][\w$.]*)")
_NESTED = pattern(":" + pattern(":").pattern)  # upstream has no token `::`: it reads two colons
_I64, _F64, _I1 = IntegerType(64), FloatType("f64"), IntegerType(1)
_MAX_EXPANSION = 1 << 16
"""How many characters the aliases inside one alias may stand for, beyond the length of the text."""
_MAX_COPIED = 1 << 28
"""How many characters of aliases may be copied into the locations and types of one text."""
_NAMESPACE = re.compile(r"[a-zA-Z_][\w$]*", re.ASCII)
_WITHOUT_TYPES = frozenset(
    {"affine", "arith", "builtin", "cf", "complex", "func", "linalg", "math", "memref", "quant", "scf", "tensor", "ub"}
)
"""Dialects whose types the parser knows completely: an unknown type of them is an error, not kept as text."""
_KEPT_AS_TEXT = frozenset({"distinct", "dense_string"})


class AttributeParser:
    """Parser of attributes, with the aliases and resources defined in the same text."""

    def __init__(self, source: Source, allow_unregistered: bool, upstream: int = 22) -> None:
        self.source = source
        self.scanner = Scanner(source)
        self.allow_unregistered = allow_unregistered
        self.types = TypeParser(self.scanner, self._type_alias, self._is_opaque, *self._inside_types(), upstream)
        self._aliases: dict[str, Type | Attribute] = {}
        self._alias_places: dict[str, int] | None = None
        self._open_aliases: list[str] = []
        self._extents: dict[str, tuple[int, int]] = {}  # per alias: characters without aliases, and depth
        self._expansion = 0  # characters that aliases stand for in the open definition
        self._copied = 0
        self._blobs: dict[str, Blob] = {}

    def _is_opaque(self, dialect: str) -> bool:
        """Return True if types of `dialect` are stored as text: it is unknown, and `allow_unregistered` is True."""
        is_unknown = dialect not in _WITHOUT_TYPES and _NAMESPACE.fullmatch(dialect) is not None
        return self.allow_unregistered and is_unknown

    def type(self) -> Type:
        return self.types.parse()

    # -- attributes -------------------------------------------------------------------------------------------------

    def attribute(self) -> Attribute:
        """Parse an attribute of any kind."""
        scanner = self.scanner
        start = scanner.skip()
        character = scanner.text[start : start + 1]
        if character == '"':
            value = scanner.string()
            return StringAttr(value, self.type() if scanner.accept(":") else None)
        if character == "[":
            return self._array()
        if character == "{":
            return DictAttr.of(self.attribute_dictionary())
        if character == "@":
            return self.symbol()
        if character == "#":
            return self._hash(start)
        if character and (character in "-" or character.isdigit()):
            return self._number(start)
        if character and character in "!(":
            return TypeAttr(self.type())
        word = scanner.peek_word()
        if word in _WORDS:
            scanner.pos += len(word)
            return _WORDS[word](self, start)
        if word in _KEPT_AS_TEXT:
            scanner.pos += len(word)
            return read_as_text(self, start)
        try:
            return TypeAttr(self.type())
        except ParseError:
            if scanner.pos > start + len(word):
                raise
            if not word:
                raise scanner.error("expected an attribute value") from None
            raise scanner.error("expected an attribute value", start, start + len(word)) from None

    def dictionary(self) -> dict[str, Attribute]:
        """Parse an attribute that must be a dictionary, `{...}` or an alias of one; return its entries."""
        start = self.scanner.skip()
        value = self.attribute()
        if not isinstance(value, DictAttr):
            raise self.scanner.error("invalid kind of attribute specified", start, self.scanner.pos)
        return dict(value.items)

    def attribute_dictionary(self, signs: tuple[str, ...] = ("=",)) -> dict[str, Attribute]:
        """Parse `{name = value, flag}`; `signs` are the allowed separators between a name and its value."""
        scanner = self.scanner
        scanner.expect("{", " to begin an attribute dictionary")
        entries: dict[str, Attribute] = {}
        if scanner.accept("}"):
            return entries
        with scanner.nested():
            while True:
                start = scanner.skip()
                name = scanner.string() if scanner.at('"') else scanner.word("an attribute name")
                if name in entries:
                    raise scanner.error(f"duplicate key '{name}' in dictionary attribute", start, scanner.pos)
                entries[name] = self.attribute() if any(map(scanner.accept, signs)) else UNIT
                if not scanner.accept(","):
                    break
        scanner.expect("}", " in attribute dictionary")
        return entries

    def symbol(self) -> SymbolRefAttr:
        path = [self.symbol_name()]
        while self.scanner.match(_NESTED):
            path.append(self.symbol_name())
        return SymbolRefAttr(tuple(path))

    def symbol_name(self) -> str:
        """Parse `@name` or `@"name"`, and return the name."""
        scanner = self.scanner
        if scanner.text.startswith('@"', scanner.skip()):
            scanner.pos += 1
            return scanner.string("a symbol name")
        match = scanner.match(_SYMBOL)
        if match is None:
            raise scanner.unexpected("expected a symbol name")
        return match[1]

    def _array(self) -> ArrayAttr:
        scanner = self.scanner
        scanner.expect("[")
        if scanner.accept("]"):
            return ArrayAttr(())
        with scanner.nested():
            elements = scanner.separated(self.attribute)
        scanner.expect("]", " in array attribute")
        return ArrayAttr(tuple(elements))

    def _number(self, start: int) -> Attribute:
        scanner = self.scanner
        negative = scanner.accept("-")
        match = scanner.number()
        if match is None or match[1]:
            raise scanner.error("expected a number after '-'")
        end = scanner.pos
        kind = self.type() if scanner.accept(":") else (_F64 if match[3] else _I64)
        return self._number_of(match, negative, kind, start, end)

    def _number_of(self, match: re.Match[str], negative: bool, kind: Type, start: int, end: int) -> Attribute:
        error = self.scanner.error
        if isinstance(kind, FloatType):
            return FloatAttr(self._float_bits(match, negative, kind, start, end), kind)
        if match[3] is not None:
            raise error(f"floating point value not valid for type {kind}", start, end)
        try:
            integer_range(kind)
        except QuantTypeError as refused:
            raise error(str(refused), start, end) from None
        if len(match[0]) > 4000:
            raise error("integer constant out of range for attribute", start, end)
        value = int(match[2], 16) if match[2] else int(match[4])
        try:
            return IntegerAttr(-value if negative else value, kind)
        except QuantTypeError:
            raise error(f"integer constant out of range for attribute of type {kind}", start, end) from None

    def _float_bits(self, match: re.Match[str], negative: bool, kind: FloatType, start: int, end: int) -> int:
        if match[3] is not None:
            value = float(match[3])
            return kind.format.encode_float(-value if negative else value)
        if match[4] is not None:
            message = (
                f"unexpected decimal integer literal for a floating point value of type {kind}: "
                f"add a trailing dot, {self.scanner.float_hint(match)}"
            )
            raise self.scanner.error(message, start, end)
        if negative:
            raise self.scanner.error(
                "a hexadecimal float literal must not have a minus sign, because its digits include the sign bit",
                start,
                end,
            )
        bits = int(match[2], 16) if len(match[2]) <= 40 else 1 << 200
        if bits >> kind.width:
            raise self.scanner.error(f"hexadecimal float constant out of range for {kind}", start, end)
        return bits

    def _dense(self, start: int) -> Attribute:
        self.scanner.expect("<", " after 'dense'")
        literal = DenseLiteral(self.scanner)
        self.scanner.expect(":", " and the type of the elements")
        return _elements(literal, self.type())

    def _sparse(self, start: int) -> Attribute:
        self.scanner.expect("<", " after 'sparse'")
        literal = SparseLiteral(self.scanner)
        end = self.scanner.pos
        self.scanner.expect(":", " and the type of the elements")
        return self._sparse_elements(literal, self.type(), self.scanner.text[start:end])

    def _sparse_elements(self, literal: SparseLiteral, kind: Type, text: str) -> Attribute:
        """Return the sparse constant of type `kind`, stored as `text` if NumPy cannot hold its elements."""
        return literal.elements(kind) or OpaqueAttr(f"{text} : {kind}")

    def elements_of(self, kind: TensorType) -> Attribute:
        """Parse `dense<...>` or `sparse<...>` as a constant of type `kind`; the text has no `: type` after it."""
        start = self.scanner.skip()
        if self.scanner.accept_word("sparse"):
            self.scanner.expect("<", " after 'sparse'")
            literal = SparseLiteral(self.scanner)
            return self._sparse_elements(literal, kind, self.scanner.text[start : self.scanner.pos])
        self.scanner.expect_word("dense", " to begin an initial value")
        self.scanner.expect("<", " after 'dense'")
        return _elements(DenseLiteral(self.scanner), kind)

    def _dense_resource(self, start: int) -> Attribute:
        scanner = self.scanner
        scanner.expect("<", " after 'dense_resource'")
        key = self.resource_key()
        scanner.expect(">", " after resource key")
        scanner.expect(":", " and the type of the elements")
        at = scanner.skip()
        kind = self.type()
        try:
            if not isinstance(kind, TensorType | VectorType):
                raise QuantTypeError(f"the type of a dense_resource must be a tensor or vector type, got {kind}")
            return DenseResourceAttr(self._blobs.setdefault(key, Blob(key)), kind)
        except QuantTypeError as error:
            raise scanner.error(str(error), at, scanner.pos) from None

    def resource_key(self) -> str:
        """Parse the key of a resource: a word or a string."""
        scanner = self.scanner
        return scanner.string() if scanner.at('"') else scanner.word("a resource key")

    def _dense_array(self, start: int) -> Attribute:
        scanner = self.scanner
        scanner.expect("<", " after 'array'")
        at = scanner.skip()
        element = self.type()
        if element is not _I1 and not (isinstance(element, IntegerType | FloatType) and element.width % 8 == 0):
            raise scanner.error(
                f"the elements of an array must be i1, or integers or floats of whole bytes, got {element}",
                at,
                scanner.pos,
            )
        assert isinstance(element, IntegerType | FloatType)
        values: list[int] = []
        if scanner.accept(":"):
            values = scanner.separated(lambda: self._array_element(element))
        scanner.expect(">", " in dense array")
        return DenseArrayAttr(element, tuple(values))

    def _array_element(self, element: IntegerType | FloatType) -> int:
        scanner = self.scanner
        start = scanner.skip()
        if element is _I1:
            if (word := scanner.peek_word()) not in ("true", "false"):
                raise scanner.unexpected("expected 'true' or 'false' values for i1 type")
            scanner.pos += len(word)
            return int(word == "true")
        negative = scanner.accept("-")
        match = scanner.number()
        if match is None or match[1]:
            raise scanner.error(f"expected an element of type {element}")
        value = self._number_of(match, negative, element, start, scanner.pos)
        return value.bits if isinstance(value, FloatAttr) else value.value  # type: ignore[attr-defined]

    def _hash(self, start: int) -> Attribute:
        """Parse `#alias`, `#dialect.name<...>` or `#dialect<...>`."""
        scanner = self.scanner
        name = scanner.suffix("#", "an attribute name after '#'")
        if "." not in name and not scanner.text.startswith("<", scanner.pos):
            value = self._alias("#" + name, start)
            return value if isinstance(value, Attribute) else TypeAttr(value)
        return parse_dialect_attribute(self, name, start)

    def _inside_types(self) -> tuple[Callable[[], str], Callable[[], str]]:
        """Return the parsers that TypeParser calls for a tensor's encoding, and for a memref's layout or memory space.

        Both return the attribute's text with aliases expanded.
        """

        def encoding() -> str:
            start = self.scanner.skip()
            return self._copy(str(self.attribute()), start)

        return encoding, self._map_or_space

    def _map_or_space(self) -> str:
        """Parse a memref's affine map or memory space, and return its text.

        A memory space is an integer, a string, a dictionary, or an attribute of a dialect that MLIR registers.
        """
        start = self.scanner.skip()
        value = self.attribute()
        fits = isinstance(value, AffineMapAttr | IntegerAttr | StringAttr | DictAttr)
        if not fits and not (isinstance(value, OpaqueAttr) and is_of_known_dialect(value.text)):
            raise self.scanner.error("unsupported memory space Attribute", start, self.scanner.pos)
        return self._copy(value.spell(elide=True), start)

    def _strided(self, start: int) -> Attribute:
        return OpaqueAttr(str(self.types.strided_layout()))

    def _copy(self, text: str, start: int) -> str:
        """Return `text`, and add its length to the total length of expanded aliases.

        Raise ParseError at offset `start` if the total exceeds a limit: expanded aliases may be far longer than the
        source.
        """
        self._copied += len(text)
        if self._copied > _MAX_COPIED:
            raise self.scanner.error(
                f"the expanded text of the aliases in this program is too long: more than {_MAX_COPIED:,} characters",
                start,
                self.scanner.pos,
            )
        return text

    # -- locations --------------------------------------------------------------------------------------------------

    def _location(self, start: int) -> LocationAttr:
        self.scanner.expect("(", " after 'loc'")
        text = self.location_body()
        self.scanner.expect(")", " after location")
        return LocationAttr(text)

    def location_body(self) -> str:
        """Parse the inside of `loc(...)`, and return its text as upstream MLIR prints it, with aliases expanded."""
        scanner = self.scanner
        with scanner.nested():
            if scanner.at('"'):
                return self._name_or_file()
            if scanner.at("#"):
                start = scanner.skip()
                value = self.attribute()
                if not isinstance(value, LocationAttr):
                    raise scanner.error("expected an alias of a location", start, scanner.pos)
                return self._copy(value.text, start)
            start = scanner.skip()
            word = scanner.word("a location")
            if word == "unknown":
                return word
            if word == "callsite":
                scanner.expect("(", " after 'callsite'")
                callee = self.location_body()
                if not scanner.accept_word("at"):
                    raise scanner.error("expected 'at' in callsite location")
                caller = self.location_body()
                scanner.expect(")", " after callsite location")
                return f"callsite({callee} at {caller})"
            if word == "fused":
                metadata = ""
                if scanner.accept("<"):
                    metadata = f"<{self.attribute()}>"
                    scanner.expect(">", " after fused metadata")
                scanner.expect("[", " in fused location")
                parts = scanner.separated(self.location_body)
                scanner.expect("]", " in fused location")
                return f"fused{metadata}[{', '.join(parts)}]"
            raise scanner.error("expected a location", start, scanner.pos)

    def _name_or_file(self) -> str:
        scanner = self.scanner
        text = quote(scanner.string())
        if scanner.accept(":"):
            line = self._line_number()
            text = f"{text}:{line}:{self._line_number() if scanner.accept(':') else 0}"
            if scanner.accept_word("to"):
                end = f"{self._line_number()}" if not scanner.at(":") else ""
                scanner.expect(":", " between line and column")
                text = f"{text} to {end}:{self._line_number()}"
        elif scanner.accept("("):
            text = f"{text}({self.location_body()})"
            scanner.expect(")", " after child location")
        return text

    def _line_number(self) -> int:
        start = self.scanner.skip()
        number = self.scanner.integer(33, "a line or column number")
        if number < 0:
            raise self.scanner.error(
                f"a line or column number must be at least 0, got {number}", start, self.scanner.pos
            )
        return number

    # -- aliases ----------------------------------------------------------------------------------------------------

    def alias_definition(self) -> None:
        """Parse an alias definition `#name = attribute` or `!name = type`, and record it."""
        scanner = self.scanner
        start = scanner.skip()
        sigil = scanner.text[start]
        name = sigil + scanner.suffix(sigil, f"an alias name after '{sigil}'")
        end = scanner.pos
        if "." in name:
            raise scanner.error(f"the name of an alias must not have a '.', got '{name}'", start, end)
        scanner.expect("=", " in alias definition")
        if name in self._aliases and self._places().get(name) != start:
            raise scanner.error(f"redefinition of alias '{name}'", start, end)
        outer = scanner.deepest, self._expansion
        scanner.deepest, self._expansion = scanner.depth, 0
        self._open_aliases.append(name)
        self._aliases[name] = self.type() if sigil == "!" else self.attribute()
        self._open_aliases.pop()
        self._extents[name] = scanner.pos - end + self._expansion, scanner.deepest - scanner.depth
        scanner.deepest, self._expansion = max(outer[0], scanner.deepest), outer[1]

    def _type_alias(self, name: str, start: int) -> Type:
        type = self._alias("!" + name, start)
        assert isinstance(type, Type)
        return type

    def _alias(self, name: str, start: int) -> Type | Attribute:
        """Return the value of an alias. A definition that follows later in the text is parsed now.

        The limits on nesting and size count the expanded value: a few lines of nested aliases can expand to any depth,
        and to more text than fits in memory.
        """
        scanner = self.scanner
        value = self._aliases.get(name)
        if value is None:
            value = self._read_ahead(name, start)
        size, depth = self._extents[name]
        scanner.require_depth(depth)
        self._expansion += size
        if self._open_aliases and self._expansion > _MAX_EXPANSION + len(scanner.text):
            most = _MAX_EXPANSION + len(scanner.text)
            message = (
                f"the expanded text of alias '{self._open_aliases[-1]}' is too long: more than {most:,} characters"
            )
            raise scanner.error(message, start, scanner.pos)
        return value

    def _read_ahead(self, name: str, start: int) -> Type | Attribute:
        scanner = self.scanner
        place = self._places().get(name)
        if place is None:
            raise scanner.error(f"alias '{name}' is not defined", start, start + len(name))
        if name in self._open_aliases:
            raise scanner.error(f"the definition of alias '{name}' refers to itself", start, start + len(name))
        position, scanner.pos = scanner.pos, place
        with scanner.nested():
            self.alias_definition()
        scanner.pos = position
        return self._aliases[name]

    def _places(self) -> dict[str, int]:
        """Return the offset of each alias definition by name; the text is searched at the first call."""
        if self._alias_places is None:
            self._alias_places = {}
            for match in _ALIAS_DEFINITION.finditer(self.source.text):
                self._alias_places.setdefault(match[1] + match[2], match.start(1))
        return self._alias_places


def _elements(literal: DenseLiteral, kind: Type) -> Attribute:
    """Return the constant of type `kind`: backed by an array if NumPy can hold the elements, else stored as text."""
    if not isinstance(kind, TensorType | VectorType):
        return literal.elements(kind)
    if isinstance(kind.element, QuantizedType) and not literal.has_strings:
        return literal.elements(kind)
    return literal.elements(kind) if is_backed(kind.element) else literal.text_elements(kind)


_Rule = Callable[[AttributeParser, int], Attribute]
_WORDS: dict[str, _Rule] = {
    "true": lambda parser, start: TRUE,
    "false": lambda parser, start: FALSE,
    "unit": lambda parser, start: UNIT,
    "loc": AttributeParser._location,
    "dense": AttributeParser._dense,
    "sparse": AttributeParser._sparse,
    "dense_resource": AttributeParser._dense_resource,
    "array": AttributeParser._dense_array,
    "affine_map": parse_affine_map,
    "strided": AttributeParser._strided,
    "affine_set": parse_affine_set,
}
