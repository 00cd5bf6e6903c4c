"""From a float program and data to a quantized program, and a report on what that did.

- `quantize_program` (`workflow.py`) is the whole way: `calibration` finds ranges, `propagation` gives each value a type
  by the rules of a `Target` (`targets`), `fusion` makes regions of kernels, `scaling` moves factors, and `export`
  writes the program of integers; `search` chooses widths, `checking` verifies, `report` explains.
- Calibration chooses ranges in `calibration/records.py`, from what `calibration/observers.py` keeps of values.
- Start with docs/quantization.md, then `workflow.py` and `steps.py`.
- Imports `runtime`, `ir` and what lies below.
"""

from qrt.quantization import targets
from qrt.quantization.calibration.observe import calibrate_program
from qrt.quantization.checking.check_quant import is_fully_quantized, is_quantized
from qrt.quantization.explain import explain_program
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
