"""Slots of values during planning, and the steps that convert values between kernels and the interpreter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from qrt.ir import Module, Operation, Value
from qrt.ops.core import Array, KernelCall, element_dtype, static_shape
from qrt.runtime.coverage import Coverage
from qrt.runtime.interpreter import TABLES
from qrt.runtime.interpreter.core import Compiler, Frame, ModuleCode
from qrt.runtime.interpreter.core import Step as FrameStep
from qrt.runtime.planner.slots import CallStep, PlanSlot, SlotView, Step, layout, root
from qrt.runtime.values import ShapedType, of_rank
from qrt.tensor.storage import ready
from qrt.types import TensorType, Type


@dataclass
class Attempt:
    """The planner's state from before a region is planned. It is restored if an op in the region cannot be planned."""

    slots: int
    """The number of the first new slot."""
    steps: int
    states: set[str]
    changed: dict[int, PlanSlot]
    """Copies of older slots that have changed since."""


class SlotTable:
    def __init__(self, module: Module, constants: Mapping[Operation, Sequence[Array]], saturating: bool) -> None:
        self.constants = constants
        self.code = ModuleCode(module, TABLES, saturating)
        self.compiler = Compiler(self.code)
        self.frame = self.compiler.template
        self.places: dict[Value, SlotView] = {}
        self.slots: dict[int, PlanSlot] = {}
        self.steps: list[Step] = []
        self.makers: dict[
            int, list[FrameStep]
        ] = {}  # steps to run right after the interpreter computed the value of a slot
        self.states: dict[str, SlotView | None] = {}  # by name of the global
        self.converted: dict[tuple[int, Any], int] = {}  # slots with the value of another slot in another form
        self.attempt: Attempt | None = None

    def place(self, kind: str, t: TensorType | None, declared: Type, content: Any = None) -> SlotView:
        """Add a slot and return a view of it."""
        self.frame.append(content)
        self.slots[len(self.frame) - 1] = PlanSlot(kind, t, len(self.steps), len(self.steps))
        return SlotView(len(self.frame) - 1, t, declared)

    def _view(self, number: int, t: TensorType, offset: int) -> int | None:
        """Return a slot of type ``t`` that views slot ``number`` from element ``offset`` on.

        The result is slot ``number`` itself if dtype and size are equal. Return None if the interpreter makes the array
        during the run, because its memory is not known before.
        """
        slot = self.slots[number]
        dtype = element_dtype(t.element)
        view = PlanSlot("view", t, len(self.steps), len(self.steps), offset * dtype.itemsize, number)
        if layout(slot)[1] == dtype and view.nbytes == slot.nbytes:
            return number
        if self.slots[root(self.slots, number)[0]].kind == "array":
            return None
        self.frame.append(None)
        self.slots[len(self.frame) - 1] = view
        return len(self.frame) - 1

    def _use(self, number: int) -> None:
        """Record that the next step reads the slot's memory, which extends the memory's lifetime."""
        self._changing(root(self.slots, number)[0]).last = len(self.steps)

    def _changing(self, number: int) -> PlanSlot:
        """Return a slot that the caller is going to change; a copy is saved first if a region is being planned."""
        slot = self.slots[number]
        if self.attempt is not None and number < self.attempt.slots:
            self.attempt.changed.setdefault(number, replace(slot))
        return slot

    def _undo(self, attempt: Attempt) -> None:
        for number in range(attempt.slots, len(self.frame)):
            self.slots.pop(number, None)
        self.slots.update(attempt.changed)
        del self.frame[attempt.slots :], self.steps[attempt.steps :]
        self.states = {name: place for name, place in self.states.items() if name in attempt.states}
        self.converted = {key: number for key, number in self.converted.items() if number < attempt.slots}

    def _call(
        self,
        op: Operation,
        call: KernelCall,
        inputs: Sequence[SlotView],
        results: Sequence[TensorType],
        coverage: Coverage,
        operands: Sequence[SlotView],
    ) -> list[SlotView]:
        given = [self._array_slot(place) for place in inputs]
        places = [self.place("temporary", t, v.type) for t, v in zip(results, op.results, strict=True)]
        for slot in given:
            self._use(slot)
        written = [place.slot for place in places]
        self.steps.append(CallStep(op, call, (*given, *written), coverage, operands, places))
        return places

    def _value_slot(self, place: SlotView, runs: list[FrameStep]) -> int:
        """Return the slot that has a value as the interpreter takes it: a NumPy scalar, or an array of the right shape.

        If the value must be converted, add the conversion to ``runs``: functions that run before the value is used.
        """
        slot = self.slots[place.slot]
        if place.type is None or slot.kind == "value":
            return place.slot
        is_scalar = not isinstance(place.declared, ShapedType)
        source, shape = place.slot, place.shape
        if not is_scalar and shape == static_shape(slot.static_type, "plan"):
            return source
        key = source, None if is_scalar else shape
        if key not in self.converted:
            content = of_rank(self._array(place), place.declared) if slot.kind == "constant" else None
            target = self.converted[key] = self.place("value", place.type, place.declared, content).slot
            if slot.kind != "constant":
                runs.append(lambda frame: _set(frame, target, of_rank(frame[source].reshape(shape), place.declared)))
        return self.converted[key]

    def _array_slot(self, place: SlotView) -> int:
        """Return the slot that has a value as an array for kernels.

        A value of the interpreter is converted right after the step that computes it.
        """
        if self.slots[place.slot].kind != "value":
            return place.slot
        key = place.slot, "array"
        if key not in self.converted:
            target = self.converted[key] = self.place("array", place.type, place.declared).slot
            self.makers[place.slot].append(lambda frame: _set(frame, target, ready(np.asarray(frame[place.slot]))))
        return self.converted[key]

    def _is_constant(self, place: SlotView) -> bool:
        return self.slots[place.slot].kind == "constant"

    def _array(self, place: SlotView) -> Array:
        array: Array = self.frame[place.slot].reshape(place.shape)
        return array


def _set(frame: Frame, slot: int, value: Any) -> None:
    frame[slot] = value
