"""Emission of the loops and branches of ``scf`` and ``affine``, of ``cf.assert`` and of ``ub.poison``."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from qrt.errors import many_rounds
from qrt.ir import Block, Operation, Value
from qrt.ir.core.affine import IntegerSetAttr
from qrt.ir.dialects.affine.dimensions import map_of
from qrt.ir.dialects.affine.ops import set_of, step_of
from qrt.runtime.codegen.branches import emit_region, refuse_memrefs, result_variables
from qrt.runtime.codegen.buffers import Index
from qrt.runtime.codegen.elements import I1, I64, element_form, is_buffer, scalar_type
from qrt.runtime.codegen.emitter import Emitter, Handler, not_emitted
from qrt.runtime.codegen.indices import evaluate
from qrt.runtime.codegen.loop_order import split_loop
from qrt.runtime.codegen.memrefs import map_results
from qrt.runtime.interpreter.core import MOST_ROUNDS
from qrt.types import IndexType, IntegerType

# -- counted loops -----------------------------------------------------------------------------------------------------


def _counted_loop(
    e: Emitter,
    op: Operation,
    bounds: tuple[Index, Index],
    step: Index,
    inits: Sequence[Value],
    emit: Callable[[Block], Sequence[Value] | None],
    *,
    unsigned: bool = False,
) -> None:
    """Emit a loop over a range of 64-bit integers, which carries values from one iteration to the next.

    The loop's block takes the current integer as first argument, then the carried values. ``emit`` emits the block.
    """
    block, build, (lower, upper) = op.regions[0].blocks[0], e.builder, bounds
    refuse_memrefs(op, inits)
    if step.low <= 0 and not unsigned:
        wrong = build.icmp_signed("<=", step.value, I64(0))
        e.trap_if(op, wrong, lambda n: f"the step must be positive, got {n[0]}", [step.value])
    elif step.low <= 0:
        wrong = build.icmp_unsigned("==", step.value, I64(0))
        e.trap_if(op, wrong, lambda n: f"the step must be positive, got {n[0]}", [step.value])
    variables = [e.variable(value.type, e.shape(value)) for value in inits]
    e.assign(variables, inits)
    count: Any = None
    if lower.is_constant and upper.is_constant and step.is_constant and step.low > 0 and not unsigned:
        count = len(range(lower.low, upper.low, step.low)) if upper.low - lower.low < 1 << 62 else None
    if count is None:
        count = _trips(e, lower, upper, step, unsigned)
    if isinstance(count, int) and not count:
        e.take(op.results, variables)
        return
    with e.counted(count) as number:
        value = number if step.is_constant and step.low == 1 else build.mul(number, step.value)
        value = value if lower.is_constant and lower.low == 0 else build.add(lower.value, value)
        last = lower.low + (count - 1) * step.low if isinstance(count, int) else max(lower.low, upper.high - 1)
        _set_variable(e, block.arguments[0], Index(value, lower.low, last), unsigned)
        e.take(block.arguments[1:], variables)
        e.assign(variables, emit(block) or ())
    e.take(op.results, variables)


def _set_variable(e: Emitter, argument: Value, index: Index, unsigned: bool) -> None:
    width = getattr(argument.type, "width", 64)
    register = e.builder.trunc(index.value, element_form(argument.type).register) if width < 64 else index.value
    is_ranged = isinstance(argument.type, IndexType) and not unsigned
    e.define(argument, register, (index.low, index.high) if is_ranged else None)


def _trips(e: Emitter, lower: Index, upper: Index, step: Index, unsigned: bool) -> Any:
    """Emit the number of iterations as an unsigned 64-bit integer; the step is positive."""
    build = e.builder
    compare = build.icmp_unsigned if unsigned else build.icmp_signed
    is_entered = compare("<", lower.value, upper.value)
    span = build.sub(upper.value, lower.value)  # exact as an unsigned number
    if not (step.is_constant and step.low == 1):
        span = build.add(build.udiv(build.sub(span, I64(1)), step.value), I64(1))
    return build.select(is_entered, span, I64(0))


def _bound(e: Emitter, op: Operation, value: Value, unsigned: bool) -> Index:
    """Return a bound of a loop as a 64-bit integer."""
    if isinstance(value.type, IndexType) and not unsigned:
        return e.index(value)
    number, width = e.known(value), getattr(value.type, "width", 64)
    register = e.register(value)
    if number is not None:
        whole = int(number) % (1 << width) if unsigned else int(number) - (width == 1) * 2 * int(number)
        if whole < 1 << 63:
            return e.number(whole)
    if width < 64:
        register = (e.builder.zext if unsigned else e.builder.sext)(register, I64)
    return Index(register, -(1 << 63), (1 << 63) - 1)


def _one_scf_loop(e: Emitter, op: Operation, emit: Callable[[Block], Sequence[Value] | None]) -> None:
    unsigned = "unsignedCmp" in op.attributes
    if not isinstance(op.operands[0].type, IndexType | IntegerType):
        raise not_emitted(op, "has bounds that are not integers")
    lower, upper, step = (_bound(e, op, value, unsigned) for value in op.operands[:3])
    _counted_loop(e, op, (lower, upper), step, op.operands[3:], emit, unsigned=unsigned)


def _for(e: Emitter, op: Operation) -> None:
    split = split_loop(e, op)
    if split is None:
        _one_loop(e, op, e.block)
        return
    if split.prefix:
        _one_loop(e, op, lambda block: e.operations(split.prefix))
    _nest_around(e, op, split.inner, split.body)


def _nest_around(e: Emitter, op: Operation, loops: Sequence[Operation], body: Sequence[Operation]) -> None:
    """Emit a nest: ``loops`` from the outermost inwards, then the loop ``op``, then the operations ``body``."""
    if not loops:
        _one_loop(e, op, lambda block: e.operations(body))
        return
    first, *rest = loops
    _one_loop(e, first, lambda block: _nest_around(e, op, rest, body))


def _one_loop(e: Emitter, op: Operation, emit: Callable[[Block], Sequence[Value] | None]) -> None:
    (_one_affine_loop if op.name == "affine.for" else _one_scf_loop)(e, op, emit)


def _one_affine_loop(e: Emitter, op: Operation, emit: Callable[[Block], Sequence[Value] | None]) -> None:
    bounds = []
    for which, sign in (("lower", ">"), ("upper", "<")):
        operands = op.operand_group(f"{which}BoundOperands")
        bounds.append(_extremum(e, sign, map_results(e, op, map_of(op, f"{which}BoundMap"), operands)))
    _counted_loop(e, op, (bounds[0], bounds[1]), e.number(step_of(op)), op.operand_group("inits"), emit)


def _extremum(e: Emitter, sign: str, indices: Sequence[Index]) -> Index:
    """Emit the greatest of ``indices`` if ``sign`` is ">", or the least if ``sign`` is "<"."""
    first, *rest = indices
    choose = max if sign == ">" else min
    for other in rest:
        low, high = choose(first.low, other.low), choose(first.high, other.high)
        is_first = e.builder.icmp_signed(sign, first.value, other.value)
        first = e.number(low) if low == high else Index(e.builder.select(is_first, first.value, other.value), low, high)
    return first


def _apply(sign: str) -> Handler:
    def emit(e: Emitter, op: Operation) -> None:
        index = _extremum(e, sign, map_results(e, op, map_of(op), op.operands))
        if index.is_constant:
            e.define_known(op.result, np.int64(index.low))
        else:
            e.define(op.result, index.value, (index.low, index.high))

    return emit


# -- branches ----------------------------------------------------------------------------------------------------------


def _choose(e: Emitter, op: Operation, condition: Any) -> None:
    """Emit a branch: if a condition holds, the op's first region computes the results, else the second one does."""
    variables = result_variables(e, op)
    with e.branch(condition) as branches:
        for region, inside in zip(op.regions, branches, strict=True):
            with inside:
                if region.blocks:
                    emit_region(e, region, variables)
    e.take(op.results, variables)


