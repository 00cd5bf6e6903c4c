"""Import and export of model files (TFLite, ONNX) with the arithmetic of their runtimes, and comparison with these.

- `load` (`programs.py`) reads a file by its suffix. `tflite` and `onnx` each have a reader and one function per
  operator; `onnx` also has the exporter. `importing` has the code that both importers share.
- A profile (`profiles`) lists the rounding rules of a runtime. An engine (`engines`) runs the runtime itself in a child
  process. `diff` compares a program with an engine, tensor by tensor.
- Start with `importing/graph.py`. LiteRT's rounding of ADD, for example, is a row of `profiles/litert.py`.
- Imports `quantization`, `runtime`, `ir` and the packages below them.
"""

from qrt.models.programs import export_onnx, load

__all__ = ["export_onnx", "load"]


def __dir__() -> list[str]:
    return __all__
