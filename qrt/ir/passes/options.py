"""Options of passes, as dataclass fields with a help text."""

from collections.abc import Sequence
from dataclasses import field
from typing import Any


def option(default: Any, text: str, choices: Sequence[str] = ()) -> Any:
    """Return a dataclass field for an option of a pass: default, help text of ``qrt opt --help``, and allowed values.

    Without ``choices`` every value of the field's type is allowed.
    """
    return field(default=default, metadata={"help": text, "choices": tuple(choices)})


FOLD_QCAST_DCAST = "drop every quantization of what was dequantized from the same type: values change"
FOLD_DCAST_QCAST = "drop every dequantization of what was quantized: values change"
FOLD_CONSTANTS = "compute casts of constants, which upstream leaves alone"
ENTRY = "the function that is planned: main, or the only one, if not given"
OBSERVING = "keep each quant.stats_ref and its value, of which the run tells"
SATURATING = "convert a float that an integer type cannot hold to the nearest integer it can"
