"""Import and export of model files (TFLite, ONNX) with their runtimes' arithmetic, and comparison with the runtimes.

- `load` (`programs.py`) reads a file by its suffix. `tflite` and `onnx` each have a reader of files and one import
  function per operator; `onnx` also has the exporter. `importing` has the code that both importers share.
- A profile (`profiles`) lists the rounding rules of a runtime. For example, a row of `profiles/litert.py` says how
  LiteRT rounds ADD. An engine (`engines`) runs the runtime itself in a child process. `diff` compares the tensors of a
  program with those of an engine.
- Start with `importing/graph.py`.
- This package imports `quantization`, `runtime`, `ir` and the packages below them.
"""

from qrt.models.programs import export_onnx, load

__all__ = ["export_onnx", "load"]


def __dir__() -> list[str]:
    return __all__
