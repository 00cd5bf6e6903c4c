"""Inlining or cloning of functions that contain a ``quant.region``, because each call may need other types in the body.

With ``functions=inline``, the bodies of called functions replace the calls. With ``functions=duplicate``, each call
gets a clone of the function, and clones that are equal after propagation are merged. Calls of functions without
regions, and of functions without a body, are not changed. A recursive function with regions is an error. A program that
would grow by more operations than the module's limit for inlining is also an error.
"""

from collections.abc import Iterator
from typing import Literal, cast, get_args

from qrt.errors import shown
from qrt.ir import Module, Operation, StringAttr, SymbolRefAttr, UnitAttr, equal
from qrt.ir.core.functions import FuncOp
from qrt.ir.core.symbols import may_be_discarded, references, symbol_of
from qrt.ir.dialects.func.inlining import InliningBudget, inlined_at_most, put_body
from qrt.quantization.propagation.graph import REGION

Functions = Literal["inline", "duplicate"]
FUNCTIONS: tuple[Functions, ...] = get_args(Functions)


class Clones:
    """The clones of functions, one for each call, grouped by the name of the cloned function."""

    def __init__(self, module: Module) -> None:
        self._functions = {function.sym_name: function for function in module.functions}
        self._by_name: dict[str, list[FuncOp]] = {}

    def called(self, call: Operation) -> FuncOp | None:
        """Return the function that a call names; None if the module does not contain it."""
        path = call.attribute("callee", SymbolRefAttr).path
        return self._functions.get(path[0]) if len(path) == 1 else None

    def add(self, callee: FuncOp) -> FuncOp:
        """Insert a private clone of a function before the function, under a new name, and return the clone."""
        clone = cast(FuncOp, callee.clone({}))
        block, base, number = callee.parent, callee.sym_name, len(self._by_name.get(callee.sym_name, ()))
        assert block is not None
        while (name := f"{base}_{number}") in self._functions:
            number += 1
        self._functions[name] = clone
        clone.attributes |= {"sym_name": StringAttr(name), "sym_visibility": StringAttr("private")}
        block.insert_before(callee, clone)
        self._by_name.setdefault(base, []).append(clone)
        return clone

    def merge(self, module: Module) -> None:
        """Replace equal clones by one of them, until no two clones of a function are equal.

        Merging is repeated because the callers of merged clones may become equal. If the original function no longer
        exists, its first clone takes its name.
        """
        renamed: dict[str, str] = {"": ""}
        while renamed:
            renamed = {}
            for clones in self._by_name.values():
                clones_by_key: dict[object, list[FuncOp]] = {}
                for clone in clones:
                    alike = clones_by_key.setdefault(_decided(clone), [])
                    twin = next((other for other in alike if _are_equal(other, clone)), None)
                    if twin is None:
                        alike.append(clone)
                    else:
                        renamed[clone.sym_name] = twin.sym_name
                        clone.erase()
                clones[:] = [clone for alike in clones_by_key.values() for clone in alike]
            _rename(module, renamed)
        for base, clones in self._by_name.items():
            if module.body.symbol(base) is None:
                _rename(module, {clones[0].sym_name: base})
                clones[0].attributes["sym_name"] = StringAttr(base)


def separate(module: Module, how: Functions) -> Clones:
    """Inline or clone each called function that contains regions, so that each call has a body of its own.

    ``how`` is ``inline`` or ``duplicate``. Calls and functions marked `no_inline` are not changed. Functions that are
    no longer called are removed. Returns the clones, for ``Clones.merge``.
    """
    quantized = _with_regions(module)
    _require_no_recursion(module, quantized)
    budget, clones = InliningBudget(inlined_at_most(module.operation)), Clones(module)
    called = {symbol_of(call): None for call in _calls(module.operation)}
    pending = [
        call
        for function in module.functions
        if function not in called or not may_be_discarded(function)
        for call in _calls(function)
    ]
    for call in pending:  # the loop appends to this list
        callee = clones.called(call)
        if callee is None or callee not in quantized or _is_marked(call) or _is_marked(callee):
            continue
        if not budget.allows(callee):
            raise call.error(
                f"the program would be too large with a copy of {shown(callee.sym_name)} for each call: call it "
                "less often"
            )
        if how == "inline":
            pending += _inline(call, callee)
        else:
            clone = clones.add(callee)
            call.attributes["callee"] = SymbolRefAttr((clone.sym_name,))
            quantized[clone] = None
            pending += _calls(clone)
    _remove(module, [callee for callee in called if isinstance(callee, FuncOp) and callee in quantized])
    return clones


