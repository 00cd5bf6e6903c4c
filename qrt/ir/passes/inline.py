"""Inlining: replacement of calls by the bodies of the called functions."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from qrt.errors import ModelError
from qrt.ir import Module, Operation, UnitAttr
from qrt.ir.core.functions import FuncOp
from qrt.ir.core.symbols import may_be_discarded, references, require_known_tables, symbol_of
from qrt.ir.core.traits import SINGLE_BLOCK
from qrt.ir.dialects.func.inlining import MAX_CALL_DEPTH, InliningBudget, inlined_at_most, put_body
from qrt.ir.passes.canonicalize import Canonicalize
from qrt.ir.passes.options import FOLD_CONSTANTS, FOLD_DCAST_QCAST, FOLD_QCAST_DCAST, option
from qrt.ir.passes.planned import body, planned_operations, with_regions

Graph = dict[FuncOp, list[FuncOp]]


@dataclass(frozen=True)
class Inline:
    """Replaces calls by the bodies of their callees, starting with functions that call no other.

    Each function is canonicalized before and after the inlining, with the first three options of this pass. Private
    functions to which nothing refers any more are removed.

    Preserves every value by default. A call remains if it or its callee has the attribute `no_inline`, or if its callee
    is recursive, has no body or contains an op that is not registered. A call of a function with several blocks remains
    if the region around the call allows only one block. Calls also remain if inlining has added more than 16384
    operations, plus 16 for each operation of the original program.

    With `entry`, only the calls that the plan of that function (its executable form) runs are inlined, as in
    `qrt.compile`. These are the calls in its body and in the regions of its `scf.if` and `scf.while` operations, and
    then the calls in the inlined bodies, in program order, even if they are marked `no_inline`. Two kinds of call
    remain: calls of a function that has several blocks or does not end in `func.return`, which the interpreter runs;
    and recursive calls in a region, which may never run. Any other recursion is an error, and so are calls nested more
    than 64 deep.
    """

    fold_qcast_dcast: bool = option(False, FOLD_QCAST_DCAST)
    fold_dcast_qcast: bool = option(False, FOLD_DCAST_QCAST)
    fold_constants: bool = option(True, FOLD_CONSTANTS)
    entry: str = option("", "the function into which calls are inlined that its plan makes; without it, every function")
    canonicalize: bool = option(True, "canonicalize functions before and after")
    remove_unused: bool = option(True, "remove private functions that nothing names any more")

    UPSTREAM: ClassVar[Mapping[str, Any]] = {
        "fold_qcast_dcast": True,
        "fold_dcast_qcast": True,
        "fold_constants": False,
    }

    def run(self, module: Module) -> None:
        entry = module.function(self.entry) if self.entry else None
        uses = _Uses(module, entry) if self.remove_unused else None
        budget = InliningBudget(inlined_at_most(module.operation))
        if entry is not None:
            self._inline_into(entry, lambda: _inline_planned(module, entry, budget), uses)
            if uses is not None:
                uses.remove(reversed(_components(_graph(module))))
            return
        graph = _graph(module)
        component = _components(graph)
        sizes = Counter(component.values())
        recursive = {f for f, number in component.items() if sizes[number] > 1 or f in graph[f]}
        for function in component:
            self._inline_into(function, partial(_inline_calls, function, recursive, budget), uses)
        if uses is not None:
            uses.remove(reversed(component))

    def _inline_into(self, function: FuncOp, inline: Callable[[], list[FuncOp]], uses: "_Uses | None") -> None:
        """Run `inline`, which inlines calls in `function` and returns their callees; canonicalize before and after.

        With `uses`, nothing is inlined in an unused function, and the references that inlining changes are counted.
        """
        self._simplify(function)
        if uses is not None and uses.is_unused(function):
            return
        callees = inline()
        if uses is not None:
            uses.count_inlined(callees)
        if callees:
            self._simplify(function)

    def _simplify(self, function: FuncOp) -> None:
        if self.canonicalize:
            Canonicalize(self.fold_qcast_dcast, self.fold_dcast_qcast, self.fold_constants).function(function)


class _Uses:
    """The number of references to each symbol, updated while calls are inlined.

    The function `entry`, if it is not None, counts as used.
    """

    def __init__(self, module: Module, entry: FuncOp | None) -> None:
        require_known_tables(module.operation)
        self._counts = Counter(r.path for operation in module.operation.walk() for r in references(operation))
        self._entry = entry
        self._inlined: set[FuncOp] = set()

    def is_unused(self, function: FuncOp) -> bool:
        """Return True if a function with a body has no references and is private, so that it may be removed."""
        if function is self._entry or function.is_declaration or not may_be_discarded(function):
            return False
        return self._counts[(function.sym_name,)] == 0

    def count_inlined(self, callees: Sequence[FuncOp]) -> None:
        """Update the counts after one call of each of these functions has been replaced by the function's body."""
        self._inlined.update(callees)
        for callee in callees:
            self._counts[(callee.sym_name,)] -= 1
            self._counts.update(_names(callee))

    def remove(self, callers_first: Iterable[FuncOp]) -> None:
        """Remove unused functions, callers first, as upstream does.

        If a removed function was never inlined, the functions that it refers to remain, even if nothing else refers to
        them; the pass symbol-dce removes them.
        """
        for function in callers_first:
            if self.is_unused(function):
                if function in self._inlined:
                    self._counts.subtract(_names(function))
                function.erase()


