"""QuantError and its family: everything qrt raises about its input."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

Severity = Literal["error", "warning", "note", "remark"]


class Position(Protocol):
    """What a diagnostic needs of a place in a text (`text.Location` is the one that exists)."""

    @property
    def filename(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...
    def render(self, message: str, severity: str = "error") -> str: ...


@dataclass(frozen=True)
class Diagnostic:
    """A message at a place in a text, or at none, and notes at others. `str` is `file:line:column: severity: message`,
    the source line and a caret; the same for each note."""

    severity: Severity
    message: str
    location: Position | None = None
    notes: tuple["Diagnostic", ...] = ()

    def __str__(self) -> str:
        bare = f"{self.severity}: {self.message}"
        text = bare if self.location is None else self.location.render(self.message, self.severity)
        return "\n".join((text, *map(str, self.notes)))


def nearest(name: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """The known name that a misspelt one may stand for, if one is as alike as `difflib` measures it."""
    from difflib import get_close_matches  # here: only for an error

    return next(iter(get_close_matches(name, list(known), 1, likeness)), None)


def shown(value: object) -> str:
    """A value as an error says it: short, whatever its `repr` does. The `repr` of an integer of 4300 digits raises."""
    try:
        text = repr(value)
    except Exception:
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= 200 else f"{text[:200]}..."


class QuantError(Exception):
    """Base of every error qrt raises on purpose."""


class QuantTypeError(QuantError, TypeError):
    """Types, ranks, shapes, axes or scales that do not fit together."""


class ModelError(QuantError):
    """A model file or a program that cannot be imported, planned or exported."""


class KernelError(QuantError):
    """A kernel that is missing, cannot run here, or refused its arguments."""


class UndefinedError(QuantError):
    """An operation on values for which MLIR leaves it undefined: a division by zero, a shift by too much."""


def require(value: object, kinds: type | tuple[type, ...], what: str, wanted: str) -> None:
    """Raise QuantTypeError unless a value is of one of these classes; ``what`` names it, ``wanted`` says what it is."""
    if not isinstance(value, kinds):
        raise QuantTypeError(f"{what} must be {wanted}, got {shown(value)}")


class DiagnosticError(QuantError):
    """An error at a place in a text: prints `file:line:column: error: message`, the source line and a caret."""

    def __init__(self, message: str, location: Position, notes: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(message, location, notes)  # all in args, so that the error pickles
        self.message = message
        self.location = location
        self.diagnostics: tuple[Diagnostic, ...] = (Diagnostic("error", message, location, notes),)
        """What was found, this error among it: verification goes on after an error, and finds warnings too."""

    def __str__(self) -> str:
        return str(Diagnostic("error", *self.args))


class ParseError(DiagnosticError):
    """Text that is not MLIR, or not a program qrt knows."""


class VerifyError(DiagnosticError):
    """A well-formed program that breaks a rule of an op, of SSA or of a type."""


def diagnostics(error: QuantError) -> tuple[Diagnostic, ...]:
    """What an error says, and what was found beside it."""
    return error.diagnostics if isinstance(error, DiagnosticError) else (Diagnostic("error", str(error)),)
