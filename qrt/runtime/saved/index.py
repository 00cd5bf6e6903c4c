"""Checks of the index of a saved program (its decoded contents), built from checks in `qrt.runtime.saved.kinds`."""

from typing import Any

import numpy as np

from qrt.runtime.saved.kinds import (
    Misfit,
    array,
    dtype,
    fields,
    flag,
    integer,
    integers,
    optional,
    record_of,
    sequence,
    word,
)

MOST_TEXT = 1 << 28
"""The largest number of bytes of a program's text, which is compressed in the file."""
MOST_ROUNDS = 1_000_000
"""The largest number of iterations of a loop: that of `qrt.runtime.interpreter.core`, which loading does not import."""
_BYTES = 1 << 48
_NUMBER, _NUMBERS = integer(0, (1 << 31) - 1), integers(0, (1 << 31) - 1)


def _base(value: Any) -> Any:
    return value if value is None or isinstance(value, np.ndarray) else _NUMBER(value)


def _arguments(value: Any) -> Any:
    return value  # checked by the table of entries


_PORT = record_of(word, word, flag, word)
_PLAN = fields(
    {
        "types": sequence(word),
        "results": sequence(word),
        "states": sequence(record_of(word, array())),
        "live_bytes": integer(0, _BYTES),
        "calls": sequence(record_of(word, _arguments)),
        "packed": sequence(optional(array("u1", rank=1))),
        "operands": record_of(_NUMBERS, _NUMBERS, integers(0, _BYTES)),
        "bases": sequence(_base),
        "externals": sequence(record_of(dtype(), integers())),
        "counts": record_of(_NUMBER, _NUMBER, integer(0, _BYTES), integer(0, MOST_ROUNDS)),
    }
)
check_index = fields(
    {
        "name": word,
        "saturating": flag,
        "stateful": flag,
        "inputs": sequence(_PORT),
        "outputs": sequence(_PORT),
        "isa": word,
        "plans": sequence(_PLAN),
        "program": array("u1", rank=1),
    }
)
"""Check the decoded index of a saved program."""
check_text = fields({"text": array("u1", rank=1), "constants": sequence(array())})
"""Check the compressed text of a program and its long constants."""


def check_distinct(what: str, names: list[str]) -> None:
    """Raise Misfit if a name occurs twice in ``names``. ``what`` is their noun for the error, such as "states"."""
    if len(set(names)) != len(names):
        raise Misfit(f"two {what} have the same name")
