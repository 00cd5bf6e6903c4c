"""Runs of a float program and of its quantized program on the same data, which measure the errors for a report."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from qrt.errors import ModelError, plural
from qrt.ir import Module, Operation, StringAttr, Value
from qrt.ir.core.constraints import element_of
from qrt.ir.dialects.quant.region import RegionOp
from qrt.ops.core import Array
from qrt.quantization.annotations.region_metadata import CAUSE, KERNEL
from qrt.quantization.calibration.observe import name_of, tapped_program
from qrt.quantization.calibration.observers import Summary
from qrt.quantization.comparison.measure import OutputNoise, Reference, as_float64, check_outputs, compare, joined
from qrt.quantization.comparison.ports import (
    Histogram,
    PortOf,
    histogram_of,
    port_reports,
    ports_of,
    stored_type,
    weight_bytes,
)
from qrt.quantization.comparison.slices import Slice, SliceKernel, located, sliced
from qrt.quantization.comparison.tally import Tally
from qrt.quantization.comparison.values import Values, require_keys
from qrt.quantization.report.model import FloatOperation, OutputReport, RegionReport, Rescale
from qrt.quantization.report.report import Report
from qrt.quantization.steps import NamedProgram
from qrt.quantization.targets.model import Target
from qrt.runtime.functions import choose
from qrt.runtime.program import Program
from qrt.tensor.arrays import as_array
from qrt.types import FloatType, TensorType, Type, UniformType


@dataclass(eq=False)
class RegionPair:
    """A region of the float program, and the operation ``producer`` that computes its result in the quantized program.

    ``tallies`` has the error counts of the results, by the type of the result.
    """

    key: str
    kernel: str
    region: Operation
    producer: Operation
    ports: list[PortOf]
    tallies: dict[Type, Tally] = field(default_factory=dict)

    @property
    def tally(self) -> Tally:
        """The errors of all results together: numbers of values, of clipped values, and sums of squared errors."""
        every = list(self.tallies.values())
        total = Tally(every[0].type, used=every[0].used)
        for tally in every:
            total.alone += tally.alone
            total.accumulated += tally.accumulated
            total.values += tally.values
            total.clipped += tally.clipped
        return total


class Comparison:
    """A float program and its quantized program, run on the same inputs to measure the errors of values."""

    def __init__(self, named: NamedProgram, module: Module, function: str | None) -> None:
        self.named = named
        name = str(choose(module, function).attributes["sym_name"].python)
        choose(named.module, name)
        self.floats, self.quantized = Values.of(named.module, name), Values.of(module, name)
        require_keys(self.quantized, f"the program {name!r}")
        self.parts: dict[str, RegionPair] = {}
        self._kernels: dict[str, SliceKernel] = {}
        self._bodies: dict[str, SliceKernel] = {}
        self._part_of: dict[str, RegionPair] = {}
        self._tallies: dict[str, Tally] = {}
        self.unmatched = self._unmatched()
        self._order, self._float_order = (
            {op: number for number, op in enumerate(values.function.walk())} for values in (self.quantized, self.floats)
        )
        alone = {value for key in self.unmatched for op in self.quantized.keyed.get(key, ()) for value in op.results}
        known = {*self.floats.names.values()}
        self._shared = {v: n for v, n in self.quantized.names.items() if n in known and v not in alone}
        self._float_types = {name: value.type for value, name in self.floats.names.items()}
        self._stored = {
            name: element
            for value, name in self._shared.items()
            if isinstance(element := element_of(value.type), UniformType) and not _is_input(name)
        }
        self._add_parts()
        if not self.parts:
            first = next(iter(self.unmatched.values()), name)
            raise ModelError(
                "the operations of the two programs have no quant.key in common, so they cannot be compared: the "
                "quantized program must be made from this float program; the quantized one has "
                f"{first}"
            )
        self.rescales = self._rescales()
        names = {*self._kernels, *(port.name for part in self.parts.values() for port in part.ports)}
        names.update(name for kernel in (*self._kernels.values(), *self._bodies.values()) for name in kernel.names)
        taps = {value: name for value, name in self.floats.names.items() if name in names}
        self.summaries = {n: Summary() for v, n in taps.items() if isinstance(element_of(v.type), FloatType)}
        self.float_program = tapped_program(
            self.floats.module, name, {v: n for v, n in taps.items() if not _is_input(n)}
        )
        compared = {v: n for v, n in self._shared.items() if n in self._tallies}
        self.program = tapped_program(self.quantized.module, name, compared)
        _check_inputs(self.float_program, self.program)
        self.outputs: list[OutputNoise] = []
        self.rows = self.skipped = 0

    # -- what both have ------------------------------------------------------------------------------------------------

    def _unmatched(self) -> dict[str, str]:
        """Return the regions that occur in only one of the programs, or not equally often in both.

        The result maps the ``quant.key`` of each such region to its name in messages.
        """
        unmatched = {}
        for key, ops in self.quantized.keyed.items():
            others = self.floats.keyed.get(key, ())
            if len(others) != len(ops) and any(KERNEL in op.attributes or others for op in ops):
                unmatched[key] = f"{key} ({_place(ops[0])})"
        for key, ops in self.floats.keyed.items():
            if key not in self.quantized.keyed and isinstance(ops[0], RegionOp):
                unmatched[key] = f"{key} ({_place(ops[0])})"
        return unmatched

    def _add_parts(self) -> None:
        values = {name: value for value, name in self._shared.items()}
        for key, producers in self.quantized.keyed.items():
            if key in self.unmatched or KERNEL not in producers[0].attributes:
                continue
            known: tuple[list[SliceKernel], list[SliceKernel]] = [], []
            for producer, region in zip(producers, self.floats.keyed[key], strict=True):
                for result in region.results:
                    name = self.floats.names[result]
                    if name in values:
                        _check_shapes(key, result, values[name])
                        part = sliced(values[name], self._shared, self._order)
                        self._add_part(key, producer, region, part, name)
                        self._add_kernels(result, part, name, known)

    def _add_part(self, key: str, producer: Operation, region: Operation, quantized_slice: Slice, name: str) -> None:
        if key not in self.parts:
            kernel = _text(producer, KERNEL)
            self.parts[key] = RegionPair(
                key, kernel, region, producer, ports_of(region, kernel, quantized_slice, self.floats.names)
            )
        part = self._part_of[name] = self.parts[key]
        type = element_of(quantized_slice.result.type)
        self._tallies[name] = part.tallies.setdefault(type, Tally(type))

    def _add_kernels(
        self, result: Value, part: Slice, name: str, known: tuple[list[SliceKernel], list[SliceKernel]]
    ) -> None:
        """Compile a region's quantized operations as a program whose inputs are values of the float program.

        The program is added to ``_kernels``. If the quantized program rounds an input of the region, ``_bodies`` gets a
        second program: the region's float operations, on inputs that are rounded in the same way. ``known`` has the
        earlier programs of both kinds, because equal programs are compiled only once.
        """
        self._kernels[name] = SliceKernel(part, self._float_types, self.quantized.module).as_one_of(known[0])
        body = sliced(result, self.floats.names, self._float_order)
        rescaled = {e.name for e in part.entries if element_of(e.value.type) is not self._stored.get(e.name)}
        read = {entry.name for entry in body.entries} - rescaled
        rounded = {name: type for name, type in self._stored.items() if name in read}
        if rounded:
            self._bodies[name] = SliceKernel(body, self._float_types, self.floats.module, rounded).as_one_of(known[1])

    def _rescales(self) -> tuple[Rescale, ...]:
        rescales = []
        for operation in self._order:
            if CAUSE in operation.attributes:
                result = operation.results[0]
                read = sliced(result, self._shared, self._order).entries
                source = _spelled(read[0].value.type) if read else ""
                rescales.append(Rescale(_place(operation), source, _spelled(result.type), _text(operation, CAUSE)))
        return tuple(rescales)

    # -- runs ----------------------------------------------------------------------------------------------------------

    def add(self, where: str, arrays: Sequence[Array]) -> None:
        """Run both programs on the inputs of one run, and add their errors. ``where`` names the run in messages."""
        batch = dict(zip((port.name for port in self.float_program.inputs), arrays, strict=True))
        current = self._arguments(arrays)
        for name, array in current.items():
            self._summarize(name, array)
        seen: dict[str, list[Array]] = {name: [] for name in self._tallies}

        def tap(op: Operation, value: Any) -> None:
            name = name_of(op)
            current[name] = value
            self._summarize(name, value)
            if name in seen:
                seen[name].append(value)
                self._tallies[name].add_alone(value, self._kernels[name].run(current))

        expected = list(map(as_array, self.float_program.run_arrays(arrays, tap=tap)))
        check_outputs(self.float_program, expected, where)
        counts: Counter[str] = Counter()

        def other_tap(op: Operation, value: Any) -> None:
            name = name_of(op)
            if counts[name] < len(seen[name]):
                self._tallies[name].add(seen[name][counts[name]], value)
            counts[name] += 1

        given = self.program.run_arrays(self.program.arrays_of(batch), tap=other_tap)
        for name, values in seen.items():
            if counts[name] != len(values):
                message = f"{where}: the value {name} is computed {plural(len(values), 'time')} by the float program"
                raise ModelError(f"{message}, and {counts[name]} times by the quantized one: they are not compared")
        ports = self.float_program.outputs
        latest = [compare(p.name, e, as_array(g)) for p, e, g in zip(ports, expected, given, strict=True)]
        self.outputs = [joined(*pair) for pair in zip(self.outputs, latest, strict=True)] if self.outputs else latest
        self.rows += rows_of(batch, self.float_program)

    def errors(self, reference: Reference) -> dict[str, tuple[int, Fraction]]:
        """Return the error that each region causes at the program's outputs, if only this region is quantized.

        ``reference`` has the sample on which the errors are measured. An error is a pair: the number of output elements
        that are NaN or infinite, and the sum of the squared differences of all other elements.
        """
        return {
            key: reference.noise_of(
                self.float_program, (self._replaced(key, batch) for batch in reference.batches)
            ).cost
            for key in self.parts
        }

    def _replaced(self, key: str, batch: dict[str, Array]) -> list[Array]:
        """Return the outputs of the float program on a batch, with only the region ``key`` quantized."""
        arrays = self.float_program.arrays_of(batch)
        current = self._arguments(arrays)
        part = self.parts[key]

        def tap(op: Operation, value: Any) -> Any:
            name = name_of(op)
            if self._part_of.get(name) is part:
                value = self._with_error(name, value, current)
            current[name] = value
            return value

        return list(map(as_array, self.float_program.run_arrays(arrays, tap=tap)))

    def _with_error(self, name: str, value: Array, current: dict[str, Any]) -> Array:
        """Return a region's float result ``value`` plus the error that its quantized kernel adds.

        This error is the quantized kernel's result minus the float result, both computed from inputs that are rounded
        to the kernel's input types. The rounding of an input is part of the error of the region that computes the
        input.
        """
        given = self._kernels[name].run(current)
        if name not in self._bodies:
            return given.astype(value.dtype)
        with np.errstate(all="ignore"):
            error = as_float64(given) - as_float64(self._bodies[name].run(current))
            changed = (as_float64(value) + error).astype(value.dtype)
        return np.where(np.isfinite(changed), changed, given.astype(value.dtype))

    def _arguments(self, arrays: Sequence[Array]) -> dict[str, Any]:
        return {f"argument {number}": array for number, array in enumerate(arrays)}

    def _summarize(self, name: str, value: Any) -> None:
        if name in self.summaries:
            self.summaries[name].update(np.asarray(value), skip_nonfinite=True)

    # -- the report ----------------------------------------------------------------------------------------------------

    def report(self, target: Target, errors: dict[str, tuple[int, Fraction]], sampled: int) -> Report:
        """Return the report of all runs so far, with errors from ``Comparison.errors`` over ``sampled`` rows."""
        lost = any(nonfinite for nonfinite, _ in errors.values())
        shares = {key: Fraction(nonfinite) if lost else noise for key, (nonfinite, noise) in errors.items()}
        total = sum(shares.values(), Fraction(0))
        ordered = sorted(self.parts.values(), key=lambda part: errors[part.key], reverse=True)
        return Report(
            self.float_program.name,
            target.name,
            self.rows,
            tuple(OutputReport(output.name, output.error.snr, output.same_answers) for output in self.outputs),
            tuple(self._region(part, target, float(shares[part.key] / total) if total else 0.0) for part in ordered),
            self.rescales,
            (*_left(self.named), *self._float_results()),
            tuple(self.unmatched.values()),
            sampled if sampled != self.rows else 0,
            self.skipped,
        )

    def _region(self, part: RegionPair, target: Target, share: float) -> RegionReport:
        tally = part.tally
        return RegionReport(
            part.key,
            part.kernel,
            _place(part.region),
            port_reports(part.ports, part.producer, part.kernel, target, self._histogram),
            tally.alone.snr,
            tally.accumulated.snr,
            tally.clipped / tally.values if tally.values else 0.0,
            tally.unused,
            share,
            weight_bytes(part.ports),
        )

    def _histogram(self, port: PortOf) -> Histogram:
        if port.constant is not None:
            return histogram_of(port.constant)
        summary = self.summaries.get(port.name)
        record = None if summary is None else summary.record()
        return {} if record is None or record.histogram is None else record.histogram

    def _float_results(self) -> Iterable[FloatOperation]:
        """Yield a report entry for each region whose result stays float in the quantized program."""
        for part in self.parts.values():
            element = stored_type(part.producer.results[0])
            if not isinstance(element, UniformType):
                yield FloatOperation(
                    part.kernel, _place(part.region), f"the result of {part.key} is stored as {element}"
                )


def rows_of(batch: dict[str, Array], program: Program) -> int:
    """Return the number of rows of a batch: the size of the first input's first axis, or 1 for a scalar."""
    shape = np.shape(batch[program.inputs[0].name])
    return shape[0] if shape else 1


