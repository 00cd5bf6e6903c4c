"""Prepares a copy of a program for planning: passes by name, each on the function that is planned."""

from collections.abc import Callable, Iterator
from math import prod

from qrt.dialects.quant import FAKE_QUANTS
from qrt.errors import QuantError
from qrt.execute import fusing
from qrt.execute.constants import SCALARS, captured, compute, held
from qrt.execute.interpret import TABLES
from qrt.execute.interpret.core import Compiler, ModuleCode, raise_located
from qrt.execute.operations import (
    MAX_CALL_DEPTH,
    Held,
    body,
    constant_array,
    failure,
    family_call,
    family_name,
)
from qrt.execute.planning.control import CONTROL
from qrt.execute.planning.slots import empty
from qrt.execute.values import as_tensor
from qrt.ir import Module, Operation
from qrt.ir.core.matching import acyclic_operations
from qrt.ir.core.operations import garbage_uncollected
from qrt.ir.core.rewrite import Builder, replace
from qrt.ops.core import Array, element_dtype, static_shape
from qrt.types import TensorType


def prepared(module: Module, name: str, saturating: bool, *, observed: bool = False) -> Module:
    """A copy of a module, whose function of that name is ready to be planned. Raises ModelError for calls that are
    nested too deeply and constants that do not run. If it is ``observed``, each `quant.stats_ref` stays."""
    with garbage_uncollected():
        copy = Module(module.operation.clone({}), module.upstream)
        function = copy.function(name)
        if body(function) is not None:
            for run in STEPS.values():
                run(copy, function, saturating, observed)
    return copy


def inline_regions(module: Module, function: Operation, saturating: bool, observed: bool) -> None:
    """Puts the bodies of `quant.region` in place of the ops, and the operands of annotations in place of their results:
    they are planned as the float program that they annotate. Fake quantizations become casts, which have kernels."""
    annotated = [op for op in acyclic_operations(module.operation) if op.name in _ANNOTATED]
    for op in annotated:
        if observed and op.name == OBSERVED:
            continue
        if op.name == "quant.region":
            replace(op, Builder.before(op).inline(op.regions[0].blocks[0], op.operands))
        elif op.name in FAKE_QUANTS:
            from qrt.dialects.quant.fake_quant import as_casts  # here, for the programs that have such ops

            replace(op, [as_casts(op, Builder.before(op))])
        else:
            replace(op, op.operands)


def inline(module: Module, function: Operation, saturating: bool, observed: bool) -> None:
    """Puts the bodies of functions in place of calls that the plan makes, until the program would be very much longer
    than it was. Calls of functions that the interpreter runs stay, and so do calls beyond that bound. In a region a
    call of a function within itself stays too: it may never run.
    """
    first: tuple[Operation, ...] = (function,)
    pending = [(op, first) for op in reversed(list(_planned(function))) if op.name == "func.call"]
    if not pending:
        return
    from qrt.dialects.func.inlining import Budget, inlined_at_most  # here, for the programs that have calls

    as_it_was = function.clone({})  # the callee, if the function calls itself
    budget = Budget(inlined_at_most(module.operation))
    while pending:
        call, within = pending.pop()
        named = module.callee(call)
        called = as_it_was if named is function else named
        block = body(called)
        if block is None or not budget.allows(called):
            continue
        if call.parent_operation is not function and named in within:
            continue
        if len(within) > MAX_CALL_DEPTH:
            raise failure(called, f"calls are nested deeper than {MAX_CALL_DEPTH}, or recursive")
        values = dict(zip(block.arguments, call.operands, strict=True))
        *operations, end = block
        copies = [Builder.before(call).insert(op.clone(values)) for op in operations]
        inner = [op for copied in copies for op in _with_regions(copied) if op.name == "func.call"]
        pending.extend((op, (*within, named)) for op in reversed(inner))
        replace(call, [values[value] for value in end.operands])


