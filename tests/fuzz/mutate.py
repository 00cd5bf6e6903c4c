"""Changes of a text, by character, token, line, and with parts of another text. The same Random makes the same."""

import re
from collections.abc import Callable, Sequence
from random import Random

from tests.fuzz.vocabulary import (
    ATTRIBUTES,
    DIMENSIONS,
    FLOATS,
    KEYWORDS,
    NUMBER,
    OPENING,
    any_type,
    integer,
    matching,
    tokens,
)

Change = Callable[[Random, list[str]], None]
LONGEST = 20_000
"""Characters of a mutant: nested copies grow fast, and time without end is to be the text's fault."""

_TYPE = re.compile(r"tensor|memref|vector|tuple|complex|![\w.]+|(?:si|ui|i|bf|tf|f)\d+(?:E\d+M\d+\w*)?|index|none")
_OP = re.compile(r"[a-z_]+\.[a-z_][\w.]*")


def mutated(draw: Random, text: str, others: Sequence[str]) -> str:
    """The text with one to three changes; one of `others` may lend a part."""
    for _ in range(draw.choice((1, 1, 1, 1, 1, 2, 3))):
        kind = draw.random()
        if kind < 0.75:
            text = of_tokens(draw, text)
        elif kind < 0.87:
            text = of_lines(draw, text)
        elif kind < 0.95:
            text = spliced(draw, text, draw.choice(others))
        else:
            text = of_characters(draw, text)
    return text[:LONGEST]


# -- characters and lines --------------------------------------------------------------------------------------------


def of_characters(draw: Random, text: str) -> str:
    at = draw.randint(0, len(text))
    length = draw.choice((0, 1, 1, 2, 8))
    inserted = draw.choice(
        ("", chr(draw.randrange(256)), draw.choice('\0\t\n\r"%(<>[]{}/\\\u00e9\u2028 z0'), text[at : at + 9])
    )
    return text[:at] + inserted + text[at + length :]


def of_lines(draw: Random, text: str) -> str:
    lines = text.splitlines(keepends=True) or [""]
    first, second = draw.randrange(len(lines)), draw.randrange(len(lines))
    match draw.randrange(5):
        case 0:
            del lines[first]
        case 1:
            lines.insert(second, lines[first])
        case 2:
            lines[first], lines[second] = lines[second], lines[first]
        case 3:
            lines.insert(second, lines.pop(first))
        case _:
            first, second = sorted((first, second))
            lines[second:second] = lines[first : second + 1]
    return "".join(lines)


def spliced(draw: Random, text: str, other: str) -> str:
    """A run of lines or of tokens of the other text, in place of one of this."""
    split = tokens if draw.random() < 0.5 else lambda t: t.splitlines(keepends=True)
    own, lent = split(text) or [""], split(other) or [""]
    length = draw.randint(1, 8)
    start, at = draw.randrange(len(lent)), draw.randrange(len(own))
    own[at : at + draw.choice((0, 0, 1, length))] = lent[start : start + length]
    return "".join(own)


# -- tokens ----------------------------------------------------------------------------------------------------------


def of_tokens(draw: Random, text: str) -> str:
    parts = tokens(text)
    if parts:
        draw.choices(list(_CHANGES), list(_CHANGES.values()))[0](draw, parts)
    return "".join(parts)


def _places(parts: Sequence[str], wanted: Callable[[str], object]) -> list[int]:
    return [at for at, part in enumerate(parts) if wanted(part)]


def _one_or_all(draw: Random, parts: list[str], at: int, new: str) -> None:
    """In place of one token, or of every equal one, so that what must agree still does."""
    old = parts[at]
    places = _places(parts, lambda part: part == old) if draw.random() < 0.3 else [at]
    for place in places:
        parts[place] = new


def change_number(draw: Random, parts: list[str]) -> None:
    places = _places(parts, NUMBER.fullmatch)
    if not places:
        return
    at = draw.choice(places)
    is_dimension = at + 1 < len(parts) and parts[at + 1] == "x"
    if is_dimension and draw.random() < 0.8:
        new = draw.choice(DIMENSIONS)
    elif "." in parts[at] and draw.random() < 0.8:
        new = draw.choice(FLOATS)
    else:
        new = integer(draw)
    _one_or_all(draw, parts, at, new)
    if new.startswith("-") and at and parts[at - 1] == "-":
        parts[at - 1] = ""


def change_type(draw: Random, parts: list[str]) -> None:
    """A type with what stands in its brackets, or such of every equal text."""
    places = _places(parts, _TYPE.fullmatch)
    if not places:
        return
    at = draw.choice(places)
    end = _end_of(parts, at)
    if draw.random() < 0.4:
        start = draw.choice(places)
        new = "".join(parts[start : _end_of(parts, start)])
    else:
        new = any_type(draw)
    old = "".join(parts[at:end])
    if draw.random() < 0.7:
        parts[:] = ["".join(parts).replace(old, new)]
    else:
        parts[at:end] = [new]


def _end_of(parts: Sequence[str], at: int) -> int:
    closed = matching(parts, at + 1) if at + 1 < len(parts) and parts[at + 1] == "<" else None
    return at + 1 if closed is None else closed + 1


def change_attribute(draw: Random, parts: list[str]) -> None:
    """What stands behind the `=` of an attribute."""
    places = [at + 1 for at in _places(parts, lambda part: part == "=") if _name_before(parts, at).isidentifier()]
    if not places:
        return
    at = draw.choice(places)
    while at < len(parts) and parts[at].isspace():
        at += 1
    if at >= len(parts):
        return
    closed = matching(parts, at) if parts[at] in "[{(" else None
    parts[at : (at if closed is None else closed) + 1] = [draw.choice(ATTRIBUTES)]


