"""Attribute kinds: constraints on attributes of ops, with functions that parse and print them in assembly formats."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from qrt.ir.core.affine import AffineMapAttr
from qrt.ir.core.attributes import (
    ArrayAttr,
    Attribute,
    DenseArrayAttr,
    IntegerAttr,
    OpaqueAttr,
    StringAttr,
    SymbolRefAttr,
    TypeAttr,
    UnitAttr,
    spell_elements,
)
from qrt.types import IndexType, IntegerType, TensorType, Type, TypeParser
from qrt.types.scanner import Scanner, Source


class AttributeReader(Protocol):
    """Interface of the attribute parser. Each method reads from the position of `scanner` and advances it."""

    source: Source
    scanner: Scanner
    types: TypeParser
    allow_unregistered: bool

    def type(self) -> Type:
        """Read a type."""

    def attribute(self) -> Attribute:
        """Read any attribute value."""

    def dictionary(self) -> dict[str, Attribute]:
        """Read an attribute whose value must be a dictionary: `{...}`, or an alias of a dictionary."""

    def attribute_dictionary(self, signs: tuple[str, ...] = ("=",)) -> dict[str, Attribute]:
        """Read `{name = value, flag}`; `signs` are the allowed separators between a name and its value."""

    def symbol_name(self) -> str:
        """Read `@name`, and return the name."""

    def elements_of(self, kind: TensorType) -> Attribute:
        """Read `dense<...>` or `sparse<...>` as a constant of type `kind`; the text has no `: type` after it."""


@dataclass(frozen=True, slots=True)
class AttributeKind:
    """Constraint on an attribute of an op, with the functions that parse and print the attribute in an assembly format.

    `holds` tests a value. `description` completes the error `failed to satisfy constraint: ...`. `begins` tests if such
    an attribute begins at the parser's position; the parser skips an optional group if it does not. `choices` are the
    words that an enumeration accepts.
    """

    description: str
    holds: Callable[[Attribute], bool]
    parse: "Callable[[AttributeReader], Attribute]"
    spell: Callable[[Attribute], str] = str
    begins: "Callable[[AttributeReader], bool]" = lambda parser: True
    choices: tuple[str, ...] = ()


def _at(*openings: str) -> "Callable[[AttributeReader], bool]":
    return lambda parser: any(map(parser.scanner.at, openings))


def _instance(kind: type[Attribute], description: str, *openings: str) -> AttributeKind:
    def parse(parser: "AttributeReader") -> Attribute:
        start = parser.scanner.skip()
        value = parser.attribute()
        if not isinstance(value, kind):
            raise parser.scanner.error(f"expected {description}", start, parser.scanner.pos)
        return value

    return AttributeKind(description, lambda value: isinstance(value, kind), parse, begins=_at(*openings))


ANY = AttributeKind("any attribute", lambda value: True, lambda parser: parser.attribute())
UNIT = _instance(UnitAttr, "unit attribute", "unit")
STRING = _instance(StringAttr, "string attribute", '"')
FLAT_SYMBOL_REF = AttributeKind(
    "flat symbol reference attribute",
    lambda value: isinstance(value, SymbolRefAttr) and len(value.path) == 1,
    lambda parser: SymbolRefAttr((parser.symbol_name(),)),
    begins=_at("@"),
)
TYPE = _instance(TypeAttr, "any type attribute", "!")
ARRAY = _instance(ArrayAttr, "array attribute", "[")
AFFINE_MAP = _instance(AffineMapAttr, "AffineMap attribute", "affine_map", "#")


def array_of(description: str, holds: Callable[[Attribute], bool]) -> AttributeKind:
    """Return the constraint that an attribute is an array `[a, b]` whose elements all satisfy `holds`.

    Errors print `description`.
    """
    return AttributeKind(
        description,
        lambda value: isinstance(value, ArrayAttr) and all(map(holds, value.elements)),
        ARRAY.parse,
        begins=ARRAY.begins,
    )


def _is_bool(value: Attribute) -> bool:
    return isinstance(value, IntegerAttr) and value.is_bool


def is_i64(value: Attribute) -> bool:
    """Return True for an integer attribute of type i64."""
    return isinstance(value, IntegerAttr) and value.type is IntegerType(64)


BOOL = AttributeKind("bool attribute", _is_bool, lambda parser: parser.attribute())
BOOL_ARRAY = array_of("1-bit boolean array attribute", _is_bool)
I64_ARRAY = array_of("64-bit integer array attribute", is_i64)
AFFINE_MAP_ARRAY = array_of("AffineMap array attribute", lambda value: isinstance(value, AffineMapAttr))


def integer(type: IntegerType | IndexType) -> AttributeKind:
    """Return the constraint that an attribute is an integer of type `type`; it is printed without the type: `3`."""
    described = "index" if isinstance(type, IndexType) else f"{type.width}-bit {type.signedness} integer"

    def parse(parser: "AttributeReader") -> Attribute:
        return IntegerAttr(parser.scanner.integer(64 if isinstance(type, IndexType) else type.width), type)

    return AttributeKind(
        f"{described} attribute",
        lambda value: isinstance(value, IntegerAttr) and value.type is type,
        parse,
        lambda value: str(value.python),
        lambda parser: parser.scanner.at("-") or parser.scanner.text[parser.scanner.skip() :][:1].isdigit(),
    )


I32, I64, INDEX = integer(IntegerType(32)), integer(IntegerType(64)), integer(IndexType())
ALIGNMENT = replace(
    I64,
    description="64-bit signless integer attribute whose value is positive and whose value is a power of two > 0",
    holds=lambda value: is_i64(value) and value.python > 0 and not value.python & (value.python - 1),
)


def dense_array(element: IntegerType) -> AttributeKind:
    """Return the constraint that an attribute is a dense array `array<i64: 1, 2>`; it is printed as `[1, 2]`."""

    def parse(parser: "AttributeReader") -> Attribute:
        read = lambda: parser.scanner.integer(element.width)  # noqa: E731
        values = parser.scanner.bracketed("[]", read, " before array elements", " after array elements")
        return DenseArrayAttr(element, tuple(values))

    def spell(value: Attribute) -> str:
        assert isinstance(value, DenseArrayAttr)
        return f"[{', '.join(spell_elements(value.values, element))}]"

    return AttributeKind(
        f"{element} dense array attribute",
        lambda value: isinstance(value, DenseArrayAttr) and value.element is element,
        parse,
        spell,
        _at("["),
    )


def keyword(cases: Iterable[str], width: int = 64, description: str = "") -> AttributeKind:
    """Return the constraint that an attribute is an integer of `width` bits that selects one of the names `cases`.

    Assembly formats print the selected name in place of the integer. `description` replaces the default error text.
    """
    names = tuple(cases)
    type = IntegerType(width)

    def parse(parser: "AttributeReader") -> Attribute:
        scanner = parser.scanner
        start = scanner.skip()
        word = scanner.word_or_string("a keyword")
        if word not in names:
            raise scanner.error(f"expected one of {', '.join(names)}", start, scanner.pos)
        return IntegerAttr(names.index(word), type)

    return AttributeKind(
        description or f"allowed {width}-bit signless integer cases: {', '.join(map(str, range(len(names))))}",
        lambda value: isinstance(value, IntegerAttr) and value.type is type and 0 <= value.value < len(names),
        parse,
        lambda value: names[value.python],
        lambda parser: parser.scanner.at('"') or parser.scanner.peek_word() in names,
        names,
    )


# -- enumerations: `#arith.fastmath<nnan,ninf>` ------------------------------------------------------------------------

ENUMERATIONS: dict[str, "Enumeration"] = {}
"""The enumerations that the attribute parser knows, by name without `#`."""


@dataclass(frozen=True, slots=True)
class Enumeration:
    """Enumeration attribute `#dialect.name<case>`, or `#dialect.name` if there are no cases.

    With a `separator` the attribute is a set of flags, `#dialect.name<a,b>`. The empty set is printed as `none`; the
    set of all flags as the text in `every`, unless `every` is empty.
    """

    name: str
    cases: tuple[str, ...]
    separator: str = ""
    every: str = ""
    typed: bool = False
    """True if a type after the attribute, `#dialect.name<case> : i32`, is part of it; else such a type is ignored."""

    def attribute(self, *flags: str) -> OpaqueAttr:
        """Return the attribute with the given case, or with the given flags in any order."""
        if not self.cases:
            return OpaqueAttr(f"#{self.name}")
        if self.separator:
            given = {flag for flag in flags if flag != "none"}
            if self.every in given or (self.every and given == set(self.cases)):
                flags = (self.every,)
            else:
                flags = tuple(case for case in self.cases if case in given) or ("none",)
        return OpaqueAttr(f"#{self.name}<{self.separator.join(flags)}>")

    def flags(self, value: Attribute) -> tuple[str, ...]:
        """Return the cases in an attribute's text, with `every` expanded to all cases and `none` to no case."""
        words = tuple(word.strip() for word in str(value)[len(self.name) + 2 : -1].split(","))
        return self.cases if self.every and self.every in words else tuple(word for word in words if word != "none")

    def holds(self, value: Attribute) -> bool:
        return isinstance(value, OpaqueAttr) and value.text.partition("<")[0] == f"#{self.name}"

    def parse_body(self, parser: "AttributeReader") -> OpaqueAttr:
        """Parse the `<case, case>` that follows `#dialect.name`."""
        if not self.cases:
            return self.attribute()
        scanner = parser.scanner
        scanner.expect("<", f" after '{self.name.partition('.')[2]}'")
        allowed = (*self.cases, *(("none",) if self.separator else ()), *((self.every,) if self.every else ()))
        flags: list[str] = []
        while not flags or (self.separator and scanner.accept(",")):
            start = scanner.skip()
            flags.append(scanner.word_or_string("a case"))
            if flags[-1] not in allowed:
                raise scanner.error(f"expected one of {', '.join(allowed)}", start, scanner.pos)
        scanner.expect(">", f" after the cases of {self.name}")
        return self.attribute(*flags)


