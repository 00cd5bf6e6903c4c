"""The parts of a plan: slots, views of slots, and steps.

A plan runs over a frame, a list of arrays and other values; a slot is an index into it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, cast

import numpy as np

from qrt._ext import kernels as kernel_calls
from qrt.errors import QuantError
from qrt.ir import Operation
from qrt.ops.core import Array, KernelCall, element_dtype, static_shape
from qrt.runtime.coverage import Coverage
from qrt.runtime.interpreter.core import Frame, raise_located
from qrt.runtime.interpreter.core import Step as FrameStep
from qrt.runtime.operations import FUSED
from qrt.types import TensorType, Type


@dataclass
class PlanSlot:
    """The content of one slot of the frame.

    ``kind`` is "input" or "constant"; "temporary" for an array in the arena; "owned" for an array that each run
    allocates; "value" for a value as the interpreter takes it; "array" for the array made from such a value; "state"
    for the array of a global; or "view" for the memory of slot ``base`` from byte ``offset`` on. ``first`` and ``last``
    are the first and last step that use the slot.
    """

    kind: str
    type: TensorType | None
    first: int = 0
    last: int = 0
    offset: int = 0
    base: int = -1
    """For a view: the slot that it views."""
    name: str = ""
    """For a state: the name of the global, whose initial array is in the frame."""

    @property
    def static_type(self) -> TensorType:
        assert self.type is not None  # slots of arrays have a type
        return self.type

    @property
    def nbytes(self) -> int:
        shape, dtype = layout(self)
        return prod(shape) * dtype.itemsize


def root(slots: Mapping[int, PlanSlot], number: int) -> tuple[int, int]:
    """Return the slot that owns the memory of slot ``number`` (not a view), and the offset in that memory in bytes."""
    offset = 0
    while (slot := slots[number]).kind == "view":
        number, offset = slot.base, offset + slot.offset
    return number, offset


def own_memory(slots: Mapping[int, PlanSlot], number: int) -> None:
    """Make a view of a whole temporary the owner of its memory, which the temporary then views.

    A result of the program is such a view if its elements have another type than those that the last kernel stored:
    the kernel then writes to the result's array instead of to the arena.
    """
    view = slots[number]
    base, offset = root(slots, number)
    owner = slots[base]
    if view.kind != "view" or owner.kind != "temporary" or offset != 0 or view.nbytes != owner.nbytes:
        return
    view.kind, view.base, view.first, view.last = "temporary", -1, owner.first, owner.last
    owner.kind, owner.base, owner.offset = "view", number, 0


def layout(slot: PlanSlot) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return the shape and the dtype of a slot's array."""
    t = slot.static_type
    return static_shape(t, "plan"), element_dtype(t.element)


def viewed_array(memory: Array, slot: PlanSlot) -> Array:
    """Return the array of a view, given the array of the slot that it views."""
    shape, dtype = layout(slot)
    view: Array = memory.reshape(-1).view(np.uint8)[slot.offset : slot.offset + slot.nbytes].view(dtype).reshape(shape)
    return view


@dataclass(frozen=True)
class SlotView:
    """A value of the program: the number of the slot with its content, and its static type.

    ``type`` is None if the shape is known only at run time, or the value is not a tensor. ``declared`` is the value's
    type in the program.
    """

    slot: int
    type: TensorType | None
    declared: Type

    @property
    def static_type(self) -> TensorType:
        assert self.type is not None  # as for PlanSlot.static_type
        return self.type

    @property
    def shape(self) -> tuple[int, ...]:
        return cast("tuple[int, ...]", self.static_type.shape)


@dataclass(frozen=True)
class CallStep:
    """A step that calls a kernel, or a reference implementation, on the arrays of ``slots``: inputs, then outputs.

    ``operands`` has all operands of the op, also constants that are packed in the call and therefore have no place in
    ``slots``. It is empty for some control steps.
    """

    operation: Operation
    call: KernelCall
    slots: tuple[int, ...]
    coverage: Coverage
    operands: Sequence[SlotView]
    results: Sequence[SlotView]

    def __call__(self, frame: Frame) -> None:
        try:
            self.call(*(frame[slot] for slot in self.slots))
        except QuantError as error:
            raise_located(self.operation, error)


@dataclass(frozen=True)
class ValueStep:
    """A step of the interpreter: functions (``runs``) that read and write the frame."""

    runs: list[FrameStep]
    coverage: Coverage
    operands: Sequence[SlotView]
    results: Sequence[SlotView]


Step = CallStep | ValueStep


def copied(op: Operation) -> Coverage:
    return Coverage(op.name, str(op.location), "kernel", "copy (ref)")


def kernel_name(call: kernel_calls.KernelCall) -> str:
    """Return the name of a call's kernel with its ISA, and with the microkernel if the ISA has several."""
    chosen = f", {call.microkernel}" if call.microkernel and len(kernel_calls.microkernels(call.isa)) > 1 else ""
    return f"{call.name} ({call.isa}{chosen})"


def kernel_coverage(op: Operation, call: kernel_calls.KernelCall) -> Coverage:
    return Coverage(op.name, str(op.location), "kernel", kernel_name(call))


def family_coverage(op: Operation, call: KernelCall, has_kernel: bool) -> Coverage:
    detail = kernel_name(call) if isinstance(call, kernel_calls.KernelCall) else op.name.partition(".")[2]
    if FUSED in op.attributes:
        detail += f" with {' '.join(op.attributes[FUSED].python)}"
    return Coverage(op.name, str(op.location), "kernel" if has_kernel else "reference", detail)
