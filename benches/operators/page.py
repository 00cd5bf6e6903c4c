"""The part about operators of a section of docs/performance.md."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from importlib import metadata

from benches.models.page import NAMES, PACKAGES, micro

FORMATS = {"tflite": "litert", "onnx": "ort"}
"""The runtime of each format."""


@dataclass
class RowTimes:
    """The seconds of a row: qrt's by the format of the file, and those of the other runtimes; or an error."""

    name: str
    is_quantized: bool
    own: dict[str, float] = field(default_factory=dict)
    peers: dict[str, float] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    is_image: bool = False

    @property
    def ratio(self) -> float | None:
        """Return the slowest time of qrt, divided by the fastest of another runtime. Of images, whose layouts differ,
        return the greatest ratio of a format."""
        if not self.own or not self.peers:
            return None
        if self.is_image:
            return max(seconds / self.peers[FORMATS[format]] for format, seconds in self.own.items())
        return max(self.own.values()) / min(self.peers.values())


def part(times: Mapping[int, Sequence[RowTimes]], load: float) -> list[str]:
    """Return the lines of the part *Operators* of a section."""
    versions = " and ".join(f"{PACKAGES[peer]} {metadata.version(PACKAGES[peer])}" for peer in FORMATS.values())
    lines = [f"Measured on {date.today()}, with {versions}, on a machine with a load of {load:.1f} at the beginning."]
    for threads, rows in times.items():
        lines += ["", f"#### Operators, {threads} thread{'s' * (threads > 1)}"]
        for is_quantized, title in {True: "Quantized", False: "Float"}.items():
            chosen = [row for row in rows if row.is_quantized == is_quantized and row.ratio is not None]
            if chosen:
                lines += ["", f"{title} rows: {summary(chosen)}.", "", *table(chosen)]
    errors = [f"- {row.name}: {error}" for rows in times.values() for row in rows for error in row.errors]
    if errors:
        lines += ["", "#### Operators without a time", "", *dict.fromkeys(errors)]
    return lines


def summary(rows: Sequence[RowTimes]) -> str:
    """Return the geometric mean of the ratios, and how many are above 1."""
    ratios = [row.ratio for row in rows if row.ratio is not None]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    return f"geometric mean {mean:.2f}, {sum(ratio > 1 for ratio in ratios)} of {len(ratios)} above 1"


def table(rows: Sequence[RowTimes]) -> list[str]:
    """Return a line for each row."""
    names = [name for format, peer in FORMATS.items() for name in (f"qrt, {format}, us", NAMES[peer])]
    lines = [f"| operator | {' | '.join(names)} | ratio |", f"|---|{'---:|' * (len(names) + 1)}"]
    for row in rows:
        times = [time for format, peer in FORMATS.items() for time in (row.own.get(format), row.peers.get(peer))]
        cells = ["-" if time is None else micro(time) for time in times]
        lines.append(f"| {row.name} | {' | '.join(cells)} | {row.ratio:.2f} |")
    return lines
