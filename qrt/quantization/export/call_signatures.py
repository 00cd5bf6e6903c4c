"""Quantized arguments and results of private functions, if every call of the function is known."""

from qrt.ir import Builder, Module, Operation, TypeAttr, Value
from qrt.ir.core.functions import FuncOp
from qrt.ir.core.symbols import may_be_discarded, references, symbol_of
from qrt.quantization.export.loop_values import end_with, retype
from qrt.quantization.export.passed_values import is_cast, source_of
from qrt.types import FunctionType


def pass_stored(module: Module) -> bool:
    """Give arguments and results of private functions the quantized type that they are cast to or from.

    Returns True if any type changed. Preserves every value.
    """
    calls = _calls(module)
    changed = False
    for function in module.functions:
        known = calls.get(function)
        if not known or not may_be_discarded(function) or len(function.regions[0].blocks) != 1:
            continue
        (block,) = function.regions[0].blocks
        taken = [_take(argument, known) for argument in block.arguments]
        given = [_give(block.terminator, known, number) for number in range(len(block.terminator.operands))]
        if any(taken) or any(given):
            inputs = [value.type for value in block.arguments]
            results = [value.type for value in block.terminator.operands]
            function.attributes["function_type"] = TypeAttr(FunctionType(inputs, results))
            changed = True
    return changed


def _calls(module: Module) -> dict[FuncOp, list[Operation]]:
    """Return the calls of each function that is only used by calls."""
    if len(module.functions) < 2:
        return {}
    calls_of: dict[FuncOp, list[Operation]] = {function: [] for function in module.functions}
    others: set[str] = set()
    for op in module.operation.walk():
        callee = symbol_of(op) if op.name == "func.call" else None
        if isinstance(callee, FuncOp) and callee in calls_of:
            calls_of[callee].append(op)
        else:
            others.update(name for reference in references(op) for name in reference.path)
    return {function: calls for function, calls in calls_of.items() if function.sym_name not in others}


def _take(argument: Value, calls: list[Operation]) -> bool:
    """Quantize an argument that is cast wherever it is read, or at every call. Return True if it is quantized now."""
    number, users = argument.index, argument.users
    sources = [source_of(call.operands[number]) for call in calls]
    type = users[0].results[0].type if users and users[0].name == "quant.qcast" else None
    if type is None or not all(is_cast(user, type) for user in users):
        first = sources[0]
        if first is None or any(source is None or source.type is not first.type for source in sources):
            return False
        type = first.type
    for call, source in zip(calls, sources, strict=True):
        if source is None or source.type is not type:
            source = Builder(call).value("quant.qcast", (call.operands[number],), type)
        end_with(call, number, source)
    retype(argument, type)
    return True


def _give(end: Operation, calls: list[Operation], number: int) -> bool:
    """Quantize a result that is cast from a quantized value. Return True if it is quantized now."""
    stored = source_of(end.operands[number])
    if stored is None:
        return False
    end_with(end, number, stored)
    for call in calls:
        retype(call.results[number], stored.type)
    return True
