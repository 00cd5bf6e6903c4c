"""Cython modules that call the C code in `csrc` with the GIL released. Their callers choose kernels, types and shapes.

- `kernels.pyx` has two main classes. A `KernelCall` is a C function with its types, shapes and attributes. An
  `Executable` runs a list of calls on a frame, the pointers and the working memory of one run. Each `bind_*.pxi` file
  creates the calls of one family of kernels.
- `scale_lists.pyx` parses long lists of scales in the text of quantized types.
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
