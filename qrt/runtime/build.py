"""The planner, which makes a step for each operation of a function, for concrete input types.

An op of a family (`qrt.ops`) is bound to its kernel. Any other op becomes a call of a loop kernel, or a step of the
interpreter. A *slot* is the memory of a value during a run. ``reshape``, and storage casts that keep the bytes, become
views of the operand's slot. If an operand's shape is known only at run time, the op is bound to its kernel during the
run, once for each shape.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from math import prod
from typing import Any

import numpy as np

from qrt.errors import QuantError
from qrt.ir import Block, Operation, Value
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.ir.passes.planned import CONTROL, OBSERVED, REPLACED, body
from qrt.ir.rewriting.constant_folder import ConstantFolder, captured
from qrt.ops import family_of
from qrt.ops.core import Array, KernelCall, one_axis, static_shape
from qrt.runtime.constants import MOST_ELEMENTS, interpret_constants
from qrt.runtime.coverage import Coverage
from qrt.runtime.interpreter.core import Frame, raise_located
from qrt.runtime.interpreter.core import Step as FrameStep
from qrt.runtime.interpreter.ml_program import initial_array, named_global
from qrt.runtime.operations import family_call
from qrt.runtime.plan import Plan, PlanMemory
from qrt.runtime.planner.arena import Span, allocate, live_bytes, overwritten
from qrt.runtime.planner.contraction import contraction
from qrt.runtime.planner.control import ControlPlanner
from qrt.runtime.planner.details import PlanDetails
from qrt.runtime.planner.executable import DeferredFamily, copy_call, plan_executable
from qrt.runtime.planner.float_loops import float_loops
from qrt.runtime.planner.frame_runner import FrameRunner
from qrt.runtime.planner.globals import LOAD, STORE, name_of, needs_copy, stored_globals
from qrt.runtime.planner.slots import (
    CallStep,
    PlanSlot,
    SlotView,
    ValueStep,
    copied,
    family_coverage,
    kernel_coverage,
    layout,
    own_memory,
    root,
)
from qrt.runtime.planner.unquantized import is_written_over, plain_call, view_offset
from qrt.runtime.prepare import PreparedFunction
from qrt.runtime.values import SCALARS, as_tensor
from qrt.types import MemRefType, TensorType, Type


def build(prepared: PreparedFunction, input_types: Sequence[TensorType]) -> Plan:
    """Plan a prepared function for input types with static shapes."""
    builder, function = _Builder(prepared.module, prepared.constants, prepared.saturating), prepared.function
    arguments = function.regions[0].blocks[0].arguments
    inputs = [builder.input(t, v.type) for t, v in zip(input_types, arguments, strict=True)]
    block = body(function)
    results = builder.call(function, inputs) if block is None else builder.block(block, inputs)
    return builder.finish(inputs, results)


class _Builder(ControlPlanner):
    def input(self, t: TensorType, declared: Type) -> SlotView:
        """Add a slot for an input of type ``t`` and return a view of it.

        ``declared`` is the input's type in the program. If it is a memref, the view has no tensor type, because only
        the interpreter can use it.
        """
        return self.place("input", None if isinstance(declared, MemRefType) else t, declared)

    # -- functions --------------------------------------------------------------------------------------------------

    def block(self, block: Block, arguments: Sequence[SlotView]) -> list[SlotView]:
        """Plan the operations of a function's body, and return the slots of its results.

        ``arguments`` has the slots of the body's arguments.
        """
        self.places.update(zip(block.arguments, arguments, strict=True))
        *operations, end = block
        for op in operations:
            if op.name == "arith.constant" and not op.result.uses:
                continue  # also skips constants of vector type, which a plan cannot have
            if op in self.constants:  # a constant that only other constants (casts) read needs no place
                if any(user not in self.constants for value in op.results for user, _ in value.uses):
                    self.places.update(zip(op.results, self._constants(op, self.constants[op]), strict=True))
                continue
            try:
                results = self._op(op, [self.places[value] for value in op.operands])
            except QuantError as error:
                raise_located(op, error)
            self.places.update(zip(op.results, results, strict=True))
        return [self.places[value] for value in end.operands]

    def call(self, function: Operation, arguments: Sequence[SlotView]) -> list[SlotView]:
        """Plan one step in which the interpreter runs the whole function."""
        self.leave_to_interpreter(function, "is called, and not inlined")
        code = self.code.function(function)
        types = function.attributes["function_type"].python
        runs: list[FrameStep] = []
        given = [self._value_slot(place, runs) for place in arguments]
        results = [self.place("value", None, t) for t in types.results]

        def run(frame: Frame) -> None:
            values = code.call(frame[0], [frame[slot] for slot in given])
            for place, value in zip(results, values, strict=True):
                frame[place.slot] = value

        runs.append(run)
        self._interpret(runs, Coverage(function.name, str(function.location), "interpreter"), arguments, results)
        return results

    # -- ops --------------------------------------------------------------------------------------------------------

    def _op(self, op: Operation, operands: list[SlotView]) -> list[SlotView]:
        if op.name == "func.call":
            return self.call(self.code.module.callee(op), operands)
        if op.name in CONTROL:
            planned = self.control(op, operands)
            return self._interpreted(op, planned) if isinstance(planned, str) else planned
        if op.name == OBSERVED and REPLACED not in op.attributes:
            return [self._observed(op, operands[0])]
        if op.name in (LOAD, STORE) and (state := self._state(op)) is not None:
            return self._load(op, state) if op.results else self._store(op, operands[0], state)
        family = family_of(op)
        types = [place.type for place in operands if place.type is not None]
        if family is None:
            if len(_shapes(op, [place.type for place in operands])) > 1:
                return self._interpreted(op)  # the interpreter raises the error about the shapes
            results = self._folded(op, operands) or self._loops(op, operands)
            if results is None and len(types) == len(operands):
                results = self._plain(op, operands, types)
            return self._interpreted(op) if results is None else results
        if family.bind is None and len(types) < len(operands):
            return self._interpreted(op)
        return self._family(op, operands, types) if len(types) == len(operands) else self._deferred(op, operands)

    def _family(self, op: Operation, operands: list[SlotView], types: Sequence[TensorType]) -> list[SlotView]:
        family, attributes, results = family_call(op, types)
        types = tuple(types)
        if len(results) == 1 and (offset := family.view_offset(types, results[0], attributes)) is not None:
            seen = self._view(self._array_slot(operands[0]), results[0], offset)
            if seen is not None:
                return [SlotView(seen, results[0], op.results[0].type)]
        if family.name == "concat":
            joined = self._joined(op, operands, types, results[0], attributes)
            if joined is not None:
                return [joined]
        packed = {
            i: self._array(operands[i]) for i in family.packs if i < len(operands) and self._is_constant(operands[i])
        }
        call, has_kernel = family.call(types, results, attributes, packed)
        inputs = [p for i, p in enumerate(operands) if i not in packed]
        return self._call(op, call, inputs, results, family_coverage(op, call, has_kernel), operands)

    def _plain(self, op: Operation, operands: list[SlotView], types: Sequence[TensorType]) -> list[SlotView] | None:
        """Plan an op on unquantized values as a kernel call or a view of its operand.

        Return None if the interpreter must run the op. Outside regions the interpreter also runs all ops on scalars.
        """
        if op.name == "tensor.empty" and as_tensor(op.result.type).has_static_shape and is_written_over(op.result):
            return [self.place("nothing", as_tensor(op.result.type), op.result.type)]
        if len(op.results) != 1:
            return None
        is_scalar = not any(isinstance(v.type, TensorType) for v in (*op.operands, *op.results))
        if is_scalar and not self.in_region:
            return None
        declared = op.result.type
        offset = view_offset(op, types, self._known)
        if offset is not None and self.slots[operands[0].slot].kind != "value":
            t = as_tensor(declared)
            t = t if t.has_static_shape else t.with_(shape=types[0].shape)
            seen = self._view(operands[0].slot, t, offset)
            if seen is not None:
                return [SlotView(seen, t, declared)]
        call = plain_call(op, types, self._known)
        if call is None:
            return None
        result = as_tensor(declared)
        known = result if result.has_static_shape else _known_types(op, types)[0]
        if known is None:
            return None
        given = operands[: len(call.operand_dtypes) - 1]
        return self._call(op, call, given, [known], kernel_coverage(op, call), given)

    @cached_property
    def folder(self) -> ConstantFolder[SlotView]:
        """The constant folder, which computes values known for the concrete input types, such as sizes of tensors."""
        return ConstantFolder(partial(interpret_constants, self.code), self._may_fold, self._constants)

    def _folded(self, op: Operation, operands: list[SlotView]) -> list[SlotView] | None:
        if op.name == "tensor.dim" and operands[0].type is not None and self._is_constant(operands[1]):
            axis, shape = int(self._array(operands[1])), operands[0].shape
            return self._constants(op, [np.array(shape[axis])]) if 0 <= axis < len(shape) else None
        return self.folder.constants(op, self._known)

    def _may_fold(self, op: Operation) -> bool:
        sizes = [prod(self.places[value].shape) for value in op.operands]
        return bool(sizes) and max(sizes) <= MOST_ELEMENTS and op.name.partition(".")[0] in _FOLDED

    def _known(self, value: Value) -> Array | None:
        place = self.places[value]
        return self._array(place) if self._is_constant(place) else None

    def _constants(self, op: Operation, arrays: Sequence[Array]) -> list[SlotView]:
        types = [value.type for value in op.results]
        return [
            self.place("constant", as_tensor(t).with_(shape=a.shape), t, a) for t, a in zip(types, arrays, strict=True)
        ]

    def _loops(self, op: Operation, operands: list[SlotView]) -> list[SlotView] | None:
        """Plan an op as a call of a loop kernel, and return the slots of its results; None if no kernel supports it."""
        types = [place.type for place in operands if place.type is not None]
        if len(types) < len(operands) or op.name.partition(".")[0] not in ("arith", "linalg", "math"):
            return None
        constants = {i: self._array(place) for i, place in enumerate(operands) if self._is_constant(place)}
        loop_call = None
        if op.name.startswith("linalg."):
            loop_call = contraction(op, types, constants)
        loop_call = loop_call or float_loops(op, types, constants, self.code.saturating)
        results = _known_types(op, types)
        known = [t for t in results if t is not None]
        if loop_call is None or len(known) < len(results):
            return None
        coverage = kernel_coverage(op, loop_call.call)
        given, packed = ([operands[number] for number in numbers] for numbers in (loop_call.given, loop_call.packed))
        return self._call(op, loop_call.call, given, known, coverage, [*given, *packed])

    def _joined(
        self,
        op: Operation,
        operands: list[SlotView],
        types: tuple[TensorType, ...],
        result: TensorType,
        attributes: Any,
    ) -> SlotView | None:
        """Plan a concatenation whose operands are contiguous parts of the result, and return the slot of the result.

        The steps that compute the operands write directly into the result. An operand is copied only if it is not a
        temporary or occurs twice. Return None if every operand would be copied, if parts are not contiguous, or if an
        operand must be requantized.
        """
        axis, shape = one_axis("concat", types, attributes), static_shape(result, "plan")
        own = [place.slot for place in operands if self.slots[place.slot].kind == "temporary"]
        if prod(shape[:axis]) != 1 or not own or any(t.element != result.element for t in types):
            return None
        joined = self.place("temporary", result, op.result.type)
        whole, offset = self.slots[joined.slot], 0
        for place, t in zip(operands, types, strict=True):
            part = self.slots[place.slot]
            count = prod(static_shape(t, "plan"))
            if part.kind == "temporary":
                part = self._changing(place.slot)
                part.kind, part.base, part.offset = "view", joined.slot, offset * layout(part)[1].itemsize
                whole.first = min(whole.first, part.first)
            elif count:
                seen = self._view(joined.slot, t, offset) if count < prod(shape) else joined.slot
                assert seen is not None  # the result is a temporary
                given = self._array_slot(place)
                self._use(given)
                call = copy_call(layout(whole)[1], count)
                self.steps.append(CallStep(op, call, (given, seen), copied(op), [place], [joined]))
            offset += count
        self._use(joined.slot)
        return joined

    # -- globals ----------------------------------------------------------------------------------------------------

    @cached_property
    def stored(self) -> set[str]:
        return stored_globals(self.code.module)

    def _state(self, op: Operation) -> SlotView | None:
        """Return the slot of a global's array, for a load or a store; None if the interpreter must run the op."""
        name = name_of(op)
        if name not in self.states:
            initial, declared = initial_array(named_global(op)), (*op.results, *op.operands)[0].type
            t = as_tensor(declared)
            self.states[name] = None
            if initial is not None and t.has_static_shape:
                kind = "state" if name in self.stored else "constant"
                place = self.states[name] = self.place(kind, t, declared, initial)
                self.slots[place.slot].name = name
        return self.states[name]

    def _load(self, op: Operation, state: SlotView) -> list[SlotView]:
        """Plan the load of a global: a view of its array, or a copy if a store may change it before the last use."""
        if self.slots[state.slot].kind == "state" and (self.in_region or needs_copy(op)):
            return self._call(op, self._copy(state), [state], [state.static_type], copied(op), [])
        return [SlotView(state.slot, state.type, op.results[0].type)]

    def _store(self, op: Operation, value: SlotView, state: SlotView) -> list[SlotView]:
        given = self._array_slot(value)
        if root(self.slots, given) != (state.slot, 0):
            self._use(given)
            self.steps.append(CallStep(op, self._copy(state), (given, state.slot), copied(op), [value], [state]))
        return []

    def _copy(self, state: SlotView) -> KernelCall:
        _, dtype = layout(self.slots[state.slot])
        return copy_call(dtype, prod(state.shape))

    def _deferred(self, op: Operation, operands: list[SlotView]) -> list[SlotView]:
        """Plan a family's op that is bound during the run, because operand shapes are known only then."""
        self.leave_to_interpreter(op, "reads a shape that is known only at run time")
        called = family_of(op)
        packs = () if called is None else called.packs
        packed = {i: self._array(operands[i]) for i in packs if i < len(operands) and self._is_constant(operands[i])}
        family = DeferredFamily(op, packed)
        runs: list[FrameStep] = []
        given = [self._value_slot(place, runs) for place in operands]
        results = [self.place("value", None, value.type) for value in op.results]

        def run(frame: Frame) -> None:
            values = family(*(frame[slot] for slot in given))
            for result, value in zip(results, values, strict=True):
                frame[result.slot] = value

        runs.append(run)
        coverage = Coverage(op.name, str(op.location), "kernel", "bound at run")
        self._interpret(runs, coverage, operands, results)
        return results

    def _observed(self, op: Operation, operand: SlotView) -> SlotView:
        """Plan a `quant.stats_ref`: a step that passes the operand to the run's ``tap`` (the caller's function).

        Return a view of the operand as the result.
        """
        self.leave_to_interpreter(op, "is observed")
        slot = operand.slot
        self._use(slot)

        def run(frame: Frame) -> None:
            if frame[0].tap is not None:
                frame[0].tap(op, frame[slot])

        self.steps.append(ValueStep([run], Coverage(op.name, str(op.location), "tap"), [operand], []))
        return SlotView(slot, operand.type, op.result.type)

    def _interpreted(self, op: Operation, why: str = "") -> list[SlotView]:
        """Plan an op as a step of the interpreter.

        Its inputs include the values from outside that the op's regions use. ``why`` is the reason why no kernel runs
        the op, for the plan's text.
        """
        self.leave_to_interpreter(op, "has no kernel")
        runs: list[FrameStep] = []
        used = captured(op)
        for value in used:
            self.compiler.place(value, self._value_slot(self.places[value], runs))
        known = _known_types(op, [self.places[value].type for value in op.operands])
        results = [self._result_place(value.type, t) for value, t in zip(op.results, known, strict=True)]
        for value, place in zip(op.results, results, strict=True):
            self.compiler.place(value, place.slot)
        runs.extend(self.compiler.steps([op]))
        coverage = Coverage(op.name, str(op.location), "interpreter", why)
        self._interpret(runs, coverage, [self.places[value] for value in used], results)
        return results

    def _result_place(self, t: Type, known: TensorType | None) -> SlotView:
        static = isinstance(t, SCALARS) or (isinstance(t, TensorType) and t.has_static_shape)
        return self.place("value", as_tensor(t) if static else known, t)

    def _interpret(
        self, runs: list[FrameStep], coverage: Coverage, operands: Sequence[SlotView], results: Sequence[SlotView]
    ) -> None:
        """Add a step of the interpreter.

        The interpreter may return a view of an operand, so the operand's array must outlive the step. The array is
        therefore allocated for the run instead of in the arena.
        """
        for place in operands:
            slot = self.slots[root(self.slots, place.slot)[0]]
            if slot.kind == "temporary":
                slot.kind = "owned"
        self.makers.update((place.slot, runs) for place in results)
        self.steps.append(ValueStep(runs, coverage, operands, results))

    def finish(self, inputs: Sequence[SlotView], results: Sequence[SlotView]) -> Plan:
        """Allocate the arena and return the plan.

        Results get arrays of their own, because the caller keeps them and each run reuses the arena.
        """
        for place in results:
            self._use(place.slot)
            own_memory(self.slots, place.slot)
            slot = self.slots[place.slot]
            if slot.kind == "temporary":
                slot.kind = "owned"
        self._forget_constants({place.slot for place in results})
        steps = overwritten(self.slots, self.steps)
        memory = _arrange(self.slots)
        details = PlanDetails(self.slots, inputs, steps, results, self.frame)
        states = {slot.name: self.frame[number] for number, slot in self.slots.items() if slot.kind == "state"}
        executable = plan_executable(steps, self.slots, self.frame, inputs, results, memory.arena_bytes)
        runner = executable or FrameRunner(details, memory.arena_bytes)
        return Plan([place.type for place in results], states, memory, runner, lambda: details)

    def _forget_constants(self, returned: set[int]) -> None:
        """Release the arrays of constants, such as sizes, that no step reads. Keep the slots in ``returned``."""
        used = returned | {number for number, _ in self.converted}
        for step in self.steps:
            used.update(place.slot for place in step.operands)
            used.update(step.slots if isinstance(step, CallStep) else ())
        used.update({root(self.slots, number)[0] for number in used})
        for number in [number for number, slot in self.slots.items() if slot.kind == "constant" and not slot.name]:
            if number not in used:
                self.frame[number] = None
                del self.slots[number]


