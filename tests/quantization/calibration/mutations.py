"""Changes choosers of ranges and merges of observers, one place at a time: tests must fail. By hand, in minutes:

    python -m tests.quantization.calibration.mutations [WORD ...]

Only changes of files whose path has one of the words. The tests run in a copy of the repository. Prints for each change
which test caught it; the status is 1 if there are changes that no test catches.
"""

import re
from pathlib import Path

from tests.source_changes import main, pytest_in

TESTS = {
    "observers": (
        "tests/quantization/calibration/test_observers.py",
        "tests/quantization/calibration/test_observe.py",
    ),
    "sample": ("tests/quantization/calibration/test_sample.py",),
    "records": ("tests/quantization/calibration/test_records.py",),
    "entropy": ("tests/quantization/calibration/test_entropy.py",),
    "choose": ("tests/tensor/test_choose.py", "tests/quantization/calibration/test_records.py"),
    "checkpoint": ("tests/quantization/tuning/test_checkpoint.py",),
    "calibrate": ("tests/quantization/tuning/test_checkpoint.py",),
}
"""Of each file."""
OBSERVERS, SAMPLE, RECORDS, ENTROPY, CHOOSE = (
    f"qrt/{name}.py"
    for name in (
        *(f"quantization/calibration/{name}" for name in ("observers", "sample", "records", "entropy")),
        "tensor/choose",
    )
)
CHECKPOINT, CALIBRATE = "qrt/quantization/tuning/checkpoint.py", "qrt/quantization/tuning/calibrate.py"

