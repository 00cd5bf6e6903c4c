"""Source locations of an operation's operands, types and attributes, computed only when an error is reported.

If a part of the text cannot be identified, or is not on the line of the operation's name, the location of the operation
is returned instead, because upstream MLIR reports errors there and `expected-error` comments refer to that line.
"""

import re
from collections.abc import Iterator

from qrt.ir.core.grammar import GENERIC_LINE, NAME, TYPE
from qrt.ir.core.operations import Operation
from qrt.types.scanner import Location

_KEY = r'"[^"\n]*"|[a-zA-Z_][\w$.]*'

Span = tuple[int, int]


def operand(operation: Operation, index: int) -> Location:
    """Return the location of the SSA name of operand number `index` in the operation's text."""
    spans = [
        span
        for part, start, end in _parts(operation)
        if part in ("operand", "operands")
        for span in _spans(NAME, operation, start, end)
    ]
    return _place(operation, spans[index : index + 1])


def type_of(operation: Operation, side: str, index: int) -> Location:
    """Return the location of the type of operand (side "operand") or result (side "result") number `index`."""
    spans: list[Span] = []
    for part, start, end in _parts(operation):
        if part == "signature":
            types = list(_spans(TYPE, operation, start, end))
            count = len(operation.operands)
            spans += types[:count] if side == "operand" else types[count:]
        elif part == f"{side} type":
            spans.append((start, end))
    return _place(operation, spans[index : index + 1])


def attribute(operation: Operation, name: str) -> Location:
    """Return the location of an attribute's name in the operation's text."""
    spans = [
        (first, last)
        for part, start, end in _parts(operation)
        if part in ("attributes", "properties")
        for first, last in _spans(_KEY, operation, start, end)
        if operation.location.source.text[first:last] == name
    ]
    return _place(operation, spans[:1])


def _parts(operation: Operation) -> Iterator[tuple[str, int, int]]:
    """Yield (part, start, end) for the parts of an operation's text, such as "operands" or "signature".

    Yield nothing if the op's one-line pattern does not match the text.
    """
    location, text = operation.location, operation.location.source.text
    head = text[location.start : location.end]
    assembly = operation.definition.assembly if operation.definition is not None else None
    if head == f'"{operation.name}"':
        line = GENERIC_LINE
    elif assembly is not None and assembly.line is not None and operation.name.endswith(head):
        line = assembly.line
    else:  # a custom form with a parser of its own, or the place of another operation, which this one replaces
        return
    match = line.pattern.match(text, location.end)
    if match is not None:
        for group, part in enumerate(line.parts, 1):
            if match[group] is not None:
                yield part, match.start(group), match.end(group)


def _spans(pattern: str, operation: Operation, start: int, end: int) -> Iterator[Span]:
    for match in re.compile(pattern, re.ASCII).finditer(operation.location.source.text, start, end):
        yield match.span()


def _place(operation: Operation, spans: list[Span]) -> Location:
    location = operation.location
    for start, end in spans:
        if "\n" not in location.source.text[location.start : start]:
            return Location(location.source, start, end)
    return location