_STAYS = re.compile(r"'([^']+)' op stays (?:float|a call): (.*)", re.DOTALL)


def _left(named: NamedProgram) -> Iterable[FloatOperation]:
    """Yield a report entry for each operation that is in no region, with the reason from `fuse-kernels`."""
    for remark in named.remarks:
        match = _STAYS.match(remark.message)
        if match and remark.location is not None:
            place = f"{remark.location.filename}:{remark.location.line}"
            yield FloatOperation(match[1], place, match[2])


def _is_input(name: str) -> bool:
    return name.startswith("argument ")


def _check_shapes(key: str, expected: Value, given: Value) -> None:
    one, other = expected.type, given.type
    if isinstance(one, TensorType) and isinstance(other, TensorType) and one.shape and other.shape:
        sizes = zip(one.shape, other.shape, strict=False)
        if len(one.shape) != len(other.shape) or any(a != b and None not in (a, b) for a, b in sizes):
            types = f"{other.shown()} in the quantized program, and {one.shown()} in the float program"
            raise ModelError(
                located(given, f"{key} must have the same shape in both programs, but has the type {types}")
            )


def _check_inputs(floats: Program, quantized: Program) -> None:
    """Raise ModelError if the two programs differ in the names or types of their inputs or outputs."""
    for what, ports, others in (
        ("inputs", floats.inputs, quantized.inputs),
        ("outputs", floats.outputs, quantized.outputs),
    ):
        one, other = (", ".join(f"{port.name}: {port.type.shown()}" for port in side) for side in (ports, others))
        if one != other:
            raise ModelError(
                f"both programs must have the same {what}, but the quantized program has ({other}), and the float "
                f"program ({one})"
            )


def _place(operation: Operation) -> str:
    return f"{operation.location.filename}:{operation.location.line}"


def _text(operation: Operation, name: str) -> str:
    attribute = operation.attributes.get(name)
    return attribute.value if isinstance(attribute, StringAttr) else ""


def _spelled(type: Type) -> str:
    element = element_of(type)
    return element.shown() if isinstance(element, UniformType) else str(element)
