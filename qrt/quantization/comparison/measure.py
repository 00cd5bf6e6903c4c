"""The error at a program's outputs over a sample, as exact sums of squares."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from qrt.errors import ModelError, QuantTypeError
from qrt.ir import Module
from qrt.metrics import decibels
from qrt.numerics.sums import require_finite, square_sum
from qrt.ops.core import Array
from qrt.quantization.steps import NamedProgram
from qrt.runtime.compilation import compile
from qrt.runtime.program import Program
from qrt.tensor.arrays import as_array

Batches = Sequence[dict[str, Array]]
"""Inputs of several runs, each a dictionary of arrays by input name."""


@dataclass(frozen=True)
class Error:
    """The error of an approximation: sums of squares of the reference (``signal``) and of differences (``noise``).

    Elements where the reference is NaN or infinite are skipped. Elements where only the approximation is NaN or
    infinite are counted in ``nonfinite`` and are not part of ``noise``.

    >>> one = Error.of(np.float32([1, -3]), np.float32([1, -2.5]))
    >>> (one + Error.of(np.float32([2]), np.float32([2]))).signal
    Fraction(14, 1)
    """

    signal: Fraction = Fraction(0)
    noise: Fraction = Fraction(0)
    nonfinite: int = 0

    @classmethod
    def of(cls, reference: Array, approximation: Array) -> "Error":
        """Return the error of one array relative to a reference of the same shape."""
        r, a = as_float64(reference).reshape(-1), as_float64(approximation).reshape(-1)
        known = np.isfinite(r)
        if not known.all():
            r, a = r[known], a[known]
        signal, finite = square_sum(r), np.isfinite(a)
        nonfinite = a.size - int(np.count_nonzero(finite))
        if nonfinite:
            r, a = r[finite], a[finite]
        return cls(signal, _noise(r, a), nonfinite)

    def __add__(self, other: "Error") -> "Error":
        return Error(self.signal + other.signal, self.noise + other.noise, self.nonfinite + other.nonfinite)

    @property
    def snr(self) -> float:
        """The signal-to-noise ratio in decibels, as in ``qrt.metrics.snr``; -inf if ``nonfinite`` is not 0."""
        return -np.inf if self.nonfinite else decibels(self.signal, self.noise)

    @property
    def cost(self) -> tuple[int, Fraction]:
        """A sort key for approximations of the same reference; the better one has the smaller key."""
        return self.nonfinite, self.noise


@dataclass(frozen=True)
class OutputNoise:
    """The error of one output of a program, and the number of rows that keep their argmax.

    Rows run along the last axis, and ``rows`` is their number. ``same`` is the number of rows whose greatest value is
    at the same index as in the reference. ``rows`` is 0 for scalars, and if the last axis has fewer than two elements.
    """

    name: str
    error: Error
    rows: int
    same: int

    @property
    def same_answers(self) -> float | None:
        """The share of rows whose greatest value is at the same index as in the reference; None if ``rows`` is 0."""
        return self.same / self.rows if self.rows else None


@dataclass(frozen=True)
class Noise:
    """The errors of all outputs of a program over a sample, and their sum.

    ``cost`` is a sort key to compare programs; ``snr`` is for display.
    """

    outputs: tuple[OutputNoise, ...]

    @property
    def error(self) -> Error:
        return sum((output.error for output in self.outputs), Error())

    @property
    def signal(self) -> Fraction:
        return self.error.signal

    @property
    def noise(self) -> Fraction:
        return self.error.noise

    @property
    def cost(self) -> tuple[int, Fraction]:
        return self.error.cost

    @property
    def snr(self) -> float:
        return self.error.snr

    @property
    def same_answers(self) -> float | None:
        """The share of rows, over all outputs, whose greatest value is at the same index as in the reference.

        None if no output has rows.
        """
        rows = sum(output.rows for output in self.outputs)
        return sum(output.same for output in self.outputs) / rows if rows else None


class Reference:
    """The outputs of a float program on a sample of inputs, with which the outputs of quantized programs are compared.

    The inputs and outputs of the whole sample are kept in memory.

    >>> from qrt.quantization.steps import NamedProgram
    >>> import qrt
    >>> text = "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }"
    >>> program = NamedProgram(qrt.ir.parse(text), ())
    >>> Reference(program, None, [{"arg0": np.float32([1, 2])}]).noise(program.module).same_answers
    1.0
    """

    def __init__(self, named: NamedProgram, function: str | None, batches: Batches) -> None:
        program = compile(named.module, function)
        self.function = program.name
        self.batches = batches
        self.outputs: list[list[Array]] = [_outputs(program, batch) for batch in batches]
        for number, values in enumerate(self.outputs, 1):
            check_outputs(program, values, f"run {number} of the sample")

    def noise(self, module: Module | Program) -> Noise:
        """Run another program on the sample, and return the error of its outputs."""
        program = module if isinstance(module, Program) else compile(module, self.function)
        return self.noise_of(program, (_outputs(program, batch) for batch in self.batches))

    def noise_of(self, program: Program, outputs: Any) -> Noise:
        """Return the error of a program's outputs; ``outputs`` yields a list of arrays for each batch of the sample."""
        totals: list[OutputNoise] = []
        for expected, given in zip(self.outputs, outputs, strict=True):
            latest = [compare(p.name, e, g) for p, e, g in zip(program.outputs, expected, given, strict=True)]
            totals = [joined(*pair) for pair in zip(totals, latest, strict=True)] if totals else latest
        return Noise(tuple(totals))


def compare(name: str, reference: Array, approximation: Array) -> OutputNoise:
    """Return the error of the output ``name`` in one run."""
    error = Error.of(reference, approximation)
    if not reference.ndim or reference.shape[-1] < 2 or not reference.size:
        return OutputNoise(name, error, 0, 0)
    same = as_float64(reference).argmax(-1) == as_float64(approximation).argmax(-1)
    return OutputNoise(name, error, same.size, int(np.count_nonzero(same)))


def joined(one: OutputNoise, other: OutputNoise) -> OutputNoise:
    """Return the sum of two errors of the same output, which were measured on different runs."""
    return OutputNoise(one.name, one.error + other.error, one.rows + other.rows, one.same + other.same)


def as_float64(values: Array) -> Array:
    """Return an array, or the dequantized values of a quantized tensor, as float64."""
    with np.errstate(over="ignore"):
        return as_array(values).astype(np.float64, copy=False)


def _outputs(program: Program, batch: dict[str, Array]) -> list[Array]:
    return [as_array(value) for value in program.run(batch).values()]


def _noise(r: Array, a: Array) -> Fraction:
    """Return the exact sum of the squared differences of two float64 arrays, even if a difference overflows float64."""
    with np.errstate(over="ignore"):
        error = r - a
    far = ~np.isfinite(error)
    if not far.any():
        return square_sum(error)
    return square_sum(error[~far]) + 4 * square_sum(r[far] / 2 - a[far] / 2)


def check_outputs(program: Program, values: Sequence[Array], where: str) -> None:
    """Raise ModelError for a NaN or an infinity among the outputs of the float program."""
    for port, value in zip(program.outputs, values, strict=True):
        try:
            require_finite(as_float64(value), f"{where}: output {port.name!r} of the float program")
        except QuantTypeError as error:
            raise ModelError(f"{error}: quantization errors cannot be measured against it") from None
