"""The workflow: a float program and data become a quantized program (docs/quantization.md)."""

from qrt.workflow.quantize import QuantizedProgram, quantize_program

__all__ = ["QuantizedProgram", "quantize_program"]
