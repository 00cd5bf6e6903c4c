"""A float program and its quantized one, run side by side: the figures of a report."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from qrt.calibrate.observers import Summary
from qrt.calibrate.targets.model import Target
from qrt.errors import ModelError
from qrt.execute.program import Program, choose
from qrt.execute.tapped import TappedProgram, name_of
from qrt.ir import DenseElementsAttr, Module, Operation, StringAttr, Value, equal
from qrt.ir.core.constraints import element_of
from qrt.ir.core.matching import constant_of
from qrt.ops.core import Array
from qrt.passes.quantization.export.tags import CAUSE, KERNEL
from qrt.report.model import FloatOperation, OutputReport, RegionReport, Report, Rescale
from qrt.tensor.arrays import as_array
from qrt.types import FloatType, TensorType, Type, UniformType
from qrt.workflow.measure import OutputNoise, Reference, check_outputs, compare, joined
from qrt.workflow.ports import histogram_of, port_reports, port_types, source_of, weight_bytes
from qrt.workflow.slices import Kernel, Slice, located, run, sliced
from qrt.workflow.tally import Tally
from qrt.workflow.trial import Named
from qrt.workflow.values import Values, require_keys


@dataclass(eq=False)
class Part:
    """A region that both programs have, as an operation of each. ``sources`` are the names of the values at its ports
    in the float program, and ``types`` how the quantized one reads and gives them."""

    key: str
    kernel: str
    region: Operation
    giver: Operation
    sources: list[str]
    types: list[Type]
    tallies: dict[Type, Tally] = field(default_factory=dict)

    @property
    def tally(self) -> Tally:
        """What was counted of its results, all in all."""
        every = list(self.tallies.values())
        total = Tally(every[0].type, used=every[0].used)
        for each in every:
            total.alone += each.alone
            total.accumulated += each.accumulated
            total.values += each.values
            total.clipped += each.clipped
        return total


class Comparison:
    """A float program and a quantized one that run side by side, each telling its values."""

    def __init__(self, named: Named, module: Module, function: str | None) -> None:
        self.named = named
        name = str(choose(module, function).attributes["sym_name"].python)
        choose(named.module, name)
        self.floats, self.quantized = Values.of(named.module, name), Values.of(module, name)
        require_keys(self.quantized, f"the program {name!r}")
        self.parts: dict[str, Part] = {}
        self.kernels: dict[str, tuple[Program, list[str]]] = {}
        self._part_of: dict[str, Part] = {}
        self._tallies: dict[str, Tally] = {}
        self.unmatched = self._unmatched()
        self._order = {op: number for number, op in enumerate(self.quantized.function.walk())}
        alone = {value for key in self.unmatched for op in self.quantized.keyed[key] for value in op.results}
        known = {*self.floats.names.values()}
        self._shared = {v: n for v, n in self.quantized.names.items() if n in known and v not in alone}
        self._add_parts()
        if not self.parts:
            first = next(iter(self.unmatched.values()), name)
            raise ModelError(f"no key of the quantized program is one of the float program: {first}")
        self.rescales = self._rescales()
        names = {*self.kernels, *(each for _, read in self.kernels.values() for each in read)}
        names.update(name for part in self.parts.values() for name in part.sources)
        taps = {value: name for value, name in self.floats.names.items() if name in names}
        self.summaries = {n: Summary() for v, n in taps.items() if isinstance(element_of(v.type), FloatType)}
        self.float_program = TappedProgram(
            self.floats.module, name, {v: n for v, n in taps.items() if not _is_input(n)}
        )
        told = {v: n for v, n in self._shared.items() if n in self._tallies}
        self.program = TappedProgram(self.quantized.module, name, told)
        _check_inputs(self.float_program, self.program)
        self.outputs: list[OutputNoise] = []
        self.rows = 0

    # -- what both have ------------------------------------------------------------------------------------------------

    def _unmatched(self) -> dict[str, str]:
        """Keys of regions that the float program lacks, or has another number of times; and how they are named."""
        found = {}
        for key, ops in self.quantized.keyed.items():
            others = self.floats.keyed.get(key, ())
            if len(others) != len(ops) and any(KERNEL in op.attributes or others for op in ops):
                found[key] = f"{key} ({ops[0].location.filename}:{ops[0].location.line})"
        return found

    def _add_parts(self) -> None:
        values = {name: value for value, name in self._shared.items()}
        floats = {name: value.type for value, name in self.floats.names.items()}
        for key, givers in self.quantized.keyed.items():
            if key in self.unmatched or KERNEL not in givers[0].attributes:
                continue
            kernels: list[tuple[Kernel, Program]] = []
            for giver, region in zip(givers, self.floats.keyed[key], strict=True):
                for result in region.results:
                    name = self.floats.names[result]
                    if name in values:
                        _check_shapes(key, result, values[name])
                        part = sliced(values[name], self._shared, self._order)
                        self._add_part(key, giver, region, part, name)
                        self._add_kernel(name, Kernel(part, floats, self.quantized.module), kernels)

    def _add_part(self, key: str, giver: Operation, region: Operation, found: Slice, name: str) -> None:
        if key not in self.parts:
            names = self.floats.names
            sources = [names.get(source_of(value), "") for value in (*region.operands, *region.results)]
            types = port_types(region, found, names)
            self.parts[key] = Part(key, _text(giver, KERNEL), region, giver, sources, types)
        part = self._part_of[name] = self.parts[key]
        type = element_of(found.result.type)
        self._tallies[name] = part.tallies.setdefault(type, Tally(type))

    def _add_kernel(self, name: str, kernel: Kernel, known: list[tuple[Kernel, Program]]) -> None:
        """Calls of one function have kernels that are equal: one is compiled."""
        program = next((program for other, program in known if equal(other.function, kernel.function)), None)
        if program is None:
            program = kernel.compile()
            known.append((kernel, program))
        self.kernels[name] = program, kernel.names

    def _rescales(self) -> tuple[Rescale, ...]:
        found = []
        for operation in self._order:
            if CAUSE in operation.attributes:
                result = operation.results[0]
                read = sliced(result, self._shared, self._order).entries
                source = _spelled(read[0].value.type) if read else ""
                found.append(Rescale(_place(operation), source, _spelled(result.type), _text(operation, CAUSE)))
        return tuple(found)

    # -- runs ----------------------------------------------------------------------------------------------------------

    def add(self, where: str, arrays: Sequence[Array]) -> None:
        """Runs both programs on the inputs of one run, and counts what they compute. ``where`` names it in messages."""
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
                self._tallies[name].add_alone(value, self._alone(name, current))

        expected = list(map(as_array, self.float_program.run_checked(arrays, tap)))
        check_outputs(self.float_program, expected, where)
        counts: Counter[str] = Counter()

        def other_tap(op: Operation, value: Any) -> None:
            name = name_of(op)
            if counts[name] < len(seen[name]):
                self._tallies[name].add(seen[name][counts[name]], value)
            counts[name] += 1

        given = self.program.run_tapped(batch, other_tap)
        for name, values in seen.items():
            if counts[name] != len(values):
                said = f"{where}: the value {name} is computed {len(values)} times by the float program"
                raise ModelError(f"{said}, and {counts[name]} times by the quantized one: they are not compared")
        ports = self.float_program.outputs
        latest = [compare(p.name, e, as_array(g)) for p, e, g in zip(ports, expected, given, strict=True)]
        self.outputs = [joined(*pair) for pair in zip(self.outputs, latest, strict=True)] if self.outputs else latest
        self.rows += rows_of(batch, self.float_program)

    def errors(self, reference: Reference) -> dict[str, tuple[int, Fraction]]:
        """The error at the outputs when one region alone is quantized, for each."""
        return {
            key: reference.noise_of(
                self.float_program, (self._replaced(key, batch) for batch in reference.batches)
            ).cost
            for key in self.parts
        }

    def _replaced(self, key: str, batch: dict[str, Array]) -> list[Array]:
        """The outputs of the float program when it goes on with what the quantized region of a key gives."""
        arrays = self.float_program.checked(batch)
        current = self._arguments(arrays)
        part = self.parts[key]

        def tap(op: Operation, value: Any) -> Any:
            name = name_of(op)
            if self._part_of.get(name) is part:
                value = self._alone(name, current).astype(value.dtype)
            current[name] = value
            return value

        return list(map(as_array, self.float_program.run_checked(arrays, tap)))

    def _alone(self, name: str, current: dict[str, Any]) -> Array:
        program, read = self.kernels[name]
        return run(program, [current[each] for each in read])

    def _arguments(self, arrays: Sequence[Array]) -> dict[str, Any]:
        return {f"argument {number}": array for number, array in enumerate(arrays)}

    def _summarize(self, name: str, value: Any) -> None:
        if name in self.summaries:
            self.summaries[name].update(np.asarray(value), skip_nonfinite=True)

    # -- the report ----------------------------------------------------------------------------------------------------

    def report(self, target: Target, errors: dict[str, tuple[int, Fraction]], sampled: int) -> Report:
        """What has been counted."""
        lost = any(nonfinite for nonfinite, _ in errors.values())
        shares = {key: Fraction(nonfinite) if lost else noise for key, (nonfinite, noise) in errors.items()}
        total = sum(shares.values(), Fraction(0))
        ordered = sorted(self.parts.values(), key=lambda part: errors[part.key], reverse=True)
        return Report(
            self.float_program.name,
            target.name,
            self.rows,
            tuple(OutputReport(each.name, each.error.snr, each.same_answers) for each in self.outputs),
            tuple(self._region(part, target, float(shares[part.key] / total) if total else 0.0) for part in ordered),
            self.rescales,
            (*_left(self.named), *self._kept()),
            tuple(self.unmatched.values()),
            sampled if sampled != self.rows else 0,
        )

    def _region(self, part: Part, target: Target, share: float) -> RegionReport:
        tally = part.tally
        values = (*part.region.operands, *part.region.results)
        histograms = [self._histogram(*port) for port in zip(values, part.sources, strict=True)]
        return RegionReport(
            part.key,
            part.kernel,
            _place(part.region),
            port_reports(part.region, part.giver, part.types, part.kernel, target, histograms),
            tally.alone.snr,
            tally.accumulated.snr,
            tally.clipped / tally.values if tally.values else 0.0,
            tally.unused,
            share,
            weight_bytes(part.region, part.types),
        )

    def _histogram(self, value: Value, name: str) -> dict[int, int]:
        constant = constant_of(value)
        if isinstance(constant, DenseElementsAttr) and isinstance(constant.element, FloatType):
            return dict(histogram_of(constant))
        summary = self.summaries.get(name)
        record = None if summary is None else summary.record()
        return {} if record is None or record.histogram is None else dict(record.histogram)

    def _kept(self) -> Iterable[FloatOperation]:
        """Regions whose result is a float."""
        for part in self.parts.values():
            element = element_of(part.giver.results[0].type)
            if not isinstance(element, UniformType):
                yield FloatOperation(part.kernel, _place(part.region), f"the result of {part.key} is kept as {element}")


def rows_of(batch: dict[str, Array], program: Program) -> int:
    """How many rows a batch has: the length of its first input; one where that is a scalar."""
    shape = np.shape(batch[program.inputs[0].name])
    return shape[0] if shape else 1


_STAYS = re.compile(r"'([^']+)' op stays (?:float|a call): (.*)", re.DOTALL)


def _left(named: Named) -> Iterable[FloatOperation]:
    """Operations outside of regions, with what fuse-kernels said of them."""
    for remark in named.remarks:
        found = _STAYS.match(remark.message)
        if found and remark.location is not None:
            place = f"{remark.location.filename}:{remark.location.line}"
            yield FloatOperation(found[1], place, found[2])


def _is_input(name: str) -> bool:
    return name.startswith("argument ")


def _check_shapes(key: str, expected: Value, given: Value) -> None:
    one, other = expected.type, given.type
    if isinstance(one, TensorType) and isinstance(other, TensorType) and one.shape and other.shape:
        sizes = zip(one.shape, other.shape, strict=False)
        if len(one.shape) != len(other.shape) or any(a != b and None not in (a, b) for a, b in sizes):
            raise ModelError(located(given, f"{key} is {other.shown()}, and {one.shown()} in the float program"))


def _check_inputs(floats: Program, quantized: Program) -> None:
    """Refuses programs that take or give other values."""
    for what, ports, others in (
        ("takes", floats.inputs, quantized.inputs),
        ("gives", floats.outputs, quantized.outputs),
    ):
        one, other = (", ".join(f"{port.name}: {port.type.shown()}" for port in each) for each in (ports, others))
        if one != other:
            raise ModelError(f"the quantized program {what} ({other}), and the float program ({one})")


def _place(operation: Operation) -> str:
    return f"{operation.location.filename}:{operation.location.line}"


def _text(operation: Operation, name: str) -> str:
    said = operation.attributes.get(name)
    return said.value if isinstance(said, StringAttr) else ""


def _spelled(type: Type) -> str:
    element = element_of(type)
    return element.shown() if isinstance(element, UniformType) else str(element)
