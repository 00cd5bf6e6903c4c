"""Evaluation of operations whose operands are constant, shared by passes, the planner and importers."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from numpy.typing import NDArray

from qrt.ir.core.operations import Operation, Value
from qrt.ir.core.traits import has_no_memory_effect
from qrt.ir.rewriting.rewrite import erase_dead, replace

Array = NDArray[Any]
Constant = TypeVar("Constant")
Evaluate = Callable[[Operation, Mapping[Value, Array]], Sequence[Array] | None]
"""A function of an operation and the arrays of the values that it reads; returns an array for each result, or None."""
Known = Callable[[Value], Array | None]
"""A function of a value that returns its array if the value is constant, else None."""


class ConstantFolder(Generic[Constant]):
    """Evaluator that replaces operations on constants by constants before a program runs.

    Each user (a pass, the planner, an importer) supplies three functions:

    - ``may_fold(operation)`` limits which operations are evaluated, for example by the size of the results. In any case
      an operation is evaluated only if it has no memory effect, and all values that it and its regions read from
      outside are constant.
    - ``evaluate(operation, arrays)`` returns the result arrays, bit for bit as a run computes them on every machine. It
      returns None if its bounds on memory or work are exceeded. If the operation is erroneous, it returns None, so that
      the run reports the error, or it raises the error itself, located at the operation.
    - ``as_constant(operation, arrays)`` converts the result arrays to constants: attributes, values of new operations,
      or constants of a plan. If it returns None, because an array has no constant form, the operation stays in the
      program, but operations that use its results can still be folded.
    """

    def __init__(
        self,
        evaluate: Evaluate,
        may_fold: Callable[[Operation], bool],
        as_constant: Callable[[Operation, Sequence[Array]], list[Constant] | None],
    ) -> None:
        self.evaluate, self.may_fold, self.as_constant = evaluate, may_fold, as_constant
        self.arrays: dict[Value, Array] = {}
        """The arrays of all values evaluated by `fold`, and of the constants that replace them."""

    def results(self, operation: Operation, known: Known) -> Sequence[Array] | None:
        """Return the arrays of an operation's results; None if the operation cannot be evaluated before the run.

        `known` returns the array of a constant value, and None for any other value.
        """
        arrays = _arrays_of(operation.operands, known)
        if arrays is None or not self.may_fold(operation):
            return None
        if operation.regions:
            arrays = _arrays_of(captured(operation), known)
        return self.evaluate(operation, arrays) if arrays is not None and has_no_memory_effect(operation) else None

    def constants(self, operation: Operation, known: Known) -> list[Constant] | None:
        """Evaluate an operation, and return a constant for each result; None if that is not possible."""
        arrays = self.results(operation, known)
        return None if arrays is None else self.as_constant(operation, arrays)

    def fold(self: "ConstantFolder[Value]", operation: Operation) -> bool:
        """Evaluate an operation and replace it by constants. Return True if it was evaluated.

        If ``as_constant`` returns None, the operation stays in the program, and the result arrays are recorded in
        `arrays`.
        """
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
        """Fold all operations below `root` except those in `cyclic`, which depend on their own results.

        An operation is visited before the operations in its regions, and after the operations that define its operands,
        even if these follow in the text.
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
    """Return the values that an operation and its regions use and that are defined outside the operation."""
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
