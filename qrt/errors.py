"""The exceptions that qrt raises, `QuantError` and its subclasses, and functions that check arguments."""

import re
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, signature
from itertools import pairwise
from types import FunctionType
from typing import Any, Literal, ParamSpec, Protocol, TypeVar

from numpy.exceptions import AxisError

__all__ = [
    "Diagnostic",
    "DiagnosticError",
    "FileError",
    "KernelError",
    "MissingPackageError",
    "ModelError",
    "ParseError",
    "Position",
    "QuantAxisError",
    "QuantError",
    "QuantIndexError",
    "QuantTypeError",
    "QuantValueError",
    "UndefinedError",
    "VerifyError",
    "diagnostics",
]  # the functions that make messages are qrt's own

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C")
Severity = Literal["error", "warning", "note", "remark"]

MOST_CHARACTERS = 2048
"""The most characters of an error, with its notes and the lines of the text that it shows."""
MAX_MESSAGE = 1200
"""The most characters of the message of a diagnostic, which also shows a line of the text."""
MOST_LISTED = 16
"""The most scales or quantiles of a type that a message lists one by one."""
MANY_STEPS = "does not end within max_steps, the limit of steps"
"""The message for a loop that takes more steps than ``max_steps`` allows."""
_LIST = re.compile(r"(!quant\.(uniform|quantile)<[^{}!\s]{0,99}(?:\{[^{}]{0,999}\})?, )(\{[-+.:,{} \w]*\})", re.ASCII)

_SCALE = re.compile(r"[{,] ?([^{}:, ]+)")
_ZERO_POINT = re.compile(r":(-?\d+)", re.ASCII)


class Position(Protocol):
    """The interface of locations in texts, as diagnostics print them. `qrt.ir.text.Location` implements it.

    Examples
    --------
    >>> import qrt
    >>> try:
    ...     qrt.parse_type("tensor<2xf33>")
    ... except qrt.errors.ParseError as error:
    ...     error.location.line, error.location.column
    (1, 10)
    """

    @property
    def filename(self) -> str:
        """The name of the text."""
        ...

    @property
    def line(self) -> int:
        """The number of the line, counted from 1."""
        ...

    @property
    def column(self) -> int:
        """The number of the column, counted from 1."""
        ...

    def render(self, message: str, severity: str = "error") -> str:
        """Return `file:line:column: severity: message`, then the source line and a caret below the column."""
        ...


