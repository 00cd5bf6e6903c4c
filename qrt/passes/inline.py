"""Replaces calls by the bodies of the functions that they call."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from qrt.dialects.func.inlining import Budget, inlined_at_most
from qrt.dialects.func.ops import FuncOp
from qrt.ir import Module, Operation, Region, UnitAttr
from qrt.ir.core.rewrite import Builder, replace
from qrt.ir.core.symbols import may_be_discarded, references, require_known_tables, symbol_of
from qrt.ir.core.traits import SINGLE_BLOCK
from qrt.passes.canonicalize import Canonicalize
from qrt.passes.options import FOLD_CONSTANTS, FOLD_DCAST_QCAST, FOLD_QCAST_DCAST, option

Graph = dict[FuncOp, list[FuncOp]]


@dataclass(frozen=True)
class Inline:
    """Puts the bodies of functions in place of calls, callees first, canonicalizing each function before and after, and
    removes private functions that nothing names any more. The options are those of canonicalize.

    Preserves every value by default. A call stays if it or its callee has the attribute `no_inline`, or if its callee
    is recursive, has no body, has an op that is not registered, or has several blocks where one is allowed. Calls also
    stay once the program would have grown by more than 16384 operations plus 16 for each of its own.
    """

    fold_qcast_dcast: bool = option(False, FOLD_QCAST_DCAST)
    fold_dcast_qcast: bool = option(False, FOLD_DCAST_QCAST)
    fold_constants: bool = option(True, FOLD_CONSTANTS)

    UPSTREAM: ClassVar[Mapping[str, Any]] = Canonicalize.UPSTREAM

    def run(self, module: Module) -> None:
        simplify = Canonicalize(**{field.name: getattr(self, field.name) for field in fields(Canonicalize)})
        require_known_tables(module.operation)
        functions = [operation for operation in module.operation.walk() if isinstance(operation, FuncOp)]
        uses = Counter(reference.path for operation in module.operation.walk() for reference in references(operation))
        graph = {function: _callees(function) for function in functions}
        component = _components(graph)
        sizes = Counter(component.values())
        recursive = {f for f, number in component.items() if sizes[number] > 1 or f in graph[f]}
        budget = Budget(inlined_at_most(module.operation))
        inlined: set[FuncOp] = set()
        for function in component:
            simplify.function(function)
            if _is_unused(function, uses):
                continue
            calls = [operation for operation in function.walk() if operation.name == "func.call"]
            callees = [callee for call in calls if (callee := _inline(call, recursive, budget)) is not None]
            for callee in callees:
                uses[(callee.sym_name,)] -= 1
                uses.update(_names(callee))
            if callees:
                inlined.update(callees)
                simplify.function(function)
        _remove_unused(reversed(component), uses, inlined)


def _is_unused(function: FuncOp, uses: "Counter[tuple[str, ...]]") -> bool:
    return may_be_discarded(function) and not function.is_declaration and uses[(function.sym_name,)] == 0


def _names(function: FuncOp) -> list[tuple[str, ...]]:
    return [reference.path for operation in function.walk() for reference in references(operation)]


def _callees(function: FuncOp) -> list[FuncOp]:
    called = (symbol_of(operation) for operation in function.walk() if operation.name == "func.call")
    return [callee for callee in called if isinstance(callee, FuncOp)]


def _components(graph: Graph) -> dict[FuncOp, int]:
    """The strongly connected component of every function, callees before callers (Tarjan's algorithm, iteratively)."""
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


def _inline(call: Operation, recursive: set[FuncOp], budget: Budget) -> FuncOp | None:
    """Replace a call by the body of its callee, and return the callee; None if the call stays."""
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
    (region,) = callee.clone({}).take_regions()
    if len(region.blocks) > 1:
        _put_blocks(call, region)
    else:
        replace(call, Builder.before(call).inline(region.blocks[0], call.operands))
    return callee


def _put_blocks(call: Operation, region: Region) -> None:
    """Put several blocks in place of a call: what follows it becomes a block, with the results as arguments."""
    here, entry, operands = call.parent, region.blocks[0], list(call.operands)
    assert here is not None
    following = here.split(call)
    for end in [block.last for block in region.blocks]:
        if end is not None and end.name == "func.return":
            Builder.before(end).create("cf.br", end.operands, successors=[following])
            end.erase()
    replace(call, [following.add_argument(result.type) for result in call.results])
    following.take_before(region)
    Builder(here, None, call.location).absorb(entry, operands)


def _remove_unused(callers_first: Iterable[FuncOp], uses: "Counter[tuple[str, ...]]", inlined: set[FuncOp]) -> None:
    """Removes unused functions as upstream does: one that only another unused function names stays, and symbol-dce
    removes it.
    """
    for function in callers_first:
        if _is_unused(function, uses):
            if function in inlined:
                uses.subtract(_names(function))
            function.erase()
