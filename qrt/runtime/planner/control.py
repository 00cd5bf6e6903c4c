"""Planning of loops and branches as steps: `scf.while`, `scf.for` and `scf.if` whose regions have only kernels.

A loop copies its initial values to the slots of its carried values. At the end of an iteration it copies the next
values there, as if all were assigned at once. A kernel that computes a next value may write it to the carried slot
directly, if no later step reads the present value. A value that `scf.condition` passes on has one slot: the body's
argument and the loop's result are views of it. A branch has slots for its results, which both regions write. The slots
of values that are computed before a loop and read in it stay live until the loop ends.
"""

from collections.abc import Sequence

import numpy as np

import qrt.kernels as kernels
from qrt._ext import kernels as kernel_calls
from qrt._ext.kernels import bind_control, bind_plain
from qrt.errors import QuantError
from qrt.ir import Block, Operation, Region, Value
from qrt.ir.rewriting.constant_folder import captured
from qrt.ops.core import KernelCall
from qrt.runtime.coverage import Coverage
from qrt.runtime.interpreter import core
from qrt.runtime.planner.arena import marked_in_place, overwritable
from qrt.runtime.planner.executable import copy_call
from qrt.runtime.planner.places import Attempt, SlotTable
from qrt.runtime.planner.slots import CallStep, SlotView, copied, kernel_coverage, layout, root
from qrt.types import IndexType, IntegerType, TensorType


class PlanningRefusal(Exception):
    """The reason why an operation with regions cannot be planned and is left to the interpreter."""