def _arrange(slots: Mapping[int, PlanSlot]) -> PlanMemory:
    """Set the offset of each temporary in the arena. Return the arena's size, and the most bytes in use at one time."""
    temporaries = [slot for slot in slots.values() if slot.kind == "temporary"]
    spans = [Span(slot.nbytes, slot.first, slot.last) for slot in temporaries]
    nbytes = allocate(spans)
    for slot, span in zip(temporaries, spans, strict=True):
        slot.offset = span.offset
    return PlanMemory(nbytes, live_bytes(spans))


_FOLDED = ("arith", "linalg", "math", "tensor")
"""The dialects whose ops compute sizes, and tensors from sizes."""


def _is_elementwise(op: Operation) -> bool:
    return op.name.partition(".")[0] in ("arith", "math")


def _shapes(op: Operation, types: Sequence[TensorType | None]) -> set[tuple[int | None, ...] | None]:
    """Return the distinct shapes of an elementwise op's tensor operands. Return an empty set for any other op.

    Operands of unknown type and scalar operands (the condition of a `select`) are skipped. If there are several
    shapes, the program may have an error: operands whose sizes differ at run time.
    """
    if not _is_elementwise(op):
        return set()
    pairs = zip(types, op.operands, strict=True)
    return {t.shape for t, value in pairs if t is not None and isinstance(value.type, TensorType)}


def _known_types(op: Operation, operands: Sequence[TensorType | None]) -> list[TensorType | None]:
    """Return the result types with static shapes, given the operands' types; None for each type that is not known.

    A structured op's results have the types of its output operands. An elementwise op's results have the shape of its
    operands. The result of `tensor.insert_slice` has the type of the tensor into which the slice is inserted.
    """
    results = [value.type for value in op.results]
    if isinstance(op, StructuredOp) and results:
        return list(operands[op.input_count :])
    if op.name == "tensor.insert_slice":
        return [operands[1]]
    shapes = _shapes(op, operands)
    if len(shapes) != 1 or not all(isinstance(t, TensorType) for t in results):
        return [None] * len(results)
    (shape,) = shapes
    return [as_tensor(t).with_(shape=shape) for t in results]
