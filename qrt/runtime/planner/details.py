"""The steps of a plan and the slots of its values, to print the plan and to locate errors."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from qrt._ext import kernels as kernel_calls
from qrt.errors import KernelError
from qrt.runtime.interpreter.core import Frame, raise_located
from qrt.runtime.planner.slots import CallStep, PlanSlot, SlotView, Step, root
from qrt.types import IntegerType, TensorType, Type, UniformType


@dataclass(frozen=True)
class PlanDetails:
    """The steps of a plan, and the slots of its values.

    ``frame`` has the constants and the initial arrays of globals.
    """

    slots: Mapping[int, PlanSlot]
    inputs: Sequence[SlotView]
    steps: Sequence[Step]
    results: Sequence[SlotView]
    frame: Frame

    @property
    def segments(self) -> list[list[Step]]:
        """The steps, grouped into segments: consecutive kernels, which one C call runs, or consecutive other steps."""
        segments: list[list[Step]] = []
        kinds = [isinstance(step, CallStep) and isinstance(step.call, kernel_calls.KernelCall) for step in self.steps]
        for number, step in enumerate(self.steps):
            if number and kinds[number] == kinds[number - 1]:
                segments[-1].append(step)
            else:
                segments.append([step])
        return segments

    def raise_located(self, number: int, error: KernelError) -> NoReturn:
        """Raise the error of step ``number`` with the location of its op; raise it unchanged if the step has no op."""
        step = self.steps[number] if number < len(self.steps) else None
        if not isinstance(step, CallStep):  # the copy of a result, or the saved text does not match the plan
            raise error
        raise_located(step.operation, error)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the plan's text: the inputs, each step, and the results.

        The line of a step has the number of its segment, the engine with kernel and ISA, the op and its location,
        operands and results. An operand or result is printed as its slot, the slot's memory (``arena`` with the offset)
        and its type; a quantized type is printed as its storage type.
        """
        yield f"takes ({self._spelled(self.inputs)})"
        for number, segment in enumerate(self.segments):
            for step in segment:
                coverage = step.coverage
                engine = f"{coverage.engine} {coverage.detail}".rstrip()
                operands, results = self._spelled(step.operands), self._spelled(step.results)
                yield f"{number}: {engine}: {coverage.op} at {coverage.location} ({operands}) -> ({results})"
        yield f"returns ({self._spelled(self.results)})"

    def _spelled(self, places: Sequence[SlotView]) -> str:
        return ", ".join(f"%{place.slot} {self._content(place.slot)} {_type(place)}" for place in places)

    def _content(self, number: int) -> str:
        """Return the text of the memory of slot ``number``, such as ``arena+64``, ``constant`` or ``input+16``."""
        number, offset = root(self.slots, number)
        slot = self.slots[number]
        if slot.kind == "temporary":
            return f"arena+{slot.offset + offset}"
        kind = f"state @{slot.name}" if slot.kind == "state" else slot.kind
        return f"{kind}+{offset}" if offset else kind


def _type(place: SlotView) -> Type:
    """Return a value's type with its known dimensions and, if it is quantized, the storage type as element type."""
    declared = place.declared
    t = place.type if place.type is not None and isinstance(declared, TensorType) else declared
    element = t.element if isinstance(t, TensorType) else t
    if not isinstance(element, UniformType):
        return t
    stored = IntegerType(element.storage_width, "signless" if element.is_signed else "unsigned")
    return t.with_(element=stored) if isinstance(t, TensorType) else stored