def _name_before(parts: Sequence[str], at: int) -> str:
    return next((part for part in reversed(parts[max(at - 2, 0) : at]) if not part.isspace()), "")


def add_attribute(draw: Random, parts: list[str]) -> None:
    """A name of the text with a value that it has not."""
    names = sorted({_name_before(parts, at) for at in _places(parts, lambda part: part == "=")})
    places = _places(parts, lambda part: part == "{")
    if places:
        name = draw.choice([*names, "a", "qrt.name", "sym_name", "requant", "value"])
        parts.insert(draw.choice(places) + 1, f"{name} = {draw.choice(ATTRIBUTES)}{draw.choice(['', ', '])}")


def change_operand(draw: Random, parts: list[str]) -> None:
    """A value deleted, repeated, or exchanged for another."""
    places = _places(parts, lambda part: part[0] == "%")
    if not places:
        return
    at = draw.choice(places)
    match draw.randrange(4):
        case 0:
            parts[at] = ""
            neighbours = [near for near in (at + 1, at - 1, at - 2) if 0 <= near < len(parts) and parts[near] == ","]
            if neighbours:
                parts[neighbours[0]] = ""
        case 1:
            parts[at] = f"{parts[at]}, {parts[draw.choice(places)]}"
        case 2:
            parts[at] += draw.choice(("#0", "#1", "#4000000000", ":2"))
        case _:
            parts[at] = parts[draw.choice(places)]


def change_name(draw: Random, parts: list[str]) -> None:
    """An op, a symbol or a word in place of another of the text."""
    kinds: list[Callable[[str], object]] = [_OP.fullmatch, lambda p: p[0] in "@^#!", str.isidentifier]
    places = _places(parts, draw.choice(kinds))
    if places:
        parts[draw.choice(places)] = parts[draw.choice(places)]


def nest(draw: Random, parts: list[str]) -> None:
    """What stands in brackets, within itself: lists, types and attributes become deeper."""
    places = _places(parts, lambda part: part in OPENING)
    closed = {at: end for at in places if (end := matching(parts, at)) is not None}
    if not closed:
        return
    at = draw.choice(sorted(closed))
    before = parts[at - 1] if at and _TYPE.fullmatch(parts[at - 1]) else ""
    times = draw.choice((1, 1, 2, 4, 12, 64, 300))
    parts[closed[at]] += parts[closed[at]] * times
    parts[at] += (before + parts[at]) * times


def nest_statement(draw: Random, parts: list[str]) -> None:
    """A statement with a region, within that region, once or more; what it defines gets other names."""
    text = "".join(parts)
    found = [
        match for match in re.finditer(r"^[^\n]*\{[ \t]*\n", text, re.MULTILINE) if not match[0].startswith("func")
    ]
    if not found:
        return
    match = draw.choice(found)
    rest = tokens(text[match.end() - 1 - len(match[0]) + match[0].rindex("{") + 1 :])
    end = matching(rest, 0)
    if end is None:
        return
    inside = "".join(rest[1:end])
    closing, _, after = "".join(rest[end:]).partition("\n")
    for number in range(draw.choice((1, 1, 2, 3))):
        statement = f"{match[0]}{inside}{closing}\n"
        for name in sorted({*re.findall(r"(%\w+)(?=(?::\d+)? =|: )", statement)}):
            statement = re.sub(rf"{name}\b", f"{name}_{number}", statement)
        inside = f"\n{statement}{inside}"
    parts[:] = [text[: match.start()], match[0], inside, closing, "\n", after]


def nest_expression(draw: Random, parts: list[str]) -> None:
    """An affine expression within itself, once or on both sides."""
    places = _places(parts, lambda part: re.fullmatch(r"[ds]\d+", part))
    if not places:
        return
    at = draw.choice(places)
    name, form = (
        parts[at],
        draw.choice(("(%s) + %s", "(%s) mod 7 + %s", "(%s) floordiv 3 + %s", "(%s) ceildiv 2 - %s", "(%s) * 3 + %s")),
    )
    for _ in range(draw.choice((1, 2, 4, 16, 60, 300))):
        parts[at] = form.replace("%s", parts[at], 1).replace("%s", name)


def delete(draw: Random, parts: list[str]) -> None:
    at = draw.randrange(len(parts))
    del parts[at : at + draw.choice((1, 1, 1, 2, 5))]


def duplicate(draw: Random, parts: list[str]) -> None:
    at = draw.randrange(len(parts))
    parts[at:at] = parts[at : at + draw.choice((1, 1, 2, 5))]


def exchange(draw: Random, parts: list[str]) -> None:
    first, second = draw.randrange(len(parts)), draw.randrange(len(parts))
    parts[first], parts[second] = parts[second], parts[first]


def insert_word(draw: Random, parts: list[str]) -> None:
    at = draw.randrange(len(parts))
    word = draw.choice(KEYWORDS)
    if draw.random() < 0.5:
        parts[at] = word
    else:
        parts.insert(at, f" {word} ")


_CHANGES: dict[Change, int] = {
    change_number: 12,
    change_type: 9,
    change_attribute: 4,
    add_attribute: 2,
    change_operand: 4,
    change_name: 4,
    nest: 2,
    nest_statement: 2,
    nest_expression: 1,
    delete: 3,
    duplicate: 2,
    exchange: 2,
    insert_word: 2,
}
"""How often one is drawn."""
