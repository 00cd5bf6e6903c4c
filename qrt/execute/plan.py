"""Plans: a function for concrete input shapes as steps over slots, buffers with lifetimes in one arena, weights
packed once.

A plan is built by walking the function: constants fold, calls are inlined, ``reshape`` and storage casts that change
nothing become other names of the same slot, and every other op is bound to its kernel. Maximal runs of kernel steps
are one call into C.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeGuard

import numpy as np

from qrt import kernels
from qrt._seam import _core
from qrt.errors import ModelError, QuantError
from qrt.execute.operations import MAX_CALL_DEPTH, body, callee, constant_array, failure, family_call
from qrt.execute.values import as_tensor, concrete, storage_cast
from qrt.ir import Module, Operation
from qrt.ops.core import Array, BoundCall, element_dtype, static_shape
from qrt.types import TensorType, UniformType

_ALIGNMENT = 64


@dataclass(frozen=True)
class Coverage:
    """Where one op of the program runs: ``kernel`` (``detail`` names the entry and its ISA), ``reference``,
    ``constant`` or ``alias``."""

    op: str
    location: str
    engine: str
    detail: str = ""


@dataclass(frozen=True)
class _Place:
    """A value of the program: its slot, and the type under which this name sees it."""

    slot: int
    type: TensorType


@dataclass
class _Slot:
    kind: str
    type: TensorType
    first: int = 0
    last: int = 0
    offset: int = 0

    @property
    def nbytes(self) -> int:
        return prod(static_shape(self.type, "plan")) * element_dtype(self.type.element).itemsize


@dataclass(frozen=True)
class _Step:
    call: BoundCall
    slots: tuple[int, ...]
    coverage: Coverage


@dataclass(frozen=True)
class _StorageCast:
    """``quant.scast`` of a value that is not constant, where it changes the dtype or the range."""

    source: TensorType
    target: TensorType

    def __call__(self, *arrays: Array) -> None:
        source, out = arrays
        out[...] = storage_cast(source, self.source.element, self.target.element)


class Plan:
    """One function planned for one set of input types. ``run`` may be called from many threads at once."""

    def __init__(
        self, slots: list[_Slot], constants: dict[int, Array], steps: list[_Step], results: list[_Place]
    ) -> None:
        self._slots, self._constants, self._results = slots, constants, results
        self.coverage = [step.coverage for step in steps]
        self.isa = kernels.active()
        self.arena_bytes = _allocate(slots)
        self._segments = _segments(steps, len(slots))
        self._free: list[dict[int, Array]] = []
        self._lock = threading.Lock()

    @property
    def result_types(self) -> list[TensorType]:
        return [place.type for place in self._results]

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        """Runs on arrays of the planned shapes and returns fresh result arrays."""
        with self._lock:
            temporaries = self._free.pop() if self._free else None
        if temporaries is None:
            temporaries = self._workspace()
        given = iter(inputs)
        buffers = [self._buffer(i, slot, given, temporaries) for i, slot in enumerate(self._slots)]
        for segment in self._segments:
            segment(buffers)
        results = [self._result(place, buffers) for place in self._results]
        with self._lock:
            self._free.append(temporaries)
        return results

    def _buffer(self, index: int, slot: _Slot, inputs: Iterator[Array], temporaries: Mapping[int, Array]) -> Array:
        if slot.kind == "input":
            return next(inputs)
        if slot.kind == "constant":
            return self._constants[index]
        return temporaries[index] if slot.kind == "temporary" else _empty(slot.type)

    def _result(self, place: _Place, buffers: Sequence[Array]) -> Array:
        array = buffers[place.slot].reshape(static_shape(place.type, "result"))
        return array if self._slots[place.slot].kind == "output" else array.copy()

    def _workspace(self) -> dict[int, Array]:
        """One arena and the temporaries' views of it."""
        raw = np.empty(self.arena_bytes + _ALIGNMENT, np.uint8)
        start = -raw.ctypes.data % _ALIGNMENT
        views = {}
        for index, slot in enumerate(self._slots):
            if slot.kind == "temporary":
                at = start + slot.offset
                view = raw[at : at + slot.nbytes].view(element_dtype(slot.type.element))
                views[index] = view.reshape(static_shape(slot.type, "plan"))
        return views


def _empty(t: TensorType) -> Array:
    return np.empty(static_shape(t, "plan"), element_dtype(t.element))


def is_kernel(call: BoundCall) -> TypeGuard[_core.Call]:
    """Whether a call is one entry of C, which a run of them can hold."""
    return isinstance(call, _core.Call)


def _segments(steps: Sequence[_Step], slot_count: int) -> list[Callable[[Sequence[Array]], None]]:
    """Maximal runs of kernel steps as one C plan each; every other step by itself."""
    segments: list[Callable[[Sequence[Array]], None]] = []
    run: list[_Step] = []

    def flush() -> None:
        if run:
            calls = [s.call for s in run if is_kernel(s.call)]
            segments.append(_core.Plan(calls, [s.slots for s in run], slot_count).run)
            run.clear()

    for step in steps:
        if is_kernel(step.call):
            run.append(step)
            continue
        flush()
        segments.append(_python_segment(step))
    flush()
    return segments


def _python_segment(step: _Step) -> Callable[[Sequence[Array]], None]:
    def segment(buffers: Sequence[Array]) -> None:
        step.call(*(buffers[s] for s in step.slots))

    return segment


