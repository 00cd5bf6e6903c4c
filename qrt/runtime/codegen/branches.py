"""Emission of regions with several blocks, of calls, and of ``scf`` ops that choose a region.

The blocks of a region are connected by the branches of ``cf``.
"""

from collections.abc import Sequence
from typing import Any

from qrt.ir import Block, Operation, Region, Value
from qrt.ir.core.symbols import symbol_of
from qrt.ir.dialects.cf.ops import switch_cases
from qrt.runtime.codegen.elements import I1
from qrt.runtime.codegen.emitter import Emitter, Handler, not_emitted
from qrt.types import MemRefType, Type

BRANCHES = ("cf.br", "cf.cond_br", "cf.switch", "ub.unreachable")


class BlockGraph:
    """The blocks of a region during emission. Each has an LLVM block, and a variable for each of its arguments.

    The terminator that leaves the region assigns its operands to the variables ``results``.
    """

    def __init__(self, e: Emitter, region: Region, results: Sequence[Any]) -> None:
        self.emitter, self.results = e, results
        self.entry = region.blocks[0]
        self.order = _reverse_postorder(self.entry)
        self.starts = {block: e.function.append_basic_block("block") for block in self.order[1:]}
        self.variables = {block: [self._variable(value) for value in block.arguments] for block in self.order[1:]}
        self.end = e.function.append_basic_block("end")

    def _variable(self, value: Value) -> Any:
        owner = value.block.parent.parent if value.block is not None and value.block.parent is not None else None
        assert owner is not None  # the region of an op
        refuse_memrefs(owner, [value])
        return static_variable(self.emitter, owner, value.type)

    def emit(self) -> None:
        """Emit all blocks. Code that the caller emits afterwards is placed after the region."""
        e = self.emitter
        with e.immediate_checks():
            for block in self.order:
                if block is not self.entry:
                    e.builder.position_at_end(self.starts[block])
                    e.take(block.arguments, self.variables[block])
                self._terminate(block.terminator, e.block(block))
            e.builder.position_at_end(self.end)

    def _terminate(self, op: Operation, operands: Sequence[Value]) -> None:
        e = self.emitter
        if op.name not in BRANCHES:
            e.assign(self.results, operands)
            e.builder.branch(self.end)
        elif op.name == "cf.br":
            self._go(op.successors[0], operands)
        elif op.name == "ub.unreachable":
            e.trap_if(op, I1(1), "is reached, although the program declares it unreachable")
            e.builder.branch(self.end)
        else:
            self._choose(op, operands)

    def _go(self, block: Block, values: Sequence[Value]) -> None:
        self.emitter.assign(self.variables[block], values)
        self.emitter.builder.branch(self.starts[block])

    def _choose(self, op: Operation, operands: Sequence[Value]) -> None:
        e = self.emitter
        edges = [e.function.append_basic_block("edge") for _ in op.successors]
        if op.name == "cf.cond_br":
            passed = [op.operand_group("trueDestOperands"), op.operand_group("falseDestOperands")]
            e.builder.cbranch(e.register(operands[0]), *edges)
        else:
            cases = switch_cases(op)
            passed = [op.operand_group("defaultOperands"), *(values for _, values in cases)]
            flag = e.register(operands[0])
            switch, seen = e.builder.switch(flag, edges[0]), set[int]()
            for (number, _), edge in zip(cases, edges[1:], strict=True):
                if number not in seen:  # the first case of a value counts
                    switch.add_case(flag.type(number & ((1 << flag.type.width) - 1)), edge)
                seen.add(number)
        for edge, successor, values in zip(edges, op.successors, passed, strict=True):
            e.builder.position_at_end(edge)
            self._go(successor, values)


def _reverse_postorder(entry: Block) -> list[Block]:
    """Return the reachable blocks, each after the blocks that dominate it."""
    finished: list[Block] = []
    seen = {entry}
    stack = [(entry, iter(entry.successors))]
    while stack:
        block, successors = stack[-1]
        following = next((successor for successor in successors if successor not in seen), None)
        if following is None:
            finished.append(block)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(following.successors)))
    return finished[::-1]


def refuse_memrefs(op: Operation, values: Sequence[Value]) -> None:
    """Raise NotEmittedError if a value that control flow carries is a memref."""
    if any(isinstance(value.type, MemRefType) for value in values):
        raise not_emitted(op, "carries memrefs, for which no code is emitted")


def static_variable(e: Emitter, op: Operation, type: Type) -> Any:
    """Allocate memory for a value that control flow sets. Raise NotEmittedError if its type has no static shape."""
    shape = getattr(type, "shape", ())
    if shape is None or None in shape:
        raise not_emitted(op, f"has a value of type {type}, whose size is known only at run time")
    return e.variable(type, tuple(shape))


def result_variables(e: Emitter, op: Operation) -> list[Any]:
    """Allocate memory for the results of an op, which its regions set."""
    refuse_memrefs(op, op.results)
    return [static_variable(e, op, value.type) for value in op.results]


def emit_region(e: Emitter, region: Region, results: Sequence[Any]) -> None:
    """Emit a region, and assign the values that it yields to the variables ``results``."""
    if len(region.blocks) == 1 and region.blocks[0].terminator.name not in BRANCHES:
        e.assign(results, e.block(region.blocks[0]))
    else:
        BlockGraph(e, region, results).emit()


def _execute_region(e: Emitter, op: Operation) -> None:
    variables = result_variables(e, op)
    emit_region(e, op.regions[0], variables)
    e.take(op.results, variables)


def _index_switch(e: Emitter, op: Operation) -> None:
    variables = result_variables(e, op)
    cases = op.attributes["cases"].python
    chosen = e.register(op.operands[0])
    blocks = [e.function.append_basic_block("case") for _ in op.regions]
    after = e.function.append_basic_block("after")
    switch = e.builder.switch(chosen, blocks[0])
    for number, block in zip(cases, blocks[1:], strict=True):
        switch.add_case(chosen.type(int(number) & ((1 << 64) - 1)), block)
    for region, block in zip(op.regions, blocks, strict=True):
        e.builder.position_at_end(block)
        emit_region(e, region, variables)
        e.builder.branch(after)
    e.builder.position_at_end(after)
    e.take(op.results, variables)


def _call(e: Emitter, op: Operation) -> None:
    """Emit the called function's body in place of a call that the pass ``inline`` kept, such as a call in a loop."""
    callee = symbol_of(op)
    assert callee is not None  # checked by the verifier
    if callee in e.calls or not callee.regions[0].blocks:
        raise not_emitted(op, "is recursive" if callee in e.calls else "calls a function without a body")
    e.calls.append(callee)
    region = callee.regions[0]
    for argument, operand in zip(region.blocks[0].arguments, op.operands, strict=True):
        e.alias(argument, operand)
    if len(region.blocks) == 1:
        for result, value in zip(op.results, e.block(region.blocks[0]), strict=True):
            e.alias(result, value)
    else:
        variables = result_variables(e, op)
        emit_region(e, region, variables)
        e.take(op.results, variables)
    e.calls.pop()


HANDLERS: dict[str, Handler] = {
    "func.call": _call,
    "scf.execute_region": _execute_region,
    "scf.index_switch": _index_switch,
}