def _with_regions(module: Module) -> dict[FuncOp, None]:
    """Return the functions that contain regions, or that call such functions, directly or through others."""
    with_regions = {f: None for f in module.functions if any(operation.name == REGION for operation in f.walk())}
    callers: dict[FuncOp, list[FuncOp]] = {}
    for function in module.functions:
        for call in _calls(function):
            callee = symbol_of(call)
            if isinstance(callee, FuncOp):
                callers.setdefault(callee, []).append(function)
    pending = [*with_regions]
    while pending:
        for caller in callers.get(pending.pop(), ()):
            if caller not in with_regions:
                with_regions[caller] = None
                pending.append(caller)
    return with_regions


def _calls(operation: Operation) -> Iterator[Operation]:
    return (inner for inner in operation.walk() if inner.name == "func.call")


def _require_no_recursion(module: Module, quantized: dict[FuncOp, None]) -> None:
    """Raise VerifyError if a function of ``quantized`` calls itself, directly or through other functions."""
    done: set[FuncOp] = set()
    for root in module.functions:
        path: list[tuple[FuncOp, Iterator[Operation]]] = []
        if root in quantized and root not in done:
            path.append((root, _calls(root)))
        while path:
            function, calls = path[-1]
            call = next(calls, None)
            if call is None:
                done.add(function)
                path.pop()
                continue
            callee = symbol_of(call)
            if not isinstance(callee, FuncOp) or callee not in quantized or callee in done:
                continue
            if any(callee is caller for caller, _ in path):
                raise call.error(
                    f"{shown(callee.sym_name)} calls itself and contains regions, which may need other types in "
                    "each call: "
                    "write a loop instead, or move the regions out of it"
                )
            path.append((callee, _calls(callee)))


def _is_marked(operation: Operation) -> bool:
    return isinstance(operation.attributes.get("no_inline"), UnitAttr)


def _inline(call: Operation, callee: FuncOp) -> list[Operation]:
    """Replace a call by the body of the called function. Return the calls in the inserted body."""
    if len(callee.regions[0].blocks) > 1:
        raise call.error(
            f"{shown(callee.sym_name)} has several blocks, so it cannot be inlined: write its branches as scf ops, or "
            "run propagate-quant with functions=duplicate"
        )
    return [call for operation in put_body(call, callee) for call in _calls(operation)]


def _remove(module: Module, called: list[FuncOp]) -> None:
    """Erase those functions of a list that are private and that no operation of the module refers to any more."""
    left = [function for function in called if may_be_discarded(function)]
    while left:
        named = {reference.path for operation in module.operation.walk() for reference in references(operation)}
        unused = [function for function in left if (function.sym_name,) not in named]
        if not unused:
            return
        for function in unused:
            function.erase()
        left = [function for function in left if function.parent is not None]


def _rename(module: Module, renamed: dict[str, str]) -> None:
    for call in _calls(module.operation) if renamed else ():
        name = call.attribute("callee", SymbolRefAttr).path[0]
        if name in renamed:
            call.attributes["callee"] = SymbolRefAttr((renamed[name],))


def _decided(function: FuncOp) -> object:
    """Return a key that equal clones share: the types of their regions, and the names of the functions they call."""
    names = ("input_specs", "output_specs", "callee")
    return tuple(attribute for inner in function.walk() for name in names if (attribute := inner.attributes.get(name)))


def _are_equal(one: FuncOp, other: FuncOp) -> bool:
    name = other.attributes["sym_name"]
    other.attributes["sym_name"] = one.attributes["sym_name"]
    try:
        return equal(one, other)
    finally:
        other.attributes["sym_name"] = name
