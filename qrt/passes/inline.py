"""Calls replaced by the bodies of what they call."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from qrt.ir import Module, Operation, UnitAttr, Value
from qrt.ir.dialects.func import FuncOp, symbol_of
from qrt.ir.rewrite import replace
from qrt.ir.symbols import may_be_discarded, references
from qrt.passes.canonicalize import Canonicalize

Graph = dict[FuncOp, list[FuncOp]]


@dataclass(frozen=True)
class Inline:
    """Puts the bodies of functions in place of calls, callees first, canonicalizing each function before and after, and
    removes private functions that nothing calls any more. The options are those of canonicalize.

    Preserves every value by default. Calls stay that say `no_inline`, or whose callee says it, is part of a recursion,
    or has no body, more than one block, or an op that is not registered.
    """

    fold_qcast_dcast: bool = False
    fold_dcast_qcast: bool = False
    fold_constants: bool = True

    UPSTREAM: ClassVar[Mapping[str, Any]] = Canonicalize.UPSTREAM

    def run(self, module: Module) -> None:
        simplify = Canonicalize(**{field.name: getattr(self, field.name) for field in fields(Canonicalize)})
        functions = [operation for operation in module.operation.walk() if isinstance(operation, FuncOp)]
        named = Counter(
            reference.path
            for operation in module.operation.walk()
            if operation.name != "func.call"
            for reference in references(operation)
        )
        graph = {function: _callees(function) for function in functions}
        component = _components(graph)
        sizes = Counter(component.values())
        recursive = {f for f, number in component.items() if sizes[number] > 1 or f in graph[f]}
        for function in component:
            simplify.function(function)
            calls = [operation for operation in function.walk() if operation.name == "func.call"]
            inlined = [_inline(call, recursive) for call in calls]
            if any(inlined):
                simplify.function(function)
        _remove_uncalled(functions, named)


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


def _inline(call: Operation, recursive: set[FuncOp]) -> bool:
    callee = symbol_of(call)
    if not isinstance(callee, FuncOp) or callee in recursive or len(callee.regions[0].blocks) != 1:
        return False
    marked = any(isinstance(op.attributes.get("no_inline"), UnitAttr) for op in (call, callee))
    if marked or any(operation.definition is None for operation in callee.walk()):
        return False
    assert call.parent is not None
    block = callee.regions[0].blocks[0]
    values: dict[Value, Value] = dict(zip(block.arguments, call.operands, strict=True))
    for operation in block:
        if operation.name == "func.return":
            replace(call, [values[value] for value in operation.operands])
        else:
            call.parent.insert_before(call, operation.clone(values))
    return True


def _remove_uncalled(functions: list[FuncOp], named: "Counter[tuple[str, ...]]") -> None:
    """Private functions that neither a call of a function that stays nor any other op names."""
    kept: set[Operation] = set()
    pending: list[Operation] = [f for f in functions if not may_be_discarded(f) or named[(f.sym_name,)]]
    while pending:
        function = pending.pop()
        if function not in kept:
            kept.add(function)
            pending.extend(_callees(function) if isinstance(function, FuncOp) else ())
    for function in functions:
        if function not in kept:
            function.erase()
