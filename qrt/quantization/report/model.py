"""The figures of a report, which the workflow measures and the other files of this folder render."""

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
        The target's name for the port; "operand 0" if it has none.
    direction : {"input", "output"}
        Whether the region reads or computes the port's values.
    spec : str
        The port's type, as text that may omit scales.
    origin : str
        The origin of the type: "records main/x (mse)", "values", "constraint", "default", "annotation".
    is_constant : bool
        True if the port takes a constant of the program.
    bits : int
        The width of a stored value; 32 for an f32.
    low, high : float
        The least and the greatest value of the type, over all channels.
    codes : int
        The number of integers of the type; 0 for a float.
    histogram : mapping of int to int
        The number of the port's float values by their 16 high bits, as in a record. It may be empty.
    scale : float
        The greatest scale, over all channels and blocks; 0 for a float or a type whose codes are not equally spaced.
    scales : int
        The number of scales.
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
    """A region of the program, which is one kernel.

    Attributes
    ----------
    key : str
        The name of the value that the region computes, as in records: "main/conv2d.1".
    kernel : str
        The kernel.
    place : str
        The file and line.
    ports : tuple of PortReport
        The operands, then the results.
    snr_alone : float
        The signal-to-noise ratio of the result in decibels, when the inputs come from the float program.
    snr : float
        The signal-to-noise ratio in the quantized program, with the accumulated errors of earlier regions.
    saturated : float
        The share of the float results that lie outside the result's type, by more than half a scale.
    unused_codes : int
        The number of the result type's codes that no value has.
    error_share : float
        The squared error at the program's outputs when only this region is quantized, as a share of the sum over all
        regions. Rounding a region's operands to their types counts for the regions that compute them. It is 0 if no
        region causes an error.
    weight_bytes : int
        The bytes of the region's constants.
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
    """A value that changes its type between two kernels, with the cause."""

    place: str
    source: str
    target: str
    cause: str


@dataclass(frozen=True)
class FloatOperation:
    """An operation that stays float, with the reason."""

    name: str
    place: str
    reason: str


@dataclass(frozen=True)
class OutputReport:
    """An output of the program.

    Attributes
    ----------
    name : str
        The output's name.
    snr : float
        The signal-to-noise ratio in decibels.
    same_answers : float or None
        The share of rows whose greatest value is at the same index as in the float program; None if the last axis
        has one element.
    """

    name: str
    snr: float
    same_answers: float | None


@dataclass(frozen=True)
class ReportFigures:
    """The measured figures of a quantization. `Report` documents the fields."""

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
