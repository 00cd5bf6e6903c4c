"""Plans as text, which `qrt run --print-plan` prints, and how long their steps took."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qrt.runtime.plan import Plan
from qrt.runtime.planner.slots import PlanDetails, SlotView, Step, root
from qrt.types import IntegerType, TensorType, Type, UniformType

if TYPE_CHECKING:
    from qrt.runtime.planner.slots import Coverage


def plan_text(name: str, plan: Plan) -> str:
    """The plan of a function, a line for each step: its segment, the engine with the kernel and its ISA, the op and its
    position, operands and results. Each of those is a slot, what stands in it (``arena`` with the offset) and the type,
    which is that of the storage where it is quantized."""
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
    found = step.coverage
    engine = f"{found.engine} {found.detail}".rstrip()
    operands, results = (_spelled_all(places, details) for places in (step.operands, step.results))
    return f"{engine}: {found.op} at {found.location} ({operands}) -> ({results})"


def _spelled_all(places: Sequence[SlotView], details: PlanDetails) -> str:
    return ", ".join(f"%{place.slot} {_content(details, place.slot)} {_type(place)}" for place in places)


def _content(details: PlanDetails, number: int) -> str:
    """Where a slot stands: in the arena, or what it is; and the bytes into it."""
    number, offset = root(details.slots, number)
    slot = details.slots[number]
    if slot.kind == "temporary":
        return f"arena+{slot.offset + offset}"
    kind = f"state @{slot.name}" if slot.kind == "state" else slot.kind
    return f"{kind}+{offset}" if offset else kind


def _type(place: SlotView) -> Type:
    """The type under this name, with the dimensions that are known; of a quantized one what is stored."""
    declared = place.declared
    t = place.type if place.type is not None and isinstance(declared, TensorType) else declared
    element = t.element if isinstance(t, TensorType) else t
    if not isinstance(element, UniformType):
        return t
    stored = IntegerType(element.storage_width, "signless" if element.is_signed else "unsigned")
    return t.with_(element=stored) if isinstance(t, TensorType) else stored


class PlanTiming(NamedTuple):
    """What one step of a program took: ``share`` is its part of the seconds of all steps, ``name`` its operation,
    ``location`` where that stands in the text, and ``engine`` what runs it, as in ``Program.coverage``."""

    name: str
    seconds: float
    share: float
    location: str
    engine: str


def shares(runs: "Sequence[Sequence[tuple[Coverage, float]]]") -> list[PlanTiming]:
    """The steps with the median of their seconds in several runs."""
    medians = [(steps[0][0], float(np.median([seconds for _, seconds in steps]))) for steps in zip(*runs, strict=True)]
    total = sum(seconds for _, seconds in medians)
    return [
        PlanTiming(
            found.op,
            seconds,
            seconds / total if total else 0.0,
            found.location,
            f"{found.engine} {found.detail}".rstrip(),
        )
        for found, seconds in medians
    ]
