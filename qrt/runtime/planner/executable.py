"""Construction of executables: for a whole plan of kernels, or for consecutive kernels between interpreter steps.

An executable knows the memory of all operands except external arrays, which are passed to each run.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qrt._ext.kernels import Executable, KernelCall, bind_copy
from qrt.errors import QuantError
from qrt.ir import Operation
from qrt.ops.core import Array
from qrt.runtime.interpreter import core
from qrt.runtime.interpreter.core import raise_located
from qrt.runtime.operations import family_call
from qrt.runtime.planner.slots import CallStep, PlanSlot, SlotView, Step, layout, root
from qrt.runtime.values import as_tensor, empty
from qrt.tensor.storage import ready
from qrt.types import TensorType

MOST_DIMENSIONS = 31
"""The largest rank of an external array: MAX_OPERAND_RANK in `_ext`."""


def copy_call(dtype: np.dtype[Any], size: int) -> KernelCall:
    """Return a kernel call that copies a contiguous array of ``size`` elements."""
    return bind_copy(
        dtype=dtype,
        shapes=[(size,)],
        source_strides=[(1,)],
        target_strides=[(1,)],
        source_sizes=[size],
        target_size=size,
    )


def plan_executable(
    steps: Sequence[Step],
    slots: Mapping[int, PlanSlot],
    frame: Sequence[Any],
    inputs: Sequence[SlotView],
    results: Sequence[SlotView],
    arena_bytes: int,
) -> Executable | None:
    """Return the executable of a whole plan; None if a step is not a kernel, or a rank is too large for the C code."""
    calls = [step for step in steps if isinstance(step, CallStep) and isinstance(step.call, KernelCall)]
    if len(calls) < len(steps) or any(place.type is None for place in (*inputs, *results)):
        return None
    states = [SlotView(number, slot.type, slot.static_type) for number, slot in slots.items() if slot.kind == "state"]
    shapes = [place.shape for place in (*inputs, *results, *states)]
    if any(len(shape) > MOST_DIMENSIONS for shape in shapes):
        return None
    return _ExecutableBuilder(slots, frame, inputs, results).executable(calls, arena_bytes)


def segment_executable(steps: Sequence[CallStep], first_step: int) -> tuple[Executable, list[int]]:
    """Return (executable of consecutive kernels, slots of its external arrays).

    Slots that the kernels only read come before those that they write. ``first_step`` is the number of the first kernel
    among the steps of the plan.
    """
    calls = [step.call for step in steps if isinstance(step.call, KernelCall)]
    written: set[int] = set()
    layouts: dict[int, tuple[np.dtype[Any], tuple[int, ...]]] = {}
    for step, call in zip(steps, calls, strict=True):
        written.update(step.slots[len(step.slots) - call.outputs :])
        for slot, dtype, shape in zip(step.slots, call.operand_dtypes, call.operand_shapes, strict=True):
            layouts.setdefault(slot, (dtype, shape))
    slots = sorted(layouts, key=lambda slot: slot in written)
    number = {slot: index for index, slot in enumerate(slots)}
    executable = Executable(
        calls,
        [[(number[slot], 0) for slot in step.slots] for step in steps],
        list(range(len(slots))),
        [layouts[slot] for slot in slots],
        len(slots) - len(written),
        0,
        0,
        core.MOST_ROUNDS,
        first_step,
    )
    return executable, slots


@dataclass
class _ExecutableBuilder:
    """A builder of a plan's executable.

    It numbers the bases: the blocks of memory that contain the operands. A base is the arena, a constant array, or an
    external array that is passed to each run.
    """

    slots: Mapping[int, PlanSlot]
    frame: Sequence[Any]
    inputs: Sequence[SlotView]
    results: Sequence[SlotView]

    def __post_init__(self) -> None:
        self.externals: list[tuple[np.dtype[Any], tuple[int, ...]]] = []
        self.bases: list[Array | int | None] = [None]  # base 0 is the arena
        self.base_of: dict[int, int] = {}

    def external(self, slot: int | None, dtype: np.dtype[Any], shape: tuple[int, ...]) -> int:
        """Add an external array as a new base, and return the base's number.

        ``slot`` is the slot that it stores, or None.
        """
        self.bases.append(len(self.externals))
        self.externals.append((dtype, shape))
        if slot is not None:
            self.base_of[slot] = len(self.bases) - 1
        return len(self.bases) - 1

    def place(self, number: int) -> tuple[int, int]:
        """Return the number of the base in which a slot lies, and the slot's offset in it in bytes."""
        number, offset = root(self.slots, number)
        slot = self.slots[number]
        if slot.kind == "temporary":
            return 0, slot.offset + offset
        if number not in self.base_of:
            self.bases.append(self.frame[number])  # a constant
            self.base_of[number] = len(self.bases) - 1
        return self.base_of[number], offset

    def executable(self, steps: Sequence[CallStep], arena_bytes: int) -> Executable | None:
        """Return the executable of these steps; None if a step uses an array that only the interpreter could make."""
        for place in self.inputs:
            shape, dtype = layout(self.slots[place.slot])
            self.external(place.slot, dtype, shape)
        copied: list[tuple[int, int]] = []  # (slot, base) of results that need a copy
        for place in self.results:
            _, dtype = layout(self.slots[place.slot])
            is_own = self.slots[place.slot].kind == "owned" and place.slot not in self.base_of
            base = self.external(place.slot if is_own else None, dtype, place.shape)
            if not is_own:
                copied.append((place.slot, base))
        for number, slot in self.slots.items():
            if slot.kind == "state":
                shape, dtype = layout(slot)
                self.external(number, dtype, shape)
        known = {"temporary", "constant", "input", "owned", "state", "view"}
        used = {number for step in steps for number in step.slots}
        if any(self.slots[number].kind not in known for number in used):
            return None
        roots = {root(self.slots, number)[0] for number in used}
        if any(self.slots[number].kind == "owned" and number not in self.base_of for number in roots):
            return None
        calls = [step.call for step in steps if isinstance(step.call, KernelCall)]
        operands = [[self.place(number) for number in step.slots] for step in steps]
        for number, base in copied:
            shape, dtype = layout(self.slots[number])
            calls.append(copy_call(dtype, int(np.prod(shape))))
            operands.append([self.place(number), (base, 0)])
        return Executable(
            calls,
            operands,
            self.bases,
            self.externals,
            len(self.inputs),
            len(self.results),
            arena_bytes,
            core.MOST_ROUNDS,
        )


