"""The parts of a plan: slots of its frame, the places of values in them, steps, and what the plan says of each step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, cast

import numpy as np

from qrt._ext import kernels as kernel_calls
from qrt.errors import QuantError
from qrt.ir import Operation
from qrt.ops.core import Array, KernelCall, element_dtype, static_shape
from qrt.runtime.interpreter.core import Frame, raise_located
from qrt.runtime.interpreter.core import Step as FrameStep
from qrt.runtime.operations import FUSED
from qrt.types import TensorType, Type


@dataclass(frozen=True)
class Coverage:
    """Where one op of the program runs: ``kernel`` (``detail`` names the entry and its ISA), ``control`` of kernels
    (``detail`` says where to, with steps counted from 0), ``reference``, ``interpreter`` (of a loop or a branch
    ``detail`` says why), ``constant`` or ``alias``."""

    op: str
    location: str
    engine: str
    detail: str = ""


@dataclass
class PlanSlot:
    """The content of one slot of the frame: an ``input`` or a ``constant``; a ``temporary`` in the arena or an array
    ``owned`` by one run, both of ``type``; a ``value`` in the interpreter's form; an ``array`` that is made of such a
    value; the array of a global of the ``state``; a ``view`` of another slot's memory, ``offset`` bytes into it.
    """

    kind: str
    type: TensorType | None
    first: int = 0
    last: int = 0
    offset: int = 0
    base: int = -1
    """Of a view: the slot whose memory it sees."""
    name: str = ""
    """Of a state: the global, whose array in the frame is the initial one."""

    @property
    def static_type(self) -> TensorType:
        assert self.type is not None  # buffers are made for known types
        return self.type

    @property
    def nbytes(self) -> int:
        shape, dtype = layout(self)
        return prod(shape) * dtype.itemsize


def root(slots: Mapping[int, PlanSlot], number: int) -> tuple[int, int]:
    """The slot that has the memory of one, and the bytes into it."""
    offset = 0
    while (slot := slots[number]).kind == "view":
        number, offset = slot.base, offset + slot.offset
    return number, offset


def layout(slot: PlanSlot) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """The shape and the dtype of a slot's array."""
    t = slot.static_type
    return static_shape(t, "plan"), element_dtype(t.element)


def seen(memory: Array, slot: PlanSlot) -> Array:
    """The array of a view, on the memory of its base."""
    shape, dtype = layout(slot)
    found: Array = memory.reshape(-1).view(np.uint8)[slot.offset : slot.offset + slot.nbytes].view(dtype).reshape(shape)
    return found


@dataclass(frozen=True)
class SlotView:
    """A value of the program: its slot, and the static type under which this name sees it; None where only the run
    knows its shape, or where it is no tensor. ``declared`` is its type in the program."""

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
    """A call on arrays, of which it writes the last, one for each result. ``operands`` are those of the op, packed ones
    too. A step of control, or of a copy between rounds, says no operands and results.
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
    """An op by the interpreter: what it does with the frame."""

    runs: list[FrameStep]
    coverage: Coverage
    operands: Sequence[SlotView]
    results: Sequence[SlotView]


Step = CallStep | ValueStep


@dataclass(frozen=True)
class PlanDetails:
    """The steps of a plan, and the places of its values: slots of a frame. The frame has the constants in their slots,
    and the initial array of each global."""

    slots: Mapping[int, PlanSlot]
    inputs: Sequence[SlotView]
    steps: Sequence[Step]
    results: Sequence[SlotView]
    frame: Frame

    @property
    def segments(self) -> list[list[Step]]:
        """The steps as maximal runs of one kind: kernels, which are one call into C, and all others."""
        segments: list[list[Step]] = []
        kinds = [isinstance(step, CallStep) and isinstance(step.call, kernel_calls.KernelCall) for step in self.steps]
        for number, step in enumerate(self.steps):
            if number and kinds[number] == kinds[number - 1]:
                segments[-1].append(step)
            else:
                segments.append([step])
        return segments


def empty(t: TensorType) -> Array:
    """An array of a static type, not filled."""
    return np.empty(static_shape(t, "plan"), element_dtype(t.element))


def copied(op: Operation) -> Coverage:
    return Coverage(op.name, str(op.location), "kernel", "copy (ref)")


def kernel_name(call: kernel_calls.KernelCall) -> str:
    """The entry and its ISA, and the microkernel that was chosen where the ISA has several."""
    chosen = f", {call.microkernel}" if call.microkernel and len(kernel_calls.microkernels(call.isa)) > 1 else ""
    return f"{call.name} ({call.isa}{chosen})"


def kernel_coverage(op: Operation, call: kernel_calls.KernelCall) -> Coverage:
    return Coverage(op.name, str(op.location), "kernel", kernel_name(call))


def family_coverage(op: Operation, call: KernelCall, has_kernel: bool) -> Coverage:
    detail = kernel_name(call) if isinstance(call, kernel_calls.KernelCall) else op.name.partition(".")[2]
    if FUSED in op.attributes:
        detail += f" with {' '.join(op.attributes[FUSED].python)}"
    return Coverage(op.name, str(op.location), "kernel" if has_kernel else "reference", detail)
