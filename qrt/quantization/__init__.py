"""Quantization of float programs with ranges from data, and reports on the result.

- `quantize_program` (`workflow.py`) runs all steps. `fusion` wraps operations in regions, one for each kernel of the
  `Target` (`targets`). `calibration` records the ranges of values. `propagation` gives every operand and result of a
  region a type. `checking` verifies the result, and `export` writes the integer program.
- Some steps are optional. `scaling` moves factors between layers, `search` chooses bit widths, and `tuning` decides
  which optional passes run. `comparison` measures the error of each region for a `report`.
- `calibration/observers.py` summarizes values; `calibration/records.py` chooses a range from such a summary.
- Start with docs/quantization.md, then `workflow.py` and `steps.py`.
- Imports `runtime`, `ir` and the packages below them.
"""

from qrt.quantization import targets
from qrt.quantization.calibration.observe import calibrate_program
from qrt.quantization.explain import explain_program
from qrt.quantization.verification.check_quant import is_fully_quantized, is_quantized
from qrt.quantization.workflow import QuantizedProgram, quantize_program

__all__ = [
    "QuantizedProgram",
    "calibrate_program",
    "explain_program",
    "is_fully_quantized",
    "is_quantized",
    "quantize_program",
    "targets",
]


def __dir__() -> list[str]:
    return __all__
