"""The evaluation of operations on constants, which passes, folds, the planner and importers share."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from numpy.typing import NDArray

from qrt.ir.core.operations import Operation, Value
from qrt.ir.core.traits import has_no_memory_effect
from qrt.ir.rewriting.rewrite import erase_dead, replace

Array = NDArray[Any]
Constant = TypeVar("Constant")
Evaluate = Callable[[Operation, Mapping[Value, Array]], Sequence[Array] | None]
"""A function of an operation and of the arrays that it reads from outside: the array of each result."""
Known = Callable[[Value], Array | None]
"""A function of a value: its array, or None of one that no constant gives."""


class ConstantFolder(Generic[Constant]):
    """An evaluator of operations on constants before a program runs.

    Each user of such values has a folder with its own three functions, under one policy:

    - An operation is folded whole, with its regions, if all values that it reads from outside are known, and it neither
      reads nor writes memory or state. ``may_fold`` narrows this: sizes of results, kinds of operations.
    - ``evaluate`` gives the bits of a run on every machine: those of the references, or of kernels that equal them. It
      bounds the memory and the work, and returns None beyond.
    - None leaves an operation to the run, which reports an error at its place if it gets there. An evaluator that must
      report the error at once raises it with the place of the operation.
    - ``as_constant`` makes constants of the result arrays: attributes, operations that hold them, or places in a plan.
      None means that no constant can hold them: the operation stays, and operations that read it are still folded.
    """

    def __init__(
        self,
        evaluate: Evaluate,
        may_fold: Callable[[Operation], bool],
        as_constant: Callable[[Operation, Sequence[Array]], list[Constant] | None],
    ) -> None:
        self.evaluate, self.may_fold, self.as_constant = evaluate, may_fold, as_constant
        self.arrays: dict[Value, Array] = {}
        """The results of the operations that `fold` has taken, and the constants in their place."""

    def results(self, operation: Operation, known: Known) -> Sequence[Array] | None:
        """Return the arrays of the results; None if they cannot be computed before the run."""
        arrays = _arrays_of(operation.operands, known)
        if arrays is None or not self.may_fold(operation):
            return None
        if operation.regions:
            arrays = _arrays_of(captured(operation), known)
        return self.evaluate(operation, arrays) if arrays is not None and has_no_memory_effect(operation) else None

    def constants(self, operation: Operation, known: Known) -> list[Constant] | None:
        """Return a constant for each result; None if there are none."""
        arrays = self.results(operation, known)
        return None if arrays is None else self.as_constant(operation, arrays)

    def fold(self: "ConstantFolder[Value]", operation: Operation) -> bool:
        """Replace an operation whose operands are constant by constants. Return True if its results are known."""
        arrays = self.results(operation, self.arrays.get)
        if arrays is None:
            return False
        self.arrays.update(zip(operation.results, arrays, strict=True))
        constants = self.as_constant(operation, arrays)
        if constants is not None:
            self.arrays.update(zip(constants, arrays, strict=True))
            read = [source for value in captured(operation) if (source := value.operation) is not None]
            replace(operation, constants)
            erase_dead(read)
        return True

    def fold_inside(self: "ConstantFolder[Value]", root: Operation, cyclic: Collection[Operation]) -> None:
        """Fold the operations inside an operation, except those that depend on themselves.

        Outer operations come before inner ones, and each comes after those that it reads, whatever the order of the
        text.
        """
        decided: set[Operation] = set()
        waiting: dict[Operation, list[Operation]] = {}
        pending = [root]
        while pending:
            operation = pending.pop()
            sources = self._unknown_sources(operation) if operation not in cyclic else ()
            later = next((source for source in sources if source not in decided), None)
            if later is not None:
                waiting.setdefault(later, []).append(operation)
                continue
            decided.add(operation)
            if operation in cyclic or not self.fold(operation):
                inside = [child for region in operation.regions for block in region.blocks for child in block]
                pending.extend(reversed(inside))
            pending.extend(waiting.pop(operation, ()))

    def _unknown_sources(self, operation: Operation) -> Iterable[Operation]:
        values = captured(operation) if operation.results else ()
        return (value.operation for value in values if value not in self.arrays and value.operation is not None)


def captured(operation: Operation) -> list[Value]:
    """Return the values from outside that an operation and its regions read."""
    if not operation.regions:
        return list(dict.fromkeys(operation.operands))
    every = operation.walk()
    inside = {value for inner in every for region in inner.regions for b in region.blocks for value in b.arguments}
    inside.update(value for inner in every for value in inner.results)
    return list(dict.fromkeys(value for inner in every for value in inner.operands if value not in inside))


def _arrays_of(values: Iterable[Value], known: Known) -> dict[Value, Array] | None:
    arrays: dict[Value, Array] = {}
    for value in values:
        array = known(value)
        if array is None:
            return None
        arrays[value] = array
    return arrays
