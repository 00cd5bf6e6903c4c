"""Planning: a function walked for concrete input types.

Constants fold, by the interpreter where no family has the op; calls are inlined, until the plan
would be very much longer than the program, and run by the interpreter from there on; ``reshape`` and storage casts that
change nothing become other names of the same slot; op families are bound to their kernels; every other op is left to
the interpreter. A family whose operands are of a shape that only the run knows is bound then, once for each shape.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qrt.eager.storage import ready
from qrt.errors import QuantError
from qrt.execute.constants import SCALARS, captured, compute
from qrt.execute.interpret import TABLES
from qrt.execute.interpret.core import Compiler, Frame, ModuleCode, raise_located
from qrt.execute.operations import MAX_CALL_DEPTH, body, callee, constant_array, failure, family_call, family_name
from qrt.execute.plan import CallStep, Coverage, Plan, Result, Segment, Slot, Step, ValueStep, empty, is_kernel
from qrt.execute.values import as_tensor, concrete, of_rank, storage_cast
from qrt.ir import Module, Operation, Value
from qrt.ir.inlining import Budget, inlined_at_most
from qrt.ops.core import Array, BoundCall, static_shape
from qrt.types import MemRefType, TensorType, Type, UniformType


@dataclass(frozen=True)
class _Place:
    """A value of the program: its slot, and the static type under which this name sees it; None where only the run
    knows its shape, or where it is no tensor."""

    slot: int
    type: TensorType | None


@dataclass(frozen=True)
class _StorageCast:
    """``quant.scast`` of a value that is not constant, where it changes the dtype or the range."""

    source: TensorType
    target: TensorType

    def __call__(self, *arrays: Array) -> None:
        source, out = arrays
        out[...] = storage_cast(source, self.source.element, self.target.element)


def build(module: Module, function: Operation, input_types: Sequence[TensorType], saturating: bool = False) -> Plan:
    """Plans ``function`` of ``module`` for inputs of static types."""
    builder = _Builder(module, saturating)
    arguments = function.regions[0].blocks[0].arguments
    places = [builder.place("input", t, v.type) for t, v in zip(input_types, arguments, strict=True)]
    if len(function.regions[0].blocks) == 1:
        results = builder.inline(function, places, 0)
    else:
        results = builder.interpret_call(function, places)
    return builder.finish(results, function.attributes["function_type"].python.results)


class _Builder:
    def __init__(self, module: Module, saturating: bool) -> None:
        self.module = module
        self.slots: list[Slot] = []
        self.constants: dict[int, Array] = {}
        self.steps: list[Step] = []
        self.compiler = Compiler(ModuleCode(module, TABLES, saturating))
        self.held: dict[Value, int] = {}  # what the frame holds, and the slot it is of
        self.budget = Budget(inlined_at_most(module.operation))

    def slot(self, kind: str, t: TensorType | None) -> _Place:
        self.slots.append(Slot(kind, t, len(self.steps), len(self.steps)))
        return _Place(len(self.slots) - 1, t)

    def place(self, kind: str, t: TensorType, declared: Type) -> _Place:
        """A slot for an input: a memref is only ever a value of the interpreter's."""
        place = self.slot(kind, t)
        return place if not isinstance(declared, MemRefType) else _Place(place.slot, None)

    # -- functions --------------------------------------------------------------------------------------------------

    def inline(self, function: Operation, arguments: Sequence[_Place], depth: int) -> list[_Place]:
        """Plans the body of a function on these places; returns those of its results."""
        if depth > MAX_CALL_DEPTH:
            raise failure(function, f"calls are nested deeper than {MAX_CALL_DEPTH}, or recursive")
        block = body(function)
        places = dict(zip(block.arguments, arguments, strict=True))
        for op in block:
            if op.name == "func.return":
                return [places[v] for v in op.operands]
            try:
                results = self._op(op, places, depth)
            except QuantError as error:
                raise_located(op, error)
            places.update(zip(op.results, results, strict=True))
        raise failure(function, "the function does not return")

    def interpret_call(self, function: Operation, arguments: Sequence[_Place]) -> list[_Place]:
        """A function whose blocks branch, run by the interpreter as a whole."""
        code = self.compiler.code.function(function)
        types = function.attributes["function_type"].python
        results = [self.slot("value", None) for _ in types.results]
        for place in arguments:
            self._own(place)

        def run(buffers: list[Any], frame: Frame) -> None:
            given = [of_rank(_read(buffers, p), t) for p, t in zip(arguments, types.inputs, strict=True)]
            for place, value in zip(results, code.call(frame[0], given), strict=True):
                buffers[place.slot] = value

        self.steps.append(ValueStep(run, Coverage(function.name, str(function.location), "interpreter")))
        return results

    # -- ops --------------------------------------------------------------------------------------------------------

    def _op(self, op: Operation, places: dict[Value, _Place], depth: int) -> list[_Place]:
        if op.name == "func.call":
            function = callee(self.module, op)
            operands = [places[v] for v in op.operands]
            if len(function.regions[0].blocks) == 1 and self.budget.allows(function):
                return self.inline(function, operands, depth + 1)
            return self.interpret_call(function, operands)
        if op.name == "arith.constant" and isinstance(op.results[0].type, _PLANNED):
            return [self._constant(constant_array(op), as_tensor(op.results[0].type))]
        if op.name == "quant.scast" and (t := places[op.operands[0]].type) is not None:
            return [self._storage_cast(op, places[op.operands[0]], t)]
        if family_name(op) is None:
            return self._interpreted(op, places)
        operands = [places[v] for v in op.operands]
        types = [place.type for place in operands if place.type is not None]
        return [self._family(op, operands, types) if len(types) == len(operands) else self._deferred(op, operands)]

    def _family(self, op: Operation, operands: list[_Place], types: Sequence[TensorType]) -> _Place:
        family, attributes, result = family_call(op, types)
        if family.name == "reshape":
            return _Place(operands[0].slot, result)
        types = tuple(types)
        if all(p.slot in self.constants for p in operands):
            return self._folded(family.call(types, result, attributes)[0], operands, result)
        packed = {
            i: self._array(operands[i])
            for i in family.packs
            if i < len(operands) and operands[i].slot in self.constants
        }
        call, has_kernel = family.call(types, result, attributes, packed)
        inputs = [p for i, p in enumerate(operands) if i not in packed]
        return self._step(op, call, inputs, result, _family_coverage(op, call, has_kernel))

    def _deferred(self, op: Operation, operands: list[_Place]) -> _Place:
        """A family of operands whose shapes the run tells."""
        run = _DeferredFamily(op)
        result = self.slot("value", None)
        for place in operands:
            self._own(place)

        def step(buffers: list[Any], frame: Frame) -> None:
            buffers[result.slot] = run(*(_read(buffers, place) for place in operands))

        self.steps.append(ValueStep(step, Coverage(op.name, str(op.location), "kernel", "bound at run")))
        return result

    def _storage_cast(self, op: Operation, operand: _Place, source: TensorType) -> _Place:
        target = as_tensor(op.results[0].type)
        target = concrete(target, static_shape(source, "scast"), "the result of quant.scast")
        call = _StorageCast(source, target)
        if operand.slot in self.constants:
            return self._folded(call, [operand], target)
        quantized = source.element if isinstance(source.element, UniformType) else target.element
        assert isinstance(quantized, UniformType)
        whole = quantized.is_signed and quantized.storage_width in (8, 16, 32)
        if whole and (quantized.has_default_bounds or quantized is source.element):
            return _Place(operand.slot, target)
        return self._step(op, call, [operand], target, Coverage(op.name, str(op.location), "reference", "scast"))

    def _interpreted(self, op: Operation, places: dict[Value, _Place]) -> list[_Place]:
        """One op by the interpreter: operands and what its regions capture go into the frame, results come out."""
        folded = self._evaluated(op, places)
        if folded is not None:
            return folded
        imports = [entry for value in captured(op) if (entry := self._imported(value, places[value])) is not None]
        steps = self.compiler.steps([op])
        results = [self._result_place(value.type) for value in op.results]
        exports = [
            (self.compiler.slot(value), place.slot, isinstance(value.type, MemRefType))
            for value, place in zip(op.results, results, strict=True)
        ]
        self.held.update((value, place.slot) for value, place in zip(op.results, results, strict=True))
        self.steps.append(ValueStep(_segment(imports, steps, exports), _interpreter_coverage(op)))
        return results

    def _evaluated(self, op: Operation, places: dict[Value, _Place]) -> list[_Place] | None:
        """The results of an op on constants, computed now; None for any other."""
        known = {value: places[value] for value in captured(op)}
        if any(place.slot not in self.constants for place in known.values()):
            return None
        arrays = compute(
            op, {value: self._array(place) for value, place in known.items()}, Compiler(self.compiler.code)
        )
        if arrays is None:
            return None
        types = [as_tensor(value.type).with_(shape=a.shape) for a, value in zip(arrays, op.results, strict=True)]
        return [self._constant(array, t) for array, t in zip(arrays, types, strict=True)]

    def _imported(self, value: Value, place: _Place) -> "_Import | None":
        """How a value comes into the frame; None where it is there already."""
        if self.held.get(value) == place.slot:
            return None
        self.held[value] = place.slot
        self._own(place)
        return self.compiler.slot(value), place, value.type

    def _result_place(self, t: Type) -> _Place:
        static = isinstance(t, SCALARS) or (isinstance(t, TensorType) and t.has_static_shape)
        return self.slot("value", as_tensor(t) if static else None)

    def _own(self, place: _Place) -> None:
        """What the interpreter sees may live on as part of another value: it is not in the arena."""
        slot = self.slots[place.slot]
        slot.last = len(self.steps)
        if slot.kind == "temporary":
            slot.kind = "owned"

    # -- slots ------------------------------------------------------------------------------------------------------

    def _step(
        self, op: Operation, call: BoundCall, operands: Sequence[_Place], result: TensorType, coverage: Coverage
    ) -> _Place:
        place = self.slot("temporary", result)
        for operand in operands:
            self.slots[operand.slot].last = len(self.steps)
        self.steps.append(CallStep(op, call, (*(p.slot for p in operands), place.slot), coverage))
        return place

    def _folded(self, call: BoundCall, operands: Sequence[_Place], result: TensorType) -> _Place:
        array = empty(result)
        call(*(self._array(p) for p in operands), array)
        return self._constant(array, result)

    def _array(self, place: _Place) -> Array:
        assert place.type is not None  # constants are of static types
        return self.constants[place.slot].reshape(static_shape(place.type, "constant"))

    def _constant(self, array: Array, t: TensorType) -> _Place:
        place = self.slot("constant", t)
        self.constants[place.slot] = array
        return place

    def finish(self, results: Sequence[_Place], declared: Sequence[Type]) -> Plan:
        """Results that no other name holds are written straight into fresh arrays."""
        for place in results:
            slot = self.slots[place.slot]
            if slot.kind == "temporary":
                slot.kind = "owned"
        returned = [
            Result(p.slot, None if p.type is None else static_shape(p.type, "result"), isinstance(t, MemRefType))
            for p, t in zip(results, declared, strict=True)
        ]
        return Plan(self.slots, self.constants, self.steps, returned, self.compiler.template)


