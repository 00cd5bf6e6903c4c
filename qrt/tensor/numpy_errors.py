"""Errors of NumPy and Python about arguments, reworded as errors of qrt."""

import re

from numpy.exceptions import AxisError

from qrt.errors import QuantAxisError, QuantIndexError, QuantTypeError, QuantValueError

NUMPY_ERRORS = (TypeError, ValueError, IndexError, OverflowError, AttributeError, KeyError, RuntimeError)
"""The exceptions that NumPy's functions raise for wrong arguments."""
_SHAPE = r"\([\d, ]*\)"
_OBJECTS = (
    r"'[\w.]+' object |object of type '|unsupported operand type|\w\(\) argument|ufunc '|invalid literal|'[<>]=?' not"
    r"|must be real number|bad operand|could not convert|too large to convert|cannot fit .int. into"
    r"|only length-1|only 0-dim|<class '"
)
_REWORDED = {
    rf"could not broadcast input array from shape ({_SHAPE}) into shape ({_SHAPE}).*": r"shape \1 does not "
    r"broadcast to shape \2",
    rf"could not broadcast where mask from shape ({_SHAPE}) into shape ({_SHAPE})": r"a mask of shape \1 does not "
    r"broadcast to shape \2",
    rf"shape mismatch: value array of shape ({_SHAPE}) .* result of shape ({_SHAPE})": r"shape \1 does not "
    r"broadcast to shape \2",
    rf".*could not be broadcast together with .*({_SHAPE}) and requested shape ({_SHAPE})": r"shape \1 does not "
    r"broadcast to shape \2",
    rf".*could not be broadcast together with .*?((?:{_SHAPE} ?)+)(?: and .*)?": r"the shapes \1 do not broadcast",
    r"'([\w.]+)' object cannot be interpreted as an integer": r"expected an integer, got \1",
    r"'([\w.]+)' object is not iterable": r"expected a sequence, got \1",
    r"only integers, slices .* are valid indices": "an index must be an integer, a slice, ..., None, or a list or "
    "an array of integers or booleans, got another value",
    r".*\binhomogeneous shape.*": "nested sequences of one level must have the same length to form an array, got "
    "different lengths",
    r"Cannot interpret (.*) as a data type": r"expected a dtype, got \1",
    r"this function only supports up to (\d+) dimensions but the array has (\d+)\.": r"expected at most \1 dimensions, "
    r"got \2: reshape the tensor",
    r"[\w.<>]+\(\) got an unexpected keyword argument ('\w+').*": r"no argument is named \1",
    r"[\w.<>]+\(\) missing \d+ required \S+ arguments?: (.*)": r"an argument is missing: \1",
    r"[\w.<>]+\(\) got multiple values for argument ('\w+')": r"the argument \1 is given twice",
    r"[\w.<>]+\(\) takes .* but (\d+) .*": r"expected another number of arguments by position, got \1",
    r"[\w.<>]+\(\) takes .* given\)": "an argument has a shape or a type that the function does not accept",
    rf".*({_OBJECTS}).*": "an argument has a type that the function does not accept",
}
"""Patterns of messages about Python's objects, and the text in their place. Other messages are not changed."""


def from_numpy(error: Exception, name: str = "", argument: str = "") -> QuantTypeError:
    """Return the error of qrt for an error of NumPy: an AxisError, IndexError, ValueError or TypeError as before.

    ``name`` is the function that was called. ``argument``, a text that names the wrong argument, ends the message.
    """
    text = " ".join(str(error).split())
    for pattern, ours in _REWORDED.items():
        if match := re.fullmatch(pattern, text):
            text = " ".join(match.expand(ours).split())
            break
    message = f"{name}: {text}{argument}" if name else text
    if isinstance(error, AxisError):
        return QuantAxisError(message)
    kind = QuantIndexError if isinstance(error, IndexError) else QuantValueError
    return kind(message) if isinstance(error, (IndexError, ValueError)) else QuantTypeError(message)
