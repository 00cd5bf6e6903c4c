"""The figures of a report. They are measured by the workflow, and rendered by other files of this folder."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from qrt.quantization.report.figures import ratio, specified, visible


@dataclass(frozen=True)
class PortReport:
    """A port of a region.

    Attributes
    ----------
    name : str
        What the target calls it; "operand 0" where the target has no name.
    direction : {"input", "output"}
        Whether the region reads or computes it.
    spec : str
        Its type, as text that may leave out scales.
    origin : str
        Where the type came from: "records main/x (mse)", "values", "constraint", "default", "annotation".
    is_constant : bool
        Whether its values stand in the program.
    bits : int
        The width of a stored value; 32 for a float of this width.
    low, high : float
        The least and the greatest value of the type, over all channels.
    codes : int
        How many integers the type has; 0 for a float.
    histogram : mapping of int to int
        How many of its float values have these 16 high bits, as in a record. It may be empty.
    scale : float
        The greatest scale, over all channels and blocks; 0 for a float or a type whose codes are not equally spaced.
    scales : int
        How many scales there are.
    """

    name: str
    direction: Literal["input", "output"]
    spec: str
    origin: str
    is_constant: bool
    bits: int
    low: float
    high: float
    codes: int
    histogram: Mapping[int, int] = field(default_factory=dict)
    scale: float = 0.0
    scales: int = 0

    def __repr__(self) -> str:
        return f"<PortReport of {self.direction} {visible(self.name)}: {visible(specified(self.spec))}>"


@dataclass(frozen=True)
class RegionReport:
    """A region: one kernel.

    Attributes
    ----------
    key : str
        The name of the value that it computes, which records have too: "main/conv2d.1".
    kernel : str
        The kernel.
    place : str
        File and line.
    ports : tuple of PortReport
        Operands, then results.
    snr_alone : float
        The signal-to-noise ratio of its result in decibels, when it is fed the values of the float program.
    snr : float
        The same in the quantized program, in which errors of earlier regions have been added up.
    saturated : float
        The share of its float results that lie outside its type, by more than half a scale.
    unused_codes : int
        How many of its result's codes no value has.
    error_share : float
        The squared error at the program's outputs when this region alone is quantized, as a share of the sum of these
        over all regions. What the types of its operands lose counts for the regions that compute these. It is 0 where
        nothing is lost.
    weight_bytes : int
        What its constants take.
    """

    key: str
    kernel: str
    place: str
    ports: tuple[PortReport, ...]
    snr_alone: float
    snr: float
    saturated: float
    unused_codes: int
    error_share: float
    weight_bytes: int

    def __repr__(self) -> str:
        return f"<RegionReport of {visible(self.key)}: {visible(self.kernel)}, {ratio(self.snr)}>"


@dataclass(frozen=True)
class Rescale:
    """A value that changes its type between two kernels, and why."""

    place: str
    source: str
    target: str
    cause: str


@dataclass(frozen=True)
class FloatOperation:
    """An operation on floats that is left, and why."""

    name: str
    place: str
    reason: str


@dataclass(frozen=True)
class OutputReport:
    """An output of the program.

    Attributes
    ----------
    name : str
        Its name.
    snr : float
        Its signal-to-noise ratio in decibels.
    same_answers : float or None
        The share of its rows whose greatest value stands at the same place as in the float program; None where the
        last axis has one element.
    """

    name: str
    snr: float
    same_answers: float | None


@dataclass(frozen=True)
class ReportFigures:
    """All that was measured of a quantization: `Report` says what the fields are."""

    function: str
    target: str
    rows: int
    outputs: tuple[OutputReport, ...]
    regions: tuple[RegionReport, ...]
    rescales: tuple[Rescale, ...]
    floats: tuple[FloatOperation, ...]
    unmatched: tuple[str, ...] = ()
    sampled: int = 0
    skipped: int = 0
