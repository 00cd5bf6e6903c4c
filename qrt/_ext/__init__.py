"""Compiled modules: Cython over csrc/."""

from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

# Python looks in the working directory first: there a source folder stands before an installed qrt.
if not any(Path(__file__).with_name(f"kernels{suffix}").exists() for suffix in EXTENSION_SUFFIXES):
    package = Path(__file__).parents[1]
    raise ImportError(
        f"{package} holds qrt's sources, and no modules compiled for this Python. To use an installed qrt, run Python "
        "from another folder, or as `python -P`. To use these sources, compile them: "
        f"pip install --editable {package.parent}"
    )
