"""A report: the figures of a quantization, as a mapping that finds regions and with the forms that it takes."""

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
    """The effects of a quantization on a program: a mapping of keys of regions to their reports, the worst first.

    A region is found by its whole key or by an end of it after a ``/`` that no other has: "conv2d.1". ``print`` shows
    it as ``text`` does.

    Attributes
    ----------
    function, target : str
        What ran, and the device.
    rows : int
        How many rows of data were measured.
    outputs : tuple of OutputReport
        The outputs of the program.
    regions : tuple of RegionReport
        By their share of the outputs' error, the largest first.
    rescales : tuple of Rescale
        Values that have two types.
    floats : tuple of FloatOperation
        What stays float.
    unmatched : tuple of str
        Keys of regions, with their places, that only one of the two programs has. They are not measured.
    sampled : int
        On how many rows ``error_share`` was measured, where these are not all.
    skipped : int
        How many rows were left out, because an output of the float program is a NaN or infinite for them.
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
        """Return what a terminal shows, in lines of at most ``width`` columns, but never fewer than 72."""
        return as_text(self, width)

    def json(self) -> str:
        """The figures as JSON (docs/reference/report.md)."""
        return as_json(self)

    def html(self) -> str:
        """A page: one file that names no other."""
        return as_html(self)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return as_fragment(self)


class UnknownRegion(QuantError, KeyError):
    """A key that no region has, or several."""

    def __str__(self) -> str:
        return str(self.args[0])
