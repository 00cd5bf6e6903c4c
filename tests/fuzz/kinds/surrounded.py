"""Arrays within more memory of their caller's, which a program leaves alone."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.fuzz.outcome import Finding

_MARGIN = 4
"""Elements on either side."""


@dataclass(frozen=True)
class Surrounded:
    """An argument and the memory around it, whose bytes are all of one value. A memref is written; all else is read."""

    view: Any
    memory: Any
    before: bytes
    is_written: bool

    @classmethod
    def of(cls, value: Any, filler: int, is_written: bool) -> "Surrounded":
        """A copy of the value. What is only read lies in steps of any sign, or is read-only, as its size says: the same
        each time."""
        array = np.asarray(value)
        step = 1 if is_written else (1, 2, -1, -3, 1)[array.size % 5]
        span = array.size * abs(step)
        memory = np.full((span + 2 * _MARGIN) * array.itemsize, filler, np.uint8)
        start = _MARGIN if step > 0 else _MARGIN + span + step
        strides = [step * array.itemsize * math.prod(array.shape[axis + 1 :]) for axis in range(array.ndim)]
        view: Any = np.ndarray(array.shape, array.dtype, memory, start * array.itemsize, strides)
        view[...] = array
        view.flags.writeable = is_written or array.size % 3 == 0
        return cls(view, memory, memory.tobytes(), is_written)

    def check(self, name: str) -> None:
        """Raises Finding where the memory around the argument has changed, or an argument that is only read."""
        changed = self.memory != np.frombuffer(self.before, np.uint8)
        size = _MARGIN * self.view.itemsize
        if changed[:size].any() or changed[-size:].any():
            raise Finding("memory around an argument is written", name)
        if changed.any() and not self.is_written:
            raise Finding("an argument that is only read is written", name)
