"""Comments `// expected-error @+1 {{text}}` as in MLIR's tests, which ``--verify-diagnostics`` checks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from qrt.errors import Diagnostic
from qrt.types.scanner import Location, Source

_DESIGNATOR = re.compile(
    r"expected-(?P<severity>error|note|remark|warning)(?P<regex>-re)? *+"
    r"(?:@(?P<place>[+-]\d{1,9}|above|below|unknown))? *+\{\{(?P<text>.*)\}\}$",
    re.ASCII,
)
_PATTERN = re.compile(r"\{\{(.*?)\}\}")


@dataclass
class _Expected:
    severity: str
    place: tuple[str, int] | None
    """File and line; None for a diagnostic without a location."""
    written: str
    pattern: re.Pattern[str]
    comment: Location
    is_matched: bool = False


class Expectations:
    """Diagnostics that the comments in a program expect, and their comparison with the diagnostics that occur.

    A comment refers to its own line; with `@+N` or `@-N` to a line N below or above; with `@above` or `@below` to the
    nearest line without such a comment; with `@unknown` to a diagnostic without location. In `expected-error-re`,
    nested `{{...}}` are regular expressions. Each comment expects exactly one diagnostic. Notes are diagnostics of
    their own.
    """

    def __init__(self, text: str, filename: str) -> None:
        self._expected: list[_Expected] = []
        self._problems: list[Diagnostic] = []
        source = Source(text, filename)
        lines = text.split("\n")
        matches = [_DESIGNATOR.search(line.rstrip()) for line in lines]
        start = 0
        for index, match in enumerate(matches):
            if match is not None:
                comment = Location(source, start + match.start(), start + match.end())
                line = _line(match["place"], index, matches)
                self._expect(match, None if line is None else (filename, line), comment)
            start += len(lines[index]) + 1

    def _expect(self, match: re.Match[str], place: tuple[str, int] | None, comment: Location) -> None:
        written = match["text"]
        try:
            pattern = re.compile(_regex(written) if match["regex"] else re.escape(written))
        except re.error as error:
            self._problems.append(Diagnostic("error", f"invalid regex: {error}", comment))
        else:
            self._expected.append(_Expected(match["severity"], place, written, pattern, comment))

    def check(self, diagnostic: Diagnostic) -> None:
        """Match a diagnostic, and each of its notes, with a comment; record those that no comment expects."""
        for given in _with_notes(diagnostic):
            place = None if given.location is None else (given.location.filename, given.location.line)
            for expected in self._expected:
                fits = not expected.is_matched and expected.severity == given.severity and expected.place == place
                if fits and expected.pattern.search(given.message):
                    expected.is_matched = True
                    break
            else:
                message = f"unexpected {given.severity}: {given.message}"
                self._problems.append(Diagnostic("error", message, given.location))

    def problems(self) -> list[Diagnostic]:
        """Return an error for each diagnostic without a comment, and for each comment without a diagnostic."""
        missing = [
            Diagnostic("error", f'expected {expected.severity} "{expected.written}" was not produced', expected.comment)
            for expected in self._expected
            if not expected.is_matched
        ]
        return self._problems + missing


def _with_notes(diagnostic: Diagnostic) -> Iterator[Diagnostic]:
    yield diagnostic
    for note in diagnostic.notes:
        yield from _with_notes(note)


def _line(place: str | None, index: int, matches: list[re.Match[str] | None]) -> int | None:
    """Return the 1-based line to which a comment on the 0-based line `index` refers; None for `@unknown`.

    `place` is the part after `@`; `matches` has None for each line without a comment.
    """
    if place == "unknown":
        return None
    if place in ("above", "below"):
        step = -1 if place == "above" else 1
        index += step
        while 0 <= index < len(matches) and matches[index] is not None:
            index += step
        return index + 1
    return index + 1 + int(place or 0)


def _regex(text: str) -> str:
    parts = _PATTERN.split(text)
    return "".join(f"(?:{part})" if index % 2 else re.escape(part) for index, part in enumerate(parts))