def _names(function: FuncOp) -> list[tuple[str, ...]]:
    return [reference.path for operation in function.walk() for reference in references(operation)]


def _graph(module: Module) -> Graph:
    """Return the functions that each function of a module calls."""
    return {operation: _callees(operation) for operation in module.operation.walk() if isinstance(operation, FuncOp)}


def _callees(function: FuncOp) -> list[FuncOp]:
    called = (symbol_of(operation) for operation in function.walk() if operation.name == "func.call")
    return [callee for callee in called if isinstance(callee, FuncOp)]


def _components(graph: Graph) -> dict[FuncOp, int]:
    """Number the strongly connected components of a call graph, callees first, and return the number for each function.

    The algorithm is Tarjan's, without recursion.
    """
    order: dict[FuncOp, int] = {}
    low: dict[FuncOp, int] = {}
    component: dict[FuncOp, int] = {}
    path: list[FuncOp] = []
    for root in graph:
        if root in order:
            continue
        order[root] = low[root] = len(order)
        path.append(root)
        stack = [(root, iter(graph[root]))]
        while stack:
            function, callees = stack[-1]
            callee = next(callees, None)
            if callee is None:
                stack.pop()
                if stack:
                    caller = stack[-1][0]
                    low[caller] = min(low[caller], low[function])
                if low[function] == order[function]:
                    number = len(component)
                    while function not in component:
                        component[path.pop()] = number
            elif callee not in order:
                order[callee] = low[callee] = len(order)
                path.append(callee)
                stack.append((callee, iter(graph[callee])))
            elif callee not in component:
                low[function] = min(low[function], order[callee])
    return component


def _inline_calls(function: FuncOp, recursive: set[FuncOp], budget: InliningBudget) -> list[FuncOp]:
    """Inline the calls in a function, but no calls within the inlined bodies, and return the inlined callees."""
    calls = [operation for operation in function.walk() if operation.name == "func.call"]
    return [callee for call in calls if (callee := _inline(call, recursive, budget)) is not None]


def _inline(call: Operation, recursive: set[FuncOp], budget: InliningBudget) -> FuncOp | None:
    """Replace a call by the body of its callee and return the callee, or return None if the call has to remain.

    The call remains if the callee is one of the functions `recursive`, or exceeds the `budget`. The class `Inline`
    lists the other reasons.
    """
    callee = symbol_of(call)
    if not isinstance(callee, FuncOp) or callee in recursive or callee.is_declaration:
        return None
    around = call.parent_operation
    assert around is not None
    if len(callee.regions[0].blocks) > 1 and (around.definition is None or around.has_trait(SINGLE_BLOCK)):
        return None
    marked = any(isinstance(op.attributes.get("no_inline"), UnitAttr) for op in (call, callee))
    if marked or any(operation.definition is None for operation in callee.walk()):
        return None
    if not budget.allows(callee):
        return None
    put_body(call, callee)
    return callee


def _inline_planned(module: Module, function: FuncOp, budget: InliningBudget) -> list[FuncOp]:
    """Inline the calls that the plan of a function runs, and those in the inlined bodies; return the callees."""
    first: tuple[FuncOp, ...] = (function,)
    pending = [(op, first) for op in reversed(list(planned_operations(function))) if op.name == "func.call"]
    as_it_was = function.clone({}) if pending else function  # the callee, if the function calls itself
    assert isinstance(as_it_was, FuncOp)
    callees = []
    while pending:
        call, within = pending.pop()
        named = module.callee(call)
        callee = as_it_was if named is function else named
        if body(callee) is None or not budget.allows(callee):
            continue
        if call.parent_operation is not function and named in within:
            continue
        if len(within) > MAX_CALL_DEPTH:
            message = f"'{callee.name}' op calls must be at most {MAX_CALL_DEPTH} deep, got deeper or recursive ones"
            raise ModelError(callee.location.render(message))
        inner = [op for copied in put_body(call, callee) for op in with_regions(copied) if op.name == "func.call"]
        pending.extend((op, (*within, named)) for op in reversed(inner))
        callees.append(callee)
    return callees