@dataclass(frozen=True)
class Diagnostic:
    """A message with an optional location in a text, and notes, each with its own optional location.

    `str` gives `file:line:column: severity: message`, the source line and a caret, then each note in the same form.

    Examples
    --------
    >>> print(Diagnostic("warning", "a zero point does not fit", notes=(Diagnostic("note", "it is 300"),)))
    warning: a zero point does not fit
    note: it is 300
    """

    severity: Severity
    message: str
    location: Position | None = None
    notes: tuple["Diagnostic", ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", shortened(self.message, MAX_MESSAGE))

    def __str__(self) -> str:
        bare = f"{self.severity}: {self.message}"
        text = bare if self.location is None else self.location.render(self.message, self.severity)
        for index, note in enumerate(self.notes):
            longer = f"{text}\n{note}"
            if len(longer) > MOST_CHARACTERS - 40:
                return f"{text}\n({len(self.notes) - index} more notes)"
            text = longer
        return text


def nearest(name: str, known: Iterable[str], min_similarity: float = 0.6) -> str | None:
    """Return the known name that is most similar to a misspelt one; None if none reaches ``min_similarity``.

    The similarity is the ratio of `difflib`, from 0 to 1.
    """
    return next(iter(get_close_matches(name, list(known), 1, min_similarity)), None)


def many_rounds(limit: float) -> str:
    """Return the error message for a loop that exceeds the default limit of iterations; it suggests ``max_steps``."""
    return f"does not end within {limit:,} rounds, the limit by default (max_steps changes it)"


def slice_out_of_bounds(offset: int, size: int, stride: int, axis: int, extent: int) -> str:
    """Return the message for a slice that is out of bounds along an axis."""
    return f"a slice of size {size} from {offset} with stride {stride} exceeds dimension {axis} of size {extent}"


def no_integer(width: int, signed: bool) -> str:
    """Return the message for a float that no integer of this width is."""
    return f"a NaN or a number out of the range of {'' if signed else 'unsigned '}i{width}"


def input_limit(max_bytes: int) -> str:
    """Return the end of an error about a file of more than ``max_bytes`` bytes: the limit, and how to raise it."""
    return f"the limit of {max_bytes} bytes: if you trust the file, raise max_bytes (--max-input)"


def shown(value: object) -> str:
    """Return a value as error messages print it: one short line, never the contents of an array.

    `repr` is not called for huge integers, because Python raises an error for more than 4300 digits.
    """
    if isinstance(value, type):
        return f"the class {value.__name__}"
    kind, shape = type(value).__name__, getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"{'an' if kind[0] in 'aeiou' or kind == 'ndarray' else 'a'} {kind} of shape {shape}"
    try:
        text = repr(value)
    except Exception:
        text = f"a value of type {kind}"
    text = f"a {kind} of arrays" if "array([" in text else " ".join(text.split()) if "\n" in text else text
    return text if len(text) <= 200 else f"{text[:200]}..."


def plural(count: int, one: str, several: str = "") -> str:
    """Return a count with its noun.

    >>> plural(1, "row"), plural(2000, "row"), plural(0, "bias", "biases")
    ('1 row', '2,000 rows', '0 biases')
    """
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def summary(shape: Iterable[int], what: str, values: Sequence[float], zero_points: Sequence[int] = ()) -> str:
    """Return a short text for a long list of numbers: its shape, and the least and greatest of them.

    >>> summary((128, 4096), "scales", (0.0042, 0.0121)), summary((32,), "scales", (0.5, 0.5), (-3, 4))
    ('{128x4096 scales, 0.0042 to 0.0121}', '{32 scales, 0.5 to 0.5, zero points -3 to 4}')
    """
    zeros = f", zero points {min(zero_points)} to {max(zero_points)}" if zero_points else ""
    return f"{{{'x'.join(map(str, shape))} {what}, {min(values):.3g} to {max(values):.3g}{zeros}}}"


def shortened(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return a message with long lists of quantized types abbreviated; if it is still too long, its middle is cut out.

    >>> shortened("no such type: !quant.uniform<i8:f32:0, {" + ",".join(["5.000000e-01"] * 32) + "}>")
    'no such type: !quant.uniform<i8:f32:0, {32 scales, 0.5 to 0.5}>'
    """
    if len(text) > 200:
        text = _LIST.sub(_summarized, text)
    return text if len(text) <= most else f"{text[: most // 2 - 4]} [...] {text[4 - most // 2 :]}"


def _summarized(match: "re.Match[str]") -> str:
    head, kind, items = match.groups()
    depth = len(items) - len(items.lstrip("{"))
    rows = [len(re.findall(rf"\{{{{{level}}}(?!\{{)", items)) for level in range(depth, 0, -1)]
    try:
        numbers = [*map(_number, _SCALE.findall(items))]
        zero_points = [*map(int, _ZERO_POINT.findall(items))]
        shape = [inner // outer for outer, inner in pairwise([*rows, len(numbers)])]
    except (ValueError, ZeroDivisionError, struct.error):  # it only looks like a type
        return match[0]
    if len(numbers) <= MOST_LISTED:
        return match[0]
    if zero_points and len(zero_points) < len(numbers):
        zero_points.append(0)
    return head + summary(shape, "scales" if kind == "uniform" else "quantiles", numbers, zero_points)


def _number(text: str) -> float:
    bits = text[2:].zfill(16)
    return struct.unpack(">d", bytes.fromhex(bits))[0] if text.startswith("0x") else float(text)


class QuantError(Exception):
    """Base class of every error that qrt raises on purpose.

    The message has at most 2,048 characters: long lists are summarized.

    Examples
    --------
    >>> issubclass(QuantTypeError, QuantError)
    True
    """

    def __init__(self, *args: object) -> None:
        super().__init__(*(shortened(arg) if isinstance(arg, str) else arg for arg in args))


class QuantTypeError(QuantError, TypeError):
    """An error for a type, scale, rank or shape that is not allowed, or does not fit another one.

    It is also a TypeError. Where NumPy raises a ValueError, an IndexError or an AxisError, qrt raises the subclass
    `QuantValueError`, `QuantIndexError` or `QuantAxisError`. For example, a sum of tensors whose shapes do not
    broadcast raises a `QuantValueError`. An operation that NumPy lacks, such as a convolution, raises a
    `QuantTypeError` if a shape does not fit.

    Examples
    --------
    >>> import qrt
    >>> qrt.UniformType("i8", "f32", -1.0)
    Traceback (most recent call last):
    qrt.errors.QuantTypeError: scale -1.000000e+00 out of expressed type range [1.401298e-45, 3.402823e+38]
    """


class QuantIndexError(QuantTypeError, IndexError):
    """An error for an index that is out of bounds, or is of a wrong type, such as a float.

    It is also an IndexError, which NumPy raises in these cases.

    Examples
    --------
    >>> import qrt
    >>> qrt.quantize([1.0, 2.0], qrt.UniformType("i8", "f32", 0.5))[2]
    Traceback (most recent call last):
    qrt.errors.QuantIndexError: index 2 is out of bounds for axis 0 with size 2
    """


class QuantValueError(QuantTypeError, ValueError):
    """An error for an operation that makes NumPy raise a ValueError on arrays. It is also a ValueError.

    Examples are operands whose shapes do not broadcast or cannot be multiplied, a reshape to another number of
    elements, an unknown mode, and a write to a read-only tensor.

    Examples
    --------
    >>> import numpy as np, qrt
    >>> np.split(qrt.quantize([1.0, 2.0, 3.0], qrt.UniformType("i8", "f32", 0.5)), 2)
    Traceback (most recent call last):
    qrt.errors.QuantValueError: np.split: array split does not result in an equal division
    """


class QuantAxisError(AxisError, QuantTypeError):
    """An error for an axis that a tensor does not have, or for axes that are not different integers.

    It is also NumPy's `numpy.exceptions.AxisError`, and therefore a ValueError and an IndexError.

    Examples
    --------
    >>> import numpy as np, qrt
    >>> np.flip(qrt.quantize([1.0, 2.0], qrt.UniformType("i8", "f32", 0.5)), 1)
    Traceback (most recent call last):
    qrt.errors.QuantAxisError: np.flip: axis 1 is out of bounds for array of dimension 1
    """

    def __init__(self, message: str) -> None:
        super().__init__(shortened(message))  # AxisError stands first, and does not shorten


class ModelError(QuantError):
    """A model file or a program that cannot be imported, planned or exported.

    Examples
    --------
    >>> import qrt
    >>> qrt.load("model.pb")
    Traceback (most recent call last):
    qrt.errors.ModelError: model.pb: the name of a program must end in .mlir, .tflite or .onnx, got '.pb'
    """


class FileError(ModelError, OSError):
    """A file that cannot be read or written. It is also an OSError.

    Examples
    --------
    >>> import qrt
    >>> try:
    ...     qrt.load("absent.mlir")
    ... except OSError as error:
    ...     print(error)
    absent.mlir: No such file or directory
    """


class MissingPackageError(QuantError, ImportError):
    """A missing optional package, which an extra such as ``qrt[report]`` installs. It is also an ImportError.

    Examples
    --------
    >>> issubclass(MissingPackageError, ImportError)
    True
    """


class KernelError(QuantError):
    """A kernel that is missing, cannot run on this CPU, or got invalid arguments.

    Examples
    --------
    >>> import qrt
    >>> qrt.kernels.set_num_threads(0)
    Traceback (most recent call last):
    qrt.errors.KernelError: set_num_threads: expected an integer from 1 to 256, got 0
    """

    reason: str | None = None
    """The reason why a kernel stopped while it ran, without the kernel's name; None for all other errors."""
    step: int | None = None
    """The number of the step of a plan that failed; None outside a plan."""
    is_limit = False
    """True if a run reached its limit of steps or iterations."""


class UndefinedError(QuantError):
    """An operation that MLIR leaves undefined for its operands, such as a division by zero or a shift by too many bits.

    A program that runs such an operation raises a ModelError, whose ``__cause__`` is this error.

    Examples
    --------
    >>> import numpy as np
    >>> from qrt.ops.elementwise import bind
    >>> from qrt.types import IntegerType
    >>> divide = bind("arith.divsi", [IntegerType(8)] * 2, [IntegerType(8)])
    >>> with np.errstate(all="ignore"):
    ...     divide(np.int8(1), np.int8(0))
    Traceback (most recent call last):
    qrt.errors.UndefinedError: division by zero
    """


def require(value: object, kinds: type | tuple[type, ...], what: str, wanted: str) -> None:
    """Raise QuantTypeError unless a value is of one of the classes ``kinds``.

    In the message, ``what`` names the value and ``wanted`` the expected kind.
    """
    if not isinstance(value, kinds):
        raise QuantTypeError(f"{what} must be {wanted}, got {shown(value)}")


class DiagnosticError(QuantError):
    """An error at a position in a text, the base of `ParseError` and `VerifyError`.

    `str` returns `file:line:column: error: message`, the source line and a caret.

    Examples
    --------
    >>> import qrt
    >>> qrt.parse_type("tensor<2xf33>")
    Traceback (most recent call last):
    qrt.errors.ParseError: <type>:1:10: error: expected a type
    tensor<2xf33>
             ^~~
    """

    def __init__(self, message: str, location: Position, notes: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(shortened(message, MAX_MESSAGE), location, notes)  # all in args, so that the error pickles
        self.message: str = self.args[0]
        self.location = location
        self.diagnostics: tuple[Diagnostic, ...] = (Diagnostic("error", message, location, notes),)
        """This error, and all other errors and warnings of the same verification, which continues after an error."""

    def __str__(self) -> str:
        return str(Diagnostic("error", *self.args))


class ParseError(DiagnosticError):
    """An error for text that is not valid MLIR, or has ops, types or attributes that qrt does not know.

    Examples
    --------
    >>> import qrt
    >>> qrt.ir.parse("func.func @f(")
    Traceback (most recent call last):
    qrt.errors.ParseError: <string>:1:14: error: expected a type, found the end of the text
    func.func @f(
                 ^
    """


class VerifyError(DiagnosticError):
    """An error for a program that parses, but breaks a rule of an op, of SSA or of a type.

    Examples
    --------
    >>> import qrt
    >>> module = qrt.ir.parse("func.func @f() -> i32 { return }")
    >>> module.verify()
    Traceback (most recent call last):
    qrt.errors.VerifyError: <string>:1:25: error: 'func.return' op has 0 operands, but enclosing function (@f) returns 1
    func.func @f() -> i32 { return }
                            ^~~~~~
    """


def diagnostics(error: QuantError) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of an error. A parser or verifier may report several diagnostics in one error.

    Parameters
    ----------
    error : QuantError
        An error of any subclass. An error without a location gives one diagnostic.

    Returns
    -------
    tuple of Diagnostic

    Examples
    --------
    >>> [str(found) for found in diagnostics(QuantTypeError("no scale"))]
    ['error: no scale']
    """
    return error.diagnostics if isinstance(error, DiagnosticError) else (Diagnostic("error", str(error)),)


# -- arguments that do not fit a signature: an error in words about what the caller wrote, not Python's own ------------


def check_signature(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function to raise a ``QuantTypeError`` if its arguments do not fit its signature."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            if not is_of_call(error):
                raise
            raise misfit(function, len(args), kwargs) from None

    return call


def check_signatures(kind: type[C]) -> type[C]:
    """Decorate a class to apply ``check_signature`` to each public method that it defines, and to its constructor."""
    for name, value in list(vars(kind).items()):
        if isinstance(value, FunctionType) and (not name.startswith("_") or name == "__init__"):
            setattr(kind, name, check_signature(value))
    return kind


def is_of_call(error: TypeError) -> bool:
    """Return True if a TypeError was raised because the arguments of a call do not fit the function's signature.

    The traceback then ends in the frame of the caller. A TypeError from inside the function has a further frame.
    """
    return error.__traceback__ is not None and error.__traceback__.tb_next is None


def misfit(function: Callable[..., Any], count: int, names: Iterable[str]) -> QuantTypeError:
    """Return the error for a call of ``function`` with arguments that do not fit its signature.

    The call has ``count`` positional arguments, and keyword arguments with these ``names``.
    """
    parameters = list(signature(function).parameters.values())
    name = function.__name__
    if name in ("__init__", "__new__"):
        name = function.__qualname__.split(".")[-2]
    if parameters and parameters[0].name in ("self", "cls"):
        parameters, count = parameters[1:], count - 1
    by_position = [p.name for p in parameters if p.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)]
    by_name = [p.name for p in parameters if p.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)]
    given = {*by_position[:count], *names}
    missing = [
        p.name for p in parameters if p.default is Parameter.empty and p.name not in given and "VAR" not in p.kind.name
    ]
    return QuantTypeError(f"{name}: {_wrong(by_position, by_name, missing, count, names)}")


def _wrong(by_position: list[str], by_name: list[str], missing: list[str], count: int, names: Iterable[str]) -> str:
    for name in names:
        if name in by_position[:count]:
            return f"the argument {name!r} is given twice"
        if name in by_position and name not in by_name:
            return f"the argument {name!r} must be given by position, not by name"
        if name not in by_name:
            near = nearest(name, by_name)
            takes = f"did you mean {near!r}?" if near else _listed(by_position, by_name)
            return f"no argument is named {name!r}: {takes}"
    if count > len(by_position):
        return f"expected at most {plural(len(by_position), 'argument')} by position, got {count}"
    return f"an argument is missing: {', '.join(map(repr, missing))}"


def _listed(by_position: list[str], by_name: list[str]) -> str:
    known = list(dict.fromkeys(by_position + by_name))
    return f"the arguments are {', '.join(known)}" if known else "it accepts no arguments"


def __dir__() -> list[str]:
    return __all__
