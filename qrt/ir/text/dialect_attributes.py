"""Parser of dialect attributes `#dialect.name<...>`: registered enumerations, and other attributes as plain text."""

import re

from qrt.ir.core import registry
from qrt.ir.core.attribute_kinds import ENUMERATIONS, AttributeReader
from qrt.ir.core.attributes import OpaqueAttr

_DIALECT_SYMBOL = re.compile(r"([#!]\w+)<([a-zA-Z_]\w*(?:<.*>)?)>", re.ASCII | re.DOTALL)


def parse_dialect_attribute(parser: AttributeReader, name: str, start: int) -> OpaqueAttr:
    """Parse the attribute `#name<...>` that begins at offset `start`. Raise ParseError for an unknown dialect."""
    scanner = parser.scanner
    scanner.pos = end = start + 1 + len(name)
    registry.load(name.partition(".")[0])
    nested = name in registry.DIALECTS.own  # `#dialect<name<...>>`
    if nested:
        scanner.expect("<", " after the name of a dialect")
        name = f"{name}.{scanner.word('the name of an attribute')}"
    if name in ENUMERATIONS:
        value = ENUMERATIONS[name].parse_body(parser)
        if nested:
            scanner.expect(">", " closing the attribute")
        if scanner.accept(":"):
            written_type = (
                parser.type()
            )  # upstream reads a type behind any attribute of a dialect; few make something of it
            return OpaqueAttr(f"{value.text} : {written_type}") if ENUMERATIONS[name].typed else value
        return value
    scanner.pos = end
    known = name.partition(".")[0] in registry.UNSUPPORTED_DIALECTS
    if not known and not parser.allow_unregistered:
        message = (
            f"attribute '#{name}' is of an unregistered dialect, which is accepted only with allow_unregistered=True"
        )
        raise scanner.error(message, start, end)
    attribute = read_as_text(parser, start)
    type = f" : {parser.type()}" if scanner.accept(":") else ""
    return OpaqueAttr(_trimmed(attribute.text) if known else attribute.text + type)


def read_as_text(parser: AttributeReader, start: int) -> OpaqueAttr:
    """Skip the body `<...>` of an attribute that begins at offset `start`, and return the attribute as plain text."""
    scanner = parser.scanner
    if scanner.text.startswith("[", scanner.pos):  # distinct[0]<...>
        scanner.expect("[")
        scanner.balanced("an attribute")
        scanner.expect("]")
    if scanner.text.startswith("<", scanner.pos):
        scanner.expect("<")
        if not scanner.at(">"):
            scanner.balanced("an attribute")
        scanner.expect(">", " closing the attribute")
    return OpaqueAttr(_pretty(scanner.text[start : scanner.pos]))


def is_of_known_dialect(text: str) -> bool:
    """Return True if the text of an attribute, `#dialect...`, names a dialect that MLIR registers."""
    dialect = text.removeprefix("#").partition(".")[0]
    return text.startswith("#") and (dialect in registry.UNSUPPORTED_DIALECTS or dialect in registry.DIALECTS.own)


def _pretty(text: str) -> str:
    """Rewrite `#dialect<name<...>>` as `#dialect.name<...>`, as upstream prints it."""
    match = _DIALECT_SYMBOL.fullmatch(text)
    return text if match is None else f"{match[1]}.{match[2]}"


def _trimmed(text: str) -> str:
    """Strip the spaces inside `<...>`, which upstream MLIR does not preserve for its own dialects."""
    head, opening, body = text.partition("<")
    return f"{head}<{body[:-1].strip()}>" if opening else text
