"""Compiled modules: Cython over csrc/."""

from importlib.util import find_spec
from pathlib import Path

# Python looks in the working directory first: there a source folder stands before an installed qrt.
if find_spec("qrt._seam._core") is None:
    package = Path(__file__).parents[1]
    raise ImportError(
        f"{package} holds qrt's sources, and no modules compiled for this Python. To use an installed qrt, run Python "
        "from another folder, or as `python -P`. To use these sources, compile them: "
        f"pip install --editable {package.parent}"
    )
