"""Model files, in and out: TFLite and ONNX, with the arithmetic of their runtimes, and programs compared with them.

- `load` (`programs.py`) reads a file by its suffix. `tflite` and `onnx` have a reader, operators by name, and the
  exporter of ONNX; `importing` is what both share.
- A profile (`profiles`) is the arithmetic of a runtime, an engine (`engines`) the runtime itself in a child process;
  `diff` compares a program with it, tensor by tensor.
- Start with `importing/graph.py`. LiteRT's rounding of ADD is a row of `profiles/litert.py`.
- Imports `quantization`, `runtime`, `ir` and what lies below.
"""

from qrt.models.programs import export_onnx, load

__all__ = ["export_onnx", "load"]


def __dir__() -> list[str]:
    return __all__