def enumeration(name: str, cases: str, separator: str = "", every: str = "", typed: bool = False) -> AttributeKind:
    """Register the enumeration attribute `#name<...>` with space-separated `cases`, and return its `AttributeKind`.

    An assembly format prints the attribute as `<case>`, and reads `<case>`, `#name<case>` or an alias. For `separator`,
    `every` and `typed` see the fields of `Enumeration`.

    >>> kind = enumeration("test.direction", "up down")
    >>> ENUMERATIONS.pop("test.direction").attribute("up").text, kind.description
    ('#test.direction<up>', '#test.direction attribute')
    """
    known = Enumeration(name, tuple(cases.split()), separator, every, typed)
    if name in ENUMERATIONS:
        raise ValueError(f"enumeration: an enumeration named {name!r} is already registered")
    ENUMERATIONS[name] = known

    def parse(parser: "AttributeReader") -> Attribute:
        start = parser.scanner.skip()
        value = known.parse_body(parser) if parser.scanner.at("<") else parser.attribute()
        if not known.holds(value):
            raise parser.scanner.error("invalid kind of attribute specified", start, parser.scanner.pos)
        return value

    return AttributeKind(
        f"#{name} attribute",
        known.holds,
        parse,
        lambda value: str(value)[len(name) + 1 :],
        _at("<", "#"),
        known.cases,
    )