CHANGES = [
    # Summaries.
    (OBSERVERS, "(bits >> 16).astype(np.intp), 1)", "(bits >> 16).astype(np.intp), 2)"),
    (OBSERVERS, "(bits >> 16)", "(bits + 1 >> 16)"),
    (OBSERVERS, "self._bins[_NEGATIVE_ZERO] -= zeros", "self._bins[_NEGATIVE_ZERO] -= zeros + 1"),
    (
        OBSERVERS,
        "            self._bins[used] += other._bins[used]",
        "            self._bins[used] += other._bins[used] + 1",
    ),
    (OBSERVERS, "self._add_range(other.count, other.low, other.high)", "self._add_range(1, other.low, other.high)"),
    (OBSERVERS, "self.low = min(self.low, low)", "self.low = max(self.low, low)"),
    (OBSERVERS, "self.high = max(self.high, high)", "self.high = min(self.high, high)"),
    (OBSERVERS, "self._add_range(values.size, low, high)", "self._add_range(values.size - 1, low, high)"),
    (OBSERVERS, "        self.nonfinite += other.nonfinite\n        if", "        if"),
    (OBSERVERS, "        self.nonfinite += skipped\n        if", "        if"),
    (OBSERVERS, "float(values.min()) + 0.0, float", "float(values.min()), float"),
    (OBSERVERS, "bits -= np.abs(narrow) > np.abs(values)", "bits -= np.abs(narrow) >= np.abs(values)"),
    # Moments.
    (OBSERVERS, "        self.total += other.total\n", ""),
    (OBSERVERS, "        self.squares += other.squares\n", ""),
    (OBSERVERS, "        self.count += other.count\n        self.nonfinite += other.nonfinite\n", ""),
    (OBSERVERS, "(exact_sum(square) + exact_sum(rest))", "exact_sum(square)"),
    # Calibrations.
    (OBSERVERS, "self._of(key).merge(summary)", "self.summaries[key] = summary"),
    (OBSERVERS, "self._of(key).update(values, skip", "Summary().update(values, skip"),
    (OBSERVERS, "(self.text + repr(self.skipped))", "self.text"),
    # Samples.
    (SAMPLE, "len(self._rows) == self.most and key > self", "len(self._rows) == self.most and key < self"),
    (SAMPLE, "sum(taken < self.most_bytes for", "sum(taken <= self.most_bytes for"),
    (SAMPLE, "self._rows[min(count, self.most) :]", "self._rows[min(count, self.most) + 1 :]"),
    (SAMPLE, "if not self._has(key) and all", "if all"),
    (
        SAMPLE,
        "            if not self._has(row.key):\n                self._keep(row)",
        "            self._keep(row)",
    ),
    (SAMPLE, "array[number : number + 1] for array", "array[number : number + 2] for array"),
    (SAMPLE, "array.copy() for array", "array for array"),
    (SAMPLE, " and all(map(_is_finite, arrays)):", ":"),
    (SAMPLE, "self.key if self.is_run", "self.key if False"),
    # minmax and percentile, of records.
    (RECORDS, "low = min([0.0, *(", "low = min([*("),
    (RECORDS, "high = max([0.0, *(", "high = max([*("),
    (RECORDS, "total[bits] = total.get(bits, 0) + number", "total[bits] = number"),
    (RECORDS, "min(bits, 0x7F7E) + 1 if", "min(bits, 0x7F7E) if"),
    (RECORDS, "np.clip(ends, low, high)", "ends"),
    (RECORDS, "int(sum(counts) * (100 - PERCENTILE) / 100)", "int(sum(counts) * (100 - PERCENTILE) / 100) + 1"),
    (RECORDS, "_end_of_range(values, counts, outside // 2), 0.0)", "_end_of_range(values, counts, outside), 0.0)"),
    (RECORDS, "        if outside < 0:", "        if outside <= 0:"),
    (RECORDS, "return (low, high) if ends == (0.0, 0.0)", "return (low, high) if False"),
    # mse, of records.
    (RECORDS, "np.arange(FRACTIONS, 0, -1) / FRACTIONS", "np.arange(FRACTIONS - 1, 0, -1) / FRACTIONS"),
    (RECORDS, "if best is None or total < best[0]:", "if best is None or total <= best[0]:"),
    (RECORDS, "np.rint(scaled / scale), storage.low - zero", "np.rint(scaled / scale), storage.low - zero + 1"),
    (RECORDS, "int(numbers @ highs) << _UNIT_BITS", "int(numbers @ highs)"),
    # entropy.
    (ENTROPY, "PARTS - 1) + 0.5", "PARTS - 1) + 1.5"),
    (ENTROPY, "        if value:\n", "        if True:\n"),
    (ENTROPY, "stored <= storage.high - zero", "stored < storage.high - zero"),
    (ENTROPY, "stored >= storage.low - zero", "stored > storage.low - zero"),
    (ENTROPY, "divergence < best[0]", "divergence <= best[0]"),
    (ENTROPY, "given[0] += totals[:first].sum()", "given[0] += totals[: first + 1].sum()"),
    (ENTROPY, "given[-1] += totals[last:].sum()", "pass"),
    (ENTROPY, "of_codes * log(sizes)", "of_codes * log(sizes + 1)"),
    (ENTROPY, "np.diff(starts, append=last - first)", "np.diff(starts, append=last - first + 1)"),
    # minmax, percentile and mse, of values.
    (CHOOSE, "rows.min(axis=1, initial=0)", "rows.min(axis=1)"),
    (CHOOSE, "rows.max(axis=1, initial=0)", "rows.max(axis=1)"),
    (CHOOSE, "end = _ranked(np.abs(rows), count - 1 - outside)", "end = _ranked(np.abs(rows), count - 2 - outside)"),
    (CHOOSE, "cut = outside // 2", "cut = outside"),
    (CHOOSE, "is_least = highs == highs.min(axis=0)", "is_least = highs == highs.max(axis=0)"),
    (CHOOSE, "np.where(is_least, lows, np.iinfo(np.int64).max).argmin(axis=0)", "is_least.argmax(axis=0)"),
    (CHOOSE, "return highs + (lows >> _UNIT_BITS), lows", "return highs, lows"),
    # Checkpoints.
    (CHECKPOINT, "        if version != _VERSION:", "        if False:"),
    (CHECKPOINT, "        if program != self.program:", "        if False:"),
    (CHECKPOINT, 'if self._digest(seen) != state["digest"]:', "if False:"),
    (CHECKPOINT, "        self.runs += 1\n", "        self.runs += 2\n"),
    (CHECKPOINT, "hasher = sha256(data.encode())", "hasher = sha256()"),
    (CALIBRATE, "        if number <= earlier:", "        if number < earlier:"),
    (CALIBRATE, "data_so_far != seen.data", "False"),
    (CALIBRATE, "    if number < earlier:", "    if False:"),
]


def caught(folder: Path, file: str) -> str:
    """The test that fails in a copy of the repository; empty if none does."""
    tests = TESTS[Path(file).stem] if file else sorted({each for several in TESTS.values() for each in several})
    done = pytest_in(folder, *tests, "-k", "not killed")
    if done.returncode == 0:
        return ""
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return failed[1] if failed else done.stdout[-500:]


if __name__ == "__main__":
    main(__doc__, CHANGES, caught, "build")
