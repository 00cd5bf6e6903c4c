"""What a quantization did to a program, and where it lost accuracy: figures, as text, JSON and HTML."""

from qrt.report.model import FloatOperation, OutputReport, PortReport, RegionReport, Report, Rescale

__all__ = ["FloatOperation", "OutputReport", "PortReport", "RegionReport", "Report", "Rescale"]
