"""What a calibration has seen: a summary of the values of each key."""

import hashlib
from dataclasses import dataclass, field
from typing import Self

from qrt.quantization.calibration.observers import Array, Summary
from qrt.quantization.calibration.records import Record, write_records


@dataclass(eq=False)
class Calibration:
    """Summaries by key. It is a monoid, as its summaries are: those of parts of the data are merged in any order.

    >>> import numpy as np
    >>> one, other = Calibration(), Calibration()
    >>> one.update("x", np.float32([1, 2]))
    >>> other.update("x", np.float32([-4]))
    >>> one.merge(other)
    >>> one.records["x"].low, one.skipped
    (-4.0, {})
    """

    summaries: dict[str, Summary] = field(default_factory=dict)

    def update(self, key: str, values: Array, *, skip_nonfinite: bool = False) -> None:
        """Adds values of a key."""
        self._of(key).update(values, skip_nonfinite=skip_nonfinite)

    def merge(self, other: Self) -> None:
        """Adds what another calibration has seen."""
        for key, summary in other.summaries.items():
            self._of(key).merge(summary)

    def _of(self, key: str) -> Summary:
        found = self.summaries.get(key)
        if found is None:
            found = self.summaries[key] = Summary()
        return found

    @property
    def records(self) -> dict[str, Record]:
        """The records by key, in the order of keys; none where there was no finite value."""
        made = {key: self.summaries[key].record() for key in sorted(self.summaries)}
        return {key: record for key, record in made.items() if record is not None}

    @property
    def skipped(self) -> dict[str, int]:
        """How many values were left out as NaN or infinite, of the keys that had some."""
        return {key: self.summaries[key].nonfinite for key in sorted(self.summaries) if self.summaries[key].nonfinite}

    @property
    def text(self) -> str:
        """The file of records."""
        return write_records(self.records)

    def digest(self) -> str:
        """64 hexadecimal digits, which are the same where the same was seen."""
        return hashlib.sha256((self.text + repr(self.skipped)).encode()).hexdigest()