def _if(e: Emitter, op: Operation) -> None:
    known = e.known(op.operands[0])
    if known is None:
        _choose(e, op, e.register(op.operands[0]))
        return
    _taken(e, op, 0 if known else 1)


def _taken(e: Emitter, op: Operation, number: int) -> None:
    """Emit only the op's region ``number``, which is known to run."""
    blocks = op.regions[number].blocks
    yielded = e.block(blocks[0]) if blocks else []
    variables = [e.variable(value.type, e.shape(value)) for value in yielded]
    e.assign(variables, yielded)
    e.take(op.results, variables)


def _affine_if(e: Emitter, op: Operation) -> None:
    _choose(e, op, _holds(e, op, set_of(op)))


def _holds(e: Emitter, op: Operation, condition: IntegerSetAttr) -> Any:
    indices = [e.index(value) for value in op.operands]
    dimensions, symbols = indices[: condition.dimensions], indices[condition.dimensions :]
    holds = I1(1)
    for expression, is_equality in condition.constraints:
        index = evaluate(e, op, expression, dimensions, symbols)
        sign = "==" if is_equality else ">="
        holds = e.builder.and_(holds, e.builder.icmp_signed(sign, index.value, I64(0)))
    return holds


# -- scf.while ---------------------------------------------------------------------------------------------------------


