"""Scanner of MLIR text for types and IR: tokens, source locations and error messages. It does not import types."""

import re
import struct
from array import array
from bisect import bisect_right
from collections.abc import Callable
from typing import TypeVar

from qrt.errors import MAX_MESSAGE, ParseError, shortened

T = TypeVar("T")

MAX_NESTING = 64
"""Deepest nesting of types, attributes or regions that is read: far beyond any program, far within Python's stack."""

_SHOWN = 160  # characters of a source line around the caret; a 100 MB line must not become a 100 MB message
_FILENAME = 255  # characters of a file name that are shown, from its end
_CONTROL = dict.fromkeys((*range(9), *range(10, 32), 127, *range(0xD800, 0xE000)), "�")
_MAY_BE_TRIVIA = frozenset(("", " ", "\t", "\r", "\n", "\0", "/"))
_NEWLINE = re.compile("\n")
_SURROGATE = re.compile("[\ud800-\udfff]")

# Repetitions are possessive (`*+`): they never backtrack, which would take memory for every step, and exponential
# time where several of them follow each other.
_TRIVIA = r"[ \t\r\n\0]*+(?://[^\n]*+[ \t\r\n\0]*+)*+"
_TRIVIA_RE = re.compile(_TRIVIA)
_BARE_ID = re.compile(r"[a-zA-Z_][\w$.]*", re.ASCII)
_SUFFIX_ID = re.compile(r"\d+|[a-zA-Z$._-][\w$.-]*", re.ASCII)
_STRING = re.compile(r'"((?:[^"\\\n\0\v\f]++|\\(?:[\\"nt]|[0-9a-fA-F]{2}))*+)"')
_ESCAPE = re.compile(rb"\\([0-9a-fA-F]{2}|[\\\"nt])")
_NUMBER = re.compile(rf"(?:(-){_TRIVIA})?(?:(0x[0-9a-fA-F]+)|(\d+\.\d*(?:[eE][-+]?\d+)?)|(\d+))", re.ASCII)
_EXPONENT = re.compile(r"[eE][-+]?\d+", re.ASCII)
_CODE = re.compile(r'(?:[^"/]++|"(?:[^"\\]++|\\.)*+"|/(?!/))*+')
_BALANCE = re.compile(r'->|[<>]=|[<>()\[\]{}]|"(?:[^"\\\n]++|\\.)*+"|//[^\n]*|[^-<>()\[\]{}"/]+|[-/]')
_CLOSING = {"<": ">", "(": ")", "[": "]", "{": "}"}
_UNESCAPE = {b"n": b"\n", b"t": b"\t", b'"': b'"', b"\\": b"\\"}


def pattern(body: str) -> re.Pattern[str]:
    """Compile a regular expression that first skips white space and comments; `Scanner.match` needs such patterns."""
    return re.compile(_TRIVIA + body, re.ASCII)


