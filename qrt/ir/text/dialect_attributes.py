"""Parses attributes of dialects, `#dialect.name<...>`: those that ops declare, and those that are kept as they are
written.
"""

import re

from qrt.ir.core import registry
from qrt.ir.core.attribute_kinds import ENUMERATIONS, AttributeReader
from qrt.ir.core.attributes import OpaqueAttr

_DIALECT_SYMBOL = re.compile(r"([#!]\w+)<([a-zA-Z_]\w*(?:<.*>)?)>", re.ASCII | re.DOTALL)


def parse_dialect_attribute(parser: AttributeReader, name: str, start: int) -> OpaqueAttr:
    """The attribute whose `#name` stands at `start`. Raises ParseError for a dialect that nobody knows."""
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
            said = parser.type()  # upstream reads a type behind any attribute of a dialect; few make something of it
            return OpaqueAttr(f"{value.text} : {said}") if ENUMERATIONS[name].typed else value
        return value
    scanner.pos = end
    known = name.partition(".")[0] in registry.UNSUPPORTED_DIALECTS
    if not known and not parser.allow_unregistered:
        raise scanner.error(f"attribute '#{name}' of an unregistered dialect", start, end)
    kept = keep(parser, start)
    type = f" : {parser.type()}" if scanner.accept(":") else ""
    return OpaqueAttr(_trimmed(kept.text) if known else kept.text + type)


def keep(parser: AttributeReader, start: int) -> OpaqueAttr:
    """Reads the rest of an attribute whose name has been read, and keeps it as text."""
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
    """Whether an attribute that is kept as text is of a dialect that MLIR registers."""
    dialect = text.removeprefix("#").partition(".")[0]
    return text.startswith("#") and (dialect in registry.UNSUPPORTED_DIALECTS or dialect in registry.DIALECTS.own)


def _pretty(text: str) -> str:
    """`#dialect<name<...>>` as `#dialect.name<...>`, the way upstream prints it."""
    match = _DIALECT_SYMBOL.fullmatch(text)
    return text if match is None else f"{match[1]}.{match[2]}"


def _trimmed(text: str) -> str:
    """An attribute of a dialect of MLIR's, without the spaces at the ends of its body, which upstream does not keep."""
    head, opening, body = text.partition("<")
    return f"{head}<{body[:-1].strip()}>" if opening else text
