"""Plans as text for `qrt run --print-plan`, and the measured times of their steps."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qrt.runtime.plan import Plan
from qrt.runtime.planner.slots import PlanDetails, SlotView, Step, root
from qrt.types import IntegerType, TensorType, Type, UniformType

if TYPE_CHECKING:
    from qrt.runtime.planner.slots import Coverage


def plan_text(name: str, plan: Plan) -> str:
    """Return the plan of a function as text, one line per step.

    A line has the step's segment, its engine with the kernel and ISA, the op and its location, operands and results.
    An operand or result is shown as its slot, the slot's content (``arena`` with the offset) and its type; a quantized
    type is shown as its storage type."""
    details, memory = plan.details, plan.memory
    lines = [
        (
            f"@{name} for {plan.isa}, arena of {memory.arena_bytes} bytes, of which at most "
            f"{memory.live_bytes} are live at once"
        )
    ]
    lines.append(f"takes ({_spelled_all(details.inputs, details)})")
    for number, segment in enumerate(details.segments):
        lines.extend(f"{number}: {_step(step, details)}" for step in segment)
    lines.append(f"returns ({_spelled_all(details.results, details)})")
    return "\n".join(lines)


def _step(step: Step, details: PlanDetails) -> str:
    coverage = step.coverage
    engine = f"{coverage.engine} {coverage.detail}".rstrip()
    operands, results = (_spelled_all(places, details) for places in (step.operands, step.results))
    return f"{engine}: {coverage.op} at {coverage.location} ({operands}) -> ({results})"


def _spelled_all(places: Sequence[SlotView], details: PlanDetails) -> str:
    return ", ".join(f"%{place.slot} {_content(details, place.slot)} {_type(place)}" for place in places)


def _content(details: PlanDetails, number: int) -> str:
    """Return the memory of a slot: its place in the arena, or the kind of its root slot, with the offset in bytes."""
    number, offset = root(details.slots, number)
    slot = details.slots[number]
    if slot.kind == "temporary":
        return f"arena+{slot.offset + offset}"
    kind = f"state @{slot.name}" if slot.kind == "state" else slot.kind
    return f"{kind}+{offset}" if offset else kind


def _type(place: SlotView) -> Type:
    """Return the type of a place with its known dimensions; a quantized element type becomes its storage type."""
    declared = place.declared
    t = place.type if place.type is not None and isinstance(declared, TensorType) else declared
    element = t.element if isinstance(t, TensorType) else t
    if not isinstance(element, UniformType):
        return t
    stored = IntegerType(element.storage_width, "signless" if element.is_signed else "unsigned")
    return t.with_(element=stored) if isinstance(t, TensorType) else stored


class PlanTiming(NamedTuple):
    """The measured time of one step of a program.

    ``name`` is the step's operation, ``share`` its fraction of the seconds of all steps, ``location`` the operation's
    position in the text, and ``engine`` the kernel or interpreter that runs it, as in ``Program.coverage``."""

    name: str
    seconds: float
    share: float
    location: str
    engine: str


def shares(runs: "Sequence[Sequence[tuple[Coverage, float]]]") -> list[PlanTiming]:
    """Return the timing of each step: the median of its seconds over several runs."""
    medians = [(steps[0][0], float(np.median([seconds for _, seconds in steps]))) for steps in zip(*runs, strict=True)]
    total = sum(seconds for _, seconds in medians)
    return [
        PlanTiming(
            coverage.op,
            seconds,
            seconds / total if total else 0.0,
            coverage.location,
            f"{coverage.engine} {coverage.detail}".rstrip(),
        )
        for coverage, seconds in medians
    ]