class Source:
    """A text and the file name that errors report."""

    __slots__ = ("_line_starts", "filename", "text")

    def __init__(self, text: str, filename: str = "<string>") -> None:
        self.text = text
        self.filename = filename
        self._line_starts: array[int] | None = None

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Return the 1-based line and column of a character offset."""
        if self._line_starts is None:
            self._line_starts = array("q", [0])
            self._line_starts.extend(match.end() for match in _NEWLINE.finditer(self.text))
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1


class Location:
    """Range of characters `start:end` in a source."""

    __slots__ = ("end", "source", "start")

    def __init__(self, source: Source, start: int, end: int | None = None) -> None:
        self.source = source
        self.start = start
        self.end = start + 1 if end is None else end

    @property
    def filename(self) -> str:
        return self.source.filename

    @property
    def line(self) -> int:
        return self.source.line_and_column(self.start)[0]

    @property
    def column(self) -> int:
        return self.source.line_and_column(self.start)[1]

    def __str__(self) -> str:
        line, column = self.source.line_and_column(self.start)
        return f"{self.filename}:{line}:{column}"

    def __repr__(self) -> str:
        return f"Location({self})"

    def render(self, message: str, severity: str = "error") -> str:
        """Return `file:line:column: severity: message`, followed by the source line and a caret line."""
        text = self.source.text
        first = text.rfind("\n", 0, self.start) + 1
        last = text.find("\n", self.start)
        last = len(text) if last < 0 else last
        left = max(first, self.start - _SHOWN // 2)
        right = min(last, left + _SHOWN)
        shown = text[left:right].rstrip("\r").translate(_CONTROL)
        pad = "".join("\t" if c == "\t" else " " for c in shown[: self.start - left])
        underline = "~" * (min(self.end, right) - self.start - 1)
        place = str(self)
        place = place if len(place) <= _FILENAME else f"...{place[3 - _FILENAME :]}"
        return f"{place}: {severity}: {shortened(message, MAX_MESSAGE)}\n{shown}\n{pad}^{underline}"


def _end_before(text: str, at: int) -> int:
    """Return the end offset of the token before offset `at`; `at` itself if there is none.

    Comments and blank lines between that token and `at` are skipped.
    """
    end = at
    while True:
        while end and text[end - 1] in " \t":
            end -= 1
        if not end:
            return at
        if text[end - 1] not in "\r\n":
            return end
        end -= 1
        code = _CODE.match(text, text.rfind("\n", 0, end) + 1, end)
        if code is not None and text.startswith("//", code.end(), end):
            end = code.end()


class Scanner:
    """A position in a Source, with methods that read tokens. Every method skips white space and `//` comments first.

    The constructor raises ParseError if the text contains a surrogate code point.
    """

    __slots__ = ("deepest", "depth", "pos", "source", "text")

    def __init__(self, source: Source, pos: int = 0) -> None:
        self.source = source
        self.text = source.text
        self.pos = pos
        self.depth = 0
        self.deepest = 0
        """The greatest `depth` since a caller last reset this field."""
        if not self.text.isascii() and (bad := _SURROGATE.search(self.text)) is not None:
            raise ParseError(f"the lone surrogate {bad[0]!r} is not a valid character", Location(source, bad.start()))

    def skip(self) -> int:
        """Skip white space and comments, and return the offset of the next token."""
        if self.text[self.pos : self.pos + 1] not in _MAY_BE_TRIVIA:
            return self.pos
        match = _TRIVIA_RE.match(self.text, self.pos)
        assert match is not None  # the pattern matches the empty string
        self.pos = match.end()
        return self.pos

    def at_end(self) -> bool:
        return self.skip() == len(self.text)

    def at(self, literal: str) -> bool:
        return self.text.startswith(literal, self.skip())

    def accept(self, literal: str) -> bool:
        """Advance past `literal` and return True if the text continues with it; else return False."""
        if self.text.startswith(literal, self.pos) or self.text.startswith(literal, self.skip()):
            self.pos += len(literal)
            return True
        return False

    def expect(self, literal: str, context: str = "") -> None:
        if not self.accept(literal):
            raise self.error(f"expected '{literal}'{context}")

    def separated(self, read: Callable[[], T]) -> list[T]:
        """Call `read` for each of one or more items separated by commas, and return the results."""
        entries = [read()]
        while self.accept(","):
            entries.append(read())
        return entries

    def bracketed(self, brackets: str, read: Callable[[], T], before: str = "", after: str = "") -> list[T]:
        """Call `read` for each item of a bracketed list separated by commas, and return the results.

        `brackets` is a pair such as "[]". `before` and `after` complete the errors about a missing bracket.
        """
        self.expect(brackets[0], before)
        entries = [] if self.at(brackets[1]) else self.separated(read)
        self.expect(brackets[1], after)
        return entries

    def match(self, compiled: re.Pattern[str]) -> re.Match[str] | None:
        """Advance past the text that a regular expression made by `pattern` matches, and return the match or None."""
        match = compiled.match(self.text, self.pos)
        if match is not None:
            self.pos = match.end()
        return match

    def error(self, message: str, start: int | None = None, end: int | None = None) -> ParseError:
        """Return a ParseError located at `start:end`; without `start`, at the end of the previous token."""
        if start is None:
            message, following = self._with_what_follows(message), self.skip()
            start = _end_before(self.text, following)
        return ParseError(message, Location(self.source, start, end))

    def unexpected(self, message: str) -> ParseError:
        """Return a ParseError located at the next token."""
        return self.error(self._with_what_follows(message), self.skip())

    def _with_what_follows(self, message: str) -> str:
        start = self.skip()
        if start >= len(self.text):
            return f"{message}, found the end of the text"
        if ord(self.text[start]) in _CONTROL:
            return f"{message}, found the control character {self.text[start]!r}"
        return message

    def nested(self) -> "Scanner":
        """Enter one level of nesting within `with scanner.nested():`. Raise ParseError if it is too deep."""
        self.require_depth(1)
        return self

    def require_depth(self, more: int) -> None:
        """Raise ParseError if `more` levels of nesting would exceed the limit."""
        if self.depth + more > MAX_NESTING:
            raise self.error(f"nested more than {MAX_NESTING} levels deep", self.skip())
        self.deepest = max(self.deepest, self.depth + more)

    def require_nesting_in_module(self) -> None:
        """Raise ParseError if the text, once it is printed within a module, would be nested too deep to parse."""
        if self.deepest == MAX_NESTING:
            raise self.error(f"nested more than {MAX_NESTING} levels deep, with the module that is added around", 0)

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *exception: object) -> None:
        self.depth -= 1

    # -- words ------------------------------------------------------------------------------------------------------

    def peek_word(self) -> str:
        """Return the next identifier, which may contain dots, without advancing; an empty text if there is none."""
        match = _BARE_ID.match(self.text, self.skip())
        return match[0] if match else ""

    def accept_word(self, word: str) -> bool:
        if self.peek_word() == word:
            self.pos += len(word)
            return True
        return False

    def expect_word(self, word: str, context: str = "") -> None:
        if not self.accept_word(word):
            raise self.unexpected(f"expected '{word}'{context}")

    def word(self, what: str) -> str:
        word = self.peek_word()
        if not word:
            raise self.unexpected(f"expected {what}")
        self.pos += len(word)
        return word

    def word_or_string(self, what: str) -> str:
        """Read an identifier or a string literal; `what` names it in the error."""
        return self.string(what) if self.at('"') else self.word(what)

    def suffix(self, sigil: str, what: str) -> str:
        """Read `%name`, `^name`, `#name` or `!name`, as `sigil` selects, and return the name."""
        start = self.skip()
        match = _SUFFIX_ID.match(self.text, start + 1) if self.text.startswith(sigil, start) else None
        if match is None:
            raise self.error(f"expected {what}")
        self.pos = match.end()
        return match[0]

    def string(self, what: str = "a string") -> str:
        """Read a string literal and decode its UTF-8 bytes; invalid bytes become surrogate escapes."""
        start = self.skip()
        match = _STRING.match(self.text, start)
        if match is None:
            raise self.error(f"expected {what}" if not self.at('"') else "expected '\"' in string literal", start)
        self.pos = match.end()
        body = match[1]
        if "\\" not in body:
            return body
        raw = _ESCAPE.sub(_unescape, body.encode("utf-8", "surrogateescape"))
        return raw.decode("utf-8", "surrogateescape")

    def bytes_of_hex(self, text: str, start: int, end: int) -> bytes:
        """Return the bytes of a text such as `0x00FF`. Raise ParseError, located at `start:end`, if it is malformed."""
        try:
            if not text.startswith("0x"):
                raise ValueError
            return bytes.fromhex(text[2:])
        except ValueError:
            message = "expected a string of hex digits, two per byte, starting with 0x"
            raise self.error(message, start, end) from None

    # -- numbers ----------------------------------------------------------------------------------------------------

    def number(self) -> re.Match[str] | None:
        """Read a number and return the match, with the groups sign, hexadecimal, float and decimal.

        If the next token is not a number, return None without advancing.
        """
        match = _NUMBER.match(self.text, self.skip())
        if match is not None:
            self.pos = match.end()
        return match

    def float_hint(self, match: re.Match[str]) -> str:
        """Return, for an error, how to write the integer of ``match``, which was just read, as a float literal."""
        exponent = _EXPONENT.match(self.text, self.pos)
        return f"as in {match[1] or ''}{match[4][:40]}.0{exponent[0][:40] if exponent else ''}"

    def integer(self, bits: int = 64, what: str = "an integer") -> int:
        """Read a decimal or hexadecimal integer. Raise ParseError unless it fits a signed integer of `bits` bits."""
        start = self.skip()
        match = _NUMBER.match(self.text, start)
        if match is None or match[3] is not None:
            raise self.unexpected(f"expected {what}")
        self.pos = match.end()
        if len(match[2] or match[4]) > 24:  # int() refuses thousands of digits; nothing that long fits
            raise self.error("integer value too large", start, self.pos)
        value = int(match[2], 16) if match[2] else int(match[4])
        value = -value if match[1] else value
        if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
            raise self.error("integer value too large", start, self.pos)
        return value

    def float_literal(self, what: str = "a float literal") -> tuple[float, int, int]:
        """Read a double, and return (value, start offset, end offset).

        The literal is `1.5`, `1.`, or the 64-bit pattern in hexadecimal. As in upstream MLIR, `1` is an error.
        """
        start = self.skip()
        match = self.number()
        if match is None:
            raise self.unexpected(f"expected {what}")
        if match[3] is not None:
            return -float(match[3]) if match[1] else float(match[3]), start, self.pos
        if match[4] is not None:
            raise self.error(
                f"expected {what}: add a trailing dot to the integer, {self.float_hint(match)}", start, self.pos
            )
        if match[1]:
            raise self.error("a hexadecimal float literal must not have a leading minus", start, self.pos)
        digits = match[2][2:].lstrip("0")
        if len(digits) > 16:
            raise self.error("hexadecimal float literal out of range for 64 bits", start, self.pos)
        return struct.unpack(">d", bytes.fromhex(digits.zfill(16)))[0], start, self.pos

    # -- raw text ---------------------------------------------------------------------------------------------------

    def balanced(self, what: str, stop: str = "") -> str:
        """Read text with balanced brackets, up to a character in `stop` or to an unmatched closing bracket.

        Neither of these is included. `what` names the text in errors.
        """
        start = end = self.skip()
        pending: list[tuple[str, int]] = []
        while end < len(self.text):
            match = _BALANCE.match(self.text, end)
            token = match[0] if match else ""
            if not token:
                raise self.error(f"unterminated string in {what}", end)
            if token in _CLOSING:
                if len(pending) == MAX_NESTING:
                    raise self.error(f"nested more than {MAX_NESTING} levels deep in {what}", end)
                pending.append((_CLOSING[token], end))
            elif pending and token == pending[-1][0]:
                pending.pop()
            elif token in (">", ")", "]", "}"):
                if pending:
                    raise self.error(f"expected '{pending[-1][0]}' in {what}", end)
                break
            elif stop and not pending:
                cut = min((i for i in map(token.find, stop) if i >= 0), default=-1)
                if cut >= 0 and token[0] not in '"/-':
                    end += cut
                    break
            end += len(token)
        if pending:
            raise self.error(f"unbalanced '{self.text[pending[-1][1]]}' in {what}", pending[-1][1])
        self.pos = end
        text = self.text[start:end].rstrip()
        if not text:
            raise self.error(f"expected {what}", start)
        return text


def _unescape(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return _UNESCAPE[code] if code in _UNESCAPE else bytes.fromhex(code.decode())
