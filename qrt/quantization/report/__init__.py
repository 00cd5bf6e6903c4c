"""Reports on the accuracy of a quantized program, with figures for each region, as text, JSON and HTML."""

from qrt.quantization.report.model import FloatOperation, OutputReport, PortReport, RegionReport, Rescale
from qrt.quantization.report.read_json import read_json
from qrt.quantization.report.report import Report

__all__ = ["FloatOperation", "OutputReport", "PortReport", "RegionReport", "Report", "Rescale", "read_json"]