def _while(e: Emitter, op: Operation) -> None:
    first, second = (region.blocks[0] for region in op.regions)
    refuse_memrefs(op, op.operands)
    forwarded = result_variables(e, op)
    carried = [e.variable(value.type, e.shape(value)) for value in op.operands]
    rounds = e.alloca(I64)
    with ExitStack() as stack:
        stack.enter_context(e.immediate_checks())
        e.assign(carried, op.operands)
        e.builder.store(I64(0), rounds)
        before, after, done = (e.function.append_basic_block(name) for name in ("before", "after", "done"))
        e.builder.branch(before)
        e.builder.position_at_end(before)
        _check_round(e, op, rounds)
        e.take(first.arguments, carried)
        condition, *values = e.block(first)
        e.assign(forwarded, values)
        e.builder.cbranch(e.register(condition), after, done)
        e.builder.position_at_end(after)
        e.take(second.arguments, forwarded)
        e.assign(carried, e.block(second))
        e.builder.branch(before)
        e.builder.position_at_end(done)
    e.take(op.results, forwarded)


def _check_round(e: Emitter, op: Operation, rounds: Any) -> None:
    number = e.builder.load(rounds, typ=I64)
    exceeded = e.builder.icmp_unsigned(">=", number, I64(MOST_ROUNDS))
    e.trap_if(op, exceeded, many_rounds(MOST_ROUNDS), is_limit=True)
    e.builder.store(e.builder.add(number, I64(1)), rounds)


# -- ends of a run -----------------------------------------------------------------------------------------------------


def _assert(e: Emitter, op: Operation) -> None:
    message, known = f"failed: {op.attributes['msg'].python}", e.known(op.operands[0])
    if known is None or not known:
        e.trap_if(op, e.builder.not_(e.register(op.operands[0])), message)


def _poison(e: Emitter, op: Operation) -> None:
    if is_buffer(op.result.type):
        raise not_emitted(op, "has no machine code for tensors")
    e.trap_if(op, I1(1), "has no value, because it is poison")
    e.define_known(op.result, element_form(scalar_type(op.result.type)).dtype.type(0))


HANDLERS: dict[str, Handler] = {
    "affine.apply": _apply(">"),
    "affine.for": _for,
    "affine.if": _affine_if,
    "affine.max": _apply(">"),
    "affine.min": _apply("<"),
    "cf.assert": _assert,
    "scf.for": _for,
    "scf.if": _if,
    "scf.while": _while,
    "ub.poison": _poison,
}
