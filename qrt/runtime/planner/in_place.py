"""Steps that write over an operand: where it dies, and their kernel allows it, the result takes its bytes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from qrt._ext import kernels as kernel_calls
from qrt.runtime.planner.slots import CallStep, PlanSlot, Step, root


def overwritten(slots: Mapping[int, PlanSlot], steps: Sequence[Step]) -> list[Step]:
    """The steps, of which those that write over an operand say so. Their results become views of it."""
    return [_marked(step) if _overwrites(slots, step, number) else step for number, step in enumerate(steps)]


def _overwrites(slots: Mapping[int, PlanSlot], step: Step, number: int) -> bool:
    """Has a step write over the first operand that allows it. Returns whether there is one."""
    if not isinstance(step, CallStep) or not isinstance(step.call, kernel_calls.KernelCall) or not step.results:
        return False
    *given, written = step.slots
    result = slots[written]
    if result.kind != "temporary" or result.nbytes == 0:
        return False
    allowed = step.call.in_place
    for operand in allowed:
        place = root(slots, given[operand])
        memory = slots[place[0]]
        if memory.kind != "temporary" or memory.last != number:
            continue
        # What is read from the same memory must stand exactly where the operand does.
        read = [i for i, slot in enumerate(given) if root(slots, slot)[0] == place[0]]
        if all(i in allowed and root(slots, given[i]) == place for i in read):
            result.kind, (result.base, result.offset) = "view", place
            memory.last = max(memory.last, result.last)
            return True
    return False


def _marked(step: Step) -> Step:
    kernel, fused, names = step.coverage.detail.partition(" with ")
    return replace(step, coverage=replace(step.coverage, detail=f"{kernel} in place{fused}{names}"))
