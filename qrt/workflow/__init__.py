"""The workflow: a float program and data become a quantized program, and a report says what that did
(docs/quantization.md)."""

from qrt.workflow.explain import explain_program
from qrt.workflow.quantize import QuantizedProgram, quantize_program

__all__ = ["QuantizedProgram", "explain_program", "quantize_program"]
