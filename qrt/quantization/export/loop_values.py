"""Quantized values that loops carry, branches yield, selects choose and blocks take.

Without this step they would be dequantized where they are passed on, and quantized again where they are read.
"""

from collections.abc import Collection

from qrt.ir import Builder, Module, Operation, Value
from qrt.ir.rewriting.rewrite import erase_dead, replace
from qrt.quantization.export.passed_values import PassedValues, Source, is_cast, source_of
from qrt.types import Type


def carry(module: Module) -> None:
    """Give the values that control flow passes on the quantized type that they are cast from. Preserves every value.

    A float that is passed on is quantized only if nothing reads it as a float. A loop without iterations yields its
    initial value: an `arith.select` chooses it for the readers of the result, unless the loop is known to run.
    """
    passed = PassedValues(module)
    groups = passed.quantized_groups()
    unchanged = {source for group in groups for source in group.sources if passed.is_target_of_same_type(source)}
    initial = [(source, group.type) for group in groups for source in group.sources if passed.keeps_initial(source)]
    fitting = {source for group in groups for source in group.sources if passed.is_fitting(source)}
    for (loop, index), type in initial:
        _choose_initial(loop, index, type, unchanged)
    casts = []
    for group in groups:
        for op, index in group.sources:
            if (op, index) not in unchanged:
                casts.append(op.operands[index].operation)
                _store(op, index, group.type, is_stored=(op, index) in fitting)
    for group in groups:
        for target in group.targets:
            retype(target, group.type, unchanged)
    erase_dead([op for op in casts if op is not None])


def _choose_initial(loop: Operation, index: int, type: Type, unchanged: Collection[Source]) -> None:
    """Let the readers of a result's float value read the initial value if the loop has no iterations."""
    initial, result = loop.operands[index], loop.results[index - len(loop.operands)]
    readers = [use for use in result.uses if use not in unchanged and not is_cast(use[0], type)]
    predicate = "ult" if "unsignedCmp" in loop.attributes else "slt"
    builder = Builder.after(result)
    runs = builder.create("arith.cmpi", *loop.operands[:2], predicate=predicate).results[0]
    chosen = builder.value("arith.select", (runs, result, initial), result.type)
    for user, number in readers:
        user.set_operand(number, chosen)


def _store(op: Operation, index: int, type: Type, *, is_stored: bool) -> None:
    """Replace a float operand by the quantized value that it is dequantized from, or else quantize it."""
    value = op.operands[index]
    stored = source_of(value) if is_stored else _quantized(value, type)
    assert stored is not None  # the operand fits
    op.set_operand(index, stored)


def _quantized(value: Value, type: Type) -> Value:
    """Quantize a value at its definition, once for all casts to this type."""
    casts = [user for user in value.users if is_cast(user, type)]
    stored = Builder.after(value).value("quant.qcast", (value,), type)
    for cast in casts:
        replace(cast, [stored])
    return stored


def end_with(terminator: Operation, number: int, stored: Value) -> None:
    """Replace an operand of a terminator, a cast, by the quantized value that was cast."""
    cast = terminator.operands[number].operation
    terminator.set_operand(number, stored)
    erase_dead([cast] if cast is not None else [])


def retype(value: Value, type: Type, unchanged: Collection[Source] = ()) -> None:
    """Change a float value to a quantized type, and dequantize it for uses that need floats."""
    expressed, value.type = value.type, type
    uses = [use for use in value.uses if use not in unchanged]
    for user, _ in uses:
        if is_cast(user, type):
            replace(user, [value])
    left = [(user, index) for user, index in uses if user.parent is not None]
    if left:
        expressed_value = Builder.after(value).value("quant.dcast", (value,), expressed)
        for user, index in left:
            user.set_operand(index, expressed_value)
