"""The classes of a report's figures.

The workflow measures the figures, and the other files of this folder format them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from qrt.quantization.report.figures import ratio, specified, visible


@dataclass(frozen=True)
class PortReport:
    """An operand or result of a region, with the type that was chosen for it.

    Attributes
    ----------
    name : str
        The target's name for the operand or result; "operand 0" if it has none.
    direction : {"input", "output"}
        "input" for an operand of the region, "output" for a result.
    spec : str
        The type, as text that may omit scales.
    origin : str
        The origin of the type: "records main/x (mse)", "values", "annotation", "target", "constraint" or "float".
    is_constant : bool
        True if the operand is a constant of the program.
    bits : int
        The width of a stored value; 32 for an f32.
    low, high : float
        The least and the greatest value of the type, over all channels.
    codes : int
        The number of integers of the type; 0 for a float.
    histogram : mapping of int to int
        The number of float values of the operand or result, by their 16 high bits as f32 (bfloat16). It may be empty.
    scale : float
        The greatest scale, over all channels and blocks; 0 for a float or a type whose values are not equally spaced.
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
    """A region of the program, which is the part that one kernel computes.

    Attributes
    ----------
    key : str
        The name of the value that the region computes, as in calibration records: "main/conv2d.1".
    kernel : str
        The name of the kernel.
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
        The number of integers of the result's type that no value is quantized to.
    error_share : float
        The squared error at the program's outputs when only this region is quantized, as a share of the sum over all
        regions. The rounding of an operand counts for the region that computes the operand. It is 0 if no region causes
        an error.
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
    """A value that is converted from one type to another between two kernels, with the cause."""

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
