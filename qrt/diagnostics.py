"""Expected diagnostics: upstream's `// expected-error @+1 {{text}}` comments, for ``--verify-diagnostics``."""

import re
from dataclasses import dataclass

from qrt.errors import DiagnosticError, QuantError

_DESIGNATOR = re.compile(
    r"expected-(?P<severity>error|note|remark|warning)(?P<regex>-re)? *+"
    r"(?:@(?P<place>[+-]\d+|above|below|unknown))? *+\{\{(?P<text>.*)\}\}$",
    re.ASCII,
)
_PATTERN = re.compile(r"\{\{(.*?)\}\}")


@dataclass
class _Expected:
    severity: str
    line: int | None
    """None is anywhere: a diagnostic without a place."""
    written: str
    pattern: re.Pattern[str]
    found: bool = False


class Expectations:
    """The diagnostics that one program's comments say it gives. A place is the comment's own line, `@+N` or `@-N` lines
    from it, `@above` or `@below` the nearest line without such a comment, or `@unknown`. `expected-error-re` holds
    regular expressions in nested `{{...}}`."""

    def __init__(self, text: str, filename: str) -> None:
        self.filename = filename
        self.expected: list[_Expected] = []
        lines = text.splitlines()
        matches = [_DESIGNATOR.search(line.rstrip()) for line in lines]
        for index, match in enumerate(matches):
            if match is not None:
                line = _line(match["place"], index, matches)
                written = match["text"]
                pattern = re.compile(_regex(written) if match["regex"] else re.escape(written))
                self.expected.append(_Expected(match["severity"], line, written, pattern))

    def accept(self, error: QuantError) -> bool:
        """Whether an error was expected; each comment stands for one."""
        line = error.location.line if isinstance(error, DiagnosticError) else None
        message = error.message if isinstance(error, DiagnosticError) else str(error)
        for expected in self.expected:
            fits = not expected.found and expected.severity == "error" and expected.line == line
            if fits and expected.pattern.search(message):
                expected.found = True
                return True
        return False

    def missing(self) -> list[str]:
        """A diagnostic for each comment that nothing answered."""
        return [
            f"{self.filename}:{e.line or 0}:1: error: expected {e.severity} {e.written!r} was not produced"
            for e in self.expected
            if not e.found
        ]


def _line(place: str | None, index: int, matches: list[re.Match[str] | None]) -> int | None:
    """The 1-based line a designator at a 0-based line means."""
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
    return "".join(part if index % 2 else re.escape(part) for index, part in enumerate(parts))