def _allocate(slots: Sequence[_Slot]) -> int:
    """Gives every temporary an offset so that none overlap while both live: first fit, the largest first. Returns the
    bytes needed."""
    placed: list[_Slot] = []
    for slot in sorted((s for s in slots if s.kind == "temporary"), key=lambda s: -s.nbytes):
        at = 0
        for other in sorted(placed, key=lambda s: s.offset):
            alive_together = slot.first <= other.last and other.first <= slot.last
            if alive_together and at < other.offset + other.nbytes and other.offset < at + slot.nbytes:
                at = -(-(other.offset + other.nbytes) // _ALIGNMENT) * _ALIGNMENT
        slot.offset = at
        placed.append(slot)
    return max((s.offset + s.nbytes for s in placed), default=0)


# ------------------------------------------------------------------------------------------------------------- building


def build(module: Module, function: Operation, input_types: Sequence[TensorType]) -> Plan:
    """Plans ``function`` of ``module`` for inputs of static types."""
    builder = _Builder(module)
    places = [builder.slot("input", t) for t in input_types]
    results = builder.inline(function, places, 0)
    builder.finish(results)
    return Plan(builder.slots, builder.constants, builder.steps, results)


class _Builder:
    def __init__(self, module: Module) -> None:
        self.module = module
        self.slots: list[_Slot] = []
        self.constants: dict[int, Array] = {}
        self.steps: list[_Step] = []

    def slot(self, kind: str, t: TensorType) -> _Place:
        self.slots.append(_Slot(kind, t, len(self.steps), len(self.steps)))
        return _Place(len(self.slots) - 1, t)

    def inline(self, function: Operation, arguments: Sequence[_Place], depth: int) -> list[_Place]:
        """Plans the body of a function on these places; returns those of its results."""
        if depth > MAX_CALL_DEPTH:
            raise failure(function, f"calls are nested deeper than {MAX_CALL_DEPTH}, or recursive")
        block = body(function)
        places = dict(zip(block.arguments, arguments, strict=True))
        for op in block:
            operands = [places[v] for v in op.operands]
            if op.name == "func.return":
                return operands
            try:
                results = self._op(op, operands, depth)
            except ModelError:
                raise
            except QuantError as error:
                raise failure(op, str(error)) from error
            places.update(zip(op.results, results, strict=True))
        raise failure(function, "the function does not return")

    def _op(self, op: Operation, operands: list[_Place], depth: int) -> list[_Place]:
        if op.name == "arith.constant":
            return [self._constant(constant_array(op), as_tensor(op.results[0].type))]
        if op.name == "func.call":
            return self.inline(callee(self.module, op), operands, depth + 1)
        if op.name == "quant.scast":
            return [self._storage_cast(op, operands[0])]
        return [self._family(op, operands)]

    def _family(self, op: Operation, operands: list[_Place]) -> _Place:
        types = tuple(p.type for p in operands)
        family, attributes, result = family_call(op, types)
        if family.name == "reshape":
            return _Place(operands[0].slot, result)
        if all(p.slot in self.constants for p in operands):
            return self._folded(family.call(types, result, attributes)[0], operands, result)
        packed = {
            i: self._array(operands[i])
            for i in family.packs
            if i < len(operands) and operands[i].slot in self.constants
        }
        call, has_kernel = family.call(types, result, attributes, packed)
        inputs = [p for i, p in enumerate(operands) if i not in packed]
        detail = f"{call.name} ({call.isa})" if is_kernel(call) else family.name
        return self._step(
            call, inputs, result, Coverage(op.name, str(op.location), "kernel" if has_kernel else "reference", detail)
        )

    def _storage_cast(self, op: Operation, operand: _Place) -> _Place:
        target = as_tensor(op.results[0].type)
        target = concrete(target, static_shape(operand.type, "scast"), "the result of quant.scast")
        source = operand.type
        call = _StorageCast(source, target)
        if operand.slot in self.constants:
            return self._folded(call, [operand], target)
        quantized = source.element if isinstance(source.element, UniformType) else target.element
        assert isinstance(quantized, UniformType)
        whole = quantized.is_signed and quantized.storage_width in (8, 16, 32)
        if whole and (quantized.has_default_bounds or quantized is source.element):
            return _Place(operand.slot, target)
        return self._step(call, [operand], target, Coverage(op.name, str(op.location), "reference", "scast"))

    def _step(self, call: BoundCall, operands: Sequence[_Place], result: TensorType, coverage: Coverage) -> _Place:
        place = self.slot("temporary", result)
        for operand in operands:
            self.slots[operand.slot].last = len(self.steps)
        self.steps.append(_Step(call, (*(p.slot for p in operands), place.slot), coverage))
        return place

    def _folded(self, call: BoundCall, operands: Sequence[_Place], result: TensorType) -> _Place:
        array = _empty(result)
        call(*(self._array(p) for p in operands), array)
        return self._constant(array, result)

    def _array(self, place: _Place) -> Array:
        return self.constants[place.slot].reshape(static_shape(place.type, "constant"))

    def _constant(self, array: Array, t: TensorType) -> _Place:
        place = self.slot("constant", t)
        self.constants[place.slot] = array
        return place

    def finish(self, results: Sequence[_Place]) -> None:
        """Results that no other name holds are written straight into fresh arrays."""
        for place in results:
            slot = self.slots[place.slot]
            if slot.kind == "temporary":
                slot.kind = "output"
        used = {s for step in self.steps for s in step.slots} | {p.slot for p in results}
        for index in [i for i in self.constants if i not in used]:
            self.constants[index] = np.empty(0, np.uint8)
