"""The error for a saved program whose file is damaged."""

import struct

from qrt.errors import ModelError, QuantError

DAMAGE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    QuantError,
    RecursionError,
    StopIteration,
    TypeError,
    ValueError,
    struct.error,
)
"""The exceptions that damaged data can raise although its checksum is right."""


def damaged(path: str, error: BaseException) -> ModelError:
    """Return the ModelError for a saved program whose content raised ``error`` when it was decoded or bound."""
    reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
    return ModelError(f"{path}: the file is damaged, or not a saved program: {reason}")
