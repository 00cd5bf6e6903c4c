"""Reports on a quantized program: where it lost accuracy, in figures, as text, JSON and HTML."""

from qrt.quantization.report.model import FloatOperation, OutputReport, PortReport, RegionReport, Rescale
from qrt.quantization.report.read_json import read_json
from qrt.quantization.report.report import Report

__all__ = ["FloatOperation", "OutputReport", "PortReport", "RegionReport", "Report", "Rescale", "read_json"]