class ControlPlanner(SlotTable):
    """A planner of `scf.while`, `scf.for` and `scf.if`. The subclass plans the operations of a block."""

    def block(self, block: Block, arguments: Sequence[SlotView]) -> list[SlotView]:
        """Plan a block whose arguments are in these slots; return the slots of its terminator's operands."""
        raise NotImplementedError

    @property
    def in_region(self) -> bool:
        """True while a region is planned, in which no operation may need the interpreter."""
        return self.attempt is not None

    def leave_to_interpreter(self, op: Operation, why: str) -> None:
        """Raise PlanningRefusal if ``op``, which needs the interpreter, is in a region that is being planned.

        ``why`` is the reason, for the plan's text.
        """
        if self.in_region:
            raise PlanningRefusal(f"{op.name} at {op.location} {why}")

    def _call(
        self,
        op: Operation,
        call: KernelCall,
        inputs: Sequence[SlotView],
        results: Sequence[TensorType],
        coverage: Coverage,
        operands: Sequence[SlotView],
    ) -> list[SlotView]:
        if not isinstance(call, kernel_calls.KernelCall):
            self.leave_to_interpreter(op, "has no kernel")
        return super()._call(op, call, inputs, results, coverage, operands)

    def control(self, op: Operation, operands: Sequence[SlotView]) -> list[SlotView] | str:
        """Plan a loop or a branch. Return the slots of its results, or the reason why the interpreter must run it."""
        plan = {"scf.while": self._while, "scf.for": self._for, "scf.if": self._if}[op.name]
        if self.in_region:
            return plan(op, operands)
        for value in captured(op):
            place = self.places[value]
            if place.type is not None:  # kernels in the regions need values of the interpreter as arrays
                self._array_slot(place)
        self.attempt = Attempt(len(self.frame), len(self.steps), set(self.states), {})
        try:
            return plan(op, operands)
        except (PlanningRefusal, QuantError, RecursionError) as error:
            self._undo(self.attempt)
            return _reason(error)
        finally:
            self.attempt = None

    # -- loops -------------------------------------------------------------------------------------------------------

    def _while(self, op: Operation, operands: Sequence[SlotView]) -> list[SlotView]:
        before, after = map(_block, op.regions)
        carried = [self._carried(op, place, value) for place, value in zip(operands, before.arguments, strict=True)]
        head = self._step(op, "round", cost=len(before.operations))
        condition, *forwarded = self.block(before, carried)
        self._use(self._array_slot(condition))
        leave = self._reserve(op)
        given = _renamed(forwarded, after.arguments)
        values = self.block(after, given)
        self._write_in_place(after, head, values, carried)
        self._carry(op, values, carried)
        end = self._step(op, "jump", head)
        self._fill(leave, "unless", len(self.steps), len(after.operations), condition)
        self._keep(head, end)
        return _renamed(forwarded, op.results)

    def _for(self, op: Operation, operands: Sequence[SlotView]) -> list[SlotView]:
        """Plan a loop whose bounds are constants. Each iteration ends with the test for another iteration."""
        body, bounds = _block(op.regions[0]), operands[:3]
        iterations = self._iterations(op, bounds)
        carried = [
            self._carried(op, place, value) for place, value in zip(operands[3:], body.arguments[1:], strict=True)
        ]
        if iterations:
            counter = self._carried(op, bounds[0], body.arguments[0])
            head = self._step(op, "round", cost=len(body.operations))
            values = self.block(body, [counter, *carried])
            self._write_in_place(body, head, values, carried)
            self._carry(op, values, carried)
            is_below = self.place("temporary", TensorType((), IntegerType(1)), IntegerType(1))
            self._compute(op, "addi", (counter, bounds[2]), counter)
            self._compute(op, "slt", (counter, bounds[1]), is_below)
            self._use(is_below.slot)
            leave = self._reserve(op)
            self._fill(leave, "unless", leave + 2, 0, is_below)
            self._keep(head, self._step(op, "jump", head))
        return _renamed(carried, op.results)

    def _iterations(self, op: Operation, bounds: Sequence[SlotView]) -> range:
        """Return the values of the loop variable of an `scf.for`.

        Raise PlanningRefusal if C code cannot run the loop.
        """
        if not all(map(self._is_constant, bounds)):
            raise PlanningRefusal("its bounds are known only at run time")
        lower, upper, step = (int(self._array(place)) for place in bounds)
        declared = bounds[0].declared
        is_whole = isinstance(declared, IndexType) or declared in (IntegerType(32), IntegerType(64))
        if step <= 0 or not is_whole or "unsignedCmp" in op.attributes:
            raise PlanningRefusal("its step is not positive, or its bounds are not signed i32, i64 or index")
        most = np.iinfo(layout(self.slots[bounds[0].slot])[1]).max
        if upper > most - step:
            raise PlanningRefusal("its upper bound is less than a step below the largest number of its type")
        if upper - lower > core.MOST_ROUNDS * step:
            raise PlanningRefusal("it has more iterations than a loop in C may have")
        return range(lower, upper, step)

    def _compute(self, op: Operation, kind: str, operands: Sequence[SlotView], result: SlotView) -> None:
        """Add a step that computes an elementwise op on two scalars. ``kind`` names the op for `bind_plain`."""
        slots = (*map(self._array_slot, operands), result.slot)
        for slot in slots:
            self._use(slot)
        call = bind_plain(isa=kernels.active(), kind=kind, dtype=layout(self.slots[slots[0]])[1], size=1)
        self.steps.append(CallStep(op, call, slots, kernel_coverage(op, call), operands, [result]))

    def _carried(self, op: Operation, begin: SlotView, argument: Value) -> SlotView:
        """Add a slot for the value that a loop carries as ``argument``, and copy the initial value to it."""
        if begin.type is None:
            raise PlanningRefusal(f"it carries {argument.type}, whose shape is known only at run time")
        carried = self.place("temporary", begin.type, argument.type)
        self._copy_to(op, begin, carried)
        return carried

    def _carry(self, op: Operation, values: Sequence[SlotView], carried: Sequence[SlotView]) -> None:
        """Copy the next values to the carried slots, ordered so that no value is overwritten before it is read."""
        pending = []
        for place, target in zip(values, carried, strict=True):
            _check_equal_shapes(place, target, "from round to round")
            if root(self.slots, self._array_slot(place)) != root(self.slots, target.slot):
                pending.append((place, target))
        while pending:
            read = [root(self.slots, self._array_slot(source))[0] for source, _ in pending]
            free = next((i for i, (_, to) in enumerate(pending) if root(self.slots, to.slot)[0] not in read), None)
            source, target = pending.pop(free or 0)
            if free is None:  # a cycle: swap through a temporary
                aside = self.place("temporary", target.type, target.declared)
                self._copy_to(op, source, aside)
                pending.append((aside, target))
            else:
                self._copy_to(op, source, target)

    def _write_in_place(self, body: Block, head: int, values: Sequence[SlotView], carried: Sequence[SlotView]) -> None:
        """Let kernels write next values directly to the carried slots, if they may overwrite the present values there.

        Only steps number ``head`` and later are considered, and only if their operations are directly in the block
        ``body``. ``body`` must run once in each iteration, and no result of the loop may be computed after it.
        """
        makers = {
            step.slots[-1]: number
            for number, step in enumerate(self.steps[head:], head)
            if isinstance(step, CallStep) and len(step.results) == 1 and step.operation.parent is body
        }
        for place, target in zip(values, carried, strict=True):
            number = makers.get(place.slot)
            if number is None or self.slots[place.slot].kind != "temporary" or place.type != target.type:
                continue
            step, memory = self.steps[number], target.slot
            assert isinstance(step, CallStep)
            later = [slot for other in self.steps[number + 1 :] if isinstance(other, CallStep) for slot in other.slots]
            later += [other.slot for other in values if other is not place]
            if (memory, 0) in overwritable(self.slots, step) and all(
                root(self.slots, slot)[0] != memory for slot in later
            ):
                slot = self.slots[place.slot]
                slot.kind, slot.base, slot.offset = "view", memory, 0
                self.steps[number] = marked_in_place(step)

    def _keep(self, head: int, end: int) -> None:
        """Keep values that are computed before a loop and read in it live until the loop ends.

        They must stay live because every iteration reads them. The loop's steps are ``head`` to ``end``.
        """
        for step in self.steps[head:]:
            assert isinstance(step, CallStep)  # planned regions have only calls
            for used in step.slots:
                number = root(self.slots, used)[0]
                if self.slots[number].first < head:
                    slot = self._changing(number)
                    slot.last = max(slot.last, end)

    # -- branches ----------------------------------------------------------------------------------------------------

    def _if(self, op: Operation, operands: Sequence[SlotView]) -> list[SlotView]:
        then, otherwise = op.regions
        self._use(self._array_slot(operands[0]))
        start, first = self._reserve(op), len(self.frame)
        values = self.block(_block(then), ())
        results = [self._joint(place, value, start) for place, value in zip(values, op.results, strict=True)]
        self._give(op, values, results, first)
        skip = self._reserve(op) if otherwise.blocks else None
        self._fill(start, "unless", len(self.steps), len(_block(then).operations), operands[0])
        if skip is not None:
            self._step(op, "jump", len(self.steps) + 1, len(_block(otherwise).operations))
            first = len(self.frame)
            self._give(op, self.block(_block(otherwise), ()), results, first)
            self._fill(skip, "jump", len(self.steps))
        return results

    def _joint(self, place: SlotView, value: Value, start: int) -> SlotView:
        """Return a new slot for the result ``value`` of a branch that begins with step ``start``.

        The slot is live from that step on. Its type is that of ``place``, the value that the first region yields.
        """
        if place.type is None:
            raise PlanningRefusal(f"it yields {value.type}, whose shape is known only at run time")
        joint = self.place("temporary", place.type, value.type)
        self.slots[joint.slot].first = start
        return joint

    def _give(self, op: Operation, values: Sequence[SlotView], results: Sequence[SlotView], first: int) -> None:
        """Put the values that a region of a branch yields into the slots of the results.

        Temporaries of the region (from slot `first` on) become views of the results; other values are copied.
        """
        for place, result in zip(values, results, strict=True):
            _check_equal_shapes(place, result, "between its branches")
            source = self._array_slot(place)
            slot = self.slots[source]
            if source >= first and slot.kind == "temporary":
                slot.kind, slot.base, slot.offset = "view", result.slot, 0
                self._use(result.slot)
            else:
                self._copy_to(op, place, result)

    # -- steps -------------------------------------------------------------------------------------------------------

    def _copy_to(self, op: Operation, source: SlotView, target: SlotView) -> None:
        slot, given = self.slots[target.slot], self._array_slot(source)
        dtype = layout(slot)[1]
        if slot.nbytes == 0:
            return
        if dtype.itemsize not in (1, 2, 4, 8):
            raise PlanningRefusal(f"it carries {slot.static_type}, which no kernel copies")
        self._use(given)
        self._use(target.slot)
        call = copy_call(dtype, slot.nbytes // dtype.itemsize)
        self.steps.append(CallStep(op, call, (given, target.slot), copied(op), [source], [target]))

    def _step(self, op: Operation, kind: str, target: int = 0, cost: int = 0) -> int:
        """Add a step that jumps or begins a loop iteration, and return the step's number.

        ``target`` is the step to jump to, ``cost`` the number of operations that count towards ``max_steps``.
        """
        number = self._reserve(op)
        self._fill(number, kind, target, cost)
        return number

    def _reserve(self, op: Operation) -> int:
        """Add a step for a jump whose target is not known yet, and return the step's number."""
        self.steps.append(CallStep(op, bind_control(kind="jump"), (), _coverage(op, ""), [], []))
        return len(self.steps) - 1

    def _fill(self, number: int, kind: str, target: int, cost: int = 0, *operands: SlotView) -> None:
        step = self.steps[number]
        assert isinstance(step, CallStep)
        call = bind_control(kind=kind, target=target, cost=cost)
        slots = tuple(map(self._array_slot, operands))
        coverage = _coverage(step.operation, kind if kind == "round" else f"{kind} to step {target}")
        self.steps[number] = CallStep(step.operation, call, slots, coverage, operands, [])


def _coverage(op: Operation, detail: str) -> Coverage:
    return Coverage(op.name, str(op.location), "control", detail)


def _block(region: Region) -> Block:
    (block,) = region.blocks
    return block


def _renamed(places: Sequence[SlotView], values: Sequence[Value]) -> list[SlotView]:
    return [SlotView(place.slot, place.type, value.type) for place, value in zip(places, values, strict=True)]


def _check_equal_shapes(place: SlotView, other: SlotView, when: str) -> None:
    """Raise PlanningRefusal unless a value and the slot to which it would be copied have the same static shape.

    ``when`` ends the reason, for example "between its branches".
    """
    if place.type is None:
        raise PlanningRefusal(f"a value of type {place.declared} has a shape that is known only at run time")
    if place.shape != other.shape:
        raise PlanningRefusal(f"the shape of a value differs {when}: {list(other.shape)} and {list(place.shape)}")


def _reason(error: Exception) -> str:
    return "regions are nested too deeply" if isinstance(error, RecursionError) else str(error).partition("\n")[0]
