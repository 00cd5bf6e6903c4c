"""The class `Report`: a mapping from regions to their figures, with conversions to text, JSON and HTML."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from qrt.errors import QuantError, nearest, shown
from qrt.quantization.report.as_json import as_json
from qrt.quantization.report.figures import visible
from qrt.quantization.report.html import as_fragment, as_html
from qrt.quantization.report.model import RegionReport, ReportFigures
from qrt.quantization.report.text import as_text, counted


@dataclass(frozen=True)
class Report(ReportFigures, Mapping[str, RegionReport]):
    """The effects of quantization on a program: a mapping from region keys to region reports, largest error first.

    The key of a region is the name of its value, such as "main/conv2d.1". The end of the key after a ``/``, "conv2d.1",
    is enough if it is unique. ``print`` shows the report as ``text`` does.

    Attributes
    ----------
    function, target : str
        The function that ran, and the target.
    rows : int
        The number of rows of data that were measured.
    outputs : tuple of OutputReport
        The outputs of the program.
    regions : tuple of RegionReport
        The regions by their share of the outputs' error, largest first.
    rescales : tuple of Rescale
        The values that are converted from one type to another between two kernels.
    floats : tuple of FloatOperation
        The operations and results that stay float.
    unmatched : tuple of str
        The keys of regions, with their places, that only one of the float and the quantized program has. They are not
        measured.
    sampled : int
        The number of rows on which ``error_share`` was measured; 0 if these are all rows.
    skipped : int
        The number of rows left out because an output of the float program is NaN or infinite.
    """

    def __getitem__(self, key: str) -> RegionReport:
        regions = [region for region in self.regions if region.key == key] or [
            region for region in self.regions if region.key.endswith(f"/{key}")
        ]
        if len(regions) == 1:
            return regions[0]
        parts = [part for region in self.regions for part in (region.key, region.key.rpartition("/")[2])]
        near = nearest(str(key), parts)
        who = "several regions have" if regions else "no region has"
        raise UnknownRegion(f"{who} the key {shown(key)}" + (f": did you mean {shown(near)}?" if near else ""))

    def __iter__(self) -> Iterator[str]:
        return (region.key for region in self.regions)

    def __len__(self) -> int:
        return len(self.regions)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Report of {visible(self.function)} on {visible(self.target)}: {counted(self)}>"

    def text(self, width: int = 80) -> str:
        """Return the report as text for a terminal, in lines of at most ``width`` columns, but at least 72."""
        return as_text(self, width)

    def json(self) -> str:
        """Return the figures as JSON (docs/reference/report.md)."""
        return as_json(self)

    def html(self) -> str:
        """Return the report as an HTML page without external resources."""
        return as_html(self)

    def _repr_html_(self) -> str:
        return as_fragment(self)


class UnknownRegion(QuantError, KeyError):
    """The error for a key that matches no region of a report, or more than one."""

    def __str__(self) -> str:
        return str(self.args[0])