_PLANNED = (TensorType, *SCALARS)


class _DeferredFamily:
    """A family bound for each set of operand shapes that comes, the latest kept."""

    def __init__(self, op: Operation) -> None:
        self.op = op
        self.elements = [as_tensor(value.type).element for value in op.operands]
        self.bound: tuple[Any, ...] = ()
        self.lock = threading.Lock()

    def __call__(self, *operands: Any) -> Any:
        arrays = [ready(np.asarray(operand)) for operand in operands]
        shapes = [array.shape for array in arrays]
        with self.lock:
            bound = self.bound
        try:
            if not bound or bound[0] != shapes:
                bound = self._bind(shapes)
                with self.lock:
                    self.bound = bound
            _, call, result = bound
            out = empty(result)
            call(*arrays, out)
        except QuantError as error:
            raise_located(self.op, error)
        return out

    def _bind(self, shapes: list[tuple[int, ...]]) -> tuple[Any, ...]:
        types = tuple(TensorType(shape, element) for shape, element in zip(shapes, self.elements, strict=True))
        family, attributes, result = family_call(self.op, types)
        return shapes, family.call(types, result, attributes)[0], result


_Import = tuple[int, _Place, Type]  # (frame slot, place in the plan, type)
_Export = tuple[int, int, bool]  # (frame slot, plan slot, whether a memref)


def _read(buffers: Sequence[Any], place: _Place) -> Any:
    """What a place holds, in the shape it has under this name."""
    value = buffers[place.slot]
    return value if place.type is None else value.reshape(static_shape(place.type, "plan"))


def _segment(
    imports: Sequence[_Import], steps: Sequence[Callable[[Frame], None]], exports: Sequence[_Export]
) -> Segment:
    def run(buffers: list[Any], frame: Frame) -> None:
        for target, place, type in imports:
            frame[target] = of_rank(_read(buffers, place), type)
        for step in steps:
            step(frame)
        for source, target, is_memref in exports:
            value = frame[source]
            buffers[target] = value if is_memref else ready(np.asarray(value))

    return run


def _family_coverage(op: Operation, call: BoundCall, has_kernel: bool) -> Coverage:
    detail = f"{call.name} ({call.isa})" if is_kernel(call) else op.name.partition(".")[2]
    return Coverage(op.name, str(op.location), "kernel" if has_kernel else "reference", detail)


def _interpreter_coverage(op: Operation) -> Coverage:
    return Coverage(op.name, str(op.location), "interpreter")
