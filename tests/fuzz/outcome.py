"""What a case may do, and what is a finding: here and nowhere else."""

import re
import traceback
from pathlib import Path

import qrt
from qrt.errors import DiagnosticError, QuantError

MOST_CHARACTERS = 2048
MOST_LINES = 3
"""Of an error that shows no source line."""
_PLACE = re.compile(r"(^|\n)[^\n]*:\d+:\d+: (error|warning|note|remark): ")
_FORMS = re.compile(r"does not support (\d+) of its operators:")
"""The head of an error that lists all unsupported forms, one in a line, before a line about dynamic dimensions."""
LEAKS = re.compile(
    r"'\w+' object |object of type '\w+'|has no len\(\)|unsupported operand type|_UFuncNoLoopError|ufunc '\w+'|"
    r"could not broadcast|inhomogeneous shape|only length-1 arrays|only 0-dimensional arrays|invalid literal for|"
    r"cannot be interpreted as|must be real number, not|too large to convert|codec can't|"
    r"\w+\(\) (argument|got|missing|takes)|required argument|<class '|<function |<built-in|Traceback"
)
"""What Python and NumPy say of their own objects: nothing that a caller of qrt wrote."""
_PACKAGE = Path(qrt.__file__).parent
_MESSAGES = {
    "a call that does not fit the signature": (
        TypeError,
        r"unexpected keyword|missing \d+ required|takes .*positional argument|multiple values for|required positional",
    ),
    "the length of a tensor of rank 0": (TypeError, r"a tensor of rank 0 has no length"),
    "NumPy's own refusal of an index": (IndexError, r""),
    "an attribute that a tensor does not have": (AttributeError, r"^a \w*Tensor has no "),
    "a result that memory does not hold": (MemoryError, r""),
    "Python's own refusal of an infinity as an integer": (OverflowError, r"cannot convert float infinity to integer"),
    "Python's own refusal of a NaN as an integer": (ValueError, r"cannot convert float NaN to integer"),
}
"""The built-in exceptions that may leave a public function on purpose, by type and message. Others are QuantErrors."""

ALLOWED = {"eager": (*_MESSAGES,)}
"""Which of them may come, by kind of case. The parser, the verifier, passes, programs and the command line raise
QuantErrors alone; the command line turns them into a line and a status."""


class Finding(Exception):
    """A case that does what none may do, and raises nothing by itself. Cases of one `cause` are one defect."""

    def __init__(self, cause: str, detail: str = "") -> None:
        super().__init__(cause, detail)
        self.cause, self.detail = cause, detail


class Hang(BaseException):
    """The time of a case is over. Not an Exception, as nothing must catch it."""


def is_refusal(kind: str, error: BaseException) -> bool:
    """Whether it is a documented way of refusing. One that is its own cause hangs whoever asks for causes."""
    if isinstance(error, QuantError):
        return error.__cause__ is not error
    allowed = (_MESSAGES[name] for name in ALLOWED.get(kind, ()))
    return any(isinstance(error, type_) and re.search(message, str(error)) for type_, message in allowed)


def check_message(error: BaseException) -> None:
    """What an error says is short, and in words of qrt's own where the error is qrt's."""
    text = str(error)
    place = "; ".join(cause_of(error).split(" in ")[:2])
    check_text(text, place)
    if not isinstance(error, QuantError):
        return
    listed = _FORMS.search(text)
    most = MOST_LINES if listed is None else 2 + int(listed[1])
    if not isinstance(error, DiagnosticError) and not _PLACE.search(text) and text.count("\n") >= most:
        raise Finding(f"more than {MOST_LINES} lines: {place}", text)
    if LEAKS.search(text):
        raise Finding(f"a message that is not qrt's: {place}", text)


def check_text(text: str, place: str) -> None:
    if len(text) > MOST_CHARACTERS:
        raise Finding(f"more than {MOST_CHARACTERS} characters: {place}", text)
    if not text.strip() and "MemoryError" not in place:  # Python's own has no message
        raise Finding(f"an error that says nothing: {place}")


def cause_of(error: BaseException) -> str:
    """The exception's type and the innermost frame of qrt, which groups findings."""
    if isinstance(error, Finding):
        return error.cause
    name = "hang" if isinstance(error, Hang) else type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    inner = [f"{place}:{frame.name}" for frame in frames if (place := _in_package(frame.filename))]
    if isinstance(error, Hang | RecursionError):
        return f"{name} under {_outermost(inner)}"
    return f"{name} in {inner[-1]}" if inner else f"{name} outside qrt"


def is_outside(error: BaseException) -> bool:
    """Whether qrt has no part in it: it was raised by Python or NumPy, called by the case itself."""
    return not any(_in_package(frame.filename) for frame in traceback.extract_tb(error.__traceback__))


def _outermost(frames: list[str]) -> str:
    """Where time runs out is chance: the entry and what it called say more."""
    return " > ".join(frames[:4]) or "no frame of qrt"


def _in_package(filename: str) -> str:
    path = Path(filename)
    if path.is_relative_to(_PACKAGE):
        return path.relative_to(_PACKAGE.parent).as_posix()
    return filename if filename.startswith("qrt/") else ""  # Cython names its sources from the top


def detail_of(error: BaseException) -> str:
    """Where it came from, in full."""
    if isinstance(error, Finding):
        return error.detail
    return "".join(traceback.format_exception(error, limit=-12))[-4000:]