def fuse(module: Module, function: Operation, saturating: bool, observed: bool) -> None:
    """Makes fewer steps of the program, by passes that keep every bit. What the interpreter runs alone has no steps."""
    if any(family_name(op) is not None for op in _planned(function)):
        fusing.fuse(module)


def constant_fold(module: Module, function: Operation, saturating: bool, observed: bool) -> None:
    """Computes ops of the plan that read constants only, and has each constant hold the array that runs. These ops
    stay: those with effects, those that would take long, and those whose execution is an error, which then comes when
    the program runs. The pass of that name does the same; here a constant may be of any type, and of a shape that its
    type leaves open.
    """
    code = ModuleCode(module, TABLES, saturating)
    for op in _planned(function):
        try:
            arrays = None if observed and _is_observed(op) else _computed(op, code)
        except QuantError as error:
            if op.parent_operation is not function:
                continue  # it may never run
            raise_located(op, error)
        if op.name == "arith.constant" and arrays is not None:
            op.attributes["value"] = Held(arrays[0])
        elif arrays is not None:
            builder = Builder.before(op)
            replace(op, [builder.constant(Held(a), v.type) for a, v in zip(arrays, op.results, strict=True)])
    for op in _planned(function):
        if op.name == "arith.constant" and not op.result.uses:
            op.erase()


def _planned(function: Operation) -> Iterator[Operation]:
    """The operations of a function that a plan may have, those in regions of loops and branches too."""
    for op in function.regions[0].blocks[0]:
        yield from _with_regions(op)


def _with_regions(op: Operation) -> Iterator[Operation]:
    """An operation and, if it is a loop or a branch that may be planned, all inside it."""
    stack = [op]
    while stack:
        op = stack.pop()
        yield op
        if op.name in CONTROL and op.parent is not None:  # it may be erased meanwhile
            stack.extend(reversed([child for region in op.regions for block in region.blocks for child in block]))


def _is_observed(op: Operation) -> bool:
    """Whether the run shall tell a value of an op."""
    return any(inner.name == OBSERVED for inner in op.walk())


def _computed(op: Operation, code: ModuleCode) -> list[Array] | None:
    """The results of a constant, or of an op on constants."""
    if op.name == "arith.constant":
        return [constant_array(op)] if isinstance(op.result.type, (TensorType, *SCALARS)) else None
    if any(held(value) is None for value in op.operands):
        return None
    used = captured(op)
    known = {value: array for value in used if (array := held(value)) is not None}
    if len(known) < len(used):
        return None
    if family_name(op) is not None:
        return _kernel_results(op, [known[value] for value in op.operands])
    return compute(op, known, Compiler(code))


def _kernel_results(op: Operation, arrays: list[Array]) -> list[Array]:
    """The results as the plan would compute them, which has the interpreter's bits and takes less time."""
    types = tuple(as_tensor(v.type).with_(shape=a.shape) for v, a in zip(op.operands, arrays, strict=True))
    family, attributes, results = family_call(op, types)
    if len(results) == 1 and (offset := family.view_offset(types, results[0], attributes)) is not None:
        dtype, shape = element_dtype(results[0].element), static_shape(results[0], op.name)
        return [arrays[0].view(dtype).reshape(-1)[offset : offset + prod(shape)].reshape(shape)]
    made = [empty(result) for result in results]
    family.call(types, results, attributes)[0](*arrays, *made)
    return made


OBSERVED = "quant.stats_ref"
"""The op that names a value of which a run may tell."""
REPLACED = "quant.replaced"
"""An attribute of such an op: the run may go on with another value."""
_ANNOTATED = frozenset({"quant.region", "quant.stats", OBSERVED, "quant.coupled_ref", *FAKE_QUANTS})

STEPS: dict[str, Callable[[Module, Operation, bool, bool], None]] = {
    "inline-regions": inline_regions,
    "inline": inline,
    "fuse": fuse,
    "constant-fold": constant_fold,
}
"""The steps of `prepared`, in order. Each takes a module, its function, whether float conversions saturate, and
whether its values are observed."""
