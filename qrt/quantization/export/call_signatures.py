"""Quantized arguments and results of private functions, so that calls pass quantized values without casts."""

from qrt.ir import Builder, Module, Operation, TypeAttr, Value
from qrt.ir.core.functions import FuncOp
from qrt.ir.core.symbols import may_be_discarded, references, symbol_of
from qrt.quantization.export.loop_values import replace_operand, retype
from qrt.quantization.export.passed_values import is_cast, source_of
from qrt.types import FunctionType


def quantize_signatures(module: Module) -> bool:
    """Change float arguments and results of private functions to quantized types where casts at the boundary allow it.

    For example, if a function only reads an argument through a `quant.qcast`, its callers pass the quantized value
    instead. Computed values do not change. Returns True if any type changed.
    """
    calls = _calls(module)
    changed = False
    for function in module.functions:
        known = calls.get(function)
        if not known or not may_be_discarded(function) or len(function.regions[0].blocks) != 1:
            continue
        (block,) = function.regions[0].blocks
        arguments_changed = [_quantize_argument(argument, known) for argument in block.arguments]
        results_changed = [
            _quantize_result(block.terminator, known, number) for number in range(len(block.terminator.operands))
        ]
        if any(arguments_changed) or any(results_changed):
            inputs = [value.type for value in block.arguments]
            results = [value.type for value in block.terminator.operands]
            function.attributes["function_type"] = TypeAttr(FunctionType(inputs, results))
            changed = True
    return changed


def _calls(module: Module) -> dict[FuncOp, list[Operation]]:
    """Map each function to its `func.call` operations; functions to which other operations refer, too, are left out."""
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


def _quantize_argument(argument: Value, calls: list[Operation]) -> bool:
    """Change a function's argument to a quantized type if possible. Return True on success.

    It takes the type to which all its uses quantize it. Otherwise it takes the type from which all callers dequantize
    the operand of the call.
    """
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
        replace_operand(call, number, source)
    retype(argument, type)
    return True


def _quantize_result(terminator: Operation, calls: list[Operation], number: int) -> bool:
    """Change result ``number`` of a function to the type from which the function dequantizes it.

    Return True on success.
    """
    stored = source_of(terminator.operands[number])
    if stored is None:
        return False
    replace_operand(terminator, number, stored)
    for call in calls:
        retype(call.results[number], stored.type)
    return True