class DeferredFamily:
    """An op of an op family whose kernel is bound during the run, when the operands' shapes are known.

    The latest bound kernel is cached.
    """

    def __init__(self, op: Operation, packed: dict[int, Array]) -> None:
        self.op, self.packed = op, packed
        self.elements = [as_tensor(value.type).element for value in op.operands]
        self.bound: tuple[Any, ...] = ()
        self.lock = threading.Lock()

    def __call__(self, *operands: Any) -> list[Array]:
        arrays = [ready(np.asarray(operand)) for operand in operands]
        shapes = [array.shape for array in arrays]
        with self.lock:
            bound = self.bound
        try:
            if not bound or bound[0] != shapes:
                bound = self._bind(shapes)
                with self.lock:
                    self.bound = bound
            _, call, results = bound
            outputs = [empty(result) for result in results]
            call(*(array for i, array in enumerate(arrays) if i not in self.packed), *outputs)
        except QuantError as error:
            raise_located(self.op, error)
        return outputs

    def _bind(self, shapes: list[tuple[int, ...]]) -> tuple[Any, ...]:
        types = tuple(TensorType(shape, element) for shape, element in zip(shapes, self.elements, strict=True))
        family, attributes, results = family_call(self.op, types)
        return shapes, family.call(types, results, attributes, self.packed)[0], results
