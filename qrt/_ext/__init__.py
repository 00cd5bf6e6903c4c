"""Cython modules that call the C code in `csrc` with the GIL released. They choose no rules, types or shapes.

- `kernels.pyx` holds `KernelCall`, one C entry bound to types, shapes and attributes, and `Executable`, which runs
  calls over a frame; the `bind_*.pxi` files make the calls, a file for each family of kernels.
- `scale_lists.pyx` reads long lists of scales.
- Start with `executable.pxi` and `bind_gemm.pxi`; `qrt.pxd` has the declarations of `csrc/include/qrt`.
- docs/reference/kernels describes the kernels in C.
"""

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
