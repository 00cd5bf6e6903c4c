"""Whether two runtimes give the same results of an operator."""

from pathlib import Path

import numpy as np

from benches.models.compared import FLOAT_TOLERANCE
from benches.models.worker import read

STEPS = {"tflite": 0, "onnx": 1}
"""How far integers lie apart at most: ONNX Runtime computes floats where it has no kernel for the integers."""


def problem(ours: Path, theirs: Path, format: str) -> str:
    """Return the reason why outputs are not the same, or an empty text."""
    for index, (a, b) in enumerate(zip(read(str(ours)), read(str(theirs)), strict=True)):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"output {index} is {a.dtype}{list(a.shape)}, the other is {b.dtype}{list(b.shape)}"
        if not np.array_equal(np.isfinite(a), np.isfinite(b)):
            return f"output {index} has other infinities or NaNs"
        finite = np.isfinite(a)
        x, y = a[finite].astype(np.float64), b[finite].astype(np.float64)
        apart = np.abs(x - y).max(initial=0)
        most = FLOAT_TOLERANCE * np.abs(y).max(initial=0) if a.dtype.kind == "f" else STEPS[format]
        if not apart <= most:
            return f"output {index} differs by up to {apart:g}"
    return ""
